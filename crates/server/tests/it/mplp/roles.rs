//! The role of a requester or decider follows from the credential, never from the document (M-06, R-14).

use super::{Stage, confirm, id, items, plan};
use countersign_engine::Role;
use countersign_testkit::{Setup, on_sqlite};
use serde_json::{Value, json};

/// A project with its own roles.
fn with_roles(roles: Value) -> Setup {
    Setup::payments_with(|document| {
        document.roles = serde_json::from_value(roles).unwrap();
        let action = document.actions.iter_mut().find(|action| action.name == "notes.purge").unwrap();
        action.approvers = vec!["role:approver".into(), "user:carol".into()];
    })
}

const REVIEWER: &str = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";

on_sqlite! {
    /// MPLP-2.1-06
    async fn a_claimed_role_of_the_agents_own_is_kept_as_written_and_another_is_refused(kit) {
        let stage = Stage::set(kit).await;
        let roles = items(&stage.get(&stage.agent, "roles").await.expect(200));
        let own = roles.iter().find(|role| role["name"] == "agent").unwrap()["role_id"].as_str().unwrap().to_owned();
        let mut n = 0;
        for (said, kept) in [("agent", true), (own.as_str(), true), ("admin", false), ("user", false), ("boss", false), ("", false)] {
            n += 1;
            let mut sent = confirm("context", n);
            sent["requested_by_role"] = json!(said);
            let answer = stage.post(&stage.agent, "confirms", &sent).await;
            stage.post(&stage.agent, "plans", &plan(n, 1)).await.expect(201);
            let propose = format!("plans/{}/propose", id(n));
            let proposed = stage.post(&stage.agent, &propose, &json!({ "requested_by_role": said })).await;
            for answer in [answer, proposed] {
                match kept {
                    true => assert_eq!(answer.expect(201).json()["requested_by_role"], said),
                    false => assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{said}"),
                }
            }
            assert_eq!(stage.plan(n).await["status"], if kept { "proposed" } else { "draft" });
        }
    }

    /// MPLP-2.4-03, R-14
    async fn a_decision_has_the_deciders_own_role_despite_their_text(kit) {
        let stage = Stage::with(kit, with_roles(json!([
            { "name": "asker", "capabilities": ["plan.create", "confirm.request"], "members": ["agents"] },
            { "role_id": REVIEWER, "name": "reviewer", "capabilities": ["confirm.approve"], "members": ["user:alice"] },
            { "name": "boss", "capabilities": ["confirm.approve", "confirm.override"], "members": ["role:admin"] },
            { "name": "reader", "capabilities": [], "members": ["user:alice"] },
        ]))).await;
        let mut n = 0;
        for (said, kept) in [(None, Some("reviewer")), (Some("reviewer"), Some("reviewer")), (Some(REVIEWER), Some("reviewer")),
            (Some("boss"), None), (Some("reader"), None), (Some("nobody"), None)] {
            n += 1;
            let mut sent = confirm("context", n);
            sent["requested_by_role"] = json!("asker");
            let asked = stage.post(&stage.agent, "confirms", &sent).await.expect(201).json();
            let mut body = json!({ "status": "approved" });
            body.as_object_mut().unwrap().extend(said.map(|said| ("decided_by_role".to_owned(), json!(said))));
            let answer = stage.decides(&stage.device, &asked, &body).await;
            match kept {
                Some(kept) => assert_eq!(answer.expect(201).json()["decisions"][0]["decided_by_role"], kept),
                None => {
                    assert_eq!(answer.refusal(), (403, "not_authorized".into()), "{said:?}");
                    assert_eq!(stage.confirm(&asked).await, asked);
                }
            }
        }
    }

    /// MPLP-4.3-09
    async fn only_a_role_with_the_capability_decides_and_the_own_persons_rejection_always_counts(kit) {
        let stage = Stage::with(kit, with_roles(json!([
            { "name": "asker", "capabilities": ["plan.create"], "members": ["agents"] },
            { "name": "watcher", "capabilities": ["confirm.request"], "members": ["user:alice", "user:bob"] },
            { "name": "reviewer", "capabilities": ["confirm.approve"], "members": ["user:carol"] },
        ]))).await;
        let bob = stage.person("bob", Role::Approver).await;
        let dave = stage.person("dave", Role::Approver).await;
        let carol = stage.person("carol", Role::Approver).await;
        let body = |status: &str| json!({ "status": status });
        stage.agent.requests_approval(&stage.plane, "notes.purge", json!({ "note": 1 })).await;
        let asked = items(&stage.get(&stage.agent, "confirms").await).remove(0);
        for (who, status) in [(&bob, "approved"), (&bob, "rejected"), (&bob, "cancelled"), (&dave, "approved"), (&stage.device, "approved")] {
            let answer = stage.decides(who, &asked, &body(status)).await;
            assert_eq!(answer.refusal(), (403, "not_authorized".into()), "{status}");
            assert_eq!(stage.confirm(&asked).await, asked);
        }
        let decided = stage.decides(&carol, &asked, &body("approved")).await.expect(201).json();
        assert_eq!(decided["decisions"][0]["decided_by_role"], "reviewer");

        stage.agent.requests_approval(&stage.plane, "notes.purge", json!({ "note": 2 })).await;
        let asked = items(&stage.get(&stage.agent, "confirms").await).remove(0);
        let decided = stage.decides(&stage.device, &asked, &body("rejected")).await.expect(201).json();
        assert_eq!(decided["decisions"][0]["decided_by_role"], "watcher", "she may say no to her own agent (R-1)");
    }

    /// M-06
    async fn an_agent_without_the_capability_asks_for_no_approval(kit) {
        let stage = Stage::with(kit, with_roles(json!([
            { "name": "asker", "capabilities": ["plan.create"], "members": ["agents"] },
            { "name": "reviewer", "capabilities": ["confirm.approve"], "members": ["role:user"] },
        ]))).await;
        let mut sent = confirm("context", 1);
        sent["requested_by_role"] = json!("asker");
        let answer = stage.post(&stage.agent, "confirms", &sent).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        assert!(items(&stage.get(&stage.agent, "confirms").await).is_empty());
    }

    /// M-06
    async fn an_agent_without_the_capability_writes_no_plan(kit) {
        let stage = Stage::with(kit, with_roles(json!([
            { "name": "asker", "capabilities": ["confirm.request"], "members": ["agents"] },
            { "name": "reviewer", "capabilities": ["confirm.approve"], "members": ["role:user"] },
        ]))).await;
        let answer = stage.post(&stage.agent, "plans", &plan(1, 1)).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        assert_eq!(items(&stage.get(&stage.agent, "plans").await), Vec::<Value>::new());
        let mut sent = confirm("context", 1);
        sent["requested_by_role"] = json!("asker");
        stage.post(&stage.agent, "confirms", &sent).await.expect(201);
    }

    /// M-06
    async fn roles_are_published_with_stable_ids_and_without_their_members(kit) {
        let stage = Stage::set(kit).await;
        let published = stage.get(&stage.agent, "roles").await.expect(200);
        let roles = items(&published);
        let names: Vec<&str> = roles.iter().map(|role| role["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["agent", "user", "approver", "admin", "auditor"]);
        assert_eq!(roles[3]["capabilities"], json!(["confirm.approve", "confirm.override"]));
        assert!(!published.text().contains("members") && !published.text().contains("alice"));
        assert_eq!(items(&stage.get(&stage.device, "roles").await)[0]["role_id"], roles[0]["role_id"]);
    }
}
