//! A plan with its node killed at every commit of its story: uses and sums are never exceeded, and nothing
//! acknowledged is lost.

use super::{
    plans_after::is_sound,
    plans_ledger::Fate,
    plans_story::{Act, Cast, WHOLE},
    process::Process,
    story,
};
use countersign_testkit::{
    Backend, Kit,
    faulty_store::{CrashPoint, Moment},
    leaks::Folder,
    on_both_stores,
};
use std::collections::BTreeSet;

/// An upper bound of a story's commits.
const MOST: usize = 60;

on_both_stores! {
    ///
    async fn killed_before_any_commit_a_plan_has_every_use_counted_and_nothing_acknowledged_lost(kit) {
        let found = killed_at_every_commit(kit, Moment::Before).await;
        assert!(found.is_superset(&all(Fate::Nothing)), "{found:?}");
        assert!(found.is_superset(&calls()), "their outcomes were not written: {found:?}");
    }

    ///
    async fn killed_during_any_commit_a_plan_has_every_use_counted_and_nothing_acknowledged_lost(kit) {
        let found = killed_at_every_commit(kit, Moment::During).await;
        let in_doubt: BTreeSet<_> = found.iter().filter_map(|(act, _)| *act).collect();
        assert_eq!(in_doubt, BTreeSet::from(WHOLE), "{found:?}");
    }

    ///
    async fn killed_after_any_commit_a_plan_has_every_use_counted_and_nothing_acknowledged_lost(kit) {
        let found = killed_at_every_commit(kit, Moment::After).await;
        assert!(found.is_superset(&all(Fate::Happened)), "{found:?}");
        assert!(found.is_superset(&calls()), "only their claims were written: {found:?}");
    }

    ///
    async fn killed_while_the_bank_works_a_planned_call_is_unknown_and_its_use_stays_taken(kit) {
        for act in [Act::Pays, Act::Orders] {
            let (cast, acknowledged, _folder) = up_to(kit, act).await;
            cast.fixture.plane.engine.store().close().await;
            dies_during(&cast, act).await;
            let cast = cast.restarted().await;
            assert_eq!(is_sound(&cast, acknowledged).await, (Some(act), Fate::Begun));
        }
    }
}

///
#[tokio::test]
async fn the_use_that_a_killed_node_claimed_is_counted_at_the_other_which_does_not_run_it_again() {
    let (cast, acknowledged, _folder) = up_to(Kit(Backend::Postgres), Act::Pays).await;
    dies_during(&cast, Act::Pays).await;
    assert_eq!(is_sound(&cast, acknowledged).await, (Some(Act::Pays), Fate::Begun));
}

/// Every act in doubt, and its fate.
async fn killed_at_every_commit(kit: Kit, moment: Moment) -> BTreeSet<(Option<Act>, Fate)> {
    let mut all = BTreeSet::new();
    for commit in 1..MOST {
        let crash = CrashPoint { commit, moment };
        println!("{crash:?}");
        let found = survives(kit, crash).await;
        all.insert(found);
        if found.0.is_none() {
            return all;
        }
    }
    panic!("a story without an end")
}

async fn survives(kit: Kit, crash: CrashPoint) -> (Option<Act>, Fate) {
    let (cast, _folder) = Cast::lasting(kit).await;
    cast.fixture.plane.engine.store().close().await;
    let acknowledged = match Process::start(&cast.fixture.plane, Some(crash)).await {
        Some(process) => cast.acts_at(process).await,
        None => 0,
    };
    let cast = cast.restarted().await;
    let found = is_sound(&cast, acknowledged).await;
    cast.fixture.plane.engine.store().close().await;
    found
}

/// Everything before an act is done and acknowledged.
async fn up_to(kit: Kit, act: Act) -> (Cast, usize, Folder) {
    let (cast, folder) = Cast::lasting(kit).await;
    let acknowledged = WHOLE.iter().take_while(|before| **before != act).count();
    cast.acts_here(&WHOLE[..acknowledged]).await;
    (cast, acknowledged, folder)
}

/// The bank has executed it, and the node is killed before it receives the response.
async fn dies_during(cast: &Cast, act: Act) {
    let process = Process::start(&cast.fixture.plane, None).await.expect("a node");
    story::dies_while_the_bank_works(&cast.fixture, process, act.call().expect("a call")).await;
}

fn all(fate: Fate) -> BTreeSet<(Option<Act>, Fate)> {
    WHOLE.iter().map(|act| (Some(*act), fate)).collect()
}

/// Acts that are claimed before they run, found between the two.
fn calls() -> BTreeSet<(Option<Act>, Fate)> {
    WHOLE.iter().filter(|act| act.call().is_some()).map(|act| (Some(*act), Fate::Begun)).collect()
}
