//! Undo windows: an approved call is held, and undone or sent once when its window closes (AAP 14.1).

use super::held::*;
use axum::body::Body;
use countersign_engine::{Engine, Role};
use countersign_protocol::project::{ProjectDocument, RouteUndo};
use countersign_testkit::{
    Answer, Backend, Kit, TestPerson,
    bank::{BankFixture, GatewayListener, GatewayRequest, Holder, Manner},
    on_both_stores, on_sqlite, stored_evidence,
};
use http::{Method, header};
use serde_json::{Value, json};
use std::sync::Arc;

/// Transfers are held for half a minute.
fn undoable(document: &mut ProjectDocument) {
    window(document, Some(30));
}

fn window(document: &mut ProjectDocument, seconds: Option<i64>) {
    document.routes[4].undo = Some(RouteUndo::HOLD);
    document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = seconds;
}

/// An approved transfer in its undo window, with the 202 that says so.
async fn held(scene: &BankFixture) -> Value {
    held_by(scene, &scene.agent).await
}

async fn held_by(scene: &BankFixture, agent: &Holder) -> Value {
    let asked = BankFixture::decision(&scene.sends_as(agent, BankFixture::transfer()).await);
    scene.alice.accepts(&scene.plane, &asked).await;
    let told = scene.sends_as(agent, confirmed_transfer()).await.expect(202).json();
    assert_eq!(told["decision_id"], asked["decision_id"]);
    assert_eq!(scene.bank.got().len(), 0, "nothing leaves within the window");
    told
}

/// The path of an undo URL.
pub(super) fn path(scene: &BankFixture, told: &Value) -> String {
    told["undo_url"].as_str().unwrap().strip_prefix(scene.plane.service()).unwrap().to_owned()
}

pub(super) async fn undo(scene: &BankFixture, agent: &Holder, told: &Value) -> Answer {
    scene.requests(agent, Method::POST, &path(scene, told)).await
}

async fn send_due(engine: &Arc<Engine>) {
    engine.calls().send_queued().await.unwrap();
}

/// Lets the window close, and gives every node a chance to send, also later.
async fn closes(scene: &BankFixture) {
    scene.plane.advance_secs(30).await;
    send_due(&scene.plane.engine).await;
    for _ in 0..8 {
        scene.plane.advance_secs(10).await;
        send_due(&scene.plane.engine).await;
    }
}

/// The call never left, now or later, and its request is not stored any more.
async fn never_leaves(scene: &BankFixture) {
    closes(scene).await;
    assert_eq!(scene.bank.got().len(), 0);
    assert_eq!(scene.sealed_requests().await.len(), 0);
}

pub(super) async fn state(scene: &BankFixture, told: &Value) -> Value {
    scene.reads_decision(&scene.agent, told).await["undo"]["state"].clone()
}

pub(super) async fn page_of(scene: &BankFixture, path: &str) -> String {
    let request = scene.alice.request(Method::GET, path).header(header::ACCEPT, "text/html");
    scene.plane.send(request.body(Body::empty()).unwrap()).await.expect(200).text()
}

pub(super) async fn presses_undo(scene: &BankFixture, who: &TestPerson, told: &Value) -> Answer {
    presses_undo_of(scene, who, told, "yes").await
}

pub(super) async fn presses_undo_of(scene: &BankFixture, who: &TestPerson, told: &Value, named: &str) -> Answer {
    let form = format!("csrf={}&undo={named}", who.csrf);
    let request = who
        .request(Method::POST, &format!("/inbox/bank/{}", id(told)))
        .header(header::ACCEPT, "text/html")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    scene.plane.send(request.body(Body::from(form)).unwrap()).await
}

on_both_stores! {
    /// AAP-14.1-05, AAP-G-58, R-5, R-26
    async fn an_approved_call_is_held_for_its_window_and_then_sent_exactly_once(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        let url = told["undo_url"].as_str().unwrap();
        assert!(url.split_once("/agent/undo/").unwrap().1.len() > 60, "{url}");
        assert_eq!(told["expires_at"], json!(scene.plane.now().plus_secs(30).to_rfc3339()));
        let looked = scene.reads_decision(&scene.agent, &told).await;
        assert_eq!((&looked["undo"]["state"], &looked["undo"]["undo_url"]), (&json!("open"), &told["undo_url"]));
        assert!(looked["confirm_token"].is_null() && looked["redeem"].is_null(), "{looked}");
        let [sealed] = scene.sealed_requests().await.try_into().expect("one stored request");
        assert!(!sealed.contains("82000") && !sealed.contains("theirs"));
        scene.plane.advance_secs(29).await;
        send_due(&scene.plane.engine).await;
        assert_eq!(scene.bank.got().len(), 0);
        scene.plane.advance_secs(1).await;
        tokio::join!(send_due(&scene.plane.engine), send_due(&scene.plane.engine));
        assert_eq!(scene.bank.effects().len(), 1);
        let wanted = BankFixture::transfer();
        assert_eq!(scene.bank.effects()[0].body, wanted.body.as_slice());
        assert_eq!(execution(&scene, &told).await, "committed");
        assert_eq!(state(&scene, &told).await, "closed");
        closes(&scene).await;
        assert_eq!((scene.bank.effects().len(), scene.sealed_requests().await.len()), (1, 0));
        let outcomes: Vec<Value> = scene.calls().await.iter().map(|call| call["outcome"].clone()).collect();
        assert!(outcomes.contains(&json!("202 Accepted")) && outcomes.contains(&json!("201 Created")), "{outcomes:?}");
    }

    /// AAP-14.1-05, AAP-14.1-08, AAP-G-58
    async fn an_undone_call_never_leaves_and_a_repeated_undo_gets_the_same_answer(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        scene.plane.advance_secs(29).await;
        let undone = undo(&scene, &scene.agent, &told).await.expect(200).json();
        assert_eq!((&undone["state"], &undone["decision_id"]), (&json!("undone"), &told["decision_id"]));
        scene.plane.advance_secs(5).await;
        assert_eq!(undo(&scene, &scene.agent, &told).await.expect(200).json(), undone);
        never_leaves(&scene).await;
        assert_eq!(state(&scene, &told).await, "undone");
        let entries = stored_evidence(&scene.plane.place).await;
        let cancelled = entries.iter().find(|entry| entry.event_type == "allowance_cancelled").expect("an entry");
        let leaf: Value = serde_json::from_slice(&cancelled.leaf).unwrap();
        assert_eq!((&leaf["cancelled_for"], &leaf["role"]), (&json!("undone"), &json!("agent")));
        assert!(entries.iter().any(|entry| entry.event_type == "undo_window_opened"));
        assert_eq!(scene.sends(redeem(&told)).await.refusal(), (404, "not_found".into()));
    }

    /// AAP-14.1-08
    async fn the_declared_endpoint_undoes_by_the_same_id_and_refuses_when_the_window_has_closed(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        let pay = manifest["scopes"].as_array().unwrap().iter().find(|scope| scope["id"] == "bank.pay").unwrap().clone();
        let endpoint = pay["undo_endpoint"].as_str().expect("an endpoint");
        let body = |told: &Value| json!({ "undo_id": told["undo_url"].as_str().unwrap().rsplit('/').next().unwrap() });
        let first = held(&scene).await;
        scene.posts(&scene.agent, endpoint, &json!({})).await.expect(400);
        scene.posts(&scene.agent, endpoint, &body(&first)).await.expect(200);
        let late = held(&scene).await;
        scene.plane.advance_secs(30).await;
        for answer in [undo(&scene, &scene.agent, &late).await, scene.posts(&scene.agent, endpoint, &body(&late)).await] {
            assert_eq!(answer.refusal(), (409, "undo_window_closed".into()), "{}", answer.text());
        }
        send_due(&scene.plane.engine).await;
        assert_eq!(undo(&scene, &scene.agent, &late).await.refusal(), (409, "undo_window_closed".into()));
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// AAP-G-58
    async fn a_guessed_id_and_another_sessions_look_alike_and_undo_nothing(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        let good = path(&scene, &told);
        let (stem, mac) = good.rsplit_once('.').unwrap();
        let other_digit = if mac.ends_with('0') { '1' } else { '0' };
        let forged = format!("{stem}.{}{other_digit}", &mac[..mac.len() - 1]);
        let unknown = format!("/agent/undo/dec_{:032x}.{mac}", 7);
        let mut seen = Vec::new();
        for guessed in [forged, stem.to_owned(), unknown, "/agent/undo/x".into()] {
            seen.push(scene.requests(&scene.agent, Method::POST, &guessed).await);
        }
        let other = scene.another(|_| {}).await;
        seen.push(undo(&scene, &other, &told).await);
        for answer in &seen {
            assert_eq!(answer.refusal(), (404, "not_found".into()), "{}", answer.text());
            assert_eq!(answer.json()["error_description"], seen[0].json()["error_description"]);
        }
        let nobody = countersign_testkit::agent_request(Method::POST, &good).body(Body::empty()).unwrap();
        assert_eq!(scene.plane.send(nobody).await.status, 401);
        let bob = scene.plane.person("bob").await;
        assert_eq!(presses_undo(&scene, &bob, &told).await.status, 404);
        assert_eq!(state(&scene, &told).await, "open");
    }

    /// R-5, R-23, AAP-8.2-01
    async fn a_held_call_ends_with_its_delegation(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        held(&scene).await;
        revoke(&scene).await;
        assert_eq!(scene.sealed_requests().await.len(), 0, "in the revocation's own transaction");
        never_leaves(&scene).await;
    }

    /// R-5
    async fn a_held_call_ends_with_its_session_and_with_the_end_of_its_task(kit) {
        for endpoint in ["/agent/cancel", "/agent/task-complete"] {
            let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
            held(&scene).await;
            scene.posts(&scene.agent, endpoint, &json!({ "session_id": scene.agent.session_id })).await.expect(200);
            never_leaves(&scene).await;
        }
    }

    /// R-5
    async fn a_held_call_is_not_sent_when_its_approver_is_no_longer_entitled(kit) {
        let approver = |document: &mut ProjectDocument| {
            undoable(document);
            document.routes[4].approvers = vec!["role:approver".into()];
        };
        let (scene, _folder) = BankFixture::lasting(kit, approver).await;
        let carol = scene.plane.person_in("bank", "carol", &[Role::Approver]).await;
        let asked = asked(&scene, BankFixture::transfer()).await;
        carol.accepts(&scene.plane, &asked).await;
        let told = scene.sends(confirmed_transfer()).await.expect(202).json();
        scene.plane.give_roles("bank", "carol", &[Role::User]).await;
        never_leaves(&scene).await;
        assert_eq!(state(&scene, &told).await, "not_sent");
    }

    /// R-36
    async fn a_held_call_of_a_restored_database_never_leaves(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        held(&scene).await;
        scene.plane.engine.start_epoch().await.unwrap();
        never_leaves(&scene).await;
    }

    /// R-21
    async fn a_restart_within_the_window_changes_nothing(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        let scene = scene.restarted().await;
        assert_eq!(state(&scene, &told).await, "open");
        scene.plane.advance_secs(29).await;
        send_due(&scene.plane.engine).await;
        assert_eq!(scene.bank.effects().len(), 0);
        scene.plane.advance_secs(1).await;
        send_due(&scene.plane.engine).await;
        assert_eq!(scene.bank.effects().len(), 1);
        assert_eq!(execution(&scene, &told).await, "committed");
    }

    /// R-21
    async fn what_fell_due_while_nothing_was_running_is_not_sent(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        scene.plane.advance_without_settling(31).await;
        let scene = scene.restarted().await;
        send_due(&scene.plane.engine).await;
        assert_eq!(scene.bank.got().len(), 0);
        never_leaves(&scene).await;
        assert_eq!(state(&scene, &told).await, "not_sent");
    }

    /// R-6
    async fn the_same_request_is_refused_with_the_decision_while_it_is_held(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        for sent in [BankFixture::transfer(), confirmed_transfer(), BankFixture::transfer().waits(1), redeem(&told)] {
            let answer = scene.sends(sent).await;
            assert_eq!(answer.refusal(), (409, "conflict".into()), "{}", answer.text());
            assert!(answer.text().contains(id(&told)), "{}", answer.text());
        }
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 0);
        closes(&scene).await;
        assert_eq!(scene.bank.effects().len(), 1);
    }
}

on_sqlite! {
    /// AAP-14.1-06, AAP-15-12
    async fn the_window_is_the_one_that_the_scope_declares(kit) {
        for (seconds, irreversible, published) in
            [(Some(0), false, 0), (Some(5), false, 5), (Some(5), true, 5), (None, true, 30), (Some(0), true, 0)]
        {
            let (scene, _folder) = BankFixture::lasting(kit, |document| {
                window(document, seconds);
                document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().irreversible = irreversible;
            }).await;
            let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
            let scopes = manifest["scopes"].as_array().unwrap();
            let of = |id: &str| scopes.iter().find(|scope| scope["id"] == id).unwrap();
            assert_eq!(of("bank.pay")["undo_window_s"], published);
            assert_eq!(of("bank.pay")["undo_endpoint"].is_string(), published > 0);
            // Irreversible, and no route of it can be undone.
            assert_eq!((&of("bank.payees")["undo_window_s"], &of("bank.payees")["undo_endpoint"]), (&json!(0), &Value::Null));
            let asked = asked(&scene, BankFixture::transfer()).await;
            scene.alice.accepts(&scene.plane, &asked).await;
            if published == 0 {
                scene.sends(confirmed_transfer()).await.expect(201);
                continue;
            }
            scene.sends(confirmed_transfer()).await.expect(202);
            scene.plane.advance_secs(published - 1).await;
            send_due(&scene.plane.engine).await;
            assert_eq!(scene.bank.effects().len(), 0);
            scene.plane.advance_secs(1).await;
            send_due(&scene.plane.engine).await;
            assert_eq!(scene.bank.effects().len(), 1);
        }
    }

    /// R-5
    async fn every_way_to_claim_an_approval_holds_the_call(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let confirm = async |decision: &Value| scene.plane.confirm_token(id(decision)).await;
        for (n, way) in ["redeem", "token", "wait"].into_iter().enumerate() {
            let transfer = BankFixture::transfer_of(&format!("{n}.50"));
            let decision = scene.approved(transfer.clone()).await;
            let sent = match way {
                "redeem" => redeem(&decision),
                "token" => transfer.confirmed(&confirm(&decision).await),
                _ => transfer.waits(1),
            };
            scene.sends(sent).await.expect(202);
        }
        assert_eq!(scene.bank.got().len(), 0);
        closes(&scene).await;
        assert_eq!(scene.bank.effects().len(), 3);
    }

    /// R-5
    async fn a_held_call_is_not_sent_by_other_rules_nor_over_its_limits(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        held(&scene).await;
        let mut document = (*scene.plane.at().await.project.document).clone();
        document.routes[4].approvers = vec!["role:approver".into()];
        scene.plane.engine.apply_project(document, "test").await.expect("a sound document");
        never_leaves(&scene).await;

        let (mut scene, _folder) = BankFixture::lasting(kit, undoable).await;
        scene.agent = scene.limited(json!({ "writes_per_session": 1 })).await;
        let told = held(&scene).await;
        let note = GatewayRequest::new("POST", "/notes").json(r#"{"note":"first"}"#);
        scene.sends(note).await.expect(201);
        closes(&scene).await;
        assert_eq!(scene.bank.effects().len(), 1, "the note alone");
        assert_eq!(state(&scene, &told).await, "not_sent");
    }

    /// R-5
    async fn a_held_call_is_not_sent_after_its_receipt(kit) {
        let (mut scene, _folder) = BankFixture::lasting(kit, |document| window(document, Some(600))).await;
        let ends = scene.plane.now().secs() + 60;
        scene.agent = scene.with_receipt(|claims| claims["exp"] = ends.into()).await;
        held(&scene).await;
        scene.plane.advance_secs(600).await;
        send_due(&scene.plane.engine).await;
        never_leaves(&scene).await;
    }

    /// R-6
    async fn an_upstream_that_cannot_be_reached_gets_the_call_later_or_never(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        scene.bank.set_manner(Manner::Vanishing);
        scene.plane.advance_secs(30).await;
        send_due(&scene.plane.engine).await;
        assert_eq!(execution(&scene, &told).await, "unknown");
        closes(&scene).await;
        assert_eq!(scene.bank.effects().len(), 1, "never sent a second time");

        let (scene, _folder) = BankFixture::lasting(kit, |document| {
            undoable(document);
            document.upstreams[0].url = "http://127.0.0.1:9".into();
        }).await;
        let told = held(&scene).await;
        scene.plane.advance_secs(30).await;
        send_due(&scene.plane.engine).await;
        assert_eq!((execution(&scene, &told).await, state(&scene, &told).await), (Value::Null, json!("closed")));
        never_leaves(&scene).await;
        assert_eq!(state(&scene, &told).await, "not_sent");
    }

    /// AAP-14.1-05
    async fn an_upstream_that_does_not_answer_stops_no_other_held_call(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        held(&scene).await;
        scene.plane.advance_secs(5).await;
        let second = BankFixture::transfer_of("7.00");
        scene.approved(second.clone()).await;
        scene.sends(second.confirmed("true")).await.expect(202);
        scene.bank.set_manner(Manner::Thoughtful);
        let calls = || scene.plane.engine.calls();
        scene.plane.advance_secs(25).await;
        let first = calls().begin_queued().await.unwrap();
        scene.bank.wait_for_requests(1).await;
        scene.plane.advance_secs(5).await;
        let second = calls().begin_queued().await.unwrap();
        scene.bank.wait_for_requests(2).await;
        assert_eq!((first.len(), second.len(), calls().begin_queued().await.unwrap().len()), (1, 1, 0));
        assert!(!first[0].is_finished());
        scene.bank.set_manner(Manner::Obliging);
        for attempt in first.into_iter().chain(second) {
            while !attempt.is_finished() {
                scene.bank.release_response();
                tokio::task::yield_now().await;
            }
            attempt.await.unwrap().unwrap();
        }
        assert_eq!(scene.bank.effects().len(), 2);
    }

    /// R-5, R-7
    async fn a_standing_approval_of_before_the_window_holds_nothing_and_a_person_is_asked(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, |_| {}).await;
        let transfer = || BankFixture::transfer_of("7.00");
        let asked = asked(&scene, transfer()).await;
        let bounds = json!({ "uses": 5, "seconds": 3000, "released": {} });
        scene.alice.accepts_within(&scene.plane, &asked, bounds).await.unwrap();
        scene.sends(transfer()).await.expect(201);
        let mut document = (*scene.plane.at().await.project.document).clone();
        undoable(&mut document);
        scene.plane.engine.apply_project(document, "test").await.expect("a sound document");
        let answer = scene.sends(transfer()).await;
        assert_eq!(answer.refusal(), (403, "irreversible_requires_confirm".into()), "{}", answer.text());
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 1);
        closes(&scene).await;
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// AAP-14.1-05, R-9
    async fn the_person_undoes_a_held_call_on_the_page(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        let list = page_of(&scene, "/inbox").await;
        assert!(list.contains("Can still be undone") && list.contains(id(&told)), "{list}");
        let page = page_of(&scene, &format!("/inbox/bank/{}", id(&told))).await;
        assert!(page.contains(r#"name="undo""#) && page.contains("It is held so that it can be undone"), "{page}");
        assert_eq!(presses_undo(&scene, &scene.alice, &told).await.status, 303);
        assert_eq!(state(&scene, &told).await, "undone");
        let page = page_of(&scene, &format!("/inbox/bank/{}?undone", id(&told))).await;
        assert!(page.contains("It was not sent and never will be"), "{page}");
        never_leaves(&scene).await;

        let late = held(&scene).await;
        scene.plane.advance_secs(30).await;
        assert_eq!(presses_undo(&scene, &scene.alice, &late).await.status, 409);
    }

    /// AAP-14.1-05, R-4, R-9
    async fn the_persons_subscriber_undoes_a_held_call_and_others_do_not(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let told = held(&scene).await;
        let path = format!("/aaep/v1/questions/{}/undo", id(&told));
        let plane = &scene.plane;
        let stranger = plane.person("bob").await.subscriber(plane).await;
        assert_eq!(stranger.post(plane, &path, &json!({})).await.status, 404);
        let reader = scene.alice.subscriber_like(plane, json!({ "name": "ear", "may_answer": false })).await;
        assert_eq!(reader.post(plane, &path, &json!({})).await.status, 403);
        assert_eq!(state(&scene, &told).await, "open");
        let phone = scene.alice.subscriber(plane).await;
        assert_eq!(phone.post(plane, &path, &json!({})).await.expect(200).json()["state"], "undone");
        never_leaves(&scene).await;
        let late = held(&scene).await;
        plane.advance_secs(30).await;
        let path = format!("/aaep/v1/questions/{}/undo", id(&late));
        assert_eq!(phone.post(plane, &path, &json!({})).await.refusal(), (409, "undo_window_closed".into()));
    }

    /// R-7
    async fn each_held_call_is_approved_by_itself(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
        let asked = asked(&scene, BankFixture::transfer()).await;
        let page = page_of(&scene, &format!("/inbox/bank/{}", id(&asked))).await;
        assert!(!page.contains(r#"name="uses""#), "{page}");
    }

    /// AAP-14.1-05
    async fn a_held_call_outlives_the_access_token_that_sent_it(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, |document| window(document, Some(3600))).await;
        let told = held(&scene).await;
        scene.plane.advance_secs(3600).await;
        send_due(&scene.plane.engine).await;
        assert_eq!(scene.bank.effects().len(), 1, "{told}");
    }
}

/// AAP-14.1-05, R-35
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_nodes_one_sends_a_held_call() {
    let scene = Kit(Backend::Postgres).bank_with(undoable).await;
    let (engine, _) = scene.plane.second_node().await;
    let _second = GatewayListener::open(&engine, |_| {}).await;
    for n in 0..4 {
        let transfer = BankFixture::transfer_of(&format!("{n}.25"));
        scene.approved(transfer.clone()).await;
        scene.sends(transfer.confirmed("true")).await.expect(202);
    }
    scene.plane.advance_secs(30).await;
    tokio::join!(send_due(&scene.plane.engine), send_due(&engine), send_due(&engine));
    assert_eq!(scene.bank.effects().len(), 4);
    send_due(&engine).await;
    closes(&scene).await;
    assert_eq!(scene.bank.effects().len(), 4);
}

/// AAP-14.1-08, R-21
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_undo_that_races_the_end_of_the_window_at_two_nodes_either_undoes_or_was_too_late() {
    let scene = Kit(Backend::Postgres).bank_with(undoable).await;
    let (engine, _) = scene.plane.second_node().await;
    let _second = GatewayListener::open(&engine, |_| {}).await;
    let mut sent = 0;
    for n in 0..12 {
        let transfer = BankFixture::transfer_of(&format!("{n}.75"));
        scene.approved(transfer.clone()).await;
        let told = scene.sends(transfer.confirmed("true")).await.expect(202).json();
        scene.plane.advance_secs(29).await;
        let closing = async {
            for _ in 0..n % 4 {
                tokio::task::yield_now().await;
            }
            scene.plane.advance_secs(1).await;
            tokio::join!(send_due(&engine), send_due(&scene.plane.engine));
        };
        let (answer, ()) = tokio::join!(undo(&scene, &scene.agent, &told), closing);
        send_due(&engine).await;
        match answer.status {
            200 => assert_eq!(state(&scene, &told).await, "undone"),
            _ => {
                assert_eq!(answer.refusal(), (409, "undo_window_closed".into()), "{}", answer.text());
                sent += 1;
            }
        }
        assert_eq!(scene.bank.effects().len(), sent, "round {n}: {}", answer.text());
    }
}
