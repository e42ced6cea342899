//! A scope as people read it.

use super::{Frame, PlainLine};
use countersign_protocol::project::Scope;

/// The actions a scope allows and forbids, as the service defines them (AAP 12.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeWords {
    pub id: PlainLine,
    /// `None` for a scope that the service no longer offers.
    pub description: Option<PlainLine>,
    pub allows: Vec<PlainLine>,
    pub never: Vec<PlainLine>,
    pub irreversible: bool,
    pub undo_window_s: i64,
    pub requires_confirmation: bool,
}

impl ScopeWords {
    /// `undo_window_s` depends on the scope's routes.
    pub fn of(scope: &Scope, undo_window_s: i64) -> Self {
        let lines = |ids: &[String]| ids.iter().map(|id| PlainLine::from(id.as_str())).collect();
        Self {
            id: scope.id.as_str().into(),
            description: Some(PlainLine::cut(&scope.description, 200)),
            allows: lines(&scope.allows),
            never: lines(&scope.explicitly_excludes),
            irreversible: scope.irreversible,
            undo_window_s,
            requires_confirmation: scope.requires_confirmation,
        }
    }

    /// A granted scope that the project's document no longer contains.
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
    /// Marks for reversibility and for confirmation before each use.
    pub(super) fn marks(&self, frame: &Frame) -> Vec<ScopeMark> {
        let undo = match (self.irreversible, self.undo_window_s) {
            (_, 1..) => {
                let text = frame.say_of("scope-undo", "duration", frame.duration(&self.undo_window_s));
                Some(ScopeMark { kind: "calm", text })
            }
            (true, _) => Some(ScopeMark { kind: "care", text: frame.say("scope-irreversible") }),
            _ => None,
        };
        let confirmed = ScopeMark { kind: "calm", text: frame.say("scope-requires-confirmation") };
        undo.into_iter().chain(self.requires_confirmation.then_some(confirmed)).collect()
    }
}

pub(super) struct ScopeMark {
    pub(super) kind: &'static str,
    pub(super) text: String,
}
