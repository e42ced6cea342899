//! A proof counts once, for all nodes and all endpoints; without a store to remember it, none is accepted.

use super::proofs::*;
use crate::register::support::{SQLITE, with};
use axum::{Router, body::Body};
use countersign_jose::SigningKey;
use countersign_testkit::{
    Answer, Backend, Kit, Setup, agent_request,
    bank::{Bank, BankFixture, GatewayListener, GatewayRequest},
    faulty_store::WriteFaults,
    on_both_stores,
};
use http::Method;
use serde_json::json;
use std::sync::Arc;

/// A request to the gateway with a token and this proof.
fn dressed(stage: &Stage, door: Door, proof: &str) -> GatewayRequest {
    stage.bare(door).with("authorization", &stage.scene.agent.authorization()).with("dpop", proof)
}

on_both_stores! {
    /// AAP-16.2-15, AAP-18.3-04, AAP-18.4-01, R-22
    async fn a_proof_counts_once_at_whichever_door(kit) {
        let stage = Stage::on(kit).await;
        for door in ONE_OF_EACH.into_iter().chain([Door::Redeem]) {
            let once = stage.proof(door);
            assert_let_in(door, &stage.shows(door, &once).await, "the first time");
            let effects = stage.scene.bank.effects().len();
            for _ in 0..2 {
                assert_refused(&stage.shows(door, &once).await, "dpop_replayed", &format!("{door:?}, again"));
            }
            assert_eq!(stage.scene.bank.effects().len(), effects, "{door:?}");
        }
        assert_eq!(stage.scene.alice.pending_questions(&stage.scene.plane).await, 1);
    }

    ///
    async fn a_jti_is_used_up_for_its_key_alone_and_by_sound_proofs_alone(kit) {
        let stage = Stage::on(kit).await;
        let claims = stage.claims(Door::Write);
        let stranger = SigningKey::generate(None).unwrap();
        let forged = stranger.sign_with_header(&header_of(&stranger), &claims).unwrap();
        assert_refused(&stage.shows(Door::Write, &forged).await, "dpop_invalid", "by a stranger");
        let late = with(claims.clone(), "iat", json!(0));
        let late = stage.sign(&stage.header(), &late);
        assert_refused(&stage.shows(Door::Write, &late).await, "dpop_invalid", "out of date");
        let sound = stage.sign(&stage.header(), &claims);
        assert_let_in(Door::Write, &stage.shows(Door::Write, &sound).await, "under a name that strangers used");
        let other = stage.scene.another(|_| {}).await;
        let now = stage.scene.plane.now();
        let same_name = other.proof_named(claims["jti"].as_str().unwrap(), "POST", &stage.url(Door::Write), now);
        let mut sent = stage.bare(Door::Write).with("authorization", &other.authorization());
        sent.headers.retain(|(name, _)| name != "x-agent-session");
        let sent = sent.with("x-agent-session", &other.session_id);
        stage.scene.sends_raw(sent.with("dpop", &same_name.unwrap())).await.expect(201);
        assert_eq!(stage.scene.bank.effects().len(), 2);
    }

    ///
    async fn the_proof_of_a_refused_call_is_used_up_too(kit) {
        let stage = Stage::on(kit).await;
        let refused = [
            ("x-agent-session", "sess_of_somebody_else", "delegation_mismatch"),
            ("x-agent-intent-type", "NOBODYS_INTENT", "intent_type_unknown"),
            ("x-agent-dry-run", "yes", "invalid_request"),
            ("x-agent-consent", "a.b.c", "consent_invalid"),
        ];
        for door in [Door::Read, Door::Write] {
            for (name, value, code) in refused {
                let proof = stage.proof(door);
                let mut sent = dressed(&stage, door, &proof);
                sent.headers.retain(|(own, _)| own != name);
                let answer = stage.scene.sends_raw(sent.with(name, value)).await;
                assert_eq!(answer.code(), code, "{door:?}");
                let repaired = stage.shows(door, &proof).await;
                assert_refused(&repaired, "dpop_replayed", &format!("{door:?}, after {code}"));
            }
        }
        assert_eq!(stage.scene.bank.effects().len(), 0);
    }

    ///
    async fn after_a_restart_only_a_nonce_of_the_new_epoch_counts(kit) {
        let bank = Bank::open().await;
        let (plane, _folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
        let mut stage = Stage::with(BankFixture::on(plane, bank).await).await;
        let (spent, kept) = (stage.proof(Door::Write), stage.proof(Door::Write));
        assert_let_in(Door::Write, &stage.shows(Door::Write, &spent).await, "before");
        let old = stage.shows(Door::Register, &stage.proof(Door::Register)).await;
        let old = old.header("dpop-nonce").unwrap().to_owned();
        stage.scene.plane.advance_secs(1).await;
        stage.scene = restarted(stage.scene).await;
        for (what, proof) in [
            ("one that was spent", spent),
            ("one that was not", kept),
            ("a new one", stage.proof(Door::Write)),
            ("one with a nonce from before", stage.claiming(Door::Write, "nonce", json!(old))),
        ] {
            assert_nonce_demanded(&stage.shows(Door::Write, &proof).await, what);
        }
        assert_eq!(stage.scene.bank.effects().len(), 1);
        let new = stage.shows(Door::Write, &stage.proof(Door::Write)).await;
        let new = json!(new.header("dpop-nonce").unwrap());
        let good = stage.claiming(Door::Write, "nonce", new);
        assert_let_in(Door::Write, &stage.shows(Door::Write, &good).await, "with a nonce from after it");
        assert_refused_in_epoch(&stage.shows(Door::Write, &good).await);
        assert_eq!(stage.scene.bank.effects().len(), 2);
    }

    ///
    async fn without_a_store_no_proof_is_believed_and_nothing_is_forwarded(kit) {
        let stage = Stage::on(kit).await;
        stage.scene.plane.engine.store().close().await;
        for door in ONE_OF_EACH {
            let mut answer = stage.shows(door, &stage.proof(door)).await;
            // A node that lost its store demands a nonce first, and still cannot remember the proof.
            if let (401, Some(nonce)) = (answer.status, answer.header("dpop-nonce").map(str::to_owned)) {
                assert_nonce_demanded(&answer, &format!("{door:?}"));
                answer = stage.shows(door, &stage.claiming(door, "nonce", json!(nonce))).await;
            }
            assert_eq!(answer.refusal(), (503, "service_unavailable".into()), "{door:?}");
        }
        assert_eq!(stage.scene.bank.got().len(), 0);
    }

    ///
    async fn once_a_store_was_away_a_nonce_from_after_that_is_needed_for_ten_minutes(kit) {
        let (bank, away) = (Bank::open().await, WriteFaults::default());
        let switch = away.clone();
        let wrap_store = Arc::new(move |store| switch.wrap(store));
        let plane = kit.plane_with(Setup { wrap_store, ..Setup::bank(&bank, |_| {}) }).await;
        let stage = Stage::with(BankFixture::on(plane, bank).await).await;
        let old = stage.shows(Door::Register, &stage.proof(Door::Register)).await;
        let old = json!(old.header("dpop-nonce").unwrap());
        stage.scene.plane.advance_secs(1).await;
        away.start();
        for door in [Door::Read, Door::Write, Door::Decision] {
            let answer = stage.shows(door, &stage.proof(door)).await;
            assert_ne!(answer.status, door.lets_in(), "{door:?}: {}", answer.text());
        }
        away.stop();
        assert_eq!(stage.scene.bank.got().len(), 0);
        for door in [Door::Read, Door::Write, Door::Decision] {
            assert_nonce_demanded(&stage.shows(door, &stage.proof(door)).await, "the first that it sees again");
            let with_old = stage.claiming(door, "nonce", old.clone());
            assert_nonce_demanded(&stage.shows(door, &with_old).await, "with a nonce from before");
        }
        let new = stage.shows(Door::Write, &stage.proof(Door::Write)).await;
        let good = stage.claiming(Door::Write, "nonce", json!(new.header("dpop-nonce").unwrap()));
        assert_let_in(Door::Write, &stage.shows(Door::Write, &good).await, "with a nonce from after it");
        stage.scene.plane.advance_secs(599).await;
        assert_nonce_demanded(&stage.shows(Door::Read, &stage.proof(Door::Read)).await, "still");
        stage.scene.plane.advance_secs(1).await;
        assert_let_in(Door::Read, &stage.shows(Door::Read, &stage.proof(Door::Read)).await, "ten minutes later");
    }
}

/// A replay while nonces are demanded: the response carries the next one.
#[track_caller]
fn assert_refused_in_epoch(answer: &Answer) {
    assert_eq!(answer.refusal(), (401, "dpop_replayed".into()));
    assert_eq!(answer.header("www-authenticate"), Some(REFUSED));
}

/// AAP-16.2-15, R-22
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_one_proof_at_two_nodes_at_the_same_instant_exactly_one_passes() {
    let stage = Stage::on(Kit(Backend::Postgres)).await;
    let (engine, router) = stage.scene.plane.second_node().await;
    stage.scene.plane.advance_secs(EPOCH_OVER_S).await;
    let second = GatewayListener::open(&engine, |_| {}).await;
    let rounds = 12;
    for round in 0..rounds {
        for door in [Door::Read, Door::Write] {
            let sent = dressed(&stage, door, &stage.proof(door));
            let (left, right) =
                tokio::join!(stage.scene.sends_raw(sent.clone()), stage.scene.sends_raw_at(second.address, sent));
            one_passes(door, round, &[left, right]);
        }
        let proof = stage.proof(Door::Decision);
        let (left, right) =
            tokio::join!(looks(&stage, &stage.scene.plane.public, &proof), looks(&stage, &router, &proof));
        one_passes(Door::Decision, round, &[left, right]);
    }
    assert_eq!(stage.scene.bank.effects().len(), rounds);
}

/// AAP-16.2-15, R-22
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_one_proof_shown_fifty_times_at_once_exactly_one_passes() {
    let stage = Stage::on(SQLITE).await;
    for door in [Door::Read, Door::Write] {
        let sent = dressed(&stage, door, &stage.proof(door));
        let answers = futures_util::future::join_all((0..50).map(|_| stage.scene.sends_raw(sent.clone()))).await;
        one_passes(door, 0, &answers);
    }
    assert_eq!(stage.scene.bank.effects().len(), 1);
}

async fn looks(stage: &Stage, node: &Router, proof: &str) -> Answer {
    let request = agent_request(Method::GET, "/v1/decisions/dec_none")
        .header("authorization", stage.scene.agent.authorization())
        .header("dpop", proof);
    Answer::to(node, request.body(Body::empty()).unwrap()).await
}

#[track_caller]
fn one_passes(door: Door, round: usize, answers: &[Answer]) {
    let passed = answers.iter().filter(|answer| answer.status == door.lets_in()).count();
    // While the write that used the proof is in flight, its repeats are told the call's id.
    let repeats = |answer: &&Answer| door == Door::Write && answer.refusal() == (409, "conflict".into());
    let refused = |answer: &&Answer| answer.status == 401 && answer.code() == "dpop_replayed";
    let refused = |answer: &&Answer| answer.status >= 400 && (refused(answer) || repeats(answer));
    let replayed = answers.iter().filter(refused).count();
    assert_eq!((passed, replayed), (1, answers.len() - 1), "{door:?}, round {round}");
}
