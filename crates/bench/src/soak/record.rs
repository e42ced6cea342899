//! Everything that happened in a run, with times: what agents were told, what the upstream did, what was broken when.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Microseconds since the run began.
pub(super) type Micros = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Held,
    Write,
    Read,
}

impl Operation {
    pub(super) const ALL: [Self; 3] = [Self::Held, Self::Write, Self::Read];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Held => "held calls",
            Self::Write => "unheld writes",
            Self::Read => "reads",
        }
    }
}

/// What a caller was told of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It was carried out.
    Ran,
    /// An approval is needed first; nothing happened.
    Held,
    /// Nothing happened.
    Denied,
    /// Exactly this is under way, is unknown or was used already: this request did nothing, another one may have.
    Conflict,
    /// It may have happened, or nothing was told at all.
    InDoubt,
}

/// One request of an agent to the gateway.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) operation: Operation,
    pub(super) marker: String,
    /// The decision whose approval it was to use.
    pub(super) decision: Option<String>,
    pub(super) invoked: Micros,
    pub(super) returned: Micros,
    pub(super) told: Told,
    /// Status and code, or why there is none.
    pub(super) answer: String,
}

/// A person's answer to a question, as far as the person knows.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) decision: String,
    pub(super) accepts: bool,
    pub(super) invoked: Micros,
    pub(super) returned: Micros,
    /// Whether the node said that it counts.
    pub(super) is_sure: bool,
}

/// Something that the upstream did.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) at: Micros,
    /// The decision that the gateway's identity assertion named.
    pub(super) decision: Option<String>,
}

/// A fault, for as long as it lasted, until the nodes were ready again.
#[derive(Clone, Debug)]
pub(super) struct FaultMark {
    pub(super) name: &'static str,
    pub(super) detail: String,
    pub(super) began: Micros,
    pub(super) ended: Micros,
}

/// A decision that an agent was told of.
#[derive(Clone, Debug)]
pub(super) struct Raised {
    pub(super) agent: usize,
    pub(super) at: Micros,
}

#[derive(Default)]
pub(super) struct Pages {
    pub(super) attempts: Vec<Attempt>,
    pub(super) replies: Vec<Reply>,
    /// By marker.
    pub(super) effects: HashMap<String, Vec<Effect>>,
    pub(super) decisions: BTreeMap<String, Raised>,
    /// When a call was answered, and how many milliseconds it took.
    pub(super) latencies: Vec<(Micros, f32)>,
    /// Resident memory of all nodes, in MiB.
    pub(super) memory: Vec<(Micros, f64)>,
    pub(super) faults: Vec<FaultMark>,
    /// From the beginning of a backup to the restore of it: what was acknowledged then is forgotten by right.
    pub(super) forgotten: Vec<(Micros, Micros)>,
    /// Operations that an agent gave up, never having been told that they may have happened.
    pub(super) given_up: usize,
    /// Nodes and agents that did not come back.
    pub(super) stuck: Vec<String>,
    /// What was refused beside the calls, such as registering and signing in, and how often.
    pub(super) troubles: BTreeMap<String, usize>,
    /// How the upstream behaved.
    pub(super) manners: BTreeMap<&'static str, usize>,
}

pub(super) struct Record {
    began: Instant,
    pages: Mutex<Pages>,
}

impl Record {
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
        // Without the ids in it, the same trouble is the same.
        let why = why.split_once(",\"request_id\"").map_or(why.as_str(), |(before, _)| before);
        *self.pages().troubles.entry(why.to_owned()).or_default() += 1;
    }

    pub(super) fn effect(&self, marker: &str, decision: Option<String>) {
        let at = self.now();
        self.pages().effects.entry(marker.to_owned()).or_default().push(Effect { at, decision });
    }
}
