//! A plan as a person sees it: the call of each step, its uses and its limits.

use super::{
    Author, Bounded, Detail, Frame, PlainLine, Prose,
    question_summary::{QuestionMark, marks},
};
use countersign_protocol::aaep::event::Risk;
use serde::Serialize;

#[derive(Clone, Debug)]
pub struct PlanAsked {
    /// The path of the plan's own page.
    pub path: String,
    pub title: Prose,
    pub objective: Prose,
    /// The role under which the agent asks, and the agent's reason.
    pub role: PlainLine,
    pub reason: Option<Prose>,
    /// The lifetime of an approval, in seconds.
    pub lasts_s: i64,
    pub steps: Vec<StepAsked>,
    /// The changes since the plan was last submitted for approval; `None` the first time.
    pub changes: Option<Vec<Prose>>,
}

#[derive(Clone, Debug)]
pub struct StepAsked {
    pub id: String,
    pub number: usize,
    /// The agent's text.
    pub description: Prose,
    /// The numbers of the steps that must be completed first.
    pub after: Vec<usize>,
    pub role: Option<PlainLine>,
    /// `None` for a step that the agent carries out by itself.
    pub runs: Option<StepRuns>,
    /// Whether its checkbox is ticked.
    pub chosen: bool,
    /// Whether a person approved the step; `None` while the plan is undecided.
    pub approved: Option<bool>,
}

/// The call of a step.
#[derive(Clone, Debug)]
pub struct StepRuns {
    pub shown: Prose,
    pub words: Author,
    pub uses: i64,
    /// Each call of the step needs a further approval.
    pub asks_again: bool,
    pub risk: Risk,
    pub irreversible: bool,
    pub bounds: Vec<Bounded>,
    /// All arguments of the call.
    pub arguments: Vec<Detail>,
}

impl PlanAsked {
    pub(super) fn yes_means(&self, frame: &Frame) -> String {
        frame.say_of("planned-yes-means", "duration", frame.duration(&self.lasts_s))
    }

    /// All the text an approval covers, except which checkboxes are ticked.
    pub(super) fn words<'a>(&'a self, frame: &Frame) -> PlanWords<'a> {
        PlanWords {
            title: self.title.as_str(),
            objective: self.objective.as_str(),
            role: self.role.as_str(),
            reason: self.reason.as_ref().map(Prose::as_str),
            lasts_s: self.lasts_s,
            steps: self.steps.iter().map(|step| step.words(frame)).collect(),
            changes: self.changes.as_ref().map(|changes| changes.iter().map(Prose::as_str).collect()),
        }
    }
}

impl StepAsked {
    pub(super) fn heading(&self, frame: &Frame) -> String {
        frame.say_of("planned-step", "number", self.number.to_string())
    }

    pub(super) fn after_text(&self, frame: &Frame) -> Option<String> {
        let numbers: Vec<String> = self.after.iter().map(ToString::to_string).collect();
        (!numbers.is_empty()).then(|| frame.say_of("planned-after", "steps", numbers.join(", ")))
    }

    /// The decision about the step; the class only repeats the words.
    pub(super) fn decided(&self, frame: &Frame) -> Option<QuestionMark> {
        Some(match self.approved? {
            true => QuestionMark { kind: "active", text: frame.say("step-approved") },
            false => QuestionMark { kind: "suspended", text: frame.say("step-not-approved") },
        })
    }

    fn words<'a>(&'a self, frame: &Frame) -> StepWords<'a> {
        StepWords {
            id: &self.id,
            description: self.description.as_str(),
            after: &self.after,
            role: self.role.as_ref().map(PlainLine::as_str),
            runs: self.runs.as_ref().map(|runs| runs.words(frame)),
        }
    }
}

impl StepRuns {
    /// The author of the text that describes the call.
    pub(super) fn whose(&self, frame: &Frame) -> String {
        match self.words {
            Author::Service => frame.say("planned-words-owner"),
            Author::Agent | Author::Plan | Author::Rule | Author::Scopes => frame.say("planned-words-call"),
        }
    }

    pub(super) fn times(&self, frame: &Frame) -> String {
        frame.say_count("planned-uses", self.uses)
    }

    pub(super) fn marks(&self, frame: &Frame) -> Vec<QuestionMark> {
        let mut said = marks(frame, self.risk, self.irreversible, None);
        if self.asks_again {
            said.push(QuestionMark { kind: "care", text: frame.say("planned-asks-again") });
        }
        said
    }

    fn words<'a>(&'a self, frame: &Frame) -> RunsWords<'a> {
        RunsWords {
            shown: self.shown.as_str(),
            whose: self.whose(frame),
            uses: self.uses,
            marks: self.marks(frame).into_iter().map(|mark| mark.text).collect(),
            bounds: self.bounds.iter().map(|bounded| (bounded.name.as_str(), bounded.text(frame))).collect(),
            arguments: self.arguments.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct PlanWords<'a> {
    title: &'a str,
    objective: &'a str,
    role: &'a str,
    reason: Option<&'a str>,
    lasts_s: i64,
    steps: Vec<StepWords<'a>>,
    changes: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct StepWords<'a> {
    id: &'a str,
    description: &'a str,
    after: &'a [usize],
    role: Option<&'a str>,
    runs: Option<RunsWords<'a>>,
}

#[derive(Serialize)]
struct RunsWords<'a> {
    shown: &'a str,
    whose: String,
    uses: i64,
    marks: Vec<String>,
    bounds: Vec<(&'a str, String)>,
    arguments: Vec<(&'a str, &'a str)>,
}
