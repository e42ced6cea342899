//! Decisions, executions and AAEP's rows: found by their current state only.

pub(crate) mod rows;

use crate::store::{Bench, START, committed, on_both_stores};
use countersign_core::{
    records::{
        AaepSessionState, AllowanceState, Assurance, Ballot, CancelledFor, Decision, DecisionState, Defaulted,
        Execution, ExecutionState, Reporter, Role, Stored, SubscriberToken, Via,
    },
    step::Effects,
};
use countersign_engine::store::{
    self, AaepSessionById, AaepSessionsLiveOfDelegation, AaepSessionsLiveOfSession, AaepSessionsOpenOfPerson,
    AllowancesDue, DecisionById, DecisionByReply, DecisionPendingSame, DecisionsAsking, DecisionsDue,
    DecisionsLiveOfDelegation, DecisionsLiveOfSession, ExecutionById, ExecutionOfEffect, ExecutionUnderWay,
    ExecutionsDone, ExecutionsDue, ExecutionsOfDecision, ExecutionsUnknown, Lookup, Outcome, Search,
    SubscriberTokenByHash, SubscriberTokenById, SubscriberTokensOfPerson, SubscriptionById, SubscriptionsOpenOfPerson,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use rows::{aaep_session, allowance, decision, digest, execution, expired, pending, subscription};
use serde_json::json;
use std::fmt::Debug;

pub(crate) const AT: UnixMillis = UnixMillis(START);
pub(crate) const NONE: [RowKey; 0] = [];

pub(crate) fn put<T: Stored>(record: T) -> Effects {
    Effects { puts: vec![record.into_record()], ..Effects::default() }
}

pub(crate) async fn write<T: Stored>(bench: &Bench, record: T) {
    assert_eq!(bench.store.commit(put(record)).await, Outcome::Committed);
}

pub(crate) async fn keys<L: Lookup>(bench: &Bench, lookup: L) -> Vec<RowKey> {
    store::find_all(&*bench.store, lookup).await.unwrap().iter().map(Stored::key).collect()
}

/// Puts 1 and 2 open, then 1 settled: it is found by all of `ever` and no longer by any of `open`.
pub(crate) async fn settles<T: Stored + PartialEq + Debug>(
    bench: &Bench,
    rows: [T; 3],
    open: &[Search],
    ever: &[Search],
) {
    let [first, other, settled] = rows;
    write(bench, first.clone()).await;
    write(bench, other).await;
    for search in open.iter().chain(ever) {
        assert_eq!(bench.found::<T>(search).await, std::slice::from_ref(&first), "{search:?}");
    }
    write(bench, settled.clone()).await;
    for search in open {
        assert_eq!(bench.found::<T>(search).await, [], "{search:?}");
    }
    for search in ever {
        assert_eq!(bench.found::<T>(search).await, std::slice::from_ref(&settled), "{search:?}");
    }
}

on_both_stores! {
    async fn a_decision_is_found_as_open_until_it_is_settled_and_by_its_names_for_ever(bench) {
        let rows = [decision(1, 1, pending(START)), decision(2, 1, pending(START + 5)), decision(1, 2, expired())];
        let open = [
            DecisionPendingSame { project: 1, same: digest(1) }.search(),
            DecisionsAsking { project: 1, asks: Decision::asks_person(1) }.search(),
            DecisionsDue { by: AT, limit: 9 }.search(),
            DecisionsLiveOfDelegation(1).search(),
            DecisionsLiveOfSession(11).search(),
        ];
        let ever = [
            DecisionById { project: 1, id: "dec_1".into() }.search(),
            DecisionByReply(digest(101)).search(),
            Search::by_key(Decision::TABLE, 1),
        ];
        settles(&bench, rows, &open, &ever).await;
    }

    async fn a_question_for_several_people_is_found_by_all_of_them(bench) {
        let mut shared = decision(1, 1, pending(START));
        shared.terms.approvers.roles = vec![Role::Approver];
        write(&bench, shared).await;
        write(&bench, decision(2, 1, pending(START))).await;
        let asking = |asks: String| DecisionsAsking { project: 1, asks };
        assert_eq!(keys(&bench, asking(Decision::ASKS_SEVERAL.into())).await, [1]);
        assert_eq!(keys(&bench, asking(Decision::asks_person(1))).await, NONE);
        assert_eq!(keys(&bench, asking(Decision::asks_person(2))).await, [2]);
    }

    ///
    async fn of_the_same_question_only_one_is_pending_in_a_project(bench) {
        let same = |key, project| Decision { same: digest(1), project, ..decision(key, 1, pending(START)) };
        let outcomes = bench.commit_all((1..20).map(|key| put(same(key, 1))).collect()).await;
        assert_eq!(committed(&outcomes), 1);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::Stale)));
        assert_eq!(bench.store.commit(put(same(30, 2))).await, Outcome::Committed, "another project's");
        write(&bench, Decision { version: 2, state: expired(), ..same(1, 1) }).await;
        assert_eq!(bench.store.commit(put(same(31, 1))).await, Outcome::Committed, "asked again once it is settled");
    }

    ///
    async fn a_digest_is_under_way_once_until_its_end_is_known(bench) {
        let claimed = || ExecutionState::Claimed { lease_until: AT };
        let again = |key| Execution { digest: digest(1), ..execution(key, 1, claimed()) };
        write(&bench, again(1)).await;
        assert_eq!(bench.store.commit(put(again(2))).await, Outcome::Stale, "claimed");
        write(&bench, execution(1, 2, ExecutionState::Unknown { since: AT })).await;
        assert_eq!(bench.store.commit(put(again(2))).await, Outcome::Stale, "nobody knows");
        write(&bench, execution(1, 3, ExecutionState::Committed { at: AT, by: Reporter::Claimant })).await;
        write(&bench, again(2)).await;
        let under_way = ExecutionUnderWay { project: 1, digest: digest(1) };
        assert_eq!(keys(&bench, under_way).await, [2]);
        let done = ExecutionsDone { project: 1, digest: digest(1) };
        assert_eq!(keys(&bench, done).await, [1]);
    }

    ///
    async fn an_effect_is_claimed_once_by_anybody_until_it_is_known_to_have_failed(bench) {
        let claimed = || ExecutionState::Claimed { lease_until: AT };
        let refund = |key, version, state| Execution { effect: Some(digest(7)), ..execution(key, version, state) };
        let again = |key| bench.store.commit(put(refund(key, 1, claimed())));
        write(&bench, refund(1, 1, claimed())).await;
        assert_eq!(again(2).await, Outcome::Stale, "it may be under way");
        write(&bench, refund(1, 2, ExecutionState::Unknown { since: AT })).await;
        assert_eq!(again(2).await, Outcome::Stale, "nobody knows");
        write(&bench, refund(1, 3, ExecutionState::Failed { at: AT, by: Reporter::Claimant, why: None })).await;
        write(&bench, refund(2, 1, claimed())).await;
        write(&bench, refund(2, 2, ExecutionState::Committed { at: AT, by: Reporter::Claimant })).await;
        assert_eq!(again(3).await, Outcome::Stale, "it happened");
        write(&bench, Execution { project: 2, ..refund(4, 1, claimed()) }).await;
        write(&bench, execution(5, 1, claimed())).await;
        write(&bench, execution(6, 1, claimed())).await;
        let of_effect = |project| ExecutionOfEffect { project, effect: digest(7) };
        assert_eq!(keys(&bench, of_effect(1)).await, [2]);
        assert_eq!(keys(&bench, of_effect(2)).await, [4]);
    }

    ///
    async fn of_many_simultaneous_claims_of_an_effect_one_wins(bench) {
        let claim = |key| {
            let claimed = ExecutionState::Claimed { lease_until: AT };
            put(Execution { effect: Some(digest(7)), ..execution(key, 1, claimed) })
        };
        let outcomes = bench.commit_all((1..40).map(claim).collect()).await;
        assert_eq!(committed(&outcomes), 1);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::Stale)));
    }

    async fn an_execution_is_found_by_its_outcome(bench) {
        let claimed = |until| ExecutionState::Claimed { lease_until: UnixMillis(until) };
        let failed = ExecutionState::Failed { at: AT, by: Reporter::Claimant, why: None };
        let rows = [execution(1, 1, claimed(START)), execution(2, 1, claimed(START + 5)), execution(1, 2, failed)];
        let under_way = ExecutionUnderWay { project: 1, digest: digest(1) };
        let open = [ExecutionsDue { by: AT, limit: 9 }.search(), under_way.search()];
        let ever = [ExecutionById { project: 1, id: "exe_1".into() }.search(), ExecutionsOfDecision(101).search()];
        settles(&bench, rows, &open, &ever).await;
        assert_eq!(keys(&bench, ExecutionsDone { project: 1, digest: digest(1) }).await, NONE);
        assert_eq!(keys(&bench, ExecutionsUnknown(1)).await, NONE);
        write(&bench, execution(2, 2, ExecutionState::Unknown { since: AT })).await;
        assert_eq!(keys(&bench, ExecutionsUnknown(1)).await, [2]);
        assert_eq!(keys(&bench, ExecutionsUnknown(2)).await, NONE);
        assert_eq!(keys(&bench, ExecutionsDue { by: UnixMillis(i64::MAX), limit: 9 }).await, NONE);
    }

    async fn due_rows_come_the_most_overdue_first_and_never_more_than_requested(bench) {
        for (key, due) in [(1, 30), (2, 10), (3, 40), (4, 20), (5, 10)] {
            write(&bench, decision(key, 1, pending(START + due))).await;
            write(&bench, allowance(key, 1, START + due, AllowanceState::Open)).await;
            let claimed = ExecutionState::Claimed { lease_until: UnixMillis(START + due) };
            write(&bench, execution(key, 1, claimed)).await;
        }
        let due = |by, limit| {
            let by = UnixMillis(START + by);
            let bench = &bench;
            async move {
                let found = keys(bench, DecisionsDue { by, limit }).await;
                assert_eq!(keys(bench, AllowancesDue { by, limit }).await, found);
                assert_eq!(keys(bench, ExecutionsDue { by, limit }).await, found);
                found
            }
        };
        assert_eq!(due(9, 100).await, NONE);
        assert_eq!(due(10, 100).await, [2, 5], "due at this very moment");
        assert_eq!(due(30, 100).await, [2, 5, 4, 1]);
        assert_eq!(due(99, 3).await, [2, 5, 4]);
        assert_eq!(due(99, 0).await, NONE);
        write(&bench, decision(2, 2, pending(START + 35))).await;
        let later = DecisionsDue { by: UnixMillis(START + 99), limit: 100 };
        assert_eq!(keys(&bench, later).await, [5, 4, 1, 2, 3], "put off");
    }

    async fn an_aaep_session_is_found_by_its_person_and_agent_while_it_is_open(bench) {
        let open_state =
            || AaepSessionState::Open { at: "idle".into(), waiting: vec![], tools: vec![], outputs: vec![] };
        let rows = [
            aaep_session(1, 1, open_state()),
            aaep_session(2, 1, open_state()),
            aaep_session(1, 2, AaepSessionState::Over { at: AT }),
        ];
        let open = [
            AaepSessionsOpenOfPerson { project: 1, person: 1 }.search(),
            AaepSessionsLiveOfDelegation(1).search(),
            AaepSessionsLiveOfSession(11).search(),
        ];
        settles(&bench, rows, &open, &[AaepSessionById { project: 1, id: "sess_1".into() }.search()]).await;
    }

    async fn a_subscription_is_forgotten_a_day_after_it_was_closed_and_never_before(bench) {
        let rows = [subscription(1, 1, None), subscription(2, 1, None), subscription(1, 2, Some(AT))];
        let open = [SubscriptionsOpenOfPerson { project: 1, person: 1 }.search()];
        settles(&bench, rows, &open, &[SubscriptionById { project: 1, id: "sub_1".into() }.search()]).await;
        let day = AT.plus_secs(24 * 3600);
        assert_eq!(bench.store.sweep(day).await.unwrap(), 0);
        assert_eq!(bench.store.sweep(day.plus_millis(1)).await.unwrap(), 1);
        assert_eq!(keys(&bench, SubscriptionById { project: 1, id: "sub_1".into() }).await, NONE);
        assert_eq!(bench.store.sweep(day.plus_secs(999_999)).await.unwrap(), 0, "the open one stays");
    }

    ///
    async fn a_subscribers_token_is_found_by_its_hash_its_id_and_its_person(bench) {
        let token = |key: RowKey| SubscriberToken {
            key,
            version: 1,
            project: 1,
            id: format!("tok_{key}"),
            hash: digest(key),
            person: key,
            name: "kitchen speaker".into(),
            may_answer: false,
            legacy: false,
            approves_high_risk: false,
            generation: 1,
            created_at: AT,
            expires_at: AT,
            revoked_at: None,
        };
        let lookups = [
            SubscriberTokenByHash(digest(1)).search(),
            SubscriberTokenById { project: 1, id: "tok_1".into() }.search(),
            SubscriberTokensOfPerson { project: 1, person: 1 }.search(),
        ];
        write(&bench, token(1)).await;
        write(&bench, token(2)).await;
        for search in &lookups {
            assert_eq!(bench.found::<SubscriberToken>(search).await, [token(1)], "{search:?}");
        }
        let same_hash = SubscriberToken { hash: digest(1), ..token(3) };
        assert_eq!(bench.store.commit(put(same_hash)).await, Outcome::Stale);
    }

    async fn every_end_of_a_decision_comes_back_as_it_was_written(bench) {
        let ballot = || Ballot {
            person: 1,
            subject: "ada".into(),
            assurance: Assurance::Fresh,
            at: AT,
            claimed_at: AT,
            decided_by: None,
            correlation_id: Some("c".into()),
            via: Via::Subscription { id: "sub_1".into() },
            role: Some("owner".into()),
            by_override: false,
        };
        let ends = [
            DecisionState::Accepted { by: ballot(), rationale: Some("fine".into()) },
            DecisionState::Rejected { by: ballot(), rationale: Some("no".into()), proposal: Some(json!({ "a": 1 })) },
            DecisionState::Answered { by: ballot(), response: json!(["x", 1.5]), confidence: Some(0.25) },
            DecisionState::Expired { at: AT, as_if: Defaulted::Response { response: "later".into() } },
            DecisionState::Cancelled { at: AT, why: CancelledFor::Revoked, by: None, reason: None },
            DecisionState::Cancelled {
                at: AT,
                why: CancelledFor::TakenBack,
                by: Some(ballot()),
                reason: Some("no more".into()),
            },
        ];
        for (key, end) in (1..).zip(ends) {
            let ended = decision(key, 1, end);
            write(&bench, ended.clone()).await;
            assert_eq!(store::get(&*bench.store, key).await.unwrap(), Some(ended));
        }
    }
}
