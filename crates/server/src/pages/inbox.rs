//! Pending questions of a person, and executions with an unknown outcome.

use super::{AskedBy, Frame, PlainLine, QuestionSummary, call};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// `/inbox`: pending questions in every project of the person, oldest first.
#[derive(Clone, Debug, Template)]
#[template(path = "inbox.html")]
pub struct InboxPage {
    pub frame: Frame,
    pub questions: Vec<QuestionSummary>,
    pub unreported: Vec<Unreported>,
    /// Approved calls that can still be undone.
    pub undoable: Vec<Undoable>,
    /// There may be more of them.
    pub undoable_more: bool,
    /// Number of open allowances, each of which permits calls without another question.
    pub open_yeses: usize,
    pub listening: Listening,
    pub csrf: String,
    pub error: Option<InboxError>,
}

/// The event streams a page with a script subscribes to.
#[derive(Clone, Debug, Default)]
pub struct Listening {
    /// The page's own address, which the script reloads.
    pub here: String,
    pub places: Vec<ListenAt>,
}

/// The path prefix of one project's endpoints.
#[derive(Clone, Debug)]
pub struct ListenAt {
    pub prefix: String,
    pub project: String,
}

/// An execution that may have run and has no reported outcome.
#[derive(Clone, Debug)]
pub struct Unreported {
    pub execution_id: String,
    pub decision_id: String,
    pub project: String,
    pub service: PlainLine,
    pub by: AskedBy,
    pub action: PlainLine,
    pub claimed_at: UnixMillis,
    pub since: UnixMillis,
    /// Until when the service behind the gateway is being asked, if it is.
    pub asked_until: Option<UnixMillis>,
    /// Whether this person may open the question's own page.
    pub sees_question: bool,
    /// Whether this person may report the outcome.
    pub may_reconcile: bool,
    /// Input from a form that has to be sent again.
    pub typed: Typed,
}

/// The value of an undo button for a call that is still to be sent.
pub const HELD: &str = "yes";

/// An approved call in its undo window (AAP 14.1).
#[derive(Clone, Debug)]
pub struct Undoable {
    pub decision_id: String,
    pub project: String,
    pub service: PlainLine,
    pub by: AskedBy,
    pub action: PlainLine,
    pub closes_at: UnixMillis,
    /// None while it is still to be sent; otherwise the service is asked to undo it.
    pub call_id: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Typed {
    pub ran: Option<bool>,
    pub reason: String,
}

/// An invalid outcome report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxError {
    FormExpired,
    /// Neither "it ran" nor "it did not run" was chosen.
    NothingChosen {
        execution_id: String,
    },
    /// The explanation of how the outcome was established is missing or too long.
    NoReason {
        execution_id: String,
    },
    NotEntitled,
    /// Somebody else has reported the outcome meanwhile.
    KnownAlready,
}

impl InboxPage {
    /// Adds to questions that read the same the values in which they differ.
    pub fn tell_apart(&mut self) {
        let named = |asked: &mut QuestionSummary| format!("{} {}", asked.by.name(), asked.headline());
        let calls = self.questions.iter_mut().filter_map(|asked| Some((named(asked), asked.call.as_mut()?)));
        call::tell_apart(&mut calls.collect::<Vec<_>>());
    }

    fn title(&self) -> String {
        match self.questions.len() {
            0 => self.frame.say("inbox-title"),
            count => self.frame.say_count("inbox-title-waiting", i64::try_from(count).unwrap_or(i64::MAX)),
        }
    }

    fn yeses_text(&self) -> String {
        self.frame.say_count("inbox-yeses", i64::try_from(self.open_yeses).unwrap_or(i64::MAX))
    }

    fn error_text(&self) -> Option<String> {
        Some(self.frame.say(match self.error.as_ref()? {
            InboxError::FormExpired => "error-form-expired",
            InboxError::NothingChosen { .. } => "inbox-error-nothing-chosen",
            InboxError::NoReason { .. } => "inbox-error-no-reason",
            InboxError::NotEntitled => "inbox-error-not-entitled",
            InboxError::KnownAlready => "inbox-error-known",
        }))
    }

    /// The form field with the error, if any.
    fn error_field(&self) -> String {
        match &self.error {
            Some(InboxError::NothingChosen { execution_id }) => format!("ran-{execution_id}"),
            Some(InboxError::NoReason { execution_id }) => format!("reason-{execution_id}"),
            _ => String::new(),
        }
    }

    fn is_invalid(&self, id: String) -> bool {
        self.error_field() == id
    }
}

impl Undoable {
    fn word(&self, frame: &Frame) -> String {
        frame.say(if self.call_id.is_none() { "undoable-word" } else { "undoable-word-sent" })
    }

    fn until(&self, frame: &Frame) -> String {
        frame.say(if self.call_id.is_none() { "undoable-until" } else { "undoable-until-sent" })
    }

    fn path(&self) -> String {
        format!("/inbox/{}/{}", self.project, self.decision_id)
    }

    /// Unique on the page: several calls may rest on one approval.
    fn id(&self) -> &str {
        self.call_id.as_deref().unwrap_or(&self.decision_id)
    }

    fn named(&self) -> &str {
        self.call_id.as_deref().unwrap_or(HELD)
    }
}

impl Unreported {
    pub fn question_path(&self) -> String {
        format!("/inbox/{}/{}", self.project, self.decision_id)
    }

    /// The path the outcome report posts to.
    fn path(&self) -> String {
        format!("{}/executions/{}", self.question_path(), self.execution_id)
    }

    fn is_chosen(&self, ran: bool) -> bool {
        self.typed.ran == Some(ran)
    }
}
