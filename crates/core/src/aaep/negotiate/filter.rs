//! Filters by event type (AAEP 5.3.1.7, C11).

use countersign_protocol::aaep::handshake::EventFilters;

/// An event passes if it is included and not excluded. Critical events bypass the filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

/// A type, or a prefix of types.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Exactly(String),
    Beginning(String),
}

const EVERY_TYPE: [&str; 12] = [
    "aaep:agent.session.started",
    "aaep:agent.session.completed",
    "aaep:agent.session.errored",
    "aaep:agent.session.cancelled",
    "aaep:agent.state.changed",
    "aaep:agent.progress.updated",
    "aaep:agent.tool.invoked",
    "aaep:agent.tool.completed",
    "aaep:agent.output.streaming",
    "aaep:agent.awaiting.confirmation",
    "aaep:agent.awaiting.clarification",
    "aaep:agent.handoff.requested",
];

impl Filter {
    /// Without an include list, every core type passes; with an empty list, none does.
    pub fn new(filters: Option<&EventFilters>) -> Self {
        let everything = [String::from("aaep:agent.*")];
        let include = filters.and_then(|filters| filters.include.as_deref()).unwrap_or(&everything);
        let exclude = filters.and_then(|filters| filters.exclude.as_deref()).unwrap_or_default();
        Self { include: patterns(include), exclude: patterns(exclude) }
    }

    pub fn passes(&self, type_name: &str) -> bool {
        let matches = |pattern: &Pattern| pattern.matches(type_name);
        self.include.iter().any(matches) && !self.exclude.iter().any(matches)
    }

    pub fn passes_everything(&self) -> bool {
        EVERY_TYPE.iter().all(|type_name| self.passes(type_name))
    }
}

fn patterns(texts: &[String]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::new(text)).collect()
}

impl Pattern {
    /// A type may also be written as a URI; both forms are equivalent (C7).
    fn new(text: &str) -> Self {
        let compact = match text.strip_prefix("https://aaep-protocol.org/types/") {
            Some(name) => format!("aaep:{name}"),
            None => text.to_owned(),
        };
        match compact.strip_suffix('*') {
            Some(beginning) => Self::Beginning(beginning.to_owned()),
            None => Self::Exactly(compact),
        }
    }

    fn matches(&self, type_name: &str) -> bool {
        match self {
            Self::Exactly(name) => name == type_name,
            Self::Beginning(beginning) => type_name.starts_with(beginning.as_str()),
        }
    }
}
