//! A scope in words.

use super::{Frame, Line};
use countersign_protocol::project::Scope;

/// What a scope lets an agent do and what it never may, as the service defines it (AAP 12.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeWords {
    pub id: Line,
    /// None for a scope that the service no longer offers.
    pub description: Option<Line>,
    pub allows: Vec<Line>,
    pub never: Vec<Line>,
    pub irreversible: bool,
    pub undo_window_s: i64,
    pub requires_confirmation: bool,
}

impl From<&Scope> for ScopeWords {
    fn from(scope: &Scope) -> Self {
        let lines = |ids: &[String]| ids.iter().map(|id| Line::from(id.as_str())).collect();
        Self {
            id: scope.id.as_str().into(),
            description: Some(Line::cut(&scope.description, 200)),
            allows: lines(&scope.allows),
            never: lines(&scope.explicitly_excludes),
            irreversible: scope.irreversible,
            undo_window_s: scope.undo_window_s,
            requires_confirmation: scope.requires_confirmation,
        }
    }
}

impl ScopeWords {
    /// A scope that was granted once and has left the project's document since.
    pub fn no_longer_offered(id: &str) -> Self {
        Self {
            id: id.into(),
            description: None,
            allows: Vec::new(),
            never: Vec::new(),
            irreversible: false,
            undo_window_s: 0,
            requires_confirmation: false,
        }
    }
    /// What sets this scope apart: whether its effects can be taken back, and whether each use is asked about.
    pub(super) fn marks(&self, frame: &Frame) -> Vec<Mark> {
        let undo = match (self.irreversible, self.undo_window_s) {
            (_, 1..) => {
                let text = frame.say_of("scope-undo", "duration", frame.duration(&self.undo_window_s));
                Some(Mark { kind: "calm", text })
            }
            (true, _) => Some(Mark { kind: "care", text: frame.say("scope-irreversible") }),
            _ => None,
        };
        let confirmed = Mark { kind: "calm", text: frame.say("scope-requires-confirmation") };
        undo.into_iter().chain(self.requires_confirmation.then_some(confirmed)).collect()
    }
}

/// A remark on a scope, and the class that draws it.
pub(super) struct Mark {
    pub(super) kind: &'static str,
    pub(super) text: String,
}
