//! One case for each commit and each moment around it, one for a slow bank, and two nodes of which one is killed.

use super::{
    after::{self, Found},
    process::Process,
    story::{self, Acknowledged, Act, WHOLE},
};
use countersign_testkit::{
    Backend, Kit,
    bank::BankFixture,
    faulty_store::{CrashPoint, Moment},
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
            let (fixture, _folder) = BankFixture::lasting(kit, |_| {}).await;
            let decision = fixture.approved(BankFixture::transfer()).await;
            fixture.plane.engine.store().close().await;
            let process = Process::start(&fixture.plane, None).await.expect("a node");
            story::dies_while_the_bank_works(&fixture, process, story::spending(act, &decision)).await;
            let fixture = fixture.restarted().await;
            let told = Acknowledged { in_doubt: Some(act), decision: Some(decision) };
            assert_eq!(after::is_sound(&fixture, &told).await, ("claimed".to_owned(), 1));
        }
    }
}

///
#[tokio::test]
async fn the_claim_of_a_killed_node_becomes_unknown_at_the_other_which_neither_runs_nor_asks_it_again() {
    let (fixture, _folder) = BankFixture::lasting(Kit(Backend::Postgres), |_| {}).await;
    let decision = fixture.approved(BankFixture::transfer()).await;
    let process = Process::start(&fixture.plane, None).await.expect("a node");
    story::dies_while_the_bank_works(&fixture, process, story::spending(Act::Redeems, &decision)).await;
    after::becomes_unknown(&fixture, &decision).await;
    assert_eq!(fixture.bank.effects().len(), 1);
}

///
#[tokio::test]
async fn what_a_node_was_killed_before_claiming_is_spent_at_the_other_once() {
    let (fixture, _folder) = BankFixture::lasting(Kit(Backend::Postgres), |_| {}).await;
    let decision = fixture.approved(BankFixture::transfer()).await;
    let process = dies_at_its_first_call(&fixture).await;
    let answer = story::sends(&fixture, process.addresses.gateway, story::spending(Act::Repeats, &decision)).await;
    assert!(answer.is_none());
    assert_eq!((after::execution(&fixture, &decision).await.as_str(), fixture.bank.effects().len()), ("none", 0));
    fixture.sends(story::spending(Act::Redeems, &decision)).await.expect(201);
    assert_eq!((after::execution(&fixture, &decision).await.as_str(), fixture.bank.effects().len()), ("committed", 1));
    assert_eq!(fixture.sealed_requests().await.len(), 0);
}

/// The findings of all cases.
async fn killed_at_every_commit(kit: Kit, moment: Moment, acts: &[Act]) -> BTreeSet<Found> {
    let mut all = BTreeSet::new();
    for commit in 1..MOST {
        let (in_doubt, found) = survives(kit, CrashPoint { commit, moment }, acts).await;
        all.insert(found);
        if in_doubt.is_none() {
            return all;
        }
    }
    panic!("a story without an end")
}

async fn survives(kit: Kit, crash: CrashPoint, acts: &[Act]) -> (Option<Act>, Found) {
    let (fixture, _folder) = BankFixture::lasting(kit, |_| {}).await;
    let decision = match acts.first() {
        Some(Act::Asks) => None,
        _ => Some(fixture.approved(BankFixture::transfer()).await),
    };
    fixture.plane.engine.store().close().await;
    let told = Acknowledged::at_a_process(&fixture, acts, decision, Some(crash)).await;
    let fixture = fixture.restarted().await;
    println!("{crash:?}");
    let found = after::is_sound(&fixture, &told).await;
    fixture.plane.engine.store().close().await;
    (told.in_doubt, found)
}

fn these(found: &[(&str, usize)]) -> BTreeSet<Found> {
    found.iter().map(|(execution, effects)| ((*execution).to_owned(), *effects)).collect()
}

/// A node that starts to serve, and is killed before its first commit for a call.
async fn dies_at_its_first_call(fixture: &BankFixture) -> Process {
    for commit in 1..MOST {
        if let Some(process) = Process::start(&fixture.plane, Some(CrashPoint { commit, moment: Moment::Before })).await
        {
            return process;
        }
    }
    panic!("a node that writes and never serves")
}
