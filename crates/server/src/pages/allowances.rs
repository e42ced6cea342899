//! Every yes that is still open: what it lets run, what is left of it, and how to take it back.

use super::{AskedBy, Author, Bounded, Frame, Line, Prose};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// `/allowances`. Posts `csrf` and `reason` to a yes's own path.
#[derive(Clone, Debug, Template)]
#[template(path = "allowances.html")]
pub struct AllowancesPage {
    pub frame: Frame,
    pub groups: Vec<OpenGroup>,
    pub csrf: String,
    pub error: Option<AllowancesError>,
    /// Whether one was just taken back.
    pub taken_back: bool,
}

/// The yeses of one answer: those of a plan stand together.
#[derive(Clone, Debug)]
pub struct OpenGroup {
    pub decision_id: String,
    pub service: Line,
    pub by: AskedBy,
    pub title: Line,
    /// Whether the title is in the agent's own words.
    pub unchecked: bool,
    /// Its own page, if it is a plan.
    pub plan_path: Option<String>,
    /// The question and its answer, if this person may see it.
    pub question_path: Option<String>,
    pub open: Vec<OpenYes>,
}

/// What is left of a yes.
#[derive(Clone, Debug)]
pub struct OpenYes {
    pub id: String,
    pub project: String,
    /// The number of the plan's step.
    pub step: Option<usize>,
    pub what: Prose,
    pub words: Author,
    pub uses: i64,
    pub used: i64,
    pub bounds: Vec<Bounded>,
    pub sums: Vec<SumLeft>,
    pub until: UnixMillis,
    /// What was typed into a form that has to be sent again.
    pub typed: String,
}

#[derive(Clone, Debug)]
pub struct SumLeft {
    pub name: Line,
    pub left: String,
    pub limit: String,
    pub unit: Line,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowancesError {
    FormExpired,
    ReasonTooLong {
        id: String,
    },
    /// It is spent, over or taken back already.
    NothingLeft,
    NotYours,
}

impl AllowancesPage {
    fn error_text(&self) -> Option<String> {
        Some(self.frame.say(match self.error.as_ref()? {
            AllowancesError::FormExpired => "error-form-expired",
            AllowancesError::ReasonTooLong { .. } => "question-error-reason-too-long",
            AllowancesError::NothingLeft => "allowances-error-nothing-left",
            AllowancesError::NotYours => "allowances-error-not-yours",
        }))
    }

    fn error_field(&self) -> String {
        match &self.error {
            Some(AllowancesError::ReasonTooLong { id }) => format!("reason-{id}"),
            _ => String::new(),
        }
    }

    fn is_invalid(&self, yes: &OpenYes) -> bool {
        self.error_field() == format!("reason-{}", yes.id)
    }

    fn notice_text(&self) -> Option<String> {
        self.taken_back.then(|| self.frame.say("allowances-taken-back"))
    }
}

impl OpenYes {
    /// Where its form is sent.
    fn path(&self) -> String {
        format!("/allowances/{}/{}/take-back", self.project, self.id)
    }

    /// Whose words say what it lets run.
    pub(super) fn whose(&self, frame: &Frame) -> String {
        match self.words {
            Author::Agent => frame.say("asked-words-agent"),
            Author::Service | Author::Rule => frame.say("planned-words-owner"),
            Author::Plan => frame.say("planned-words-call"),
        }
    }

    pub(super) fn left(&self) -> i64 {
        (self.uses - self.used).max(0)
    }

    pub(super) fn left_text(&self, frame: &Frame) -> String {
        let (left, uses) = (self.left().to_string(), self.uses.to_string());
        frame.say_both("allowance-left", ("left", &left), ("uses", &uses))
    }

    fn name(&self) -> Line {
        Line::cut(self.what.as_str(), 80)
    }

    /// Buttons must differ by more than their place.
    fn take_back_label(&self, frame: &Frame) -> String {
        match self.step {
            Some(number) => frame.say_both(
                "allowance-take-back-step",
                ("number", &number.to_string()),
                ("what", self.name().as_str()),
            ),
            None => frame.say_of("allowance-take-back-of", "what", self.name().as_str()),
        }
    }
}

impl SumLeft {
    pub(super) fn text(&self, frame: &Frame) -> String {
        let with_unit = |amount: &str| format!("{amount} {}", self.unit);
        frame.say_both("allowance-sum-left", ("left", &with_unit(&self.left)), ("limit", &with_unit(&self.limit)))
    }
}
