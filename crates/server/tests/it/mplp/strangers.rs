//! Access to plans and Confirms: the same principal, the people concerned, and nobody else.

use super::{Stage, archiving, confirm, id, items, place, plan, step};
use countersign_engine::{Address, ApiKeyKind, NewKey, Role};
use countersign_testkit::{
    Answer, Setup, TestAgent,
    decisions::{ALL, payments},
    on_sqlite,
};
use http::{Method, Request};
use serde_json::{Value, json};

/// Every request that names a plan or its Confirm.
async fn attempts(stage: &Stage, who: &TestAgent, n: u64, asked: &Value) -> Vec<Answer> {
    let below = |end: &str| format!("plans/{}{end}", id(n));
    vec![
        stage.get(who, &below("")).await,
        stage.get(who, &below("/actions")).await,
        stage.get(who, &below("/trace")).await,
        stage.get(who, &below("/diff")).await,
        stage.post(who, &below("/diff"), &archiving(n, 1)).await,
        stage.post(who, &below("/propose"), &json!({})).await,
        stage.post(who, &below("/cancel"), &json!({})).await,
        stage.post(who, &format!("plans/{}/steps/{}", id(n), step(n, 1)), &json!({ "status": "skipped" })).await,
        stage.get(who, &place(asked)).await,
        stage.decides(who, asked, &json!({ "status": "approved" })).await,
        stage.decides(who, asked, &json!({ "status": "cancelled" })).await,
    ]
}

on_sqlite! {
    ///
    async fn another_agents_plans_and_confirms_do_not_exist(kit) {
        let stage = Stage::set(kit).await;
        let connected = stage.plane.connect(&stage.alice, stage.plane.acme(), &["calendar.read"]).await;
        let others = [
            stage.plane.agent_key("alice", ALL).await,
            stage.plane.register(stage.plane.acme(), &connected).await.as_test_agent(),
        ];
        let asked = stage.proposed(&archiving(1, 1)).await;
        for state in ["proposed", "approved"] {
            if state == "approved" {
                stage.says(&asked, "approved", None).await;
            }
            let before = (stage.plan(1).await, stage.confirm(&asked).await);
            for other in &others {
                let theirs = attempts(&stage, other, 1, &asked).await;
                let nobodys = attempts(&stage, other, 2, &confirm("plan", 2)).await;
                for (answer, same) in theirs.iter().zip(&nobodys) {
                    assert_eq!(answer.refusal(), (404, "not_found".into()), "{state}");
                    assert_eq!(answer.json()["error_description"], same.json()["error_description"]);
                }
                let write = stage.post(other, "plans", &plan(1, 1)).await;
                assert_eq!(write.refusal(), (409, "conflict".into()), "its id is taken, and that is all");
                let raise = stage.post(other, "confirms", &confirm("plan", 1)).await;
                assert_eq!(raise.refusal(), (404, "not_found".into()));
                for list in ["plans", "confirms", "events"] {
                    assert_eq!(items(&stage.get(other, list).await), Vec::<Value>::new(), "{list}");
                }
            }
            assert_eq!((stage.plan(1).await, stage.confirm(&asked).await), before, "{state}");
        }
    }

    ///
    async fn people_see_their_own_documents_and_an_overseer_sees_all(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 1)).await;
        let eve = stage.person("eve", Role::User).await;
        for answer in attempts(&stage, &eve, 1, &asked).await {
            assert!(matches!(answer.status, 403 | 404), "{} {}", answer.status, answer.text());
        }
        for below in [format!("plans/{}", id(1)), place(&asked)] {
            assert_eq!(stage.get(&eve, &below).await.refusal(), (404, "not_found".into()), "{below}");
        }
        let decide = stage.decides(&eve, &asked, &json!({ "status": "approved" })).await;
        assert_eq!(decide.refusal(), (404, "not_found".into()), "not even that it is there");
        let cancel = stage.post(&eve, &format!("plans/{}/cancel", id(1)), &json!({})).await;
        assert_eq!(cancel.refusal(), (404, "not_found".into()));
        assert_eq!(items(&stage.get(&eve, "plans").await), Vec::<Value>::new());
        assert_eq!(items(&stage.get(&eve, "confirms").await), Vec::<Value>::new());

        let auditor = stage.person("otto", Role::Auditor).await;
        let boss = stage.person("boss", Role::Admin).await;
        let key = stage.admin_key().await;
        for who in [&stage.device, &auditor, &boss, &key] {
            assert_eq!(stage.get(who, &format!("plans/{}", id(1))).await.expect(200).json()["plan_id"], id(1));
            assert_eq!(stage.get(who, &place(&asked)).await.expect(200).json(), asked);
            assert_eq!(items(&stage.get(who, "plans").await).len(), 1);
            assert_eq!(items(&stage.get(who, "confirms").await), std::slice::from_ref(&asked));
        }
        let decide = stage.decides(&auditor, &asked, &json!({ "status": "approved" })).await;
        assert_eq!(decide.refusal(), (403, "not_authorized".into()), "to see is not to decide");
        assert_eq!(stage.confirm(&asked).await, asked);
    }

    ///
    async fn an_agent_plans_a_person_decides_and_a_key_only_looks(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 1)).await;
        let key = stage.admin_key().await;
        for who in [&stage.device, &key] {
            for answer in [
                stage.post(who, "plans", &plan(2, 1)).await,
                stage.put(who, &format!("plans/{}", id(2)), &plan(2, 1)).await,
                stage.post(who, &format!("plans/{}/propose", id(1)), &json!({})).await,
                stage.post(who, &format!("plans/{}/diff", id(1)), &plan(1, 1)).await,
                stage.post(who, &format!("plans/{}/steps/{}", id(1), step(1, 1)), &json!({ "status": "skipped" })).await,
                stage.post(who, "confirms", &confirm("context", 1)).await,
                stage.post(who, "confirms/imports", &confirm("context", 1)).await,
            ] {
                assert_eq!(answer.refusal(), (403, "not_authorized".into()));
            }
        }
        for status in ["approved", "rejected", "cancelled"] {
            let answer = stage.decides(&key, &asked, &json!({ "status": status })).await;
            assert_eq!(answer.refusal(), (403, "not_authorized".into()), "a key is nobody who decides");
        }
        let cancel = stage.post(&key, &format!("plans/{}/cancel", id(1)), &json!({})).await;
        assert_eq!(cancel.refusal(), (403, "not_authorized".into()));
        for who in [&stage.agent, &key] {
            assert_eq!(stage.get(who, "allowances").await.refusal(), (403, "not_authorized".into()));
            let revoke = stage.post(who, "allowances/alw_0000000000000001/revoke", &json!({})).await;
            assert_eq!(revoke.refusal(), (403, "not_authorized".into()));
        }
    }

    ///
    async fn nothing_is_revealed_without_a_valid_credential(kit) {
        let stage = Stage::set(kit).await;
        let asked = stage.proposed(&plan(1, 1)).await;
        let gone = stage.plane.agent_key("alice", ALL).await;
        stage.plane.revoke_key(&gone).await;
        let point = stage.plane.key_of(ApiKeyKind::EnforcementPoint, "alice", &[], &[]).await;
        let revoked = stage.alice.subscriber(&stage.plane).await;
        let path = format!("/aaep/v1/subscriber-tokens/{}", revoked.token_id);
        let body = json!({});
        assert!(stage.alice.send(&stage.plane, Method::DELETE, &path, &body).await.is_success());
        let tokens = [
            (gone.token, 403), (point.token, 403), (format!("csk_{}", "A".repeat(43)), 403), (revoked.token, 403),
            (format!("cst_{}", "A".repeat(43)), 403), ("nonsense".into(), 401), (String::new(), 401),
        ];
        let below = ["plans", "confirms", "roles", "events", "learning-samples", "allowances", &place(&asked)];
        for (token, status) in tokens {
            let who = TestAgent { token, principal: String::new() };
            for below in below {
                assert_eq!(stage.get(&who, below).await.status, status, "{} at {below}", who.token);
            }
        }
        for below in below {
            let bare = stage.plane.send(Request::get(format!("/mplp/v1/{below}")).body("".into()).unwrap()).await;
            assert_eq!(bare.refusal(), (401, "agent_auth_required".into()));
            let person = stage.alice.get(&stage.plane, &format!("/mplp/v1/{below}")).await;
            assert_eq!(person.refusal(), (401, "agent_auth_required".into()), "a browser has pages");
        }
    }

    ///
    async fn documents_of_one_project_do_not_exist_in_another(kit) {
        let projects = ["north", "south"].map(payments).to_vec();
        let plane = kit.plane_with(Setup { projects, ..Setup::multi() }).await;
        let alice = plane.person_in("north", "alice", &[Role::User]).await;
        plane.give_roles("south", "alice", &[Role::User]).await;
        let mut keys = Vec::new();
        for project in ["north", "south"] {
            let at = plane.engine.project(&Address::Scoped(project.into())).await.unwrap().project;
            let new = NewKey {
                kind: ApiKeyKind::Agent,
                principal: "job".into(),
                responsible: "alice".into(),
                actions: Vec::new(),
                asks: Vec::new(),
                jkt: None,
            };
            let key = plane.engine.people().add_key(&at, &new).await.unwrap();
            keys.push(TestAgent { token: key.secret, principal: key.key.id });
        }
        let (north, south) = (&keys[0], &keys[1]);
        let send = |who: &TestAgent, method: Method, path: &str, body: Option<String>| {
            let (who, path) = (who.clone(), path.to_owned());
            let public = plane.public.clone();
            async move { who.send(&public, method, &path, body).await }
        };
        let at = |project: &str, below: &str| format!("/projects/{project}/mplp/v1/{below}");
        let sent = plan(1, 1).to_string();
        let written = send(north, Method::POST, &at("north", "plans?propose=true"), Some(sent.clone())).await.expect(201);
        assert_eq!(written.header("location"), Some(at("north", &format!("plans/{}", id(1))).as_str()));
        let confirm = format!("confirms/{}", written.header("countersign-confirm").unwrap());
        for below in [format!("plans/{}", id(1)), confirm.clone()] {
            send(north, Method::GET, &at("north", &below), None).await.expect(200);
            let foreign = send(north, Method::GET, &at("south", &below), None).await;
            assert_eq!(foreign.refusal(), (403, "not_authorized".into()), "its key is none there");
            let there = send(south, Method::GET, &at("south", &below), None).await;
            assert_eq!(there.refusal(), (404, "not_found".into()));
            let unscoped = send(north, Method::GET, &format!("/mplp/v1/{below}"), None).await;
            assert_eq!(unscoped.refusal(), (404, "project_not_found".into()));
        }
        let token = alice.post(&plane, "/projects/north/aaep/v1/subscriber-tokens", &json!({ "name": "x" })).await;
        let device = TestAgent { token: token.expect(201).json()["token"].as_str().unwrap().to_owned(), ..north.clone() };
        let body = json!({ "status": "approved" }).to_string();
        let foreign = send(&device, Method::POST, &at("south", &format!("{confirm}/decisions")), Some(body.clone())).await;
        assert_eq!(foreign.refusal(), (403, "not_authorized".into()));
        send(south, Method::POST, &at("south", "plans"), Some(sent)).await.expect(201);
        let decided = send(&device, Method::POST, &at("north", &format!("{confirm}/decisions")), Some(body)).await;
        assert_eq!(decided.expect(201).json()["status"], "approved");
        let there = send(south, Method::GET, &at("south", &format!("plans/{}", id(1))), None).await.expect(200);
        assert_eq!(there.json()["status"], "draft", "the same id is another plan");
    }
}
