//! `GET /agent/access-summary`: current access, for the person, the operator and the agent (AAP 14.3, 17.5).

use crate::pages::{Words as _, accept_more, follow, hidden, open_as, send_as};
use axum::body::Body;
use countersign_engine::{ApiKeyKind, Role};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Answer, Plane, TestPerson, agent_request,
    bank::{BankFixture, GatewayRequest, SCOPES},
    on_both_stores,
};
use http::Method;
use serde_json::{Value, json};

const READ: [&str; 1] = ["calendar.read"];
const WRITE: [&str; 1] = ["calendar.write"];

async fn summary(plane: &Plane, credential: &str, query: &str) -> Answer {
    let request = agent_request(Method::GET, &format!("/agent/access-summary{query}"));
    plane.send(request.header("authorization", format!("Bearer {credential}")).body(Body::empty()).unwrap()).await
}

async fn summary_of(plane: &Plane, person: &TestPerson, query: &str) -> Answer {
    let request = person.request(Method::GET, &format!("/agent/access-summary{query}"));
    plane.send(request.body(Body::empty()).unwrap()).await
}

fn ids(summary: &Value) -> Vec<&str> {
    summary["delegations"].as_array().unwrap().iter().map(|item| item["delegation_id"].as_str().unwrap()).collect()
}

/// Transfers may be approved for more than one call.
fn reversible_transfers(document: &mut ProjectDocument) {
    for route in document.routes.iter_mut().filter(|route| route.id == "transfers") {
        route.irreversible = Some(false);
        route.requires_confirmation = Some(true);
        route.risk = serde_json::from_value(json!("medium")).unwrap();
    }
}

fn transfer(amount: &str) -> GatewayRequest {
    let body = json!({ "amount": amount, "currency": "EUR", "from": "acct-1", "to": "acct-2" });
    GatewayRequest::new("POST", "/transfers").json(body.to_string())
}

on_both_stores! {
    /// AAP-14.3-01, AAP-14.3-02, AAP-14.3-03, AAP-17.5-01, AAP-17.5-02, AAP-8.4-05
    async fn the_total_access_of_an_agent_is_the_sum_of_its_active_delegations(kit) {
        let plane = kit.plane().await;
        let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
        let granted_at = plane.now();
        let first = plane.connect(&alice, plane.acme(), &READ).await;
        plane.advance_secs(60).await;
        let second = plane.connect(&alice, plane.acme(), &WRITE).await;
        let ended = plane.connect(&alice, plane.acme(), &WRITE).await;
        plane.connect(&bob, plane.acme(), &READ).await;
        alice.post(&plane, "/agent/revoke", &json!({ "delegation_id": ended.delegation_id })).await.expect(200);
        plane.advance_secs(60).await;
        let register = plane.post("/agent/register", &plane.register_body(plane.acme(), &first)).await.expect(200).json();

        let list = summary_of(&plane, &alice, "").await.expect(200).json();
        assert_eq!(ids(&list), [&*first.delegation_id, &*second.delegation_id]);
        assert_eq!(list.as_object().unwrap().len(), 1, "{list:#}");
        let item = &list["delegations"][0];
        assert_eq!(item["effective_policy"], register["effective_policy"]);
        assert_eq!(item["effective_policy_sources"], register["effective_policy_sources"]);
        let expected = json!({
            "delegation_id": first.delegation_id, "operator": "acme.test", "mode": "user_delegated", "scopes": READ,
            "granted_at": granted_at.to_rfc3339(), "last_used": plane.now().to_rfc3339(),
            "effective_policy": register["effective_policy"],
            "effective_policy_sources": register["effective_policy_sources"],
        });
        assert_eq!(*item, expected);
        assert!(list["delegations"][1].get("last_used").is_none(), "it was never used");

        let one = summary_of(&plane, &alice, &format!("?delegation_id={}", second.delegation_id)).await.expect(200).json();
        assert_eq!((&one["agent"], &one["acting_for"]), (&json!("acme.test"), &json!("alice")));
        assert_eq!(one["current_scopes"], json!(["calendar.read", "calendar.write"]));
        assert_eq!(one["active_since"], granted_at.to_rfc3339());
        assert_eq!(one["last_active"], plane.now().to_rfc3339());
        assert_eq!(one["revoke_url"], format!("/agents/{}/revoke", second.delegation_id));
        assert!(one["effective_policy"]["expires_at"].as_str().unwrap().ends_with('Z'));
        assert_eq!(ids(&one), [&*first.delegation_id, &*second.delegation_id]);

        alice.post(&plane, "/agent/revoke", &json!({ "delegation_id": first.delegation_id })).await.expect(200);
        let one = summary_of(&plane, &alice, &format!("?delegation_id={}", second.delegation_id)).await.expect(200).json();
        assert_eq!(one["current_scopes"], json!(["calendar.write"]));
    }

    /// AAP-14.3-01, AAP-18.2-04
    async fn operators_and_agents_see_their_own_access_and_others_see_nothing(kit) {
        let plane = kit.plane().await;
        let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
        let (of_alice, of_bob) =
            (plane.connect(&alice, plane.acme(), &READ).await, plane.connect(&bob, plane.acme(), &READ).await);
        let agent = plane.register(plane.acme(), &of_alice).await;
        let named = |id: &str| format!("?delegation_id={id}");
        let jwt = plane.acme().jwt(plane.service(), plane.now());
        let list = summary(&plane, &jwt, "").await.expect(200).json();
        assert_eq!(ids(&list), [&*of_alice.delegation_id, &*of_bob.delegation_id]);
        let own = summary(&plane, &agent.access_token, "").await.expect(200).json();
        assert_eq!(ids(&own), [&*of_alice.delegation_id]);
        plane.connect(&alice, plane.acme(), &WRITE).await;
        let one = summary(&plane, &agent.access_token, &named(&of_alice.delegation_id)).await.expect(200).json();
        assert_eq!((ids(&one), &one["current_scopes"]), (vec![&*of_alice.delegation_id], &json!(READ)));

        plane.person_in("calendar", "root", &[Role::Admin]).await;
        let key = plane.key_of(ApiKeyKind::Admin, "root", &[], &[]).await.token;
        assert_eq!(summary(&plane, &key, "").await.refusal(), (400, "invalid_request".into()));
        summary(&plane, &key, &named(&of_bob.delegation_id)).await.expect(200);

        let unknown = summary_of(&plane, &alice, &named("del_unknown")).await.refusal();
        assert_eq!(unknown, (401, "delegation_not_found".into()));
        assert_eq!(summary_of(&plane, &alice, &named(&of_bob.delegation_id)).await.refusal(), unknown);
        assert_eq!(summary(&plane, &agent.access_token, &named(&of_bob.delegation_id)).await.refusal(), unknown);
        let request = agent_request(Method::GET, "/agent/access-summary").body(Body::empty()).unwrap();
        assert_eq!(plane.send(request).await.status, 401);
    }

    /// AAP-14.3-05
    async fn the_link_of_the_summary_revokes_by_one_post_and_never_by_itself(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &READ).await;
        let named = format!("?delegation_id={}", connected.delegation_id);
        let link = summary_of(&plane, &alice, &named).await.expect(200).json()["revoke_url"].as_str().unwrap().to_owned();
        let page = open_as(&plane, &alice, &link).await.expect(200).text();
        send_as(&plane, &alice, &link, &[("csrf", "made-up")]).await.expect(403);
        assert_eq!(ids(&summary_of(&plane, &alice, "").await.json()).len(), 1);
        send_as(&plane, &alice, &link, &[("csrf", &hidden(&page, "csrf"))]).await.expect(303);
        let after = summary_of(&plane, &alice, &named).await.expect(200).json();
        assert_eq!((&after["current_scopes"], ids(&after).len()), (&json!([]), 0));
    }

    /// AAP-14.3-01, AAP-14.3-02, AAP-14.3-05, R-7
    async fn standing_approvals_are_part_of_the_access_until_one_request_revokes_them(kit) {
        let scene = kit.bank_with(reversible_transfers).await;
        let BankFixture { plane, alice, connected, agent, .. } = &scene;
        let bob = plane.person("bob").await;
        let of_bob = plane.connect(&bob, plane.acme(), &SCOPES[..1]).await;
        let held = BankFixture::decision(&scene.sends(transfer("82.00")).await);
        assert!(summary_of(plane, alice, "").await.json()["delegations"][0].get("standing_approvals").is_none());
        accept_more(plane, alice, &held, &[("uses", "5"), ("sum:body.amount", "200.00")]).await.expect(303);
        let approved_at = plane.now().to_rfc3339();
        scene.sends(transfer("120.00")).await.expect(201);

        let list = summary_of(plane, alice, "").await.expect(200).json();
        let [open] = list["delegations"][0]["standing_approvals"].as_array().unwrap().as_slice() else { panic!("{list:#}") };
        assert_eq!((&open["decision_id"], &open["agent"]), (&held["decision_id"], &json!("acme.test")), "{open:#}");
        assert_eq!((&open["approved_at"], &open["uses"], &open["left"]["uses"]), (&json!(approved_at), &json!(5), &json!(4)));
        assert_eq!((&open["left"]["sums"][0]["left"], &open["left"]["sums"][0]["unit"]), (&json!("80.00"), &json!("EUR")), "{open:#}");
        let jwt = plane.acme().jwt(plane.service(), plane.now());
        let (operators, agents) =
            (summary(plane, &jwt, "").await.expect(200).json(), summary(plane, &agent.access_token, "").await.expect(200).json());
        assert_eq!(ids(&operators), [&*connected.delegation_id, &*of_bob.delegation_id]);
        assert!(operators["delegations"][0].get("last_used").is_some() && operators["delegations"][1].get("last_used").is_none());
        for seen in [&operators, &agents] {
            assert_eq!(seen["delegations"][0]["standing_approvals"], json!([open]));
        }
        for other in [&operators["delegations"][1], &summary_of(plane, &bob, "").await.json()["delegations"][0]] {
            assert!(other.get("standing_approvals").is_none(), "{other:#}");
        }

        let path = format!("/agents/{}", connected.delegation_id);
        let page = open_as(plane, alice, &path).await.expect(200).words();
        assert!(page.contains("Standing approvals") && page.contains("Uses left: 4 of 5."), "{page}");
        let form = page.split("action=\"/allowances/bank/").nth(1).unwrap().split('"').next().unwrap();
        let form = format!("/allowances/bank/{form}");
        assert_eq!(form, format!("/allowances/bank/{}/take-back", open["left"]["allowance_id"].as_str().unwrap()));
        send_as(plane, &bob, &form, &[("csrf", &bob.csrf)]).await.expect(404);
        let done = send_as(plane, alice, &form, &[("csrf", &hidden(&page, "csrf"))]).await;
        assert!(follow(plane, alice, done).await.contains("The standing approval is revoked."));
        assert!(!open_as(plane, alice, &path).await.expect(200).words().contains("Uses left"));
        assert!(summary_of(plane, alice, "").await.json()["delegations"][0].get("standing_approvals").is_none());
        scene.sends(transfer("1.00")).await.expect(403);
    }
}
