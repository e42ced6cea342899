//! What the person sees, on every channel.

use super::*;
use crate::pages::{Words as _, hidden, open_as, send_as};
use axum::body::Body;
use countersign_testkit::on_sqlite;

fn path(decision: &Value) -> String {
    url::Url::parse(decision["page"].as_str().unwrap()).unwrap().path().to_owned()
}

on_sqlite! {
    /// AAP-G-49
    async fn the_page_shows_the_service_s_own_words_and_takes_the_answer(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let asked = asks(&scene, &agent, payee()).await;
        let inbox = open_as(&scene.plane, &scene.alice, "/inbox").await.expect(200).words();
        assert!(inbox.contains("Allow more for one task: Remove payees"), "{inbox}");
        let page = open_as(&scene.plane, &scene.alice, &path(&asked)).await.expect(200).words();
        for text in [
            "Allow more for one task: Remove payees (bank.payees)?", "acme.test", "verified domain", "payees.remove",
            "Written by Bank about its own permissions", "Cannot be undone", &agent.session_id,
            "An approval allows this for this one task",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(!page.contains("Medium risk") && !page.contains("once, within"), "{page}");
        let fields = [("csrf", hidden(&page, "csrf")), ("shown", hidden(&page, "shown")), ("answer", "accept".into())];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(send_as(&scene.plane, &scene.alice, &path(&asked), &fields).await.status, 303);
        assert_eq!(polls(&scene, &agent).await["status"], "approved");
        let page = open_as(&scene.plane, &scene.alice, &path(&asked)).await.expect(200).words();
        assert!(page.contains("You approved it."), "{page}");
    }

    /// AAP-G-49, AAP-G-50
    async fn the_page_of_the_agent_shows_what_its_tasks_may_do_beyond_their_consent(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let here = format!("/agents/{}", scene.connected.delegation_id);
        assert!(!open_as(&scene.plane, &scene.alice, &here).await.words().contains("More for single tasks"));
        let asked = asks(&scene, &agent, note()).await;
        scene.alice.accepts(&scene.plane, &asked).await;
        let page = open_as(&scene.plane, &scene.alice, &here).await.expect(200).words();
        for text in ["More for single tasks", "Write notes", "By your approval", &agent.session_id, "scope_expansion"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        changes(&scene, expanding("silent")).await;
        assert_eq!(scene.sends_as(&agent, payee()).await.refusal(), (403, "irreversible_requires_confirm".into()));
        let page = open_as(&scene.plane, &scene.alice, &here).await.expect(200).words();
        assert!(page.contains("By a rule of the service, without asking"), "{page}");
    }

    ///
    async fn a_changed_definition_of_the_scope_needs_another_look_before_an_approval(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let asked = asks(&scene, &agent, note()).await;
        let page = open_as(&scene.plane, &scene.alice, &path(&asked)).await.expect(200).words();
        changes(&scene, |document| document.scopes[1].allows.push("payees.remove".into())).await;
        let fields = [("csrf", hidden(&page, "csrf")), ("shown", hidden(&page, "shown")), ("answer", "accept".into())];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(send_as(&scene.plane, &scene.alice, &path(&asked), &fields).await.status, 409);
        assert_eq!(polls(&scene, &agent).await["status"], "pending");
    }

    ///
    async fn the_event_and_the_list_have_the_scope_as_typed_facts(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let (phone, mut heard) = scene.alice.subscribed(&scene.plane).await;
        let asked = asks(&scene, &agent, note()).await;
        let event = heard.next_of("awaiting.confirmation").await;
        assert!(event["action"].as_str().unwrap().contains("Write notes (bank.note)"), "{event}");
        assert!(event["summary_normal"].as_str().unwrap().contains("an agent of acme.test"), "{event}");
        let request = phone.request(Method::GET, "/aaep/v1/questions").body(Body::empty()).unwrap();
        let open = Answer::to(&scene.plane.public, request).await.expect(200).json()["questions"].clone();
        let one = &open[0];
        assert_eq!(event["extensions"]["dev_countersign"]["scope_expansion"], one["scope_expansion"]);
        assert_eq!((&one["kind"], &one["decision_id"]), (&json!("scope_expansion"), &asked["decision_id"]));
        assert_eq!((&one["operator"], &one["words"]), (&json!("acme.test"), &json!("owner")));
        assert_eq!(one["scope_expansion"]["scopes"], json!([{ "id": "bank.note", "description": "Write notes" }]));
        assert_eq!(one["scope_expansion"]["session_id"], agent.session_id);
    }
}
