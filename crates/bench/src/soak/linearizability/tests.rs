use super::{Action::*, HistoryEvent, HistoryOutcome::*, is_linearizable, *};
use proptest::prelude::*;

const ONE: Action = Approve { uses: 1 };

fn event(action: Action, invoked: u64, returned: u64, outcome: HistoryOutcome) -> HistoryEvent {
    HistoryEvent { action, invoked, returned, outcome }
}

#[test]
fn two_uses_of_one_approval_are_refused_also_when_they_overlap() {
    for (invoked, returned) in [(5, 6), (3, 4), (0, 9)] {
        let history = [event(ONE, 0, 1, Done), event(Use, 3, 4, Done), event(Use, invoked, returned, Done)];
        assert!(!is_linearizable(&history), "{history:?}");
    }
}

#[test]
fn a_use_before_the_approval_is_refused() {
    assert!(!is_linearizable(&[event(Use, 0, 1, Done), event(ONE, 2, 3, Done)]));
    assert!(!is_linearizable(&[event(Use, 0, 1, Done)]), "nobody approved");
    assert!(is_linearizable(&[event(Use, 0, 3, Done), event(ONE, 2, 4, Done)]), "they overlap");
}

#[test]
fn a_use_after_a_rejection_or_a_revocation_is_refused() {
    assert!(!is_linearizable(&[event(Reject, 0, 1, Done), event(Use, 2, 3, Done)]));
    let revoked = [event(ONE, 0, 1, Done), event(Revoke, 2, 3, Done), event(Use, 4, 5, Done)];
    assert!(!is_linearizable(&revoked));
    let meanwhile = [event(ONE, 0, 1, Done), event(Revoke, 2, 6, Done), event(Use, 4, 5, Done)];
    assert!(is_linearizable(&meanwhile), "the revocation was not acknowledged yet");
}

#[test]
fn a_decision_is_answered_once() {
    assert!(!is_linearizable(&[event(ONE, 0, 1, Done), event(Reject, 2, 3, Done)]));
    assert!(!is_linearizable(&[event(ONE, 0, 5, Done), event(ONE, 2, 3, Done)]));
    assert!(is_linearizable(&[event(ONE, 0, 1, Unknown), event(ONE, 2, 3, Done)]), "the first one was lost");
}

#[test]
fn an_unknown_event_took_effect_late_or_never() {
    assert!(is_linearizable(&[event(ONE, 0, 1, Unknown), event(Use, 9, 10, Done)]), "the approval arrived");
    assert!(is_linearizable(&[event(ONE, 0, 1, Done), event(Use, 2, 3, Unknown), event(Use, 4, 5, Done)]));
    assert!(!is_linearizable(&[event(Use, 0, 1, Done), event(ONE, 2, 3, Unknown)]), "it was invoked too late");
    let twice = [event(ONE, 0, 1, Done), event(Use, 2, 3, Unknown), event(Use, 4, 5, Done), event(Use, 6, 7, Done)];
    assert!(!is_linearizable(&twice));
}

#[test]
fn a_refused_event_changes_nothing() {
    let history =
        [event(ONE, 0, 1, Done), event(Use, 2, 3, Refused), event(Use, 4, 5, Done), event(Use, 6, 7, Refused)];
    assert!(is_linearizable(&history));
    assert!(is_linearizable(&[]));
}

#[test]
fn a_standing_approval_is_used_as_often_as_it_says() {
    let uses = |count: u64| (0..count).map(|n| event(Use, 2 + n, 3 + n, Done));
    let history = |count| [event(Approve { uses: 3 }, 0, 1, Done)].into_iter().chain(uses(count)).collect::<Vec<_>>();
    assert!(is_linearizable(&history(3)));
    assert!(!is_linearizable(&history(4)));
}

/// Events of a sequential run, each extended around the moment of its effect.
fn sequential() -> impl Strategy<Value = (u32, Vec<HistoryEvent>)> {
    let attempt = (0..4_u8, 0..40_u64, 0..40_u64, any::<bool>());
    (1..4_u32, prop::collection::vec(attempt, 0..14)).prop_map(|(uses, attempts)| {
        let mut decision = DecisionModel::Pending;
        let mut history = Vec::new();
        for (n, (kind, before, after, is_heard)) in attempts.into_iter().enumerate() {
            let action = match kind {
                0 if n > 8 => Revoke,
                0 | 1 => Approve { uses },
                _ => Use,
            };
            let moment = 100 + 10 * n as u64;
            let took_effect = decision.after(action);
            decision = took_effect.unwrap_or(decision);
            let outcome = match (took_effect, is_heard) {
                (Some(_), true) => Done,
                (None, true) => Refused,
                (_, false) => Unknown,
            };
            history.push(event(action, moment - before, moment + after, outcome));
        }
        (uses, history)
    })
}

proptest! {
    #[test]
    fn the_history_of_a_sequential_run_with_overlaps_is_accepted((_, history) in sequential()) {
        prop_assert!(is_linearizable(&history));
    }

    #[test]
    fn one_use_more_than_approved_is_found((uses, history) in sequential()) {
        let known: Vec<HistoryEvent> = history.into_iter().filter(|event| event.action != Revoke).collect();
        let is_use = |event: &&HistoryEvent| event.action == Use && event.outcome == Done;
        let used = known.iter().filter(is_use).count() as u32;
        let more = (0..=uses.saturating_sub(used)).map(|n| event(Use, 100, 1000 + u64::from(n), Done));
        let history: Vec<HistoryEvent> = known.iter().copied().chain(more).collect();
        prop_assert!(!is_linearizable(&history));
    }
}
