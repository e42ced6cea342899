//! One case for each commit and each moment around it, and one for a slow bank.

use super::{
    after::{self, Found},
    process::Process,
    story::{self, Act, Told, WHOLE},
};
use countersign_testkit::{
    Kit, Setup,
    bank::{Bank, BankScene},
    crashing::{Doom, Moment},
    leaks::Folder,
    on_both_stores,
};
use std::collections::BTreeSet;

/// An upper bound of a story's commits.
pub(super) const MOST: usize = 30;

on_both_stores! {
    ///
    async fn killed_before_any_commit_of_a_held_call_it_ran_once_at_most_and_nothing_false_is_reported(kit) {
        let found = killed_at_every_commit(kit, Moment::Before, &WHOLE).await;
        assert!(found.is_superset(&these(&[("none", 0), ("claimed", 1)])), "{found:?}");
    }

    ///
    async fn killed_during_any_commit_of_a_held_call_it_ran_once_at_most_and_nothing_false_is_reported(kit) {
        let found = killed_at_every_commit(kit, Moment::During, &WHOLE).await;
        assert!(found.contains(&("none".to_owned(), 0)), "{found:?}");
    }

    ///
    async fn killed_after_any_commit_of_a_held_call_it_ran_once_at_most_and_nothing_false_is_reported(kit) {
        let found = killed_at_every_commit(kit, Moment::After, &WHOLE).await;
        assert!(found.is_superset(&these(&[("none", 0), ("claimed", 0), ("committed", 1)])), "{found:?}");
    }

    ///
    async fn a_stored_request_whose_redeeming_is_killed_is_claimed_or_still_there_and_never_both(kit) {
        for moment in [Moment::Before, Moment::During, Moment::After] {
            let found = killed_at_every_commit(kit, moment, &[Act::Redeems]).await;
            let spent = if moment == Moment::After { ("claimed", 0) } else { ("none", 0) };
            assert!(moment == Moment::During || found.is_superset(&these(&[spent])), "{moment:?}: {found:?}");
        }
    }

    ///
    async fn killed_while_the_bank_works_it_is_unknown_and_a_late_answer_to_nobody_changes_nothing(kit) {
        for act in [Act::Repeats, Act::Redeems] {
            let (scene, _folder) = lasting(kit).await;
            let decision = scene.approved(BankScene::transfer()).await;
            scene.plane.engine.store().close().await;
            let process = Process::start(&scene.plane, None).await.expect("a node");
            story::dies_while_the_bank_works(&scene, process, story::spending(act, &decision)).await;
            let scene = after::restarted(scene).await;
            let told = Told { in_doubt: Some(act), decision: Some(decision) };
            assert_eq!(after::is_sound(&scene, &told).await, ("claimed".to_owned(), 1));
        }
    }
}

/// A fixture with a database that outlives its node.
pub(super) async fn lasting(kit: Kit) -> (BankScene, Folder) {
    let bank = Bank::open().await;
    let (plane, folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
    (BankScene::on(plane, bank).await, folder)
}

/// The findings of all cases.
async fn killed_at_every_commit(kit: Kit, moment: Moment, acts: &[Act]) -> BTreeSet<Found> {
    let mut all = BTreeSet::new();
    for commit in 1..MOST {
        let (in_doubt, found) = survives(kit, Doom { commit, moment }, acts).await;
        all.insert(found);
        if in_doubt.is_none() {
            return all;
        }
    }
    panic!("a story without an end")
}

async fn survives(kit: Kit, doom: Doom, acts: &[Act]) -> (Option<Act>, Found) {
    let (scene, _folder) = lasting(kit).await;
    let decision = match acts.first() {
        Some(Act::Asks) => None,
        _ => Some(scene.approved(BankScene::transfer()).await),
    };
    scene.plane.engine.store().close().await;
    let told = Told::at_a_process(&scene, acts, decision, Some(doom)).await;
    let scene = after::restarted(scene).await;
    println!("{doom:?}");
    let found = after::is_sound(&scene, &told).await;
    scene.plane.engine.store().close().await;
    (told.in_doubt, found)
}

fn these(found: &[(&str, usize)]) -> BTreeSet<Found> {
    found.iter().map(|(execution, effects)| ((*execution).to_owned(), *effects)).collect()
}
