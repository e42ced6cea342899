//! Turns a decision into the question that a person sees.

use super::{clarification_answers, plan_steps, visit::name_of};
use crate::{
    App,
    pages::{
        ActionText, AskedBy, Author, CallShown, Detail, DeviationLines, OperatorLabel, PlainLine, Prose,
        QuestionSummary, Unanswered,
    },
};
use countersign_engine::{
    Decision, DecisionState, ProjectAt, ProjectMember, Question, Refusal, TextAuthor, audience, clarified_answers,
    held, mplp_views::deviation, what_runs,
};
use countersign_protocol::{
    aaep::event::{Summaries, YesNo},
    mplp::MplpId,
    time::UnixMillis,
};
use serde_json::{Map, Value};

/// The question of a decision. `principal` is the proven identity of the requester.
pub(super) fn of(
    at: &ProjectAt,
    decision: &Decision,
    session_id: &str,
    principal: &str,
    now: UnixMillis,
) -> QuestionSummary {
    let deadline = deadline(decision);
    QuestionSummary {
        decision_id: decision.id.clone(),
        event_id: decision.event_id.clone(),
        session_id: session_id.to_owned(),
        project: at.project.id.to_string(),
        service: name_of(&at.project).into(),
        by: by(decision, principal),
        words: match decision.words {
            _ if decision.plan().is_some() => Author::Plan,
            _ if decision.gap.is_some() => Author::Rule,
            TextAuthor::Agent => Author::Agent,
            TextAuthor::Owner => Author::Service,
        },
        language: decision.language.clone(),
        what: what(decision),
        tool: Some(PlainLine::cut(&decision.action, 200)).filter(|tool| !tool.is_empty()),
        call: what_runs(decision).map(CallShown::new),
        technical: technical(decision),
        unanswered: unanswered(decision),
        asked_at: decision.asked_at,
        deadline,
        left_s: deadline.map_or(0, |deadline| deadline.millis_since(now) / 1000),
        last_ran: decision.last_ran_at,
    }
}

/// The domain of the operator, or the principal of an API key. The agent's own name for itself is ignored.
pub(super) fn by(decision: &Decision, principal: &str) -> AskedBy {
    match &decision.raised_by.operator {
        Some(domain) => AskedBy::Operator(OperatorLabel::new(domain.clone(), "")),
        None => AskedBy::Key(PlainLine::cut(principal, 200)),
    }
}

/// The requester's identity, as far as this person may know it: the agent id of the session for the audience of the
/// question, the principal of the decision for everybody else.
pub(super) async fn principal(
    app: &App,
    at: &ProjectAt,
    member: &ProjectMember,
    decision: &Decision,
) -> Result<String, Refusal> {
    match audience(decision).includes(member.person.key, &member.roles()) {
        true => Ok(app.engine.decisions().visible_decision(at, member, &decision.id).await?.session.producer.agent_id),
        false => Ok(decision.raised_by.principal.clone()),
    }
}

pub(super) fn headline(decision: &Decision) -> &str {
    match &decision.question {
        Question::Confirmation(asked) => &asked.action,
        Question::Clarification(asked) => &asked.question,
    }
}

/// The headline as one line of a list.
pub(super) fn headline_line(decision: &Decision, most: usize) -> PlainLine {
    match is_the_agents(decision) {
        true => PlainLine::cut(headline(decision), most),
        false => PlainLine::rendered(headline(decision), most),
    }
}

/// Whether the texts of the question are the agent's own. Text rendered from the owner's template or by Countersign
/// quotes its values.
fn is_the_agents(decision: &Decision) -> bool {
    decision.words == TextAuthor::Agent && decision.plan().is_none() && decision.gap.is_none()
}

pub(super) fn deadline(decision: &Decision) -> Option<UnixMillis> {
    match decision.state {
        DecisionState::Pending { deadline, .. } => Some(deadline),
        _ => None,
    }
}

fn what(decision: &Decision) -> ActionText {
    let terms = &decision.terms;
    let prose = |text: &str| if is_the_agents(decision) { Prose::new(text) } else { Prose::rendered(text) };
    match &decision.question {
        Question::Confirmation(asked) => ActionText::Action {
            action: prose(&asked.action),
            consequence: prose(&asked.consequence),
            summary: summary(&asked.summaries, clarified_answers::of_question(asked).is_some())
                .filter(|text| says_more(text, &asked.action, &asked.consequence))
                .map(prose),
            details: details(decision.words, asked.extra_context.as_ref()),
            risk: terms.risk,
            irreversible: terms.irreversible,
            reversibility: terms.reversibility,
            allowance_s: terms.allowance_s,
        },
        Question::Clarification(asked) => ActionText::Question {
            question: prose(&asked.question),
            context: asked.context.as_deref().map(prose),
            summary: summary(&asked.summaries, false).map(prose),
        },
    }
}

/// The summary without the sentence about clarified answers, which is for listeners only: beside the agent's text it
/// would seem to be the agent's.
fn summary(summaries: &Summaries, clarified: bool) -> Option<&str> {
    let texts = [&summaries.detailed, &summaries.normal, &summaries.terse].into_iter().flatten();
    let mut own =
        texts.filter_map(|text| if clarified { clarification_answers::without_sentence(text) } else { Some(text) });
    own.next()
}

/// Whether a summary adds anything to the action and its consequence.
fn says_more(text: &str, action: &str, consequence: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let both = bare(&format!("{action} {consequence}"));
    ![bare(action), both].contains(&bare(text))
}

fn details(words: TextAuthor, context: Option<&Map<String, Value>>) -> Vec<Detail> {
    match (words, context) {
        (_, None) => Vec::new(),
        (TextAuthor::Agent, Some(context)) => {
            let ours = [deviation::MEMBER, clarified_answers::MEMBER];
            context.iter().filter(|(name, _)| !ours.contains(&name.as_str())).map(detail).collect()
        }
        (TextAuthor::Owner, Some(context)) => amounts(context),
    }
}

fn amounts(context: &Map<String, Value>) -> Vec<Detail> {
    let text = |amount: &Value, member: &str| amount.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let amounts = context.get("values").and_then(Value::as_array).into_iter().flatten().map(|amount| Detail {
        name: PlainLine::exact(&text(amount, "name")),
        value: format!("{} {}", text(amount, "amount"), text(amount, "unit")).into(),
    });
    amounts.collect()
}

/// The details that the gateway adds to every held request, without those about an absent body.
fn technical(decision: &Decision) -> Vec<Detail> {
    let Question::Confirmation(asked) = &decision.question else { return Vec::new() };
    let Some(context) = asked.extra_context.as_ref().filter(|_| decision.words == TextAuthor::Owner) else {
        return Vec::new();
    };
    let bodiless = context.get("body_bytes").and_then(Value::as_u64) == Some(0);
    let names: &[&str] = match bodiless {
        true => &["method", "target"],
        false => &["method", "target", "content_type", "body_bytes", "body_sha256"],
    };
    let said = names.iter().filter_map(|name| context.get_key_value(*name)).filter(|(_, value)| **value != "");
    said.map(|(name, value)| Detail {
        value: Prose::rendered(detail((name, value)).value.as_str()),
        ..detail((name, value))
    })
    .collect()
}

/// The deviation of a call from an approved plan, in Countersign's own words, kept apart from the agent's.
pub(super) fn difference(at: &ProjectAt, decision: &Decision) -> Option<DeviationLines> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    let found = asked.extra_context.as_ref()?.get(deviation::MEMBER)?;
    let lines = found.get("lines").and_then(Value::as_array)?.iter().filter_map(Value::as_str);
    let plan = found.get("plan_id").and_then(Value::as_str).and_then(|id| MplpId::parse(id).ok())?;
    Some(DeviationLines { lines: lines.map(Prose::rendered).collect(), plan_path: plan_steps::path(at, &plan) })
}

/// An argument as people read it, like the members of a context.
pub(super) fn pretty(member: &held::JsonMember) -> String {
    match member {
        held::JsonMember::Text(text) => text.clone(),
        other => other.compact(),
    }
}

/// Strings are shown as text, other values as JSON.
pub(super) fn detail((name, value): (&String, &Value)) -> Detail {
    let value = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    Detail { name: PlainLine::exact(name), value: value.into() }
}

fn unanswered(decision: &Decision) -> Unanswered {
    match (&decision.question, decision.terms.default) {
        (Question::Confirmation(_), YesNo::Accept) => Unanswered::Accepted,
        (Question::Confirmation(_), YesNo::Reject) => Unanswered::Rejected,
        (Question::Clarification(_), _) if decision.gap.is_some() => Unanswered::Stopped,
        (Question::Clarification(asked), _) => match &asked.default_response {
            Some(response) => Unanswered::Response(response.as_str().into()),
            None => Unanswered::Unavailable,
        },
    }
}
