//! The upstream is probed for the outcome of a call with a lost response, before a person has to find out (R-6).

use super::{held::*, proofs::restarted};
use countersign_engine::Role;
use countersign_protocol::project::{AskAgain, ProjectDocument};
use countersign_testkit::{
    Backend, Kit, Setup,
    bank::{Bank, BankFixture, GatewayListener, Manner, PlanDraft, paying_exactly},
    leaks::{Folder, Haystack},
    on_sqlite, stored_evidence,
};
use serde_json::{Value, json};

/// Every held route probes by a read: 200 is done, 404 is not, half a minute after the connection was closed.
fn probed(document: &mut ProjectDocument) {
    let probe = |path: &str| {
        serde_json::from_value(json!({
            "path": path, "done": { "statuses": [200] }, "not_done": { "statuses": [404] }, "settling_seconds": 30,
        }))
        .unwrap()
    };
    for route in &mut document.routes {
        route.probe = match route.id.as_str() {
            "refunds" => Some(probe("/refunds/{body.payment_id}")),
            "transfers" => Some(probe("/transfers?to={body.to}&amount={body.amount}")),
            _ => None,
        };
    }
}

/// A refund with a lost response.
async fn lost(scene: &BankFixture, payment: &str) -> Value {
    let decision = scene.approved(refund(payment, "first")).await;
    scene.bank.set_manner(Manner::Vanishing);
    scene.sends(refund(payment, "first").confirmed("true")).await.expect(502);
    scene.bank.set_manner(Manner::Obliging);
    assert_eq!(execution(scene, &decision).await, "unknown");
    decision
}

/// Sends the due probes, while the upstream responds with this status.
async fn probes(scene: &BankFixture, status: u16) -> usize {
    scene.bank.set_read_response(status, "{}");
    scene.plane.engine.decisions().probe_due().await.unwrap()
}

async fn entries(scene: &BankFixture, event_type: &str) -> Vec<Value> {
    let query = format!("/agent/audit?delegation_id={}&event_type={event_type}", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

/// The evidence leaves of this type, read from the database.
async fn leaves(scene: &BankFixture, event_type: &str) -> Vec<String> {
    let entries = stored_evidence(&scene.plane.place).await;
    let wanted = entries.into_iter().filter(|entry| entry.event_type == event_type);
    wanted.map(|entry| String::from_utf8(entry.leaf).unwrap()).collect()
}

fn is_by_probe(leaf: &str) -> bool {
    leaf.contains(r#""reported_by":"probe""#)
}

/// The bank on a database that outlives its node and can be read from outside.
async fn lasting(kit: Kit) -> (BankFixture, Folder) {
    let bank = Bank::open().await;
    let (plane, folder) = kit.lasting_plane(Setup::bank(&bank, probed)).await;
    (BankFixture::on(plane, bank).await, folder)
}

async fn inbox_of(scene: &BankFixture, who: &countersign_testkit::TestPerson) -> String {
    who.get(&scene.plane, "/inbox").await.expect(200).text()
}

on_sqlite! {
    /// R-6
    async fn a_service_that_says_done_settles_it_at_once_and_supersedes_other_questions(kit) {
        let (scene, _folder) = lasting(kit).await;
        let other = asked(&scene, refund("p-1", "second")).await;
        let decision = lost(&scene, "p-1").await;
        Haystack::stored(&scene.plane.place).await.assert_absent("the path of a probe", "/refunds/p-1");
        assert_eq!(probes(&scene, 200).await, 1);
        assert_eq!(execution(&scene, &decision).await, "committed");
        assert_eq!(scene.reads_decision(&scene.agent, &other).await["cancelled_for"], "superseded");
        let settled = leaves(&scene, "execution_settled").await;
        assert!(settled.len() == 1 && settled.iter().all(|leaf| is_by_probe(leaf)), "{settled:?}");
        scene.plane.advance_secs(600).await;
        assert_eq!((probes(&scene, 200).await, scene.bank.reads().len()), (0, 1));
    }

    /// R-3, R-6
    async fn a_probe_carries_the_credential_of_the_service_and_nothing_of_the_agents(kit) {
        let scene = kit.bank_with(probed).await;
        lost(&scene, "p-1").await;
        probes(&scene, 200).await;
        let reads = scene.bank.reads();
        let [read] = reads.as_slice() else { panic!("{reads:?}") };
        assert_eq!((read.target.as_str(), read.body.len()), ("/refunds/p-1", 0));
        let mut names: Vec<&str> = read.headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "authorization", "host"]);
        assert_eq!(read.headers["authorization"], "Bearer the-banks-own-secret");
    }

    /// R-6
    async fn not_done_counts_only_after_the_settling_time_and_twice_and_gives_the_reservation_back(kit) {
        let scene = kit.bank_with(probed).await;
        let agent = scene.limited(json!({ "writes_per_session": 1 })).await;
        let decision = BankFixture::decision(&scene.sends_as(&agent, refund("p-1", "first")).await);
        scene.alice.accepts(&scene.plane, &decision).await;
        scene.bank.set_manner(Manner::Vanishing);
        scene.sends_as(&agent, refund("p-1", "first").confirmed("true")).await.expect(502);
        scene.bank.set_manner(Manner::Obliging);
        let state = async || scene.reads_decision(&agent, &decision).await["execution"]["state"].clone();
        assert_eq!((probes(&scene, 404).await, state().await), (1, json!("unknown")));
        scene.plane.advance_secs(29).await;
        assert_eq!((probes(&scene, 404).await, state().await), (1, json!("unknown")));
        assert_eq!(scene.sends(refund("p-1", "again")).await.refusal().0, 409);
        scene.plane.advance_secs(1).await;
        assert_eq!((probes(&scene, 404).await, state().await), (1, json!("unknown")));
        scene.plane.advance_secs(1).await;
        assert_eq!((probes(&scene, 404).await, state().await), (0, json!("unknown")));
        scene.plane.advance_secs(1).await;
        assert_eq!((probes(&scene, 404).await, state().await), (1, json!("failed")));
        let again = BankFixture::decision(&scene.sends_as(&agent, refund("p-1", "again")).await);
        scene.alice.accepts(&scene.plane, &again).await;
        scene.sends_as(&agent, refund("p-1", "again").confirmed("true")).await.expect(201);
    }

    /// R-6
    async fn errors_leave_it_unknown_and_end_in_the_question_to_a_person(kit) {
        let scene = kit.bank_with(probed).await;
        let ada = scene.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let decision = lost(&scene, "p-1").await;
        let page = inbox_of(&scene, &ada).await;
        assert!(page.contains("The service is being asked until") && page.contains("What happened?"), "{page}");
        let mut tries = 0;
        for status in [500, 302, 401, 403, 429, 204].into_iter().cycle().take(40) {
            tries += match tries % 3 {
                0 => {
                    scene.bank.set_manner(Manner::Vanishing);
                    let probed = probes(&scene, 200).await;
                    scene.bank.set_manner(Manner::Obliging);
                    probed
                }
                _ => probes(&scene, status).await,
            };
            assert_eq!(execution(&scene, &decision).await, "unknown");
            assert_eq!(scene.sends(refund("p-1", "second")).await.refusal().0, 409);
            scene.plane.advance_secs(20).await;
        }
        assert!((8..=14).contains(&tries) && scene.bank.reads().len() == tries, "{tries}");
        assert_eq!(entries(&scene, "execution_probe_ended").await.len(), 1);
        let page = inbox_of(&scene, &ada).await;
        assert!(!page.contains("The service is being asked until") && page.contains("What happened?"), "{page}");
        reconciles(&scene, &ada, &decision, "yes").await.expect(303);
        assert_eq!(execution(&scene, &decision).await, "committed");
    }

    /// R-6, R-21
    async fn a_restart_between_two_tries_forgets_neither_the_first_nor_the_second(kit) {
        let (scene, _folder) = lasting(kit).await;
        let decision = lost(&scene, "p-1").await;
        scene.plane.advance_secs(30).await;
        assert_eq!(probes(&scene, 404).await, 1);
        let scene = restarted(scene).await;
        assert_eq!(probes(&scene, 404).await, 0, "not yet");
        scene.plane.advance_secs(2).await;
        assert_eq!(probes(&scene, 404).await, 1);
        assert_eq!(execution(&scene, &decision).await, "failed");
    }

    /// R-6, R-35
    async fn a_persons_finding_ends_the_probing_and_a_later_answer_is_a_conflict(kit) {
        let (scene, _folder) = lasting(kit).await;
        let ada = scene.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let decision = lost(&scene, "p-1").await;
        scene.bank.set_manner(Manner::Thoughtful);
        let meanwhile = async {
            while scene.bank.reads().is_empty() {
                scene.bank.next_arrival().await;
            }
            reconciles(&scene, &ada, &decision, "no").await.expect(303);
            scene.bank.release_response();
        };
        let (probed, ()) = tokio::join!(scene.plane.engine.decisions().probe_due(), meanwhile);
        assert_eq!(probed.unwrap(), 1);
        let looked = scene.reads_decision(&scene.agent, &decision).await["execution"].clone();
        assert_eq!((&looked["state"], &looked["conflict"]), (&json!("failed"), &json!(true)), "{looked}");
        let conflicts = leaves(&scene, "execution_conflict").await;
        assert!(conflicts.len() == 1 && conflicts.iter().all(|leaf| is_by_probe(leaf)), "{conflicts:?}");
        scene.plane.advance_secs(600).await;
        assert_eq!(probes(&scene, 200).await, 0);
    }

    /// R-5, R-6
    async fn a_probe_that_was_changed_since_the_claim_says_nothing(kit) {
        let scene = kit.bank_with(probed).await;
        let decision = lost(&scene, "p-1").await;
        let mut document = countersign_testkit::bank::bank("bank", &scene.bank.url());
        probed(&mut document);
        for probe in document.routes.iter_mut().filter_map(|route| route.probe.as_mut()) {
            probe.done.statuses = vec![201];
            probe.not_done.as_mut().unwrap().statuses = vec![404, 200];
        }
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        scene.plane.advance_secs(30).await;
        probes(&scene, 200).await;
        scene.plane.advance_secs(60).await;
        assert_eq!(probes(&scene, 200).await, 0);
        assert_eq!((execution(&scene, &decision).await, scene.bank.reads().len()), (json!("unknown"), 0));
    }

    /// R-6, R-7
    async fn a_step_of_a_plan_gets_back_its_use_when_the_service_says_that_it_was_not_done(kit) {
        let scene = kit.bank_with(|document| {
            probed(document);
            document.plans.ask_again_from = AskAgain::Never;
        })
        .await;
        let draft = PlanDraft::of(paying_exactly("100.00"));
        scene.planned(&draft).await;
        scene.bank.set_manner(Manner::Vanishing);
        scene.sends(BankFixture::transfer_of("100.00")).await.expect(502);
        scene.bank.set_manner(Manner::Obliging);
        assert_eq!(scene.uses_left(&draft, 1).await, 0);
        scene.plane.advance_secs(30).await;
        probes(&scene, 404).await;
        assert_eq!(scene.uses_left(&draft, 1).await, 0);
        scene.plane.advance_secs(2).await;
        probes(&scene, 404).await;
        assert_eq!(scene.uses_left(&draft, 1).await, 1);
        scene.sends(BankFixture::transfer_of("100.00")).await.expect(201);
    }
}

/// R-6
#[tokio::test]
async fn two_nodes_ask_once_and_settle_once() {
    let scene = Kit(Backend::Postgres).bank_with(probed).await;
    let (engine, _) = scene.plane.second_node().await;
    let _second = GatewayListener::open(&engine, |_| {}).await;
    let decision = lost(&scene, "p-1").await;
    scene.plane.advance_secs(30).await;
    scene.bank.set_read_response(404, "");
    for tries in 1..=2 {
        let (first, second) = tokio::join!(scene.plane.engine.decisions().probe_due(), engine.decisions().probe_due());
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(scene.bank.reads().len(), tries);
        scene.plane.advance_secs(2).await;
    }
    assert_eq!(execution(&scene, &decision).await, "failed");
    assert_eq!(entries(&scene, "execution_settled").await.len(), 1);
}
