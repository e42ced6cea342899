//! The author of the liability text that a person reads, and the record of the text (AAP 14.4, C-59).

use super::{ask, granted_leaf, request, show, yes};
use axum::body::Body;
use countersign_engine::Role;
use countersign_protocol::{canonical, hash::Digest};
use countersign_testkit::{Plane, Setup, TestPerson, on_sqlite};
use http::{Method, header};
use serde_json::{Value, json};

const OPERATORS: &str = "We at Acme repair what our agents break and pay for it.";
const PROJECTS: &str = "The calendar's owner and the operator share what goes wrong.";

async fn grant(plane: &Plane, person: &TestPerson, request: &str, shown: &Value) -> Value {
    person.post(plane, "/agent/delegate", &yes(request, shown)).await.expect(201).json()
}

fn with_projects_text() -> Setup {
    Setup::with_project(|project| project.liability_disclosure = Some(PROJECTS.into()))
}

fn publish_text(plane: &Plane, text: &str) {
    let mut identity = plane.acme().identity();
    identity["countersign"]["liability_disclosure"] = json!(text);
    plane.acme().publish_identity(&identity);
}

on_sqlite! {
    /// AAP-14.4-02, AAP-14.4-03
    async fn an_operators_own_words_come_before_the_projects_and_stand_in_full_in_both_answers(kit) {
        let plane = kit.plane_with(with_projects_text()).await;
        publish_text(&plane, OPERATORS);
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        assert_eq!(shown["liability_disclosure"], OPERATORS);
        assert_eq!(grant(&plane, &alice, &waiting, &shown).await["liability_disclosure"], OPERATORS);
    }

    /// AAP-14.4-03
    async fn without_an_operators_words_the_projects_are_shown(kit) {
        let plane = kit.plane_with(with_projects_text()).await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        assert_eq!(shown["liability_disclosure"], PROJECTS);
        assert_eq!(grant(&plane, &alice, &waiting, &shown).await["liability_disclosure"], PROJECTS);
    }

    /// AAP-14.4-02, AAP-14.4-03
    async fn without_anybodys_words_ours_are_shown_and_name_the_operator(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        let text = shown["liability_disclosure"].as_str().unwrap();
        assert!(text.contains("acme.test") && !text.contains("://"), "{text}");
        assert!(text.split_whitespace().count() <= 150);
        assert_eq!(grant(&plane, &alice, &waiting, &shown).await["liability_disclosure"], text);
    }

    /// AAP-G-36
    async fn an_operators_text_that_is_too_long_or_empty_is_not_shown_and_the_operator_is_warned(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let default = show(&plane, &alice, &request(&plane, json!({})).await).await["liability_disclosure"].clone();
        for text in ["word ".repeat(151), " ".into()] {
            publish_text(&plane, &text);
            plane.advance_secs(3601).await;
            let answer = ask(&plane, json!({})).await.expect(201).json();
            assert_eq!(answer["ignored"][0]["member"], "countersign.liability_disclosure", "{answer:#}");
            let alice = TestPerson::sign_in(&plane, "alice").await;
            let shown = show(&plane, &alice, answer["request_id"].as_str().unwrap()).await;
            assert_eq!(shown["liability_disclosure"], default);
        }
        let most = "word ".repeat(150).trim().to_owned();
        publish_text(&plane, &most);
        plane.advance_secs(3601).await;
        let answer = ask(&plane, json!({})).await.expect(201).json();
        assert_eq!(answer.get("ignored"), None);
        let alice = TestPerson::sign_in(&plane, "alice").await;
        let shown = show(&plane, &alice, answer["request_id"].as_str().unwrap()).await;
        assert_eq!(shown["liability_disclosure"], most);
    }

    /// AAP-G-36
    async fn our_own_words_name_the_agents_powers_its_limits_and_a_contact(kit) {
        let long = "do a ".repeat(40);
        for description in ["Read your whole calendar", long.trim()] {
            let setup = Setup::with_project(|project| {
                for scope in &mut project.scopes {
                    scope.description = description.into();
                }
            });
            let plane = kit.plane_with(setup).await;
            let alice = plane.person("alice").await;
            let waiting = request(&plane, json!({})).await;
            let short = description.len() < 100;
            for (language, can, else_can, cannot) in [
                ("en", "can do this: ", "everything that is listed here", "cannot do anything else"),
                ("de", "Das kann dieser Agent tun: ", "alles, was hier", "Sonst kann er hier nichts tun"),
            ] {
                let asks = alice.request(Method::POST, "/agent/delegate").header("x-csrf-token", &alice.csrf);
                let asks = asks.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT_LANGUAGE, language);
                let body = json!({ "request_id": waiting }).to_string();
                let shown = plane.send(asks.body(Body::from(body)).unwrap()).await.expect(200).json();
                let text = shown["liability_disclosure"].as_str().unwrap();
                let what = if short { description } else { else_can };
                assert!(text.contains(&format!("{can}{what}")) && text.contains(cannot), "{text}");
                let contact = plane.acme().identity()["contact"].as_str().unwrap().to_owned();
                assert!(text.contains(&contact) && text.contains("acme.test"), "{text}");
                assert!(text.split_whitespace().count() <= 150, "{text}");
            }
        }
    }

    /// AAP-17.2-03
    async fn the_log_holds_the_hash_of_exactly_the_disclosure_and_its_language(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        for (accepted, language) in [("de-AT, en;q=0.5", "de"), ("fr", "en")] {
            let waiting = request(&plane, json!({})).await;
            let ask = alice.request(Method::POST, "/agent/delegate").header("x-csrf-token", &alice.csrf);
            let ask = ask.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT_LANGUAGE, accepted);
            let body = json!({ "request_id": waiting }).to_string();
            let shown = plane.send(ask.body(Body::from(body)).unwrap()).await.expect(200).json();
            assert_eq!(shown["language"], language);
            let granted = grant(&plane, &alice, &waiting, &shown).await;
            let leaf = granted_leaf(&plane, granted["delegation_id"].as_str().unwrap()).await;
            assert_eq!(leaf["shown_language"], language);
            assert_eq!(leaf["shown_sha256"], Digest::of(&canonical::to_vec(&shown).unwrap()).hex());
        }
    }

    /// AAP-17.2-03, AAP-14.4-03
    async fn a_consent_to_a_disclosure_that_the_project_has_changed_does_not_count(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
        let changes: [fn(&mut Value); 5] = [
            |document| document["liability_disclosure"] = json!("New words."),
            |document| document["disclosures"] = json!({ "user_delegated": "An agent acts as you." }),
            |document| document["scopes"][1]["description"] = json!("Rewrite your whole calendar"),
            |document| document["scopes"][1]["irreversible"] = json!(true),
            |document| document["max_duration"] = json!("400d"),
        ];
        for change in changes {
            let waiting = request(&plane, json!({})).await;
            let shown = show(&plane, &alice, &waiting).await;
            let mut document = admin.get(&plane, "/v1/project").await.expect(200).json()["document"].clone();
            change(&mut document);
            admin.send(&plane, Method::PUT, "/v1/project", &document).await.expect(200);
            let answer = alice.post(&plane, "/agent/delegate", &yes(&waiting, &shown)).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{}", answer.text());
            assert!(answer.json()["error_description"].as_str().unwrap().contains("changed"), "{}", answer.text());
            let current = show(&plane, &alice, &waiting).await;
            alice.post(&plane, "/agent/delegate", &yes(&waiting, &current)).await.expect(201);
        }
    }
}
