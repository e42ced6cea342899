//! The history of each decision, from the responses to agents and the person and from the upstream's effects.

use super::{
    linearizability::{Action, HistoryEvent, HistoryOutcome},
    record::{Attempt, Micros, Pages, ReportedResult},
};
use std::collections::BTreeMap;

/// A restore revokes all earlier questions.
pub(super) fn by_decision(pages: &Pages) -> BTreeMap<String, Vec<HistoryEvent>> {
    let mut histories: BTreeMap<String, Vec<HistoryEvent>> = BTreeMap::new();
    for reply in &pages.replies {
        let action = if reply.accepts { Action::Approve { uses: 1 } } else { Action::Reject };
        let outcome = if reply.is_sure { HistoryOutcome::Done } else { HistoryOutcome::Unknown };
        let event = HistoryEvent { action, invoked: reply.invoked, returned: reply.returned, outcome };
        histories.entry(reply.decision.clone()).or_default().push(event);
    }
    for (decision, uses) in uses(pages) {
        histories.entry(decision).or_default().extend(uses);
    }
    for (decision, raised) in &pages.decisions {
        let ended = pages.forgotten.iter().filter(|(_, to)| raised.at < *to);
        let revoked = ended.map(|(from, to)| {
            let (action, outcome) = (Action::Revoke, HistoryOutcome::Done);
            HistoryEvent { action, invoked: raised.at.max(*from), returned: *to, outcome }
        });
        histories.entry(decision.clone()).or_default().extend(revoked);
    }
    histories
}

/// The upstream's effects are authoritative, regardless of the caller's response: each is a use completed by then.
fn uses(pages: &Pages) -> BTreeMap<String, Vec<HistoryEvent>> {
    let mut uses: BTreeMap<String, Vec<HistoryEvent>> = BTreeMap::new();
    for attempt in &pages.attempts {
        if let Some(decision) = &attempt.decision {
            uses.entry(decision.clone()).or_default().push(use_of(attempt));
        }
    }
    let effects = pages.effects.values().flatten();
    for (decision, at) in effects.filter_map(|effect| Some((effect.decision.clone()?, effect.at))) {
        ran(uses.entry(decision).or_default(), at);
    }
    uses
}

fn use_of(attempt: &Attempt) -> HistoryEvent {
    let outcome = match attempt.told {
        ReportedResult::Ran => HistoryOutcome::Done,
        ReportedResult::InDoubt => HistoryOutcome::Unknown,
        ReportedResult::Held | ReportedResult::Denied | ReportedResult::Conflict => HistoryOutcome::Refused,
    };
    HistoryEvent { action: Action::Use, invoked: attempt.invoked, returned: attempt.returned, outcome }
}

/// Finds the use for an effect: an acknowledged one, else one in doubt, else an unknown one.
fn ran(uses: &mut Vec<HistoryEvent>, at: Micros) {
    let fits =
        |event: &&mut HistoryEvent, outcome| event.outcome == outcome && event.invoked <= at && at <= event.returned;
    if let Some(known) = uses.iter_mut().find(|event| fits(event, HistoryOutcome::Done)) {
        known.returned = at;
        return;
    }
    let in_doubt = uses.iter_mut().find(|event| event.outcome == HistoryOutcome::Unknown && event.invoked <= at);
    match in_doubt {
        Some(event) => (event.outcome, event.returned) = (HistoryOutcome::Done, at),
        None => {
            uses.push(HistoryEvent { action: Action::Use, invoked: 0, returned: at, outcome: HistoryOutcome::Done })
        }
    }
}
