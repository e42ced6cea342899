//! The confirmation request about a plan: the calls that one approval covers, and its expiry.

use super::{diff, texts};
use crate::{
    clarification::{self, texts::ClarificationResult},
    held::{literal, shortened, shown},
    records::{Confirmation, Plan, PlannedAction, TextAuthor},
};
use countersign_protocol::{
    aaep::event::{Summaries, YesNo},
    mplp::PlanStep,
    question::{ClarificationFacts, ProposedCall, ProposedPlan, ProposedStep, QuestionFacts},
    request::{DetailPlace, RequestDetail},
};
use serde::Serialize;
use serde_json::{Value, json};

/// The tool name announced with the approval.
const TOOL: &str = "plan";

// Together they stay well below the size limit of an event (AAEP 3.7), in any script.
const TITLE: usize = 200;
const TERSE_TITLE: usize = 80;
const OBJECTIVE: usize = 500;
const DESCRIPTION: usize = 200;
const RUNS: usize = 1000;
const DETAILED: Room = Room { characters: 8000, bytes: 18_000 };
const SENTENCE: usize = 600;
const CLARIFIED: Room = Room { characters: 2000, bytes: 5000 };
const CHANGES: Room = Room { characters: 2500, bytes: 6000 };
const FACTS_STEPS: Room = Room { characters: usize::MAX, bytes: 10_000 };
const FACTS_CHANGES: Room = Room { characters: usize::MAX, bytes: 4000 };

/// The confirmation request about a plan. The agent's texts are marked as such; the calls of its steps use the owner's
/// description where there is one.
pub fn about(plan: &Plan) -> Confirmation {
    let length = count(plan.document.steps.len(), "step");
    let changes = changes(plan);
    Confirmation {
        action: format!("Approve the plan {}: {length}", texts::said(&plan.document.title, TITLE)),
        consequence: consequence(plan),
        summaries: Summaries {
            terse: Some(terse(plan)),
            normal: Some(normal(plan, &changes)),
            detailed: Some(detailed(plan, &changes)),
        },
        extra_context: None,
        allowed_replies: vec![YesNo::Accept, YesNo::Reject],
        tool: TOOL.into(),
        details: Some(steps(plan).flat_map(|(number, step)| details(plan, number, step)).collect()),
        facts: Box::new(facts(plan, &changes)),
    }
}

/// The call of a step, with every argument or its bound.
fn details(plan: &Plan, number: usize, step: &PlanStep) -> Vec<RequestDetail> {
    let Some(planned) = plan.actions.get(&step.step_id) else { return Vec::new() };
    let calls = match planned.action.uses {
        1 => planned.tool.clone(),
        uses => format!("{} (up to {uses} times)", planned.tool),
    };
    let tool = literal(DetailPlace::Tool, String::new(), calls);
    let all = std::iter::once(tool).chain(texts::details(&planned.pattern));
    all.map(|detail| RequestDetail { step: Some(number), ..detail }).collect()
}

fn changes(plan: &Plan) -> Vec<String> {
    plan.asked.as_ref().map(|asked| diff::changes_since(asked, plan)).unwrap_or_default()
}

/// The effect of an approval, in numbers.
struct PlanTotals {
    /// Calls that run without another confirmation.
    calls: i64,
    /// Steps that need approval for each call.
    asking: usize,
    /// Steps without an action.
    own: usize,
}

impl PlanTotals {
    fn of(plan: &Plan) -> Self {
        let planned = |step: &PlanStep| plan.actions.get(&step.step_id);
        let all: Vec<&PlannedAction> = plan.document.steps.iter().filter_map(planned).collect();
        Self {
            calls: all.iter().map(|planned| planned.calls_without_asking()).sum(),
            asking: all.iter().filter(|planned| planned.asks_again).count(),
            own: plan.document.steps.len() - all.len(),
        }
    }
}

fn consequence(plan: &Plan) -> String {
    let reach = PlanTotals::of(plan);
    let mut sentences = vec![match reach.calls {
        0 => "No call runs without asking again.".to_owned(),
        1 => format!("1 call runs without asking again, within {} of the approval.", lasting(plan.lasts_s)),
        calls => {
            format!("Up to {calls} calls run without asking again, within {} of the approval.", lasting(plan.lasts_s))
        }
    }];
    match reach.asking {
        0 => {}
        1 => sentences.push("1 step asks again before each of its calls.".into()),
        asking => sentences.push(format!("{asking} steps ask again before each of their calls.")),
    }
    match reach.own {
        0 => {}
        1 => sentences.push("1 step is the agent's own work: the approval permits no call for it.".into()),
        own => sentences.push(format!("{own} steps are the agent's own work: the approval permits no call for them.")),
    }
    sentences.push("Every call outside the plan still needs approval.".into());
    sentences.join(" ")
}

fn terse(plan: &Plan) -> String {
    let without = match PlanTotals::of(plan).calls {
        0 => "no call without asking again".into(),
        1 => "1 call without asking again".into(),
        calls => format!("up to {calls} calls without asking again"),
    };
    let steps = count(plan.document.steps.len(), "step");
    format!("Plan {}: {steps}, {without}", texts::said(&plan.document.title, TERSE_TITLE))
}

fn normal(plan: &Plan, changes: &[String]) -> String {
    let changed = match (changes.len(), &plan.asked) {
        (_, None) => String::new(),
        (0, Some(_)) => " Nothing has changed since the last time.".into(),
        (changes, Some(_)) => format!(" {} since the last time.", count(changes, "change")),
    };
    let sentence =
        |facts: &ClarificationFacts| format!(" {}", shortened(&clarification::texts::sentence(facts, "en"), SENTENCE));
    let clarified = clarified(plan).as_ref().map(sentence).unwrap_or_default();
    format!("{} {}{clarified}{changed}", proposal(plan), consequence(plan))
}

fn proposal(plan: &Plan) -> String {
    let (title, objective) =
        (texts::said(&plan.document.title, TITLE), texts::said(&plan.document.objective, OBJECTIVE));
    let steps = count(plan.document.steps.len(), "step");
    format!("The agent proposes a plan of {steps}, in its own words {title}: {objective}.")
}

/// The detailed summary. If it is too long, it omits first the arguments that the owner's description leaves out, then
/// the last steps, and says so.
fn detailed(plan: &Plan, changes: &[String]) -> String {
    let head = vec![proposal(plan), consequence(plan)];
    let tail = [clarified_lines(plan), changed_lines(plan, changes)].concat();
    let room = DETAILED.without(&head).without(&tail);
    let whole: Vec<String> = steps(plan).flat_map(|(number, step)| whole_lines(plan, number, step)).collect();
    let steps = if room.fits(&whole) {
        whole
    } else {
        let short = steps(plan).map(|(number, step)| line(plan, number, step)).collect();
        room.filled(short, |left| format!("{left}: the page of this question shows all.", left = more(left, "step")))
    };
    [head, steps, tail].concat().join("\n")
}

fn steps(plan: &Plan) -> impl Iterator<Item = (usize, &PlanStep)> {
    plan.document.steps.iter().enumerate().map(|(at, step)| (at + 1, step))
}

/// One step on one line. Texts by others have no line breaks, so they cannot fake another line.
fn line(plan: &Plan, number: usize, step: &PlanStep) -> String {
    let description = texts::said(&step.description, DESCRIPTION);
    let runs = match plan.actions.get(&step.step_id) {
        Some(planned) => format!("Runs {}", diff::runs(planned, RUNS)),
        None => "The approval permits no call for it.".into(),
    };
    format!("{number}. {description} (the agent's words). {runs}")
}

/// The line, plus all arguments of a call with an owner's description.
fn whole_lines(plan: &Plan, number: usize, step: &PlanStep) -> Vec<String> {
    let mut lines = vec![line(plan, number, step)];
    if let Some(planned) = plan.actions.get(&step.step_id).filter(|planned| planned.words == TextAuthor::Owner) {
        let arguments = texts::arguments(&planned.pattern);
        if !planned.shown.ends_with(&format!("({arguments})")) {
            lines.push(format!("   All of it: {arguments}"));
        }
    }
    lines
}

/// The clarified answers behind the plan, each marked with its giver.
fn clarified_lines(plan: &Plan) -> Vec<String> {
    let Some(clarified) = clarified(plan) else { return Vec::new() };
    let note = |left| format!("{}: the record has all.", more(left, "answer"));
    [
        vec!["Clarified before it was proposed:".to_owned()],
        CLARIFIED.filled(clarification::texts::lines(&clarified, "en"), note),
    ]
    .concat()
}

fn changed_lines(plan: &Plan, changes: &[String]) -> Vec<String> {
    if plan.asked.is_none() {
        return Vec::new();
    }
    if changes.is_empty() {
        return vec!["Nothing has changed since the last time.".into()];
    }
    let short = changes.iter().map(|line| shortened(line, RUNS)).collect();
    let note = |left| format!("{}: the page of this question shows all.", more(left, "change"));
    [vec!["Changed since the last time:".to_owned()], CHANGES.filled(short, note)].concat()
}

fn facts(plan: &Plan, changes: &[String]) -> QuestionFacts {
    let steps = FACTS_STEPS.as_many(plan.document.steps.iter().map(|step| proposed(plan, step)));
    let told = FACTS_CHANGES.as_many(changes.iter().map(|line| shortened(line, RUNS)));
    let proposed = ProposedPlan {
        plan_id: plan.id.clone(),
        lasts_seconds: plan.lasts_s,
        steps_left_out: plan.document.steps.len() - steps.len(),
        steps,
        changes_left_out: changes.len() - told.len(),
        changes: told,
    };
    QuestionFacts { plan: Some(proposed), clarification: clarified(plan), ..QuestionFacts::default() }
}

fn proposed(plan: &Plan, step: &PlanStep) -> ProposedStep {
    let runs = plan.actions.get(&step.step_id).map(|planned| ProposedCall {
        shown: shortened(&planned.shown, RUNS),
        words: planned.words,
        uses: planned.action.uses,
        asks_again: planned.asks_again,
    });
    let description = shortened(&shown(&step.description, usize::MAX), DESCRIPTION);
    ProposedStep { step_id: step.step_id.clone(), description, runs }
}

/// The clarified answers behind the plan.
fn clarified(plan: &Plan) -> Option<ClarificationFacts> {
    plan.clarified.as_ref().filter(|clarified| !clarified.answers.is_empty()).map(ClarificationResult::facts)
}

/// A size limit: characters for readers, bytes for the wire.
#[derive(Clone, Copy)]
struct Room {
    characters: usize,
    bytes: usize,
}

/// Characters reserved for the note about omitted lines.
const NOTE: usize = 100;

impl Room {
    fn without(self, lines: &[String]) -> Self {
        lines.iter().fold(self, |room, line| Self {
            characters: room.characters.saturating_sub(line.chars().count() + 1),
            bytes: room.bytes.saturating_sub(written(&json!(line))),
        })
    }

    fn fits(self, lines: &[String]) -> bool {
        let left = self.without(lines);
        left.characters > 0 && left.bytes > 0
    }

    /// All lines, or the first ones and a note with the number of omitted lines.
    fn filled(self, lines: Vec<String>, note: impl Fn(usize) -> String) -> Vec<String> {
        if self.fits(&lines) {
            return lines;
        }
        let mut room = self.without(&[" ".repeat(NOTE)]);
        let fits = |line: &&String| {
            room = room.without(std::slice::from_ref(line));
            room.characters > 0 && room.bytes > 0
        };
        let kept = lines.iter().take_while(fits).count();
        let left = lines.len() - kept;
        lines.into_iter().take(kept).chain([note(left)]).collect()
    }

    /// The leading values that fit.
    fn as_many<T: Serialize>(self, values: impl Iterator<Item = T>) -> Vec<T> {
        let mut left = self.bytes;
        let fits = |value: &T| {
            let rest = left.checked_sub(written(&json!(value)));
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        values.take_while(fits).collect()
    }
}

/// The bytes of a value on the wire, including a separator.
fn written(value: &Value) -> usize {
    value.to_string().len() + 1
}

fn more(count: usize, what: &str) -> String {
    if count == 1 { format!("1 more {what}") } else { format!("{count} more {what}s") }
}

fn count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `1 hour`, `1 hour 30 minutes`.
fn lasting(seconds: i64) -> String {
    let parts = [(seconds / 3600, "hour"), (seconds / 60 % 60, "minute"), (seconds % 60, "second")];
    let said = |(number, unit): (i64, &str)| {
        (number != 0).then(|| format!("{number} {unit}{}", if number == 1 { "" } else { "s" }))
    };
    let said: Vec<String> = parts.into_iter().filter_map(said).collect();
    if said.is_empty() { "0 seconds".into() } else { said.join(" ") }
}
