//! Everything that waits for a person, and everything that nobody reported the outcome of.

use super::{Asked, AskedBy, Frame, Line, call};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// `/inbox`: what waits, in every project of the person, oldest first.
#[derive(Clone, Debug, Template)]
#[template(path = "inbox.html")]
pub struct InboxPage {
    pub frame: Frame,
    pub questions: Vec<Asked>,
    pub unreported: Vec<Unreported>,
    /// How many yeses let something run without asking again.
    pub open_yeses: usize,
    pub listening: Listening,
    pub csrf: String,
    pub error: Option<InboxError>,
}

/// Where a page hears of new questions, if it has a script.
#[derive(Clone, Debug, Default)]
pub struct Listening {
    /// The page's own address, for whoever reloads it.
    pub here: String,
    pub places: Vec<ListenAt>,
}

/// A project's endpoints: what their paths begin with.
#[derive(Clone, Debug)]
pub struct ListenAt {
    pub prefix: String,
    pub project: String,
}

/// Something that may have run and that nobody reported.
#[derive(Clone, Debug)]
pub struct Unreported {
    pub execution_id: String,
    pub decision_id: String,
    pub project: String,
    pub service: Line,
    pub by: AskedBy,
    pub action: Line,
    pub claimed_at: UnixMillis,
    pub since: UnixMillis,
    /// Whether this person may open the question's own page.
    pub sees_question: bool,
    /// Whether this person may say what became of it.
    pub may_reconcile: bool,
    /// What was typed into a form that has to be sent again.
    pub typed: Typed,
}

#[derive(Clone, Debug, Default)]
pub struct Typed {
    pub ran: Option<bool>,
    pub reason: String,
}

/// What is wrong with a form that says what became of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxError {
    FormExpired,
    /// Neither "it ran" nor "it did not run" was chosen.
    NothingChosen {
        execution_id: String,
    },
    /// How it was found out is missing, or too long.
    NoReason {
        execution_id: String,
    },
    NotEntitled,
    /// Somebody has said it meanwhile.
    KnownAlready,
}

impl InboxPage {
    /// Says of questions that read the same what is different about each.
    pub fn tell_apart(&mut self) {
        let named = |asked: &mut Asked| format!("{} {}", asked.by.name(), asked.headline());
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

    /// The field to mend, if it is one of a form's.
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

impl Unreported {
    pub fn question_path(&self) -> String {
        format!("/inbox/{}/{}", self.project, self.decision_id)
    }

    /// Where its form is sent.
    fn path(&self) -> String {
        format!("{}/executions/{}", self.question_path(), self.execution_id)
    }

    fn is_chosen(&self, ran: bool) -> bool {
        self.typed.ran == Some(ran)
    }
}
