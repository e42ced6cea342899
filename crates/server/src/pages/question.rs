//! One question in full, the ways to answer it, and what became of it.

use super::{Asked, Became, Frame, Line, Listening, Prose, Runs, Shown, What};
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
    pub may: May,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
            v: 1,
            language: self.frame.language.tag(),
            service: asked.service.as_str(),
            decision: &asked.decision_id,
            digest: self.digest.hex(),
            by: asked.by.name(),
            whose: asked.whose(&self.frame),
            what: WhatShown::of(&asked.what),
            marks: asked.marks(&self.frame).into_iter().map(|mark| mark.text).collect(),
            tool: asked.tool.as_ref().map(|tool| tool.as_str()),
            unanswered: asked.unanswered_text(&self.frame),
            yes_means: asked.yes_means(&self.frame),
            last_ran: asked.last_ran.map(|at| at.to_rfc3339()),
        };
        Shown::of_question(self.frame.language, &words)
    }

    fn title(&self) -> String {
        let headline = self.asked.name();
        match self.became.is_open() {
            true => self.frame.say_both("question-title", ("who", self.asked.by.name()), ("what", headline.as_str())),
            false => format!("{}: {headline}", self.became.word(&self.frame)),
        }
    }

    fn error_text(&self) -> Option<String> {
        Some(self.frame.say(match self.error? {
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
        }))
    }

    /// The field to mend, if it is one of the form's.
    fn error_field(&self) -> &'static str {
        match self.error {
            Some(QuestionError::ReasonTooLong) => "reason",
            Some(QuestionError::NoResponse(ResponseKind::Numeric)) => "number",
            Some(QuestionError::NoResponse(ResponseKind::Freetext)) => "text",
            Some(QuestionError::NoResponse(ResponseKind::YesNo)) => "yes",
            Some(QuestionError::NoResponse(ResponseKind::MultipleChoice)) => "choice-1",
            _ => "",
        }
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
    unanswered: String,
    yes_means: Option<String>,
    last_ran: Option<String>,
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
