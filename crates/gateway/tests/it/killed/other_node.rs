//! Two nodes on one database: the one that claimed is killed, and the other detects it.

use super::{
    after::{becomes_unknown, execution},
    cases::{MOST, lasting},
    process::Process,
    story::{self, Act},
};
use countersign_testkit::{
    Backend, Kit,
    bank::BankScene,
    crashing::{Doom, Moment},
};

///
#[tokio::test]
async fn the_claim_of_a_killed_node_becomes_unknown_at_the_other_which_neither_runs_nor_asks_it_again() {
    let (scene, _folder) = lasting(Kit(Backend::Postgres)).await;
    let decision = scene.approved(BankScene::transfer()).await;
    let process = Process::start(&scene.plane, None).await.expect("a node");
    story::dies_while_the_bank_works(&scene, process, story::spending(Act::Redeems, &decision)).await;
    becomes_unknown(&scene, &decision).await;
    assert_eq!(scene.bank.effects().len(), 1);
}

///
#[tokio::test]
async fn an_allowance_that_a_killed_node_did_not_claim_is_claimed_at_the_other_once() {
    let (scene, _folder) = lasting(Kit(Backend::Postgres)).await;
    let decision = scene.approved(BankScene::transfer()).await;
    let process = dies_at_its_first_call(&scene).await;
    let answer = story::sends(&scene, process.doors.gateway, story::spending(Act::Repeats, &decision)).await;
    assert!(answer.is_none());
    assert_eq!((execution(&scene, &decision).await.as_str(), scene.bank.effects().len()), ("none", 0));
    scene.sends(story::spending(Act::Redeems, &decision)).await.expect(201);
    assert_eq!((execution(&scene, &decision).await.as_str(), scene.bank.effects().len()), ("committed", 1));
    assert_eq!(scene.kept().await.len(), 0);
}

/// A node that starts to serve, and is killed before its first commit for a call.
async fn dies_at_its_first_call(scene: &BankScene) -> Process {
    for commit in 1..MOST {
        if let Some(process) = Process::start(&scene.plane, Some(Doom { commit, moment: Moment::Before })).await {
            return process;
        }
    }
    panic!("a node that writes and never serves")
}
