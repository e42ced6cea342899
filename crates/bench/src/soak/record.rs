//! All events of a run with their times: responses to agents, effects at the upstream, and faults.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Microseconds since the run began.
pub(super) type Micros = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SoakOperation {
    Held,
    Write,
    Read,
}

impl SoakOperation {
    pub(super) const ALL: [Self; 3] = [Self::Held, Self::Write, Self::Read];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Held => "held calls",
            Self::Write => "unheld writes",
            Self::Read => "reads",
        }
    }
}

/// The meaning of a response to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportedResult {
    /// It was carried out.
    Ran,
    /// An approval is needed first; nothing happened.
    Held,
    /// Nothing happened.
    Denied,
    /// The same call is in flight, has an unknown outcome or was claimed already: this request did nothing, another may have.
    Conflict,
    /// It may have happened, or there was no response.
    InDoubt,
}

/// One request of an agent to the gateway.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) operation: SoakOperation,
    pub(super) marker: String,
    /// The decision with the approval to claim.
    pub(super) decision: Option<String>,
    pub(super) invoked: Micros,
    pub(super) returned: Micros,
    pub(super) told: ReportedResult,
    /// Status and code, or the reason why there is none.
    pub(super) answer: String,
}

/// A person's answer to a question, as far as the person knows.
#[derive(Clone, Debug)]
pub(super) struct SoakReply {
    pub(super) decision: String,
    pub(super) accepts: bool,
    pub(super) invoked: Micros,
    pub(super) returned: Micros,
    /// Whether the node confirmed that it counts.
    pub(super) is_sure: bool,
}

/// An effect at the upstream.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) at: Micros,
    /// The decision named by the gateway's identity assertion.
    pub(super) decision: Option<String>,
}

/// A fault, from its start until the nodes were ready again.
#[derive(Clone, Debug)]
pub(super) struct FaultMark {
    pub(super) name: &'static str,
    pub(super) detail: String,
    pub(super) began: Micros,
    pub(super) ended: Micros,
}

/// A decision known to an agent.
#[derive(Clone, Debug)]
pub(super) struct Raised {
    pub(super) agent: usize,
    pub(super) at: Micros,
}

#[derive(Default)]
pub(super) struct Pages {
    pub(super) attempts: Vec<Attempt>,
    pub(super) replies: Vec<SoakReply>,
    /// By marker.
    pub(super) effects: HashMap<String, Vec<Effect>>,
    pub(super) decisions: BTreeMap<String, Raised>,
    /// The time of a response, and its latency in milliseconds.
    pub(super) latencies: Vec<(Micros, f32)>,
    /// Resident memory of all nodes, in MiB.
    pub(super) memory: Vec<(Micros, f64)>,
    pub(super) faults: Vec<FaultMark>,
    /// From the start of a backup to its restore: acknowledgements in between are legitimately forgotten.
    pub(super) forgotten: Vec<(Micros, Micros)>,
    /// Operations that an agent gave up, with no response that allowed for an effect.
    pub(super) given_up: usize,
    /// Nodes and agents that did not recover.
    pub(super) stuck: Vec<String>,
    /// Refusals other than of calls, such as at registering and signing in, with their number.
    pub(super) troubles: BTreeMap<String, usize>,
    /// The upstream's behaviours, with their number.
    pub(super) manners: BTreeMap<&'static str, usize>,
}

pub(super) struct SoakRecord {
    began: Instant,
    pages: Mutex<Pages>,
}

impl SoakRecord {
    #[expect(clippy::disallowed_methods, reason = "a soak measures")]
    pub(super) fn begin() -> Self {
        Self { began: Instant::now(), pages: Mutex::default() }
    }

    #[expect(clippy::disallowed_methods, reason = "a soak measures")]
    pub(super) fn now(&self) -> Micros {
        Micros::try_from(self.began.elapsed().as_micros()).unwrap_or(Micros::MAX)
    }

    pub(super) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn attempt(&self, attempt: Attempt) {
        let mut pages = self.pages();
        if !attempt.answer.starts_with("no") {
            let millis = (attempt.returned - attempt.invoked) as f32 / 1e3;
            pages.latencies.push((attempt.returned, millis));
        }
        pages.attempts.push(attempt);
    }

    pub(super) fn trouble(&self, why: &dyn std::fmt::Display) {
        let why = why.to_string();
        // Without the request id, equal errors are counted together.
        let why = why.split_once(",\"request_id\"").map_or(why.as_str(), |(before, _)| before);
        *self.pages().troubles.entry(why.to_owned()).or_default() += 1;
    }

    pub(super) fn effect(&self, marker: &str, decision: Option<String>) {
        let at = self.now();
        self.pages().effects.entry(marker.to_owned()).or_default().push(Effect { at, decision });
    }
}
