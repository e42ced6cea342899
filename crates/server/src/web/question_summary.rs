//! Turns a decision into the question that a person sees.

use super::{connection, plan_steps, visit::name_of};
use crate::{
    App,
    pages::{
        ActionText, AskedBy, Author, CallShown, Detail, DeviationLines, Language, OperatorLabel, PlainLine, Prose,
        QuestionSummary, Unanswered, WiderAccess,
    },
};
use countersign_engine::{
    Decision, DecisionState, ProjectAt, ProjectMember, Question, Refusal, TextAuthor, audience, held,
    mplp_views::deviation, what_runs,
};
use countersign_protocol::{
    aaep::event::{Summaries, YesNo},
    question::{QuestionFacts, RequestFacts},
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
            _ if decision.expansion.is_some() => Author::Scopes,
            TextAuthor::Agent => Author::Agent,
            TextAuthor::Owner => Author::Service,
        },
        language: decision.language.clone(),
        what: what(decision),
        tool: Some(PlainLine::cut(&decision.action, 200)).filter(|tool| !tool.is_empty()),
        call: what_runs(decision).map(CallShown::new),
        request: request(decision),
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
            summary: summary(&asked.summaries)
                .filter(|text| says_more(text, &asked.action, &asked.consequence))
                .map(prose),
            details: details(&asked.facts, asked.extra_context.as_ref()),
            risk: terms.risk,
            irreversible: terms.irreversible,
            reversibility: terms.reversibility,
            allowance_s: terms.allowance_s,
        },
        Question::Clarification(asked) => ActionText::Question {
            question: prose(&asked.question),
            context: asked.context.as_deref().map(prose),
            summary: summary(&asked.summaries).map(prose),
        },
    }
}

/// The longest summary.
fn summary(summaries: &Summaries) -> Option<&str> {
    [&summaries.detailed, &summaries.normal, &summaries.terse].into_iter().flatten().map(String::as_str).next()
}

/// Whether a summary adds anything to the action and its consequence.
fn says_more(text: &str, action: &str, consequence: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let both = bare(&format!("{action} {consequence}"));
    ![bare(action), both].contains(&bare(text))
}

/// The agent's context, and the amounts that the route declares.
fn details(facts: &QuestionFacts, context: Option<&Map<String, Value>>) -> Vec<Detail> {
    let amounts = facts.request.iter().flat_map(|request| &request.values).map(|amount| Detail {
        name: PlainLine::exact(&amount.name),
        value: format!("{} {}", amount.amount, amount.unit).into(),
    });
    amounts.chain(context.into_iter().flatten().map(detail)).collect()
}

fn request(decision: &Decision) -> Option<RequestFacts> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    asked.facts.request.clone()
}

/// The deviation of a call from an approved plan, in Countersign's own words, kept apart from the agent's.
pub(super) fn difference(at: &ProjectAt, decision: &Decision, language: Language) -> Option<DeviationLines> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    let found = asked.facts.deviation.as_ref()?;
    let lines = deviation::lines(found, language.tag()).iter().map(|line| Prose::rendered(line)).collect();
    Some(DeviationLines { lines, plan_path: plan_steps::path(at, &found.plan_id) })
}

/// The scopes that a task asks for, by the project's current definitions.
pub(super) fn wider(at: &ProjectAt, decision: &Decision) -> Option<WiderAccess> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    let requested = asked.facts.scope_expansion.as_ref()?;
    Some(WiderAccess {
        scopes: requested.scopes.iter().map(|scope| connection::scope(&at.project, &scope.id)).collect(),
        session: PlainLine::cut(&requested.session_id, 200),
        until: requested.until,
    })
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
