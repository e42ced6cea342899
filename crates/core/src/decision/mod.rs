//! The decision engine (R-1 to R-9, R-21). A decision, its allowance and each execution are separate rows. Every
//! protocol asks, answers and claims through these operations and has no state machine of its own.
//!
//! ```text
//! decision    pending ─ first valid answer ─► accepted │ rejected │ answered
//!                │ deadline ─► expired(default)      │ withdrawn, session over, revoked ─► cancelled
//! allowance   accepted, or expired(accept) ⇒ open (or open and queued: its call is in its undo window) ─► spent │ lapsed │ cancelled
//! execution   claimed ─► committed │ failed │ released │ unknown ─► committed │ failed
//! ```

pub mod answer;
pub mod cancel;
pub mod claim;
pub mod document;
pub mod due;
pub mod extend;
pub mod grant;
pub mod offers;
pub mod outcome;
pub mod probe;
pub mod question;
pub mod queue;
pub mod raise;
pub mod reconcile;
pub mod render;
pub mod revoke;
pub mod runs;
pub(crate) mod settle;
pub mod undo_call;

pub use settle::settled_as;
pub mod terms;

use crate::{
    env::Mint,
    evidence::DraftEntry,
    records::{Decision, NO_PERSON, Question, Raiser, RequestedExpansion, Table},
    signals::Audience,
    step::{Count, Effects},
};
use countersign_protocol::{
    canonical::NotCanonical,
    hash::Digest,
    ids::{ProjectId, RowKey},
    time::UnixMillis,
};
use serde_json::json;

/// Least lifetime of the counters of pending questions, from the last change. No question stays pending that long.
const COUNTED_S: i64 = 2 * DAY_S;
const DAY_S: i64 = 86_400;

/// Names of the counters that limit questions.
const OPEN_OF_AGENT: &str = "open_questions_of_agent";
const OPEN_OF_PERSON: &str = "open_questions_of_person";
const RAISED_PER_HOUR: &str = "questions_per_hour";
const REJECTED: &str = "rejections";

/// A project by key and id, as entries name it.
pub type ProjectRef = (RowKey, ProjectId);

/// The audience of a question and its outcome: all approvers and the person the agent acts for.
pub fn audience(decision: &Decision) -> Audience {
    let mut all = Audience { people: vec![decision.raised_by.person], roles: Vec::new() };
    for approvers in decision.terms.all_approvers() {
        add_new(&mut all.people, &approvers.people);
        add_new(&mut all.roles, &approvers.roles);
    }
    all
}

fn add_new<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

/// Changes of the counters of pending questions (R-8).
fn open_counts(raiser: &Raiser, project: RowKey, by: i64, limits: (i64, i64), now: UnixMillis) -> Vec<Count> {
    // In whole days, so that raising the counter mostly leaves its expiry, and the index of expiries, as they are.
    let until = UnixMillis((now.secs().div_euclid(DAY_S) + 1) * DAY_S * 1000).plus_secs(COUNTED_S);
    // Service accounts act for nobody: those of one operator share a limit, and none with the accounts of another.
    let person = match (raiser.person, &raiser.operator) {
        (NO_PERSON, Some(operator)) => format!("{project}:asked:accounts-of:{operator}"),
        (NO_PERSON, None) => format!("{project}:asked:account:{}", raiser.principal),
        (person, _) => format!("{project}:asked:{person}"),
    };
    vec![
        Count {
            name: OPEN_OF_AGENT,
            key: format!("{project}:open-questions:{}", raiser.principal),
            by,
            limit: limits.0,
            until,
        },
        Count { name: OPEN_OF_PERSON, key: person, by, limit: limits.1, until },
    ]
}

/// Adds an entry, if there is one.
fn push_entry(effects: &mut Effects, entry: Option<DraftEntry>, mint: &mut Mint) -> Result<(), NotCanonical> {
    if let Some(entry) = entry {
        effects.evidence.push(entry.seal(mint)?);
    }
    Ok(())
}

/// Removes the stored request once its question needs it no more (R-5).
fn forget_request(decision: &Decision) -> Option<(Table, RowKey)> {
    forget_request_of(decision.key, decision.target.is_none())
}

/// Only a question about a single action has a stored request.
fn forget_request_of(decision: RowKey, about_one_action: bool) -> Option<(Table, RowKey)> {
    about_one_action.then_some((Table::HeldRequest, decision))
}

/// Counter key for the recent rejections of one action, with any arguments.
fn rejections_key(raiser: &Raiser, project: RowKey, decision: &Decision) -> String {
    rejections_key_of(raiser, project, &decision.action, &decision.question, decision.expansion.as_deref())
}

fn rejections_key_of(
    raiser: &Raiser,
    project: RowKey,
    action: &str,
    question: &Question,
    expansion: Option<&RequestedExpansion>,
) -> String {
    let what = match (action, question) {
        _ if let Some(asked) = expansion => format!("scopes:{}", asked.scopes.join(" ")),
        ("", Question::Confirmation(asked)) => Digest::of(asked.action.as_bytes()).hex(),
        ("", Question::Clarification(_)) => "clarification".into(),
        (tool, _) => tool.to_owned(),
    };
    format!("{project}:rejected:{}:{what}", raiser.principal)
}

/// An entry about an execution: the decision that permits it, and the call that it is.
fn execution_entry(view: &due::ExecutionView, event_type: &'static str, now: UnixMillis) -> DraftEntry {
    let execution = &view.execution;
    entry(&view.place, &view.decision, event_type, now)
        .open("execution_id", execution.id.as_str())
        .open("call_id", execution.call_id.as_str())
        .open_if("step_id", execution.step.as_ref().map(|step| step.step.as_str()))
}

/// An evidence entry with the members common to all decisions. Texts and people are hidden (R-25).
fn entry(place: &ProjectRef, decision: &Decision, event_type: &'static str, now: UnixMillis) -> DraftEntry {
    let entry = DraftEntry::new((place.0, &place.1), event_type, now)
        .open("decision_id", decision.id.as_str())
        .open_if("operator", decision.raised_by.operator.as_ref().map(|domain| domain.as_str().to_owned()))
        .open_if("target_type", decision.target.as_ref().map(|target| json!(target.target_type)))
        .open_if("target_id", decision.target.as_ref().map(|target| target.target_id.as_str()))
        .open_if("requested_by_role", decision.target.as_ref().map(|target| target.requested_by_role.as_str()))
        .open_if("kind", matches!(decision.question, Question::Clarification(_)).then_some("clarification"))
        .hidden("action_sha256", decision.digest.hex());
    match decision.raised_by.delegation {
        Some(delegation) => entry.under_delegation(delegation, &decision.raised_by.principal),
        None => entry.open("principal", decision.raised_by.principal.as_str()),
    }
}
