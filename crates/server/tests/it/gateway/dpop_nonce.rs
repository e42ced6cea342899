//! Nonces: the endpoints that demand them, the next one in each response, and invalid ones (AAP 18.4, C-27).

use super::proofs::*;
use crate::register::support::SQLITE;
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Answer, Kit, Setup,
    bank::{Bank, BankFixture},
    on_sqlite,
};
use serde_json::json;

/// Every endpoint that this file calls with a token.
const CALLS: [Door; 4] = [Door::Read, Door::Write, Door::Held, Door::Decision];

/// Sends a proof with a nonce.
async fn shows_nonce(stage: &Stage, door: Door, nonce: &str) -> Answer {
    stage.shows(door, &stage.claiming(door, "nonce", json!(nonce))).await
}

/// The nonce that an endpoint hands out on demand.
async fn demanded(stage: &Stage, door: Door) -> String {
    let answer = stage.shows(door, &stage.proof(door)).await;
    assert_nonce_demanded(&answer, &format!("{door:?}"));
    answer.header("dpop-nonce").unwrap().to_owned()
}

async fn stage(kit: Kit, change: fn(&mut ProjectDocument)) -> Stage {
    Stage::with(kit.bank_with(change).await).await
}

on_sqlite! {
    /// AAP-18.4-01, AAP-18.4-02, AAP-18.4-03
    async fn by_default_registering_demands_a_nonce_and_calls_do_not(kit) {
        let stage = stage(kit, |_| {}).await;
        let nonce = demanded(&stage, Door::Register).await;
        let registered = shows_nonce(&stage, Door::Register, &nonce).await;
        assert_let_in(Door::Register, &registered, "with the nonce");
        assert!(registered.header("dpop-nonce").is_some(), "and brings the next");
        for door in CALLS {
            let answer = stage.shows(door, &stage.proof(door)).await;
            assert_let_in(door, &answer, "without a nonce");
            assert_eq!(answer.header("dpop-nonce"), None, "{door:?}");
        }
    }

    /// AAP-18.4-02, AAP-18.4-03
    async fn each_is_switched_by_itself(kit) {
        let stage = stage(kit, |document| {
            document.dpop.nonce_at_register = false;
            document.dpop.nonce_at_calls = true;
        })
        .await;
        let registered = stage.shows(Door::Register, &stage.proof(Door::Register)).await;
        assert_let_in(Door::Register, &registered, "switched off");
        assert_eq!(registered.header("dpop-nonce"), None);
        for door in CALLS {
            let nonce = demanded(&stage, door).await;
            let answer = shows_nonce(&stage, door, &nonce).await;
            assert_let_in(door, &answer, "with the nonce");
            assert!(answer.header("dpop-nonce").is_some(), "{door:?} brings the next");
        }
    }
}

/// AAP-18-01, AAP-18.4-04
#[tokio::test]
async fn a_nonce_that_is_missing_again_made_up_stale_or_somebody_elses_is_demanded_again() {
    let stage = stage(SQLITE, |document| document.dpop.nonce_at_calls = true).await;
    let elsewhere = {
        let bank = Bank::open().await;
        let setup = Setup { seed: 8, ..Setup::bank(&bank, |_| {}) };
        let other = Stage::with(BankFixture::on(SQLITE.plane_with(setup).await, bank).await).await;
        demanded(&other, Door::Register).await
    };
    for door in [Door::Register, Door::Read, Door::Write, Door::Decision] {
        let stale = demanded(&stage, door).await;
        stage.scene.plane.advance_secs(301).await;
        let good = demanded(&stage, door).await;
        let longer = format!("{good}A");
        let reached = stage.scene.bank.got().len();
        for nonce in ["", "nonce", &stale, &elsewhere, &longer, &good.to_lowercase()] {
            assert_nonce_demanded(&shows_nonce(&stage, door, nonce).await, &format!("{door:?} {nonce:?}"));
        }
        assert_eq!(stage.scene.bank.got().len(), reached);
        assert_let_in(door, &shows_nonce(&stage, door, &good).await, "with the right one");
        stage.scene.plane.advance_secs(300).await;
        let answer = shows_nonce(&stage, door, &good).await;
        assert_let_in(door, &answer, "a nonce is good for five minutes, and for many proofs");
    }
}
