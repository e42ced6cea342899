//! A clock leap pauses decisions and changes nothing; an administrator accepts a corrected clock.

use countersign_engine::{ClockFault, StartError, store::StoreLocation};
use countersign_server::admin::{AcceptClock, AcceptedClock, AdminRefusal, AdminRequest as _};
use countersign_testkit::{
    Plane, Setup, TestPerson,
    bank::{BankFixture, GatewayRequest, Manner},
    decisions::DecisionFixture,
    on_both_stores, postgres, stored_evidence,
};
use serde_json::json;

const YEAR_S: i64 = 365 * 86_400;

async fn accept(plane: &Plane) -> Result<AcceptedClock, AdminRefusal> {
    AcceptClock { reason: "the machine was set by hand".into() }.run(&plane.engine).await
}

async fn entries_of(plane: &Plane, event_type: &str) -> usize {
    stored_evidence(&plane.place).await.iter().filter(|entry| entry.event_type == event_type).count()
}

on_both_stores! {
    ///
    async fn a_caller_during_a_clock_leap_gets_503_and_never_401(kit) {
        let scene = kit.bank().await;
        let (plane, alice) = (&scene.plane, &scene.alice);
        let register = plane.register_body(plane.acme(), &scene.connected);
        for leap in [YEAR_S, 3, -3, -YEAR_S] {
            plane.step_clock_secs(leap).await;
            for sent in [GatewayRequest::new("GET", "/accounts"), BankFixture::transfer(), GatewayRequest::new("POST", "/notes").json("{}")] {
                assert_eq!(scene.sends(sent).await.status, 503, "{leap}");
            }
            for path in ["/v1/agents", "/inbox", "/agents"] {
                assert_eq!(alice.get(plane, path).await.status, 503, "{leap} {path}");
            }
            assert_eq!(scene.requests(&scene.agent, http::Method::GET, "/v1/actions").await.status, 503, "{leap}");
            assert_eq!(plane.post("/agent/register", &register).await.status, 503, "{leap}");
            let signing_in = json!({ "name": "alice", "password": "correct horse battery staple" });
            assert_eq!(plane.post("/session", &signing_in).await.status, 503, "{leap}");
            let (status, why) = plane.readyz().await;
            assert!(status == 503 && why.contains("clock leapt") && why.contains("clock accept"), "{status} {why}");
            plane.step_clock_secs(-leap).await;
            plane.engine.measure_clock_skew().await.unwrap();
            assert_eq!(plane.readyz().await.0, 200, "{leap}");
            scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
            alice.get(plane, "/v1/agents").await.expect(200);
        }
        assert!(scene.bank.effects().is_empty());
    }

    ///
    async fn nothing_expires_or_is_swept_by_a_leap_and_open_questions_are_answered_afterwards(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        let tidied = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        for leap in [YEAR_S, -YEAR_S] {
            plane.step_clock_secs(leap).await;
            for _ in 0..3 {
                plane.clock.advance_secs(1);
                plane.advance_without_settling(0).await;
                assert!(plane.engine.decisions().settle_due().await.is_err(), "something was settled by a clock that leapt");
                plane.engine.run_maintenance().await.unwrap();
            }
            assert_eq!(agent.reads_decision(&plane, &asked).await.status, 503);
            plane.step_clock_secs(-leap).await;
            plane.engine.run_maintenance().await.unwrap();
            plane.engine.decisions().settle_due().await.unwrap();
            for decision in [&asked, &tidied] {
                assert_eq!(agent.reads_decision(&plane, decision).await.expect(200).json()["state"], "pending", "{leap}");
            }
        }
        alice.accepts(&plane, &asked).await;
        let claim = json!({ "tool": "payments.send", "arguments": { "to": "acme" } });
        agent.claims(&plane, &asked, &claim).await.expect(200);
    }

    ///
    async fn a_deadline_that_passed_during_a_pause_is_never_an_approval(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let tidied = agent.requests_approval(&plane, "notes.tidy", json!({ "n": 1 })).await;
        plane.advance_without_settling(59).await;
        plane.step_clock_secs(YEAR_S).await;
        assert!(plane.engine.decisions().settle_due().await.is_err());
        plane.advance_without_settling(2).await;
        assert!(plane.engine.decisions().settle_due().await.is_err());
        plane.step_clock_secs(-YEAR_S).await;
        plane.engine.measure_clock_skew().await.unwrap();
        plane.engine.decisions().settle_due().await.unwrap();
        assert_eq!(agent.reads_decision(&plane, &tidied).await.expect(200).json()["expired_as"], "reject");
    }

    ///
    async fn the_outcome_of_a_call_sent_before_the_leap_is_recorded(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.bank.set_manner(Manner::Thoughtful);
        let leaps = async {
            scene.bank.next_arrival().await;
            scene.plane.step_clock_secs(YEAR_S).await;
            scene.bank.release_response();
        };
        let (sent, ()) = tokio::join!(scene.sends(BankFixture::transfer().confirmed("true")), leaps);
        assert_eq!(sent.status, 201, "{}", sent.text());
        scene.plane.step_clock_secs(-YEAR_S).await;
        scene.plane.engine.measure_clock_skew().await.unwrap();
        let looked = scene.reads_decision(&scene.agent, &decision).await;
        assert_eq!(looked["execution"]["state"], "committed", "{looked}");
        assert_eq!(scene.bank.effects().len(), 1);
    }

    ///
    async fn an_accepted_clock_lapses_approvals_demands_nonces_and_stands_in_the_evidence(kit) {
        let bank = countersign_testkit::bank::Bank::open().await;
        let (plane, _folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
        let scene = BankFixture::on(plane, bank).await;
        let plane = &scene.plane;
        plane.advance_secs(700).await;
        let unheld = || GatewayRequest::new("GET", "/accounts");
        scene.agent.takes_nonce(None);
        scene.sends_raw(scene.authenticated(&scene.agent, unheld())).await.expect(200);
        scene.approved(BankFixture::transfer()).await;
        let waits = BankFixture::decision(&scene.sends(BankFixture::transfer_of("7.00")).await);

        assert!(matches!(accept(plane).await, Err(AdminRefusal::Refused(_))), "a clock in order was accepted");
        plane.step_clock_secs(60).await;
        assert_eq!(scene.sends(unheld()).await.status, 503);
        let accepted = accept(plane).await.unwrap();
        assert_eq!((accepted.approvals, accepted.questions, accepted.signed_out), (1, 0, false), "{accepted:?}");
        assert_eq!(accepted.now.millis_since(accepted.was), 60_000);

        let bare = scene.sends_raw(scene.authenticated(&scene.agent, unheld())).await;
        assert_eq!(bare.status, 401, "a proof without a new nonce counted");
        assert!(bare.header("www-authenticate").unwrap().contains("use_dpop_nonce"));
        scene.sends(unheld()).await.expect(200);
        let spent = scene.sends(BankFixture::transfer().confirmed("true")).await;
        assert_eq!(spent.refusal(), (403, "irreversible_requires_confirm".into()), "a lapsed approval let it run");
        assert!(scene.bank.effects().is_empty());
        scene.alice.accepts(plane, &waits).await;
        assert_eq!(entries_of(plane, "clock_accepted").await, 1);
        assert_eq!(plane.readyz().await.0, 200);
    }

    ///
    async fn a_clock_that_is_set_back_ends_grants_from_while_it_was_ahead(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        let DecisionFixture { plane, alice, agent } = DecisionFixture::on(plane).await;
        let asked = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        plane.step_clock_secs(-YEAR_S).await;
        assert_eq!(alice.get(&plane, "/v1/agents").await.status, 503);
        let accepted = accept(&plane).await.unwrap();
        assert_eq!((accepted.questions, accepted.signed_out), (1, true), "{accepted:?}");
        assert_eq!(alice.get(&plane, "/v1/agents").await.status, 401, "a sign-in that lasts a year too long");
        TestPerson::sign_in(&plane, "alice").await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json()["expired_as"], "reject");
        let again = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
        let plane = plane.restart().await;
        assert_eq!(agent.reads_decision(&plane, &again).await.expect(200).json()["state"], "pending");
    }

    ///
    async fn an_access_token_that_a_clock_ahead_gave_out_ends_when_it_is_set_back(kit) {
        let scene = kit.bank().await;
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        scene.plane.step_clock_secs(-YEAR_S).await;
        accept(&scene.plane).await.unwrap();
        assert_eq!(scene.sends(GatewayRequest::new("GET", "/accounts")).await.refusal(), (401, "access_token_invalid".into()));
        assert_eq!(scene.bank.got().len(), 1);
    }

    ///
    async fn a_start_on_a_database_that_was_ahead_is_refused_until_the_clock_is_accepted(kit) {
        let (plane, _folder) = kit.lasting_plane(Setup::payments()).await;
        plane.account("alice").await;
        plane.engine.run_maintenance().await.unwrap();
        plane.engine.store().close().await;
        plane.step_clock_secs(-YEAR_S).await;
        let refused = plane.start_again().await.err();
        let Some(StartError::Clock(why @ ClockFault::Behind { .. })) = refused else { panic!("{refused:?}") };
        let told = why.to_string();
        assert!(told.contains("2026-11-15T12:00:00") && told.contains("2025-11-15T12:00:00"), "{told}");
        assert!(told.contains("clock accept") && !told.contains("NTP"), "{told}");

        let offline = plane.open_to_set_clock().await;
        assert!(offline.apply_project(Setup::payments().projects.remove(0), "test").await.is_err());
        AcceptClock { reason: "the clock was a year ahead".into() }.run(&offline).await.unwrap();
        offline.store().close().await;
        assert_eq!(entries_of(&plane, "clock_accepted").await, 1);
        let plane = plane.restart().await;
        assert_eq!(plane.readyz().await.0, 200);
        TestPerson::sign_in(&plane, "alice").await;
    }

    ///
    async fn a_node_whose_machine_slept_goes_on(kit) {
        let scene = kit.bank().await;
        scene.plane.clock.suspend_millis(600_000);
        scene.plane.advance_without_settling(0).await;
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
        assert_eq!(scene.plane.readyz().await.0, 200);
    }
}

///
#[tokio::test]
async fn a_database_server_whose_clock_leaps_pauses_its_nodes() {
    let DecisionFixture { plane, alice, agent } =
        countersign_testkit::Kit(countersign_testkit::Backend::Postgres).decision_fixture().await;
    let StoreLocation::Postgres(place) = &plane.place else { panic!("no PostgreSQL") };
    let asked = agent.requests_approval(&plane, "payments.send", json!({ "to": "acme" })).await;
    for leap in [YEAR_S, -YEAR_S] {
        postgres::set_clock(&place.url, plane.now().plus_secs(leap).0).await;
        // A reply is never refused as late before the node has compared the clocks.
        assert!(leap < 0 || format!("{:?}", alice.tries(&plane, &asked, true).await).contains("Unavailable"));
        plane.engine.run_maintenance().await.unwrap();
        assert!(plane.engine.decisions().settle_due().await.is_err());
        assert_eq!(alice.get(&plane, "/v1/agents").await.status, 503);
        let (status, why) = plane.readyz().await;
        assert!(status == 503 && why.contains("database server"), "{why}");
        assert!(accept(&plane).await.is_err(), "clocks that do not agree were accepted");
        postgres::set_clock(&place.url, plane.now().0).await;
        plane.engine.measure_clock_skew().await.unwrap();
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).json()["state"], "pending");
    }
    alice.accepts(&plane, &asked).await;
}

///
#[tokio::test]
async fn a_clock_that_one_node_accepted_is_taken_up_by_the_others() {
    let plane = countersign_testkit::Kit(countersign_testkit::Backend::Postgres).plane().await;
    let (second, _router) = plane.second_node().await;
    plane.step_clock_secs(3600).await;
    assert!(second.clock_fault().is_some());
    accept(&plane).await.unwrap();
    second.measure_clock_skew().await.unwrap();
    assert_eq!((second.clock_fault(), second.now()), (None, plane.now()));
}
