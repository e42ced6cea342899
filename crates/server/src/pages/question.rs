//! One question in full, the answer forms, and its outcome.

use super::{
    ActionText, AllowMore, CallUndo, ClarificationBox, Detail, Disclosed, Frame, GapAsked, Listening, MoreError,
    OpenStandingApproval, OutcomeText, PlainLine, PlanAsked, Prose, QuestionSummary, Runs, ScopeWords,
    clarification::{ClarifiedWords, GapWords},
    plan_steps::PlanWords,
};
use askama::Template;
use countersign_protocol::{aaep::event::ResponseKind, hash::Digest, time::UnixMillis};
use serde::Serialize;

/// `/inbox/{project}/{decision_id}`. Posts `csrf`, `shown` and `answer` to the same path.
#[derive(Clone, Debug, Template)]
#[template(path = "question.html")]
pub struct QuestionPage {
    pub frame: Frame,
    pub asked: QuestionSummary,
    pub became: OutcomeText,
    pub runs: Option<Runs>,
    /// The open standing approval, if one was given.
    pub open: Option<OpenStandingApproval>,
    /// The plan that the question is about.
    pub plan: Option<PlanAsked>,
    /// The exact arguments of a tool call.
    pub arguments: Vec<Detail>,
    /// The deviation from an approved plan.
    pub difference: Option<DeviationLines>,
    /// The further scopes that an approval allows for one task.
    pub wider: Option<WiderAccess>,
    /// Clarified answers that the question rests on.
    pub clarified: Option<ClarificationBox>,
    /// The open gap that the question is about.
    pub gap: Option<GapAsked>,
    /// Whether this person may abandon the clarification session of that gap.
    pub abandons: bool,
    pub undo: Option<CallUndo>,
    pub may: PersonOffer,
    /// Its governance is locked for decisions (M-27). A person entitled to decide anyway must confirm the override.
    pub locked: bool,
    /// The standing approval form, where one can be given.
    pub allow_more: Option<AllowMore>,
    /// The possible extensions in seconds, and the latest possible deadline.
    pub more: Vec<i64>,
    pub latest: UnixMillis,
    /// The action digest, to which an approval is bound.
    pub digest: Digest,
    pub listening: Listening,
    pub csrf: String,
    /// Input from a form that has to be sent again.
    pub typed: String,
    pub error: Option<QuestionError>,
    pub notice: Option<QuestionNotice>,
}

/// The deviation of a call from the nearest step of an approved plan.
#[derive(Clone, Debug)]
pub struct DeviationLines {
    pub lines: Vec<Prose>,
    pub plan_path: String,
}

/// Scopes of the delegation beyond the consent receipt, as the service defines them (AAP 12.3).
#[derive(Clone, Debug)]
pub struct WiderAccess {
    pub scopes: Vec<ScopeWords>,
    /// The AAP session of the task.
    pub session: PlainLine,
    /// The latest end of an approval.
    pub until: UnixMillis,
}

impl WiderAccess {
    /// The definitions in force: an approval counts for exactly these.
    fn words(&self) -> Vec<(&str, Vec<&str>)> {
        let scopes = self.scopes.iter();
        scopes.map(|scope| (scope.id.as_str(), scope.allows.iter().map(PlainLine::as_str).collect())).collect()
    }
}

/// The actions available to this person.
#[derive(Clone, Debug)]
pub enum PersonOffer {
    /// Approve, reject, or only one of the two.
    Decide {
        yes: bool,
        no: bool,
    },
    Respond(Vec<Field>),
    /// The person must authenticate again first, at this path.
    ProveFirst {
        path: String,
    },
    /// The decision requires stronger authentication than a page supports.
    NotHere,
    /// The question is locked, and this person may not override the lock.
    Locked,
    Nothing,
}

/// An answer field of a clarification question.
#[derive(Clone, Debug)]
pub enum Field {
    Text,
    Number,
    YesNo,
    Choices(Vec<Choosable>),
}

#[derive(Clone, Debug)]
pub struct Choosable {
    /// The value that the agent receives.
    pub value: String,
    pub label: PlainLine,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionError {
    FormExpired,
    /// The current text differs from the one the form was rendered with.
    ChangedSince,
    /// The question was settled before the answer arrived.
    Settled,
    TooLate,
    /// The undo window of the call has closed.
    UndoOver,
    NotEntitled,
    NotAllowed,
    ReasonTooLong,
    NoResponse(ResponseKind),
    /// The question is locked, and the person did not confirm the override.
    Locked,
    /// An approval of a plan without any ticked step.
    NoStep,
    /// A ticked step depends on an unticked one.
    StepNeeds {
        step: usize,
        needs: usize,
    },
    /// An invalid input of the standing approval form.
    More(MoreError),
    /// The message of the rule that rejected the answer.
    OutOfBounds(String),
}

/// The result of the last action, shown if it is still true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionNotice {
    Answered,
    MoreTime,
    Reconciled,
    /// A held call was undone: it was never sent.
    NeverSent,
    /// The service was asked to undo the call.
    UndoAsked,
}

impl QuestionPage {
    /// The canonical text that an approval covers, and its digest. The form carries the digest, and an approval is
    /// valid only for exactly this text. An extension of the deadline does not change it.
    pub fn shown(&self) -> Disclosed {
        let asked = &self.asked;
        let words = QuestionDisclosure {
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
            technical: asked.technical(&self.frame),
            unanswered: asked.unanswered_text(&self.frame),
            yes_means: self.yes_means(),
            last_ran: asked.last_ran.map(|at| at.to_rfc3339()),
            plan: self.plan.as_ref().map(|plan| plan.words(&self.frame)),
            arguments: self.arguments.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect(),
            difference: self.difference.iter().flat_map(|found| &found.lines).map(Prose::as_str).collect(),
            clarified: self.clarified.as_ref().map(|clarified| clarified.words(&self.frame)),
            gap: self.gap.as_ref().map(|gap| gap.words(&self.frame)),
            wider: self.wider.as_ref().map(WiderAccess::words),
            amounts: self
                .allow_more
                .iter()
                .flat_map(|more| &more.amounts)
                .map(|one| one.heading(&self.frame))
                .collect(),
        };
        Disclosed::of_question(self.frame.language, &words)
    }

    /// The calls an approval permits.
    fn yes_means(&self) -> Option<String> {
        match (&self.plan, &self.wider) {
            (Some(plan), _) => Some(plan.yes_means(&self.frame)),
            (None, Some(_)) => Some(self.frame.say("wider-yes-means")),
            (None, None) => self.asked.yes_means(&self.frame),
        }
    }

    /// Whether free text is the only answer. Among choices, leaving a gap unresolved is one of the choices.
    fn takes_text_alone(&self) -> bool {
        matches!(&self.may, PersonOffer::Respond(fields) if matches!(fields.as_slice(), [Field::Text]))
    }

    fn context_label(&self) -> String {
        self.frame.say(if self.gap.is_some() { "gap-why" } else { "asked-context" })
    }

    fn accept_label(&self) -> String {
        self.frame.say(if self.plan.is_some() { "planned-accept" } else { "question-accept" })
    }

    /// Whether the steps have checkboxes.
    fn chooses_steps(&self) -> bool {
        self.became.is_open() && matches!(self.may, PersonOffer::Decide { yes: true, .. })
    }

    fn more_error(&self) -> Option<&MoreError> {
        match &self.error {
            Some(QuestionError::More(error)) => Some(error),
            _ => None,
        }
    }

    /// The error message for a field of the standing approval form, shown beside it.
    fn wrong_about(&self, field: &str) -> Option<String> {
        let (more, error) = (self.allow_more.as_ref()?, self.more_error()?);
        (more.field_of(error) == field).then(|| error.text(&self.frame))
    }

    fn title(&self) -> String {
        let pending = self.became.is_open();
        let headline = self.asked.name(pending);
        match pending {
            true => self.frame.say_both("question-title", ("who", self.asked.by.name()), ("what", &headline)),
            false => format!("{}: {headline}", self.became.word(&self.frame)),
        }
    }

    fn error_text(&self) -> Option<String> {
        let id = match self.error.as_ref()? {
            QuestionError::More(error) => return Some(error.text(&self.frame)),
            QuestionError::OutOfBounds(why) => {
                return Some(self.frame.say_of(
                    "question-error-out-of-bounds",
                    "why",
                    PlainLine::cut(why, 500).as_str(),
                ));
            }
            QuestionError::StepNeeds { step, needs } => {
                let (step, needs) = (step.to_string(), needs.to_string());
                return Some(self.frame.say_both("planned-error-needs", ("step", &step), ("needs", &needs)));
            }
            QuestionError::FormExpired => "error-form-expired",
            QuestionError::ChangedSince => "question-error-changed",
            QuestionError::Settled => "question-error-settled",
            QuestionError::TooLate => "question-error-too-late",
            QuestionError::UndoOver => "question-error-undo-over",
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

    /// The form field with the error, if the page has it.
    fn error_field(&self) -> String {
        let field = match &self.error {
            Some(QuestionError::ReasonTooLong) => "reason",
            Some(QuestionError::NoResponse(ResponseKind::Numeric)) => "number",
            Some(QuestionError::NoResponse(ResponseKind::Freetext)) => "text",
            Some(QuestionError::NoResponse(ResponseKind::YesNo)) => "yes",
            Some(QuestionError::NoResponse(ResponseKind::MultipleChoice)) => "choice-1",
            Some(QuestionError::Locked) if matches!(self.may, PersonOffer::Decide { .. }) => "override",
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
            QuestionNotice::NeverSent => self.frame.say("question-notice-undone"),
            QuestionNotice::UndoAsked => self.frame.say(self.undo.as_ref()?.notice()),
        })
    }

    fn more_text(&self, seconds: &i64) -> String {
        self.frame.say_of("question-more", "duration", self.frame.duration(seconds))
    }
}

impl Field {
    /// The label of the submit button: there may be several.
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

/// The canonical text. A new member changes every digest: increment `v` with it.
#[derive(Serialize)]
struct QuestionDisclosure<'a> {
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
    technical: Vec<(String, String)>,
    unanswered: String,
    yes_means: Option<String>,
    last_ran: Option<String>,
    plan: Option<PlanWords<'a>>,
    arguments: Vec<(&'a str, &'a str)>,
    difference: Vec<&'a str>,
    clarified: Option<ClarifiedWords<'a>>,
    gap: Option<GapWords<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wider: Option<Vec<(&'a str, Vec<&'a str>)>>,
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
    fn of(what: &'a ActionText) -> Self {
        let text = |prose: &'a Option<Prose>| prose.as_ref().map(Prose::as_str);
        match what {
            ActionText::Action { action, consequence, summary, details, .. } => Self {
                asked: action.as_str(),
                consequence: Some(consequence.as_str()),
                summary: text(summary),
                context: None,
                details: details.iter().map(|detail| (detail.name.as_str(), detail.value.as_str())).collect(),
            },
            ActionText::Question { question, context, summary } => Self {
                asked: question.as_str(),
                consequence: None,
                summary: text(summary),
                context: text(context),
                details: Vec::new(),
            },
        }
    }
}
