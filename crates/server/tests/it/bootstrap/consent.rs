//! `POST /agent/delegate`: the disclosure first, then an approval makes the delegation, once.

use super::{changed, claims_of, delegations, request, show, yes};
use countersign_testkit::{Setup, on_both_stores};
use serde_json::{Value, json};

on_both_stores! {
    /// AAP-17.2-03, AAP-5.1-04, AAP-13.2-01
    async fn the_first_step_shows_the_proven_domain_and_the_scopes_and_makes_nothing(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        assert_eq!(shown["operator"], "acme.test");
        assert!(!shown["liability_disclosure"].as_str().unwrap().is_empty());
        assert!(!shown["mode_disclosure"].as_str().unwrap().is_empty());
        let scopes = shown["scopes"].as_array().unwrap();
        let ids: Vec<_> = scopes.iter().map(|scope| scope["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["calendar.read", "calendar.write"]);
        assert_eq!(scopes[1]["description"], "Create and change events in your calendar");
        assert_eq!(scopes[1]["never"], json!(["events.delete"]));
        for absent in ["delegation_token", "delegation_id", "code", "redirect"] {
            assert!(shown.get(absent).is_none(), "{absent}");
        }
        assert_eq!(delegations(&plane, &alice).await, 0);
    }

    /// AAP-17.2-03
    async fn no_consent_counts_without_the_disclosure_that_this_person_was_shown_for_this_request(kit) {
        let plane = kit.plane().await;
        let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
        let (waiting, other) = (request(&plane, json!({})).await, request(&plane, json!({})).await);
        let (shown, bobs) = (show(&plane, &alice, &waiting).await, show(&plane, &bob, &waiting).await);
        let elsewhere = show(&plane, &alice, &other).await;
        let sound = yes(&waiting, &shown);
        let cases = [
            ("not acknowledged", json!({ "acknowledged_disclosure": false })),
            ("acknowledged by silence", json!({ "acknowledged_disclosure": null })),
            ("another person's disclosure", json!({ "disclosure_id": bobs["disclosure_id"] })),
            ("the disclosure of another request", json!({ "disclosure_id": elsewhere["disclosure_id"] })),
            ("a disclosure that nobody was shown", json!({ "disclosure_id": format!("disc_{}", "0".repeat(32)) })),
            ("an empty disclosure id", json!({ "disclosure_id": "" })),
            ("other scopes than were shown", json!({ "scopes": ["calendar.read"] })),
            ("another lifetime than was shown", json!({ "max_agent_ttl": 86_400 })),
            ("no request", json!({ "request_id": null })),
            ("another operator than asked", json!({ "operator": "evil.test" })),
        ];
        for (what, changes) in cases {
            let answer = alice.post(&plane, "/agent/delegate", &changed(sound.clone(), changes)).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{what}: {}", answer.text());
        }
        let skipped = json!({ "request_id": waiting, "acknowledged_disclosure": true });
        let answer = alice.post(&plane, "/agent/delegate", &skipped).await.expect(200).json();
        assert!(answer.get("delegation_token").is_none() && answer.get("code").is_none(), "{answer}");
        assert_eq!((delegations(&plane, &alice).await, delegations(&plane, &bob).await), (0, 0));
        alice.post(&plane, "/agent/delegate", &sound).await.expect(201);
    }

    /// AAP-17.2-02, AAP-17.2-03, AAP-5.1-05
    async fn a_consent_to_the_disclosure_makes_one_delegation_signed_by_the_service(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        let granted = alice.post(&plane, "/agent/delegate", &yes(&waiting, &shown)).await.expect(201).json();
        assert_eq!(granted["liability_disclosure"], shown["liability_disclosure"]);
        let policy = json!({ "expires_at": shown["access_ends_at"], "on_events": ["user.offboarded"] });
        assert_eq!(granted["effective_policy"], policy);
        let token = granted["delegation_token"].as_str().unwrap();
        assert_eq!(claims_of(token)["delegation_id"], granted["delegation_id"]);
        let jwks = plane.get("/.well-known/agent-jwks.json").await.expect(200);
        let keys = countersign_jose::KeySet::parse(&jwks.body, &Default::default()).unwrap();
        countersign_jose::verify_delegation(token, &keys, &[plane.service()], plane.now()).unwrap();
        assert_eq!(delegations(&plane, &alice).await, 1);
    }

    /// AAP-5.1-05
    async fn a_rejection_makes_no_delegation_and_cannot_be_turned_into_an_approval(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({ "callback": plane.acme().callback() })).await;
        let shown = show(&plane, &alice, &waiting).await;
        let no = json!({ "request_id": waiting, "approve": false });
        let denied = alice.post(&plane, "/agent/delegate", &no).await.expect(200).json();
        let back = "https://acme.test/callback?error=access_denied&state=state-of-the-test\
                    &iss=https%3A%2F%2Fapi.example.test";
        assert_eq!(denied, json!({ "denied": true, "redirect": back }));
        for body in [yes(&waiting, &shown), json!({ "request_id": waiting }), no] {
            let answer = alice.post(&plane, "/agent/delegate", &body).await;
            assert_eq!(answer.refusal(), (410, "connect_request_gone".into()), "{body}");
        }
        assert_eq!(delegations(&plane, &alice).await, 0);
    }

    /// C-60
    async fn a_person_may_grant_less_than_was_asked_and_never_more(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let more = [json!([]), json!(["calendar.read", "mail.invite"]), json!(["calendar.admin"]), json!(["no.such"])];
        for scopes in more {
            let body = json!({ "request_id": waiting, "scopes": scopes });
            let answer = alice.post(&plane, "/agent/delegate", &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{body}");
        }
        let less = json!({ "request_id": waiting, "scopes": ["calendar.read"], "max_agent_ttl": 300 });
        let shown = alice.post(&plane, "/agent/delegate", &less).await.expect(200).json();
        assert_eq!(shown["scopes"].as_array().unwrap().len(), 1);
        let granted = alice.post(&plane, "/agent/delegate", &yes(&waiting, &shown)).await.expect(201).json();
        let claims = claims_of(granted["delegation_token"].as_str().unwrap());
        assert_eq!((&claims["scopes"], &claims["max_agent_ttl"]), (&json!(["calendar.read"]), &json!(300)));
    }

    /// AAP-8.4-06, C-59
    async fn the_shown_duration_runs_from_the_grant_however_long_the_page_was_read(kit) {
        let plane = kit.plane_with(Setup::with_project(|project| project.max_duration = "1h".into())).await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        assert_eq!(shown["access_ends_at"], plane.now().plus_secs(3600).to_rfc3339());
        plane.advance_secs(540).await;
        let granted = alice.post(&plane, "/agent/delegate", &yes(&waiting, &shown)).await.expect(201).json();
        assert_eq!(granted["effective_policy"]["expires_at"], plane.now().plus_secs(3600).to_rfc3339());
    }

    /// C-60
    async fn terms_that_are_not_served_are_refused_and_never_ignored(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        let unserved: [Value; 3] = [
            json!({ "policy": { "max_duration": "1h" } }),
            json!({ "user_override": { "max_duration": "1h" } }),
            json!({ "delegation_id": "del_chosen0123456789" }),
        ];
        for changes in unserved {
            let answer = alice.post(&plane, "/agent/delegate", &changed(yes(&waiting, &shown), changes.clone())).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{changes}");
        }
        assert_eq!(delegations(&plane, &alice).await, 0);
    }

    /// C-52
    async fn only_in_test_mode_an_id_may_be_chosen_and_only_a_well_formed_one(kit) {
        let plane = kit.plane_with(Setup { test_mode: true, ..Setup::default() }).await;
        let alice = plane.person("alice").await;
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        let chosen = |id: &str| changed(yes(&waiting, &shown), json!({ "delegation_id": id }));
        for id in ["del_UPPER0", "del_short", "tok_abcdef123"] {
            let answer = alice.post(&plane, "/agent/delegate", &chosen(id)).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{id}");
        }
        let granted = alice.post(&plane, "/agent/delegate", &chosen("del_abc123")).await.expect(201).json();
        assert_eq!(granted["delegation_id"], "del_abc123");
    }
}
