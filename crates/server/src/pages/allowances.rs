//! Open allowances: the calls they permit, their remaining uses, and their revocation.

use super::{AskedBy, Author, Bounded, Frame, PlainLine, Prose};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// `/allowances`. Posts `csrf` and `reason` to the path of one allowance.
#[derive(Clone, Debug, Template)]
#[template(path = "allowances.html")]
pub struct AllowancesPage {
    pub frame: Frame,
    pub groups: Vec<OpenGroup>,
    pub csrf: String,
    pub error: Option<AllowancesError>,
    /// Whether an allowance was just revoked.
    pub taken_back: bool,
}

/// The allowances of one decision; those of a plan are listed together.
#[derive(Clone, Debug)]
pub struct OpenGroup {
    pub decision_id: String,
    pub service: PlainLine,
    pub by: AskedBy,
    pub title: PlainLine,
    /// Whether the title is the agent's own, unchecked text.
    pub unchecked: bool,
    /// The page of the plan, if the decision is about one.
    pub plan_path: Option<String>,
    /// The page of the question, if this person may see it.
    pub question_path: Option<String>,
    pub open: Vec<OpenStandingApproval>,
}

/// An open allowance and its remaining uses.
#[derive(Clone, Debug)]
pub struct OpenStandingApproval {
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
    /// The reason the person typed into a form that has to be sent again.
    pub typed: String,
}

#[derive(Clone, Debug)]
pub struct SumLeft {
    pub name: PlainLine,
    pub left: String,
    pub limit: String,
    pub unit: PlainLine,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowancesError {
    FormExpired,
    ReasonTooLong {
        id: String,
    },
    /// The allowance is used up, expired or already revoked.
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

    fn is_invalid(&self, yes: &OpenStandingApproval) -> bool {
        self.error_field() == format!("reason-{}", yes.id)
    }

    fn notice_text(&self) -> Option<String> {
        self.taken_back.then(|| self.frame.say("allowances-taken-back"))
    }
}

impl OpenStandingApproval {
    /// The path the revocation form posts to.
    pub(super) fn path(&self) -> String {
        format!("/allowances/{}/{}/take-back", self.project, self.id)
    }

    /// The author of the text that describes the permitted call.
    pub(super) fn whose(&self, frame: &Frame) -> String {
        match self.words {
            Author::Agent => frame.say("asked-words-agent"),
            Author::Service | Author::Rule | Author::Scopes => frame.say("planned-words-owner"),
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

    fn name(&self) -> PlainLine {
        PlainLine::cut(self.what.as_str(), 80)
    }

    /// Labels name the call, because buttons must differ by more than their position.
    pub(super) fn take_back_label(&self, frame: &Frame) -> String {
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
