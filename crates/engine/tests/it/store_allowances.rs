//! Allowances: found by their action while they are open, and listed where they cover more than one request.

use crate::{
    store::{Bench, START, on_both_stores},
    store_decisions::{
        AT, NONE, keys,
        rows::{allowance, bounded, digest},
        settles, write,
    },
};
use countersign_core::records::{Allowance, AllowanceState, CancelledFor, Raiser};
use countersign_engine::store::{
    AllowancesDue, AllowancesLiveOfDelegation, AllowancesLiveOfSession, AllowancesOfDecision, AllowancesOpenByDigest,
    AllowancesOpenIn, AllowancesOpenOfDecider, AllowancesOpenOfHolder, AllowancesOpenOfPerson, Lookup, Search,
};
use countersign_protocol::ids::RowKey;

/// The searches that list a standing approval with this key.
fn listing(project: RowKey, key: RowKey) -> [Search; 4] {
    [
        AllowancesOpenOfHolder { project, holder: 10 + key }.search(),
        AllowancesOpenOfPerson { project, person: key }.search(),
        AllowancesOpenOfDecider { project, person: 20 + key }.search(),
        AllowancesOpenIn(project).search(),
    ]
}

async fn keys_of(bench: &Bench, search: &Search) -> Vec<RowKey> {
    bench.found::<Allowance>(search).await.iter().map(|allowance| allowance.key).collect()
}

on_both_stores! {
    async fn an_approval_of_one_request_is_listed_nowhere(bench) {
        let plain = Allowance { decided_by: Some(21), ..allowance(1, 1, START, AllowanceState::Open) };
        write(&bench, plain).await;
        for search in &listing(1, 1) {
            assert_eq!(keys_of(&bench, search).await, NONE, "{search:?}");
        }
    }

    async fn a_standing_approval_is_listed_until_any_end(bench) {
        let ends = [
            AllowanceState::Spent,
            AllowanceState::Lapsed { at: AT },
            AllowanceState::Cancelled { at: AT, why: CancelledFor::TakenBack },
        ];
        for (key, end) in (1..).zip(ends) {
            let of = |key, version, state| Allowance { project: key, ..bounded(key, version, state) };
            let other = Allowance { project: 99, ..bounded(30 + key, 1, AllowanceState::Open) };
            let rows = [of(key, 1, AllowanceState::Open), other, of(key, 2, end)];
            settles(&bench, rows, &listing(key, key), &[AllowancesOfDecision(100 + key).search()]).await;
        }
    }

    async fn a_standing_approval_with_uses_left_stays_listed(bench) {
        write(&bench, bounded(1, 1, AllowanceState::Open)).await;
        let mut used = bounded(1, 2, AllowanceState::Open);
        (used.tally.uses, used.tally.used) = (3, 1);
        write(&bench, used).await;
        for search in &listing(1, 1) {
            assert_eq!(keys_of(&bench, search).await, [1], "{search:?}");
        }
    }

    ///
    async fn a_listing_shows_its_own_holder_person_decider_and_project_in_the_order_of_keys(bench) {
        let like = |of: RowKey, key, project| Allowance { key, project, ..bounded(of, 1, AllowanceState::Open) };
        for yes in [like(1, 5, 1), like(2, 4, 1), like(1, 3, 2), like(1, 2, 1)] {
            write(&bench, yes).await;
        }
        let listed = async |project, of| {
            let [holder, person, decider, all] = listing(project, of);
            let found = keys_of(&bench, &holder).await;
            assert_eq!(keys_of(&bench, &person).await, found);
            assert_eq!(keys_of(&bench, &decider).await, found);
            (found, keys_of(&bench, &all).await)
        };
        assert_eq!(listed(1, 1).await, (vec![2, 5], vec![2, 4, 5]));
        assert_eq!(listed(1, 2).await, (vec![4], vec![2, 4, 5]));
        assert_eq!(listed(2, 1).await, (vec![3], vec![3]));
        assert_eq!(listed(2, 2).await, (vec![], vec![3]));
        assert_eq!(listed(3, 1).await, (vec![], vec![]));
    }

    async fn the_calls_of_an_api_key_are_those_of_a_holder_too(bench) {
        let mut by_key = bounded(1, 1, AllowanceState::Open);
        by_key.raised_by = Raiser { delegation: None, session: None, api_key: Some(77), ..by_key.raised_by };
        by_key.decided_by = None;
        write(&bench, by_key).await;
        let of_key = AllowancesOpenOfHolder { project: 1, holder: 77 };
        assert_eq!(keys(&bench, of_key).await, [1]);
        assert_eq!(keys(&bench, AllowancesLiveOfDelegation(77)).await, [1]);
        let [_, _, decider, all] = listing(1, 1);
        assert_eq!(keys_of(&bench, &decider).await, NONE, "a default gave it");
        assert_eq!(keys_of(&bench, &all).await, [1]);
    }

    async fn a_decision_may_allow_several_things_which_are_found_in_the_order_of_keys(bench) {
        let step = |key, state| Allowance { decision: 500, ..bounded(key, 1, state) };
        for key in [3, 1, 2] {
            write(&bench, step(key, AllowanceState::Open)).await;
        }
        write(&bench, step(4, AllowanceState::Spent)).await;
        write(&bench, bounded(5, 1, AllowanceState::Open)).await;
        assert_eq!(keys(&bench, AllowancesOfDecision(500)).await, [1, 2, 3, 4]);
        assert_eq!(keys(&bench, AllowancesOfDecision(105)).await, [5]);
        assert_eq!(keys(&bench, AllowancesOfDecision(101)).await, NONE);
    }

    async fn allowances_of_one_digest_are_all_found_while_they_are_open(bench) {
        let of =
            |key, project, state| Allowance { digest: Some(digest(7)), project, ..allowance(key, 1, START, state) };
        write(&bench, of(1, 1, AllowanceState::Open)).await;
        write(&bench, of(2, 1, AllowanceState::Spent)).await;
        write(&bench, of(3, 1, AllowanceState::Open)).await;
        write(&bench, of(4, 2, AllowanceState::Open)).await;
        let open = |project| AllowancesOpenByDigest { project, digest: digest(7) };
        assert_eq!(keys(&bench, open(1)).await, [1, 3]);
        assert_eq!(keys(&bench, open(2)).await, [4]);
    }

    async fn an_allowance_is_found_as_open_until_it_is_claimed_and_by_its_decision_for_ever(bench) {
        let rows = [
            allowance(1, 1, START, AllowanceState::Open),
            allowance(2, 1, START + 5, AllowanceState::Open),
            allowance(1, 2, START, AllowanceState::Spent),
        ];
        let open = [
            AllowancesDue { by: AT, limit: 9 }.search(),
            AllowancesLiveOfDelegation(1).search(),
            AllowancesLiveOfSession(11).search(),
            AllowancesOpenByDigest { project: 1, digest: digest(1) }.search(),
        ];
        settles(&bench, rows, &open, &[AllowancesOfDecision(101).search()]).await;
    }
}
