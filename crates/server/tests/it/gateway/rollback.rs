//! `POST /agent/cancel` with routes that can be undone: the rollback is tried once a step, and told as it is (AAP 17.7).

use super::{held::*, proofs::restarted};
use axum::body::Body;
use countersign_jose::ProofKey;
use countersign_protocol::project::{ProjectDocument, RouteUndo, Upstream};
use countersign_testkit::{
    Answer, Backend, Kit, Plane, Setup,
    bank::{BankFixture, GatewayListener, GatewayRequest, Holder, Manner},
    leaks::Haystack,
    on_both_stores, on_sqlite, send_to,
};
use http::{Method, header};
use serde_json::{Value, json};

/// Notes are undone by the id in their response, orders by a member of their body.
fn reversible(document: &mut ProjectDocument) {
    for route in &mut document.routes {
        route.cancel = match route.id.as_str() {
            "notes" => Some(json!({ "method": "DELETE", "path": "/notes/{response.note.id}" })),
            "orders" => Some(json!({ "path": "/orders/{body.order}/cancel?by=countersign" })),
            _ => None,
        }
        .map(|cancel| serde_json::from_value(cancel).unwrap());
    }
}

fn note(text: &str) -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(json!({ "text": text }).to_string())
}

async fn writes_note(scene: &BankFixture, id: &str) {
    scene.bank.set_write_response(&json!({ "note": { "id": id } }).to_string());
    scene.sends(note(id)).await.expect(201);
}

/// An approved order, and its decision.
async fn orders(scene: &BankFixture, order: &str) -> Value {
    let request = || GatewayRequest::new("POST", "/orders").json(json!({ "order": order }).to_string());
    let decision = scene.approved(request()).await;
    scene.sends(request().confirmed("true")).await.expect(201);
    decision
}

fn by_operator(plane: &Plane, agent: &Holder) -> Value {
    json!({ "session_id": agent.session_id, "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) })
}

async fn cancels(scene: &BankFixture) -> Value {
    scene.plane.post("/agent/cancel", &by_operator(&scene.plane, &scene.agent)).await.expect(200).json()
}

/// Method and target of the writes that reached the bank.
fn reached(scene: &BankFixture) -> Vec<String> {
    scene.bank.effects().iter().map(|got| format!("{} {}", got.method, got.target)).collect()
}

fn actions(steps: &Value) -> Vec<&str> {
    steps.as_array().unwrap().iter().map(|step| step["action"].as_str().unwrap()).collect()
}

async fn entries(scene: &BankFixture, event_type: &str) -> Vec<Value> {
    let query = format!("/agent/audit?delegation_id={}&event_type={event_type}", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

on_both_stores! {
    /// AAP-17.7-01, AAP-17.7-03, AAP-12.2-07, AAP-17.7-02, R-3
    async fn every_write_of_the_session_is_undone_once_and_the_newest_first(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        writes_note(&scene, "n 1").await;
        let decision = orders(&scene, "o-1").await;
        writes_note(&scene, "n-2").await;
        let other = scene.another(|_| {}).await;
        scene.bank.set_write_response(r#"{"note":{"id":"of-another"}}"#);
        scene.sends_as(&other, note("of another session")).await.expect(201);
        Haystack::stored(&scene.plane.place).await.assert_absent("the path of a cancel endpoint", "/notes/n%201");

        let told = cancels(&scene).await;
        assert_eq!((&told["rollback_status"], &told["rollback"]["finished"]), (&json!("completed"), &json!(true)), "{told:#}");
        let undone = &told["rollback"]["undone"];
        assert_eq!(actions(undone), ["notes.write", "orders.place", "notes.write"]);
        assert_eq!(undone[1]["decision_id"], decision["decision_id"]);
        let wanted = ["DELETE /notes/n-2", "POST /orders/o-1/cancel?by=countersign", "DELETE /notes/n%201"];
        assert_eq!(reached(&scene)[4..], wanted, "nothing of the other session");
        for sent in &scene.bank.effects()[4..] {
            let mut names: Vec<&str> = sent.headers.keys().map(http::HeaderName::as_str).collect();
            names.retain(|name| *name != "content-length");
            names.sort_unstable();
            assert_eq!((names, sent.body.len()), (vec!["accept", "authorization", "host"], 0));
            assert_eq!(sent.headers["authorization"], "Bearer the-banks-own-secret");
        }

        let finished = entries(&scene, "rollback_finished").await;
        assert_eq!(finished.len(), 1);
        assert_eq!((&finished[0]["rollback_status"], &finished[0]["rollback"]), (&json!("completed"), &told["rollback"]));
        let calls = scene.calls().await;
        assert!(calls.iter().any(|call| call["call_id"] == undone[1]["call_id"]), "the audit names the same calls");
        assert_eq!(cancels(&scene).await, told);
        let scene = scene.restarted().await;
        assert_eq!((cancels(&scene).await, reached(&scene).len()), (told, 7), "the same answer, and no second request");
    }

    /// AAP-17.7-03, AAP-17.7-02, AAP-12.2-08, R-34
    async fn what_is_refused_or_lost_is_told_as_such_and_never_tried_again(kit) {
        let scene = kit.bank_with(reversible).await;
        writes_note(&scene, "n-1").await;
        scene.bank.set_manner(Manner::Status(409));
        let told = cancels(&scene).await;
        assert_eq!(told["rollback_status"], json!("partial"));
        assert_eq!(told["rollback"]["done"][0]["why"], json!("the service refused to undo it: 409"), "{told:#}");

        for (manner, why) in [(Manner::Vanishing, "its answer was lost"), (Manner::Status(500), "its answer was lost")] {
            let agent = scene.another(|_| {}).await;
            scene.bank.set_manner(Manner::Obliging);
            scene.bank.set_write_response(r#"{"note":{"id":"lost"}}"#);
            scene.sends_as(&agent, note("to be lost")).await.expect(201);
            scene.bank.set_manner(manner);
            let before = reached(&scene).len();
            let cancel = by_operator(&scene.plane, &agent);
            let told = scene.plane.post("/agent/cancel", &cancel).await.expect(200).json();
            assert_eq!((&told["rollback_status"], &told["rollback"]["undone"]), (&json!("partial"), &json!([])));
            assert!(told["rollback"]["unknown"][0]["why"].as_str().unwrap().contains(why), "{told:#}");
            scene.bank.set_manner(Manner::Obliging);
            let sent = reached(&scene).len();
            assert!(sent <= before + 1);
            assert_eq!(scene.plane.post("/agent/cancel", &cancel).await.expect(200).json(), told);
            scene.plane.advance_secs(600).await;
            scene.plane.engine.agents().roll_back_due().await.unwrap();
            assert_eq!(reached(&scene).len(), sent, "never tried again");
        }
        assert_eq!(entries(&scene, "rollback_finished").await.len(), 3);
    }

    /// AAP-17.7-03, AAP-12.2-08, AAP-17.7-02
    async fn writes_that_no_route_can_undo_are_listed_as_done(kit) {
        let scene = kit.bank().await;
        scene.sends(note("stays")).await.expect(201);
        scene.plane.advance_secs(1).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.sends(confirmed_transfer()).await.expect(201);
        scene.bank.set_manner(Manner::Status(400));
        scene.sends(note("refused")).await.expect(400);
        scene.bank.set_manner(Manner::Obliging);
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        let told = cancels(&scene).await;
        assert_eq!(told["rollback_status"], json!("not_supported"), "{told:#}");
        assert_eq!(actions(&told["rollback"]["done"]), ["notes.write", "transfers.send"]);
        assert_eq!(told["rollback"]["done"][1]["decision_id"], decision["decision_id"]);
        assert_eq!(reached(&scene).len(), 2, "nothing was asked of the bank");
        let finished = entries(&scene, "rollback_finished").await;
        assert_eq!((&finished[0]["rollback_status"], &finished[0]["rollback"]), (&json!("not_supported"), &told["rollback"]));
    }

    /// AAP-17.7-02, AAP-17.7-03, R-5
    async fn a_session_without_writes_leaves_nothing_and_its_pending_calls_never_run(kit) {
        let scene = kit.bank_with(|document| {
            reversible(document);
            document.routes[4].undo = Some(RouteUndo::HOLD);
            document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(30);
        }).await;
        let asked = asked(&scene, refund("p-1", "pending")).await;
        let approved = scene.approved(refund("p-2", "approved")).await;
        let held = scene.approved(BankFixture::transfer()).await;
        scene.sends(confirmed_transfer()).await.expect(202);
        let told = cancels(&scene).await;
        assert_eq!(told["rollback_status"], json!("completed"), "{told:#}");
        let mut dropped: Vec<Value> =
            told["rollback"]["not_done"].as_array().unwrap().iter().map(|step| step["decision_id"].clone()).collect();
        dropped.sort_by_key(Value::to_string);
        let mut wanted = [&asked, &approved, &held].map(|decision| decision["decision_id"].clone());
        wanted.sort_by_key(Value::to_string);
        assert_eq!(dropped, wanted);
        scene.plane.advance_secs(60).await;
        scene.plane.engine.calls().send_queued().await.unwrap();
        assert_eq!(reached(&scene).len(), 0);
    }

    /// R-21, R-34, AAP-17.7-01
    async fn a_rollback_goes_on_after_a_crash_without_a_second_request(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
        writes_note(&scene, "n-1").await;
        writes_note(&scene, "n-2").await;
        scene.bank.set_manner(Manner::Thoughtful);
        let plane = &scene.plane;
        let body = by_operator(plane, &scene.agent);
        let mut cancel = Box::pin(plane.post("/agent/cancel", &body));
        tokio::select! {
            told = &mut cancel => panic!("{}", told.text()),
            () = scene.bank.wait_for_requests(3) => {}
        }
        drop(cancel);
        let scene = restarted(scene).await;
        scene.bank.set_manner(Manner::Obliging);
        assert_eq!(scene.sends(note("after the end")).await.refusal(), (401, "access_token_invalid".into()));
        scene.plane.engine.agents().roll_back_due().await.unwrap();
        assert_eq!(entries(&scene, "rollback_finished").await.len(), 0, "its request may still be answered");
        scene.plane.advance_secs(30).await;
        scene.plane.engine.agents().roll_back_due().await.unwrap();
        let told = cancels(&scene).await;
        assert_eq!((&told["rollback_status"], &told["rollback"]["finished"]), (&json!("partial"), &json!(true)), "{told:#}");
        assert_eq!((told["rollback"]["unknown"].as_array().unwrap().len(), told["rollback"]["undone"].as_array().unwrap().len()), (1, 1));
        let undone: Vec<String> = reached(&scene).into_iter().filter(|sent| sent.starts_with("DELETE")).collect();
        assert_eq!(undone, ["DELETE /notes/n-2", "DELETE /notes/n-1"]);
        assert_eq!(entries(&scene, "rollback_finished").await.len(), 1);
    }
}

on_sqlite! {
    /// R-34
    async fn a_repeat_during_the_rollback_says_that_it_is_not_finished_and_a_late_answer_changes_nothing(kit) {
        let scene = kit.bank_with(reversible).await;
        writes_note(&scene, "n-1").await;
        scene.bank.set_manner(Manner::Thoughtful);
        let first = cancels(&scene);
        let meanwhile = async {
            scene.bank.wait_for_requests(2).await;
            scene.plane.advance_secs(30).await;
            scene.plane.engine.agents().roll_back_due().await.unwrap();
            let told = cancels(&scene).await;
            scene.bank.release_response();
            told
        };
        let (first, repeat) = tokio::join!(first, meanwhile);
        assert_eq!(repeat["rollback_status"], json!("partial"), "{repeat:#}");
        assert_eq!(repeat["rollback"]["unknown"].as_array().unwrap().len(), 1);
        assert_eq!(first, repeat, "an answer after the lease of its request counts no more");
        assert_eq!(reached(&scene).len(), 2);
    }

    /// R-34
    async fn a_lost_write_and_one_without_the_member_that_undoes_it_are_not_called_undone(kit) {
        let scene = kit.bank_with(reversible).await;
        scene.bank.set_write_response(r#"{"note":{}}"#);
        scene.sends(note("no id")).await.expect(201);
        let long = json!({ "note": { "id": "n", "text": "x".repeat(1 << 20) } }).to_string();
        scene.bank.set_write_response(&long);
        let told = scene.sends(note("too long to read first")).await.expect(201);
        assert_eq!(told.text(), long, "the agent gets all of it");
        scene.bank.set_manner(Manner::Status(500));
        scene.sends(note("lost")).await.expect(500);
        scene.bank.set_manner(Manner::Obliging);
        let told = cancels(&scene).await;
        assert_eq!((&told["rollback_status"], &told["rollback"]["undone"]), (&json!("partial"), &json!([])), "{told:#}");
        assert_eq!((actions(&told["rollback"]["done"]).len(), actions(&told["rollback"]["unknown"]).len()), (2, 1));
        assert_eq!(reached(&scene).len(), 2, "the bank records no failures");
    }

    async fn an_endpoint_that_was_changed_since_undoes_nothing(kit) {
        let scene = kit.bank_with(reversible).await;
        writes_note(&scene, "n-1").await;
        let mut document = countersign_testkit::bank::bank("bank", &scene.bank.url());
        reversible(&mut document);
        document.routes[3].cancel.as_mut().unwrap().path = "/archive/{response.note.id}".into();
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        let told = cancels(&scene).await;
        assert_eq!(told["rollback_status"], json!("partial"));
        assert!(told["rollback"]["done"][0]["why"].as_str().unwrap().contains("changed since"), "{told:#}");
        assert_eq!(reached(&scene).len(), 1);
    }

    async fn a_session_that_is_opened_again_and_cancelled_tells_of_its_new_steps_alone(kit) {
        let scene = kit.bank_with(reversible).await;
        let acme = scene.plane.acme();
        let mut claims = scene.plane.receipt_claims(acme, "alice", &scene.connected, &["bank.note"]);
        let mut told = Vec::new();
        for n in 0..2 {
            claims["iat"] = json!(scene.plane.now().secs());
            let receipt = acme.sign_receipt(&claims);
            let agent = scene.another(|body| body["consent_receipt"] = json!(receipt)).await;
            scene.bank.set_write_response(&json!({ "note": { "id": format!("n-{n}") } }).to_string());
            scene.sends_as(&agent, note("again")).await.expect(201);
            told.push(scene.plane.post("/agent/cancel", &by_operator(&scene.plane, &agent)).await.expect(200).json());
            scene.plane.advance_secs(1).await;
        }
        for told in &told {
            assert_eq!((&told["rollback_status"], actions(&told["rollback"]["undone"]).len()), (&json!("completed"), 1), "{told:#}");
        }
        assert_eq!(reached(&scene), ["POST /notes", "DELETE /notes/n-0", "POST /notes", "DELETE /notes/n-1"]);
    }

    /// R-3, AAP-17.7-01
    async fn a_session_is_not_opened_again_while_it_is_being_undone(kit) {
        let scene = kit.bank_with(reversible).await;
        writes_note(&scene, "n-1").await;
        let acme = scene.plane.acme();
        let mut claims = scene.plane.receipt_claims(acme, "alice", &scene.connected, &["bank.note"]);
        claims["session_id"] = json!(scene.agent.session_id);
        let receipt = acme.sign_receipt(&claims);
        let mut again = scene.plane.register_body(acme, &scene.connected);
        again["session_id"] = json!(scene.agent.session_id);
        again["consent_receipt"] = json!(receipt);
        scene.bank.set_manner(Manner::Thoughtful);
        let meanwhile = async {
            scene.bank.wait_for_requests(2).await;
            let refused = scene.plane.try_holder_with(&again, ProofKey::generate().ok()).await;
            scene.bank.release_response();
            refused
        };
        let (told, refused) = tokio::join!(cancels(&scene), meanwhile);
        assert_eq!(refused.refusal(), (409, "conflict".into()), "{}", refused.text());
        assert_eq!(told["rollback_status"], json!("completed"));
        scene.plane.try_holder_with(&again, ProofKey::generate().ok()).await.expect(200);
    }

    async fn a_completed_task_is_not_undone(kit) {
        let scene = kit.bank_with(reversible).await;
        writes_note(&scene, "n-1").await;
        scene.posts(&scene.agent, "/agent/task-complete", &json!({ "session_id": scene.agent.session_id })).await.expect(200);
        for _ in 0..2 {
            let told = cancels(&scene).await;
            assert_eq!((&told["rollback_status"], &told["rollback"]), (&json!("not_supported"), &Value::Null));
        }
        assert_eq!(reached(&scene).len(), 1);
    }

    async fn its_person_ends_a_task_on_the_agents_page_and_nobody_else_does(kit) {
        let scene = kit.bank_with(reversible).await;
        writes_note(&scene, "n-1").await;
        let bob = scene.plane.person_in("bank", "bob", &[]).await;
        let path = format!("/agents/{}", scene.connected.delegation_id);
        let page = async |query: &str| -> String {
            let request = scene.alice.request(Method::GET, &format!("{path}{query}")).header(header::ACCEPT, "text/html");
            scene.plane.send(request.body(Body::empty()).unwrap()).await.expect(200).text()
        };
        assert!(page("").await.contains("End this task"));
        let press = async |who: &countersign_testkit::TestPerson, csrf: &str| -> Answer {
            let form = format!("csrf={csrf}&session_id={}", scene.agent.session_id);
            let request = who
                .request(Method::POST, &format!("{path}/end-task"))
                .header(header::ACCEPT, "text/html")
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            scene.plane.send(request.body(Body::from(form)).unwrap()).await
        };
        assert_eq!(press(&bob, &bob.csrf).await.status, 404);
        assert_eq!(press(&scene.alice, "forged").await.status, 403);
        let body = json!({ "session_id": scene.agent.session_id });
        assert_eq!(bob.post(&scene.plane, "/agent/cancel", &body).await.refusal(), (404, "session_not_found".into()));
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        let pressed = press(&scene.alice, &scene.alice.csrf).await.expect(303);
        assert!(pressed.header("location").unwrap().ends_with("?ended=completed"));
        assert!(page("?ended=completed").await.contains("Nothing that it changed remains"));
        assert!(!page("").await.contains("End this task"));
        let ended = scene.sends(GatewayRequest::new("GET", "/accounts")).await;
        assert_eq!(ended.refusal(), (401, "access_token_invalid".into()));
        assert_eq!(entries(&scene, "session_cancelled").await[0]["by"], json!("user"));
        assert_eq!(reached(&scene), ["POST /notes", "DELETE /notes/n-1"]);
    }

    /// AAP-17.7-03
    async fn behind_the_tower_layer_nothing_is_undone_and_that_is_told(kit) {
        let setup = Setup::with_project(|document| {
            document.upstreams = vec![Upstream { id: "one".into(), url: "http://127.0.0.1:9".into(), ..Upstream::default() }];
            document.routes[2].cancel = Some(serde_json::from_value(json!({ "path": "/calendar/cancel" })).unwrap());
        });
        let scene = kit.fixture_with(setup, &["calendar.read", "calendar.write"]).await;
        scene.write().await.expect(201);
        let plane = &scene.plane;
        let jwt = plane.acme().jwt(plane.service(), plane.now());
        let body = json!({ "session_id": scene.agent.session_id, "operator_jwt": jwt });
        let told = plane.post("/agent/cancel", &body).await.expect(200).json();
        assert_eq!((&told["rollback_status"], actions(&told["rollback"]["done"])), (&json!("not_supported"), vec!["events.create"]));
    }
}

/// R-34, R-21
#[tokio::test]
async fn two_nodes_that_cancel_at_once_undo_each_write_once() {
    let scene = Kit(Backend::Postgres).bank_with(reversible).await;
    let (engine, router) = scene.plane.second_node().await;
    let _second = GatewayListener::open(&engine, |_| {}).await;
    for n in 0..4 {
        writes_note(&scene, &format!("n-{n}")).await;
    }
    let body = Body::from(by_operator(&scene.plane, &scene.agent).to_string());
    let elsewhere = countersign_testkit::agent_request(Method::POST, "/agent/cancel").body(body).unwrap();
    let (first, second) = tokio::join!(cancels(&scene), send_to(&router, elsewhere));
    assert_eq!(first, second.expect(200).json());
    assert_eq!(first["rollback_status"], json!("completed"), "{first:#}");
    assert_eq!(
        reached(&scene)[4..],
        ["DELETE /notes/n-3", "DELETE /notes/n-2", "DELETE /notes/n-1", "DELETE /notes/n-0"]
    );
    assert_eq!(entries(&scene, "rollback_finished").await.len(), 1);
    assert_eq!(entries(&scene, "consent_revoked").await.len() + entries(&scene, "session_cancelled").await.len(), 1);
}
