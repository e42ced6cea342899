//! Whether the observations of one decision fit some order in which its approval is used as often as it allows.
//!
//! The algorithm is Porcupine's: Wing and Gong's search for an order, with Lowe's cache of visited configurations. A
//! history covers one decision, so it is short.

use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// An approval for that many uses; an ordinary one is for 1.
    Approve {
        uses: u32,
    },
    Reject,
    Revoke,
    Use,
}

/// The outcome known to the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryOutcome {
    Done,
    /// It had no effect.
    Refused,
    /// It took effect at some time after it was invoked, or never.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HistoryEvent {
    pub(super) action: Action,
    pub(super) invoked: u64,
    pub(super) returned: u64,
    pub(super) outcome: HistoryOutcome,
}

/// The decision, as a sequential specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DecisionModel {
    Pending,
    Open(u32),
    Closed,
}

impl DecisionModel {
    /// The state after an effective action; `None` if the action was not possible.
    fn after(self, action: Action) -> Option<Self> {
        match (action, self) {
            (Action::Approve { uses: 0 }, _) => None,
            (Action::Approve { uses }, Self::Pending) => Some(Self::Open(uses)),
            (Action::Reject, Self::Pending) => Some(Self::Closed),
            (Action::Revoke, _) => Some(Self::Closed),
            (Action::Use, Self::Open(uses)) if uses > 1 => Some(Self::Open(uses - 1)),
            (Action::Use, Self::Open(_)) => Some(Self::Closed),
            _ => None,
        }
    }
}

/// Whether some order of the events explains the observations.
pub(super) fn is_linearizable(history: &[HistoryEvent]) -> bool {
    // An event without effect fits anywhere.
    let events: Vec<HistoryEvent> =
        history.iter().filter(|event| event.outcome != HistoryOutcome::Refused).copied().collect();
    let mut search = Search { events: &events, seen: HashSet::new() };
    search.finds_an_order()
}

struct Search<'a> {
    events: &'a [HistoryEvent],
    /// The set of placed events, and the decision after them.
    seen: HashSet<(Vec<u64>, DecisionModel)>,
}

impl Search<'_> {
    fn finds_an_order(&mut self) -> bool {
        let mut open = vec![(vec![0; self.events.len().div_ceil(64)], DecisionModel::Pending)];
        while let Some((placed, decision)) = open.pop() {
            if self.is_complete(&placed) {
                return true;
            }
            for (n, event) in self.candidates(&placed) {
                let Some(after) = decision.after(event.action) else { continue };
                let mut next = placed.clone();
                next[n / 64] |= 1 << (n % 64);
                if self.seen.insert((next.clone(), after)) {
                    open.push((next, after));
                }
            }
        }
        false
    }

    /// Whether all events known to have taken effect are placed.
    fn is_complete(&self, placed: &[u64]) -> bool {
        let has_place =
            |(n, event): (usize, &HistoryEvent)| event.outcome == HistoryOutcome::Unknown || is_placed(placed, n);
        self.events.iter().enumerate().all(has_place)
    }

    /// Events invoked before the first of the others returned may come next.
    fn candidates(&self, placed: &[u64]) -> Vec<(usize, HistoryEvent)> {
        let left = || self.events.iter().copied().enumerate().filter(|(n, _)| !is_placed(placed, *n));
        let known = left().filter(|(_, event)| event.outcome == HistoryOutcome::Done);
        let first_return = known.map(|(_, event)| event.returned).min().unwrap_or(u64::MAX);
        left().filter(|(_, event)| event.invoked <= first_return).collect()
    }
}

fn is_placed(placed: &[u64], n: usize) -> bool {
    placed[n / 64] & (1 << (n % 64)) != 0
}

#[cfg(test)]
mod tests;
