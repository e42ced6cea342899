//! One question in full, the ways to answer it, and what became of it.

use super::{
    AllowMore, Asked, Became, Clarified, Detail, Frame, GapAsked, Line, Listening, MoreError, OpenYes, PlanAsked,
    Prose, Runs, Shown, What,
    clarified::{ClarifiedWords, GapWords},
    planned::PlanWords,
};
use askama::Template;
use countersign_protocol::{aaep::event::ResponseKind, hash::Digest, time::UnixMillis};
use serde::Serialize;

/// `/inbox/{project}/{decision_id}`. Posts `csrf`, `shown` and `answer` to the same path.
#[derive(Clone, Debug, Template)]
#[template(path = "question.html")]
pub struct QuestionPage {
    pub frame: Frame,
    pub asked: Asked,
    pub became: Became,
    pub runs: Option<Runs>,
    /// What is left of a yes for more than once.
    pub open: Option<OpenYes>,
    /// The plan that it is about.
    pub plan: Option<PlanAsked>,
    /// Exactly what a tool is called with.
    pub arguments: Vec<Detail>,
    /// How it differs from a plan that was approved.
    pub difference: Option<Difference>,
    /// What was clarified before it was asked.
    pub clarified: Option<Clarified>,
    /// The gap that it is about, while that is open.
    pub gap: Option<GapAsked>,
    /// Whether this person may give up the session of that gap.
    pub abandons: bool,
    pub may: May,
    /// Its governance says that it takes no decision (M-27). Whoever may decide all the same has to say so.
    pub locked: bool,
    /// A yes for more than once, where one can be given.
    pub allow_more: Option<AllowMore>,
    /// How much more time can be asked for, in seconds, and until when at most.
    pub more: Vec<i64>,
    pub latest: UnixMillis,
    /// The action digest: what a yes is for.
    pub digest: Digest,
    pub listening: Listening,
    pub csrf: String,
    /// What was typed into a form that has to be sent again.
    pub typed: String,
    pub error: Option<QuestionError>,
    pub notice: Option<QuestionNotice>,
}

/// How a call differs from the step of an approved plan that it comes nearest to.
#[derive(Clone, Debug)]
pub struct Difference {
    /// In English, whatever the page's language.
    pub lines: Vec<Prose>,
    pub plan_path: String,
}

/// What this person can do about it.
#[derive(Clone, Debug)]
pub enum May {
    /// Say yes or no, or only one of the two.
    Decide {
        yes: bool,
        no: bool,
    },
    Respond(Vec<Field>),
    /// First they prove that it is them; the path to do that.
    ProveFirst {
        path: String,
    },
    /// It wants a stronger proof than a page can take.
    NotHere,
    /// It is locked, and this person may not decide in spite of that.
    Locked,
    Nothing,
}

/// A way to answer a question that is not about yes or no.
#[derive(Clone, Debug)]
pub enum Field {
    Text,
    Number,
    YesNo,
    Choices(Vec<Choosable>),
}

#[derive(Clone, Debug)]
pub struct Choosable {
    /// What the agent gets.
    pub value: String,
    pub label: Line,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionError {
    FormExpired,
    /// What would be shown now differs from what was shown then.
    ChangedSince,
    /// It was settled before the answer came.
    Settled,
    TooLate,
    NotEntitled,
    NotAllowed,
    ReasonTooLong,
    NoResponse(ResponseKind),
    /// It is locked, and nobody said that it is to be decided all the same.
    Locked,
    /// A yes to a plan of which no step is ticked.
    NoStep,
    /// A step without another that must come before it.
    StepNeeds {
        step: usize,
        needs: usize,
    },
    /// What was typed about a yes for more than once.
    More(MoreError),
    /// As the rules say it.
    OutOfBounds(String),
}

/// What was just done, if it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionNotice {
    Answered,
    MoreTime,
    Reconciled,
}

impl QuestionPage {
    /// The canonical text of everything that a yes is for, and its digest: the form carries it, and a yes counts only
    /// for exactly this. More time changes nothing about it.
    pub fn shown(&self) -> Shown {
        let asked = &self.asked;
        let words = Words {
            v: 4,
            language: self.frame.language.tag(),
            service: asked.service.as_str(),
            decision: &asked.decision_id,
            digest: self.digest.hex(),
            by: asked.by.name(),
            whose: asked.whose(&self.frame),
            what: WhatShown::of(&asked.what),
            marks: asked.marks(&self.frame).into_iter().map(|mark| mark.text).collect(),
            tool: asked.tool.as_ref().map(|tool| tool.as_str()),
            call: asked.call.as_ref().map(|call| call.words(&self.frame)),
            technical: asked.technical.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect(),
            unanswered: asked.unanswered_text(&self.frame),
            yes_means: self.yes_means(),
            last_ran: asked.last_ran.map(|at| at.to_rfc3339()),
            plan: self.plan.as_ref().map(|plan| plan.words(&self.frame)),
            arguments: self.arguments.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect(),
            difference: self.difference.iter().flat_map(|found| &found.lines).map(Prose::as_str).collect(),
            clarified: self.clarified.as_ref().map(|clarified| clarified.words(&self.frame)),
            gap: self.gap.as_ref().map(|gap| gap.words(&self.frame)),
            amounts: self
                .allow_more
                .iter()
                .flat_map(|more| &more.amounts)
                .map(|one| one.heading(&self.frame))
                .collect(),
        };
        Shown::of_question(self.frame.language, &words)
    }

    /// What a yes lets happen.
    fn yes_means(&self) -> Option<String> {
        match &self.plan {
            Some(plan) => Some(plan.yes_means(&self.frame)),
            None => self.asked.yes_means(&self.frame),
        }
    }

    /// Whether it is answered in one's own words alone. Among choices, to let something stand is one of them.
    fn takes_text_alone(&self) -> bool {
        matches!(&self.may, May::Respond(fields) if matches!(fields.as_slice(), [Field::Text]))
    }

    fn context_label(&self) -> String {
        self.frame.say(if self.gap.is_some() { "gap-why" } else { "asked-context" })
    }

    fn accept_label(&self) -> String {
        self.frame.say(if self.plan.is_some() { "planned-accept" } else { "question-accept" })
    }

    /// Whether boxes are there to be ticked.
    fn chooses_steps(&self) -> bool {
        self.became.is_open() && matches!(self.may, May::Decide { yes: true, .. })
    }

    fn more_error(&self) -> Option<&MoreError> {
        match &self.error {
            Some(QuestionError::More(error)) => Some(error),
            _ => None,
        }
    }

    /// What is wrong with a field about a yes for more than once, to be said beside it.
    fn wrong_about(&self, field: &str) -> Option<String> {
        let (more, error) = (self.allow_more.as_ref()?, self.more_error()?);
        (more.field_of(error) == field).then(|| error.text(&self.frame))
    }

    fn title(&self) -> String {
        let headline = self.asked.name();
        match self.became.is_open() {
            true => self.frame.say_both("question-title", ("who", self.asked.by.name()), ("what", headline.as_str())),
            false => format!("{}: {headline}", self.became.word(&self.frame)),
        }
    }

    fn error_text(&self) -> Option<String> {
        let id = match self.error.as_ref()? {
            QuestionError::More(error) => return Some(error.text(&self.frame)),
            QuestionError::OutOfBounds(why) => {
                return Some(self.frame.say_of("question-error-out-of-bounds", "why", Line::cut(why, 500).as_str()));
            }
            QuestionError::StepNeeds { step, needs } => {
                let (step, needs) = (step.to_string(), needs.to_string());
                return Some(self.frame.say_both("planned-error-needs", ("step", &step), ("needs", &needs)));
            }
            QuestionError::FormExpired => "error-form-expired",
            QuestionError::ChangedSince => "question-error-changed",
            QuestionError::Settled => "question-error-settled",
            QuestionError::TooLate => "question-error-too-late",
            QuestionError::NotEntitled => "question-error-not-entitled",
            QuestionError::NotAllowed => "question-error-not-allowed",
            QuestionError::ReasonTooLong => "question-error-reason-too-long",
            QuestionError::NoResponse(ResponseKind::Numeric) => "question-error-no-number",
            QuestionError::NoResponse(ResponseKind::Freetext) => "question-error-no-text",
            QuestionError::NoResponse(_) => "question-error-no-choice",
            QuestionError::Locked => "question-error-locked",
            QuestionError::NoStep => "planned-error-no-step",
        };
        Some(self.frame.say(id))
    }

    /// The field to mend, if it is one of a form's that is there.
    fn error_field(&self) -> String {
        let field = match &self.error {
            Some(QuestionError::ReasonTooLong) => "reason",
            Some(QuestionError::NoResponse(ResponseKind::Numeric)) => "number",
            Some(QuestionError::NoResponse(ResponseKind::Freetext)) => "text",
            Some(QuestionError::NoResponse(ResponseKind::YesNo)) => "yes",
            Some(QuestionError::NoResponse(ResponseKind::MultipleChoice)) => "choice-1",
            Some(QuestionError::Locked) if matches!(self.may, May::Decide { .. }) => "override",
            Some(QuestionError::NoStep) => "step-1",
            Some(QuestionError::StepNeeds { needs, .. }) => return format!("step-{needs}"),
            Some(QuestionError::More(error)) => {
                return self.allow_more.as_ref().map(|more| more.field_of(error)).unwrap_or_default();
            }
            _ => "",
        };
        field.to_owned()
    }

    fn is_invalid(&self, field: &str) -> bool {
        self.error_field() == field
    }

    fn notice_text(&self) -> Option<String> {
        Some(match self.notice? {
            QuestionNotice::Answered => self.became.text(&self.frame),
            QuestionNotice::MoreTime => self.frame.say("question-notice-more-time"),
            QuestionNotice::Reconciled => self.frame.say("question-notice-reconciled"),
        })
    }

    fn more_text(&self, seconds: &i64) -> String {
        self.frame.say_of("question-more", "duration", self.frame.duration(seconds))
    }
}

impl Field {
    /// The name of the button that sends it: there may be several.
    fn send_label(&self, frame: &Frame) -> String {
        let what = frame.say(match self {
            Field::Text => "question-text",
            Field::Number => "question-number",
            Field::YesNo => "question-yes-no",
            Field::Choices(_) => "question-choices",
        });
        frame.say_of("question-send-of", "what", what)
    }
}

/// The form of the canonical text. A member added here changes every digest: raise `v` with it.
#[derive(Serialize)]
struct Words<'a> {
    v: u8,
    language: &'a str,
    service: &'a str,
    decision: &'a str,
    digest: String,
    by: &'a str,
    whose: String,
    what: WhatShown<'a>,
    marks: Vec<String>,
    tool: Option<&'a str>,
    call: Option<Vec<[String; 3]>>,
    technical: Vec<(&'a str, &'a str)>,
    unanswered: String,
    yes_means: Option<String>,
    last_ran: Option<String>,
    plan: Option<PlanWords<'a>>,
    arguments: Vec<(&'a str, &'a str)>,
    difference: Vec<&'a str>,
    clarified: Option<ClarifiedWords<'a>>,
    gap: Option<GapWords<'a>>,
    amounts: Vec<String>,
}

#[derive(Serialize)]
struct WhatShown<'a> {
    asked: &'a str,
    consequence: Option<&'a str>,
    summary: Option<&'a str>,
    context: Option<&'a str>,
    details: Vec<(&'a str, &'a str)>,
}

impl<'a> WhatShown<'a> {
    fn of(what: &'a What) -> Self {
        let text = |prose: &'a Option<Prose>| prose.as_ref().map(Prose::as_str);
        match what {
            What::Action { action, consequence, summary, details, .. } => Self {
                asked: action.as_str(),
                consequence: Some(consequence.as_str()),
                summary: text(summary),
                context: None,
                details: details.iter().map(|detail| (detail.name.as_str(), detail.value.as_str())).collect(),
            },
            What::Question { question, context, summary } => Self {
                asked: question.as_str(),
                consequence: None,
                summary: text(summary),
                context: text(context),
                details: Vec::new(),
            },
        }
    }
}
