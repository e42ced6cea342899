//! Undo windows of calls that their upstream undoes: sent at once, undone once, and told as it is (AAP 14.1).

use super::{
    held::*,
    proofs::restarted,
    undo::{page_of, path, presses_undo, presses_undo_of, state, undo},
};
use countersign_protocol::project::{ProjectDocument, Upstream};
use countersign_testkit::{
    Answer, Backend, Kit, Setup, TestPerson,
    bank::{BankFixture, GatewayListener, GatewayRequest, Holder, Manner},
    leaks::Haystack,
    on_both_stores, on_sqlite, stored_evidence,
};
use http::Method;
use serde_json::{Value, json};

/// The bank undoes a transfer for ten minutes, by the id in its response.
fn reversible(document: &mut ProjectDocument) {
    let undo = json!({ "by": "upstream", "request": { "path": "/transfers/{response.id}/reversal" } });
    document.routes[4].undo = Some(serde_json::from_value(undo).unwrap());
    document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(600);
}

/// A transfer that was carried out, with its response's way to undo it.
struct Sent {
    decision: Value,
    undo_url: String,
}

impl Sent {
    fn told(&self) -> Value {
        json!({ "undo_url": self.undo_url, "decision_id": self.decision["decision_id"] })
    }
}

fn undo_url(answer: &Answer) -> Option<String> {
    answer.header("x-agent-undo-url").map(str::to_owned)
}

async fn sent(scene: &BankFixture, id: &str) -> Sent {
    scene.bank.set_write_response(&json!({ "id": id }).to_string());
    let decision = scene.approved(BankFixture::transfer()).await;
    let answer = scene.sends(confirmed_transfer()).await.expect(201);
    let expires = scene.plane.now().plus_secs(600).to_rfc3339();
    assert_eq!(answer.header("x-agent-undo-expires-at"), Some(expires.as_str()));
    Sent { decision, undo_url: undo_url(&answer).expect("a way to undo it") }
}

/// The requests that would undo transfers.
fn reversals(scene: &BankFixture) -> Vec<String> {
    let effects = scene.bank.effects().into_iter().filter(|got| got.target.ends_with("/reversal"));
    effects.map(|got| format!("{} {}", got.method, got.target)).collect()
}

async fn undo_due(scene: &BankFixture) {
    scene.plane.engine.calls().undo_due().await.unwrap();
}

async fn presses(scene: &BankFixture, who: &TestPerson, decision: &Value, named: &str) -> u16 {
    presses_undo_of(scene, who, decision, named).await.status
}

async fn finished(scene: &BankFixture) -> Vec<Value> {
    let query = format!("/agent/audit?delegation_id={}&event_type=undo_finished", scene.connected.delegation_id);
    let page = scene.alice.get(&scene.plane, &query).await.expect(200).json();
    page["entries"].as_array().unwrap().clone()
}

on_both_stores! {
    /// AAP-14.1-08, AAP-14.1-05, AAP-G-58, R-6, R-26
    async fn a_call_that_was_sent_is_undone_by_its_upstream_once_and_a_repeat_gets_the_same_answer(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        let sent = sent(&scene, "t-1").await;
        Haystack::stored(&scene.plane.place).await.assert_absent("the path of the undo endpoint", "/transfers/t-1");
        let looked = scene.reads_decision(&scene.agent, &sent.decision).await;
        assert_eq!((&looked["undo"]["state"], &looked["undo"]["undo_url"]), (&json!("open"), &json!(sent.undo_url)));
        scene.plane.advance_secs(599).await;
        undo_due(&scene).await;
        let undone = undo(&scene, &scene.agent, &sent.told()).await.expect(200).json();
        assert_eq!((&undone["state"], &undone["decision_id"]), (&json!("undone"), &sent.decision["decision_id"]));
        scene.plane.advance_secs(5).await;
        assert_eq!(undo(&scene, &scene.agent, &sent.told()).await.expect(200).json(), undone);
        let scene = scene.restarted().await;
        undo_due(&scene).await;
        assert_eq!(undo(&scene, &scene.agent, &sent.told()).await.expect(200).json(), undone);
        assert_eq!(reversals(&scene), ["POST /transfers/t-1/reversal"]);
        let request = &scene.bank.effects()[1];
        assert_eq!((request.headers["authorization"].as_bytes(), request.body.len()), (&b"Bearer the-banks-own-secret"[..], 0));
        let looked = scene.reads_decision(&scene.agent, &sent.decision).await;
        assert_eq!((&looked["undo"]["state"], &looked["execution"]["state"]), (&json!("undone"), &json!("committed")));
        let entries = stored_evidence(&scene.plane.place).await;
        let leaf = |event_type: &str| -> Value {
            let entry = entries.iter().find(|entry| entry.event_type == event_type).expect("an entry");
            serde_json::from_slice(&entry.leaf).unwrap()
        };
        assert_eq!((&leaf("undo_requested")["role"], &leaf("undo_finished")["undo"]), (&json!("agent"), &json!("undone")));
    }

    /// AAP-14.1-08, R-6, R-34
    async fn what_the_upstream_refuses_remains_and_a_lost_answer_is_unknown_and_neither_is_tried_again(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        for (manner, wanted, why) in [
            (Manner::Status(422), "remains", "the service refused to undo it: 422"),
            (Manner::Vanishing, "unknown", "its answer was lost"),
            (Manner::Status(502), "unknown", "its answer was lost"),
        ] {
            scene.bank.set_manner(Manner::Obliging);
            let sent = sent(&scene, "t-2").await;
            let before = scene.bank.got().len();
            scene.bank.set_manner(manner);
            for _ in 0..2 {
                let answer = undo(&scene, &scene.agent, &sent.told()).await;
                assert_eq!(answer.refusal(), (409, "conflict".into()));
                assert!(answer.text().contains(why), "{}", answer.text());
            }
            scene.bank.set_manner(Manner::Obliging);
            scene.plane.advance_secs(601).await;
            undo_due(&scene).await;
            assert_eq!(undo(&scene, &scene.agent, &sent.told()).await.refusal(), (409, "conflict".into()));
            assert!(scene.bank.got().len() <= before + 1, "{wanted}: one request at most");
            assert_eq!(state(&scene, &sent.decision).await, wanted);
        }
        let undo: Vec<Value> = finished(&scene).await.iter().map(|entry| entry["undo"].clone()).collect();
        assert_eq!((undo.len(), undo.contains(&json!("undone"))), (3, false), "{undo:?}");
    }

    /// AAP-14.1-08, R-21
    async fn after_its_window_a_call_is_not_undone(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        let sent = sent(&scene, "t-3").await;
        scene.plane.advance_secs(600).await;
        for _ in 0..2 {
            assert_eq!(undo(&scene, &scene.agent, &sent.told()).await.refusal(), (409, "undo_window_closed".into()));
            assert_eq!(presses(&scene, &scene.alice, &sent.decision, "yes").await, 409);
            undo_due(&scene).await;
        }
        assert_eq!(state(&scene, &sent.decision).await, "closed");
        assert_eq!(reversals(&scene).len(), 0);
    }

    /// AAP-G-58, R-10
    async fn a_guessed_id_another_session_and_another_person_undo_nothing(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        let sent = sent(&scene, "t-4").await;
        let good = path(&scene, &sent.told());
        let (stem, _) = good.rsplit_once('.').unwrap();
        let other = scene.another(|_| {}).await;
        let guessed = [stem.to_owned(), format!("{stem}.und_{:032x}", 7), "/agent/undo/call_1.x".into()];
        let mut seen = Vec::new();
        for guessed in guessed {
            seen.push(scene.requests(&scene.agent, Method::POST, &guessed).await);
        }
        seen.push(undo(&scene, &other, &sent.told()).await);
        for answer in &seen {
            assert_eq!(answer.refusal(), (404, "not_found".into()), "{}", answer.text());
            assert_eq!(answer.json()["error_description"], seen[0].json()["error_description"]);
        }
        let bob = scene.plane.person("bob").await;
        assert_eq!(presses(&scene, &bob, &sent.decision, "yes").await, 404);
        assert_eq!((reversals(&scene).len(), state(&scene, &sent.decision).await), (0, json!("open")));
    }

    /// AAP-14.1-05, R-9
    async fn the_person_undoes_a_sent_call_on_the_page_and_is_told_what_came_of_it(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        let done = sent(&scene, "t-5").await;
        let list = page_of(&scene, "/inbox").await;
        assert!(list.contains("Can still be undone") && list.contains("Can be undone until"), "{list}");
        let own = |sent: &Sent, query: &str| format!("/inbox/bank/{}{query}", id(&sent.decision));
        let page = page_of(&scene, &own(&done, "?undone")).await;
        assert!(!page.contains("The service confirmed it"), "anybody can make up a URL: {page}");
        assert!(page.contains(r#"name="undo""#) && page.contains("The service can still undo it"), "{page}");
        assert_eq!(presses(&scene, &scene.alice, &done.decision, "yes").await, 303);
        let page = page_of(&scene, &own(&done, "?undone")).await;
        assert!(page.contains("The service confirmed it") && page.contains("The service undid it on"), "{page}");
        assert!(!page.contains(r#"name="undo""#) && !page_of(&scene, "/inbox").await.contains("Can still be undone"));
        assert_eq!(reversals(&scene), ["POST /transfers/t-5/reversal"]);

        let refused = sent(&scene, "t-6").await;
        scene.bank.set_manner(Manner::Status(409));
        assert_eq!(presses(&scene, &scene.alice, &refused.decision, "yes").await, 303);
        let page = page_of(&scene, &own(&refused, "?undone")).await;
        assert!(page.contains("It was not undone.") && page.contains("the service refused to undo it: 409"), "{page}");
    }

    /// R-36
    async fn after_a_restore_nothing_is_undone_by_itself_and_what_was_being_undone_is_unknown(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        let open = sent(&scene, "t-12").await;
        let wanted = sent(&scene, "t-13").await;
        scene.bank.set_manner(Manner::Thoughtful);
        let told = wanted.told();
        let mut undoing = Box::pin(undo(&scene, &scene.agent, &told));
        tokio::select! {
            answer = &mut undoing => panic!("{}", answer.text()),
            () = scene.bank.wait_for_requests(3) => {}
        }
        drop(undoing);
        let scene = restarted(scene).await;
        scene.plane.engine.start_epoch().await.unwrap();
        scene.bank.set_manner(Manner::Obliging);
        scene.plane.advance_secs(60).await;
        undo_due(&scene).await;
        let alice = TestPerson::sign_in(&scene.plane, "alice").await;
        let own = |sent: &Sent| format!("/v1/decisions/{}", id(&sent.decision));
        assert_eq!(presses(&scene, &alice, &open.decision, "yes").await, 409, "{}", own(&open));
        let page = scene.plane.send(alice.request(Method::GET, &format!("/inbox/bank/{}", id(&wanted.decision)))
            .header("accept", "text/html").body(axum::body::Body::empty()).unwrap()).await.expect(200).text();
        assert!(page.contains("It is unknown whether it was undone"), "{page}");
        assert_eq!(reversals(&scene).len(), 1);
    }

    /// R-21, R-34
    async fn an_undo_goes_on_after_a_crash_without_a_second_request(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        let sent = sent(&scene, "t-7").await;
        scene.bank.set_manner(Manner::Thoughtful);
        let told = sent.told();
        let mut undoing = Box::pin(undo(&scene, &scene.agent, &told));
        tokio::select! {
            answer = &mut undoing => panic!("{}", answer.text()),
            () = scene.bank.wait_for_requests(2) => {}
        }
        drop(undoing);
        assert_eq!(state(&scene, &sent.decision).await, "undoing");
        let scene = restarted(scene).await;
        scene.bank.set_manner(Manner::Obliging);
        undo_due(&scene).await;
        assert_eq!(state(&scene, &sent.decision).await, "undoing", "its request may still be answered");
        scene.plane.advance_secs(30).await;
        undo_due(&scene).await;
        assert_eq!(state(&scene, &sent.decision).await, "unknown");
        assert_eq!(undo(&scene, &scene.agent, &told).await.refusal(), (409, "conflict".into()));
        assert_eq!((reversals(&scene).len(), finished(&scene).await.len()), (1, 1));
    }
}

on_sqlite! {
    /// AAP-14.1-05
    async fn a_call_that_had_no_effect_or_an_unknown_one_has_no_window(kit) {
        let scene = kit.bank_with(reversible).await;
        for manner in [Manner::Status(400), Manner::NoEffect(500), Manner::Status(500)] {
            let decision = scene.approved(BankFixture::transfer()).await;
            scene.bank.set_manner(manner);
            let answer = scene.sends(confirmed_transfer()).await;
            assert_eq!(undo_url(&answer), None, "{}", answer.status);
            assert_eq!(scene.reads_decision(&scene.agent, &decision).await["undo"], Value::Null);
            assert_eq!(presses_undo(&scene, &scene.alice, &decision).await.status, 404);
            scene.bank.set_manner(Manner::Obliging);
        }
        assert_eq!(reversals(&scene).len(), 0);
    }

    /// AAP-14.1-05
    async fn a_response_that_does_not_name_what_to_undo_opens_no_window(kit) {
        let scene = kit.bank_with(reversible).await;
        scene.bank.set_write_response(r#"{"number":7}"#);
        scene.approved(BankFixture::transfer()).await;
        assert_eq!(undo_url(&scene.sends(confirmed_transfer()).await.expect(201)), None);
    }

    /// R-7
    async fn each_call_of_a_standing_approval_has_a_window_of_its_own(kit) {
        let scene = kit.bank_with(reversible).await;
        let transfer = || BankFixture::transfer_of("7.00");
        let asked = asked(&scene, transfer()).await;
        scene.alice.accepts_within(&scene.plane, &asked, json!({ "uses": 5, "seconds": 3000, "released": {} })).await.unwrap();
        let mut urls = Vec::new();
        for n in 0..3 {
            scene.bank.set_write_response(&json!({ "id": format!("s-{n}") }).to_string());
            urls.push(undo_url(&scene.sends(transfer()).await.expect(201)).unwrap());
            scene.plane.advance_secs(1).await;
        }
        let told = |n: usize| json!({ "undo_url": urls[n] });
        undo(&scene, &scene.agent, &told(0)).await.expect(200);
        assert_eq!(reversals(&scene), ["POST /transfers/s-0/reversal"]);
        let phone = scene.alice.subscriber(&scene.plane).await;
        let path = format!("/aaep/v1/questions/{}/undo", id(&asked));
        let unnamed = phone.post(&scene.plane, &path, &json!({})).await;
        assert_eq!(unnamed.refusal(), (400, "invalid_request".into()));
        let call_of = |n: usize| urls[n].rsplit('/').next().unwrap().split_once('.').unwrap().0.to_owned();
        assert!(unnamed.text().contains(&call_of(1)) && !unnamed.text().contains(&call_of(0)), "{}", unnamed.text());
        let named = json!({ "call_id": call_of(1) });
        for _ in 0..2 {
            phone.post(&scene.plane, &path, &named).await.expect(200);
        }
        phone.post(&scene.plane, &path, &json!({ "call_id": "call_of_another" })).await.expect(404);
        assert_eq!(reversals(&scene).last().unwrap(), "POST /transfers/s-1/reversal", "a repeat undoes no other");
        let list = page_of(&scene, "/inbox").await;
        assert!(list.contains(&format!(r#"value="{}""#, call_of(2))) && !list.contains(&call_of(1)), "{list}");
        let later = BankFixture::transfer_of("7.00");
        scene.bank.set_write_response(&json!({ "id": "s-3" }).to_string());
        scene.sends(later).await.expect(201);
        let pressed = presses_undo_of(&scene, &scene.alice, &asked, &call_of(2)).await.expect(303);
        let page = page_of(&scene, pressed.header("location").unwrap()).await;
        assert!(page.contains("The service undid it on"), "of the named call, not of the last one: {page}");
        for n in 0..3 {
            undo(&scene, &scene.agent, &told(n)).await.expect(200);
        }
        assert_eq!(reversals(&scene).len(), 3);
    }

    /// AAP-14.1-05
    async fn after_a_revocation_the_person_still_undoes_what_the_agent_did(kit) {
        let scene = kit.bank_with(reversible).await;
        let sent = sent(&scene, "t-8").await;
        revoke(&scene).await;
        assert_eq!(presses(&scene, &scene.alice, &sent.decision, "yes").await, 303);
        assert_eq!(reversals(&scene), ["POST /transfers/t-8/reversal"]);
    }

    /// R-3
    async fn an_endpoint_that_was_changed_since_undoes_nothing(kit) {
        let scene = kit.bank_with(reversible).await;
        let sent = sent(&scene, "t-9").await;
        let mut document = (*scene.plane.at().await.project.document).clone();
        let undo_now = json!({ "by": "upstream", "request": { "path": "/archive/{response.id}" } });
        document.routes[4].undo = Some(serde_json::from_value(undo_now).unwrap());
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        let answer = undo(&scene, &scene.agent, &sent.told()).await;
        assert!(answer.text().contains("changed since"), "{}", answer.text());
        assert_eq!((scene.bank.effects().len(), state(&scene, &sent.decision).await), (1, json!("remains")));
    }

    async fn its_subscriber_undoes_a_sent_call(kit) {
        let scene = kit.bank_with(reversible).await;
        let sent = sent(&scene, "t-10").await;
        let phone = scene.alice.subscriber(&scene.plane).await;
        let path = format!("/aaep/v1/questions/{}/undo", id(&sent.decision));
        assert_eq!(phone.post(&scene.plane, &path, &json!({})).await.expect(200).json()["state"], "undone");
        assert_eq!(reversals(&scene).len(), 1);
    }

    /// AAP-14.1-06, AAP-15-12
    async fn the_scope_publishes_the_window_and_its_endpoint(kit) {
        let scene = kit.bank_with(reversible).await;
        let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        let scopes = manifest["scopes"].as_array().unwrap();
        let pay = scopes.iter().find(|scope| scope["id"] == "bank.pay").unwrap();
        let sent = sent(&scene, "t-11").await;
        let body = json!({ "undo_id": sent.undo_url.rsplit('/').next().unwrap() });
        assert_eq!(pay["undo_window_s"], 600);
        scene.posts(&scene.agent, pay["undo_endpoint"].as_str().unwrap(), &body).await.expect(200);
        assert_eq!(reversals(&scene).len(), 1);
    }

    /// AAP-14.1-06, R-17
    async fn behind_the_tower_layer_a_call_with_an_undo_window_is_refused_before_anybody_is_asked(kit) {
        for undo in [json!({ "by": "hold" }), json!({ "by": "upstream", "request": { "path": "/calendar/undo" } })] {
            let setup = Setup::with_project(|document| {
                document.upstreams = vec![Upstream { id: "one".into(), url: "http://127.0.0.1:9".into(), ..Upstream::default() }];
                document.routes[2].irreversible = Some(true);
                document.routes[2].undo = Some(serde_json::from_value(undo).unwrap());
                let action = document.routes[2].action.clone();
                for scope in document.scopes.iter_mut().filter(|scope| scope.allows.contains(&action)) {
                    scope.undo_window_s = Some(30);
                }
            });
            let scene = kit.fixture_with(setup, &["calendar.read", "calendar.write"]).await;
            let answer = scene.write().await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{}", answer.text());
            assert!(answer.text().contains("only served through the proxy"), "{}", answer.text());
        }
    }

    /// R-3
    async fn an_upstream_names_no_undo_of_its_own(kit) {
        let scene = kit.bank().await;
        scene.bank.set_response_header("x-agent-undo-url", "https://elsewhere.test/undo");
        let answer = scene.sends(GatewayRequest::new("POST", "/notes").json(r#"{"text":"x"}"#)).await.expect(201);
        assert_eq!(undo_url(&answer), None);
    }
}

/// R-21, R-35
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_nodes_one_asks_the_upstream_to_undo_a_call() {
    let scene = Kit(Backend::Postgres).bank_with(reversible).await;
    let (engine, _) = scene.plane.second_node().await;
    let _second = GatewayListener::open(&engine, |_| {}).await;
    for n in 0..4 {
        let sent = sent(&scene, &format!("two-{n}")).await;
        let told = sent.told();
        let due = async || engine.calls().undo_due().await.unwrap();
        let by_agent = async |agent: &Holder| undo(&scene, agent, &told).await;
        let (first, second, ..) =
            tokio::join!(by_agent(&scene.agent), presses(&scene, &scene.alice, &sent.decision, "yes"), due(), due());
        assert_eq!((first.status, second), (200, 303), "{}", first.text());
        assert_eq!(reversals(&scene).len(), n + 1);
    }
}
