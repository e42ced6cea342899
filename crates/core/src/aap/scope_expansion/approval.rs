//! The request of a task for a further scope, as a question to the person, and its answer.

use super::{ExpansionMode, expanded};
use crate::{
    aap::{access::WantedScope, delegate::percent, validity},
    decision::{ProjectRef, raise::NewQuestion, runs},
    env::Env,
    evidence::DraftEntry,
    project,
    records::{
        Confirmation, Decision, DecisionState, Delegation, Point, Question, Record, RequestedExpansion, Session,
        SessionState, Table, TextAuthor,
    },
    refusal::Refusal,
    step::{Effects, Guard},
};
use countersign_protocol::{
    aaep::event::{Summaries, YesNo},
    aap::scope_approval::{DeniedFor, ScopeApproval, ScopeRequest, ScopeStatus},
    canonical,
    hash::Digest,
    project::ProjectDocument,
    question::{QuestionFacts, RequestedScope, RequestedScopes},
    time::UnixMillis,
};
use serde_json::json;

/// The session that an approval expands, and its delegation.
pub struct Widening {
    pub mode: ExpansionMode,
    pub session: Session,
    pub delegation: Delegation,
}

/// The question to the person. Its text is the service's alone.
pub fn question(wanted: &WantedScope) -> Result<NewQuestion, Refusal> {
    let (document, call) = (&wanted.facts.project().document, &wanted.facts);
    let shown = RequestedScopes {
        session_id: call.session_id().to_owned(),
        scopes: vec![described(document, &wanted.scope)],
        until: wanted.until,
    };
    let texts = runs::expansion_texts(&shown, Some(call.operator()), &document.decisions.language);
    let digest = same_request(wanted)?;
    let question = Question::Confirmation(Confirmation {
        action: texts.action,
        consequence: texts.consequence,
        summaries: Summaries::default(),
        extra_context: None,
        allowed_replies: vec![YesNo::Accept, YesNo::Reject],
        tool: "scope_expansion".into(),
        details: Some(Vec::new()),
        facts: Box::new(QuestionFacts { scope_expansion: Some(shown), ..QuestionFacts::default() }),
    });
    let expansion =
        RequestedExpansion { receipt: wanted.receipt, scopes: vec![wanted.scope.clone()], until: wanted.until };
    Ok(NewQuestion {
        point: Point::Gateway,
        words: TextAuthor::Owner,
        expansion: Some(Box::new(expansion)),
        ..NewQuestion::by_agent(digest, digest, String::new(), question)
    })
}

fn described(document: &ProjectDocument, id: &str) -> RequestedScope {
    let description = project::scope(document, id).map_or(id, |scope| scope.description.as_str());
    RequestedScope { id: id.to_owned(), description: description.to_owned() }
}

/// Identifies the request: one session, one receipt, one scope.
pub fn same_request(wanted: &WantedScope) -> Result<Digest, Refusal> {
    let bytes = canonical::to_vec(&json!({
        "v": 1,
        "kind": "scope_expansion",
        "project": wanted.facts.project().id.as_str(),
        "principal": wanted.facts.delegation_id(),
        // As text: a row key may exceed the integers of canonical JSON.
        "session": wanted.facts.session().to_string(),
        "receipt_sha256": wanted.receipt.hex(),
        "scopes": [wanted.scope],
    }))?;
    Ok(Digest::of(&bytes))
}

/// The effects of an approval: exactly the approved scopes that the delegation has, for the receipt that was shown.
pub(crate) fn widen(
    widening: &Widening,
    decision: &Decision,
    asked: &RequestedExpansion,
    env: &Env,
) -> Result<Effects, Refusal> {
    let Widening { mode, session, delegation } = widening;
    validity::check_delegation(delegation, env.now)?;
    let gone = |why: &str| Err(Refusal::Conflict(why.to_owned()));
    if *mode == ExpansionMode::Reject {
        return gone("the project does not expand the consent to a task any more");
    }
    let receipt = session.receipt.as_ref().filter(|receipt| receipt.said == asked.receipt);
    let Some(receipt) = receipt.filter(|_| session.state == SessionState::Open) else {
        return gone("the task has ended, or has a new consent receipt: nothing is left to approve");
    };
    validity::check_receipt(receipt, env.now)?;
    let granted: Vec<String> = asked.scopes.iter().filter(|scope| delegation.scopes.contains(scope)).cloned().collect();
    if granted.is_empty() {
        return gone("the delegation has none of these scopes");
    }
    Ok(Effects {
        guards: vec![Guard { table: Table::Delegation, key: delegation.key, version: delegation.version }],
        puts: vec![Record::Session(expanded(session, granted, Some(&decision.id), env.now))],
        ..Effects::default()
    })
}

/// The audit entry of a request or of its end, listed under session and delegation; none for another question.
pub(crate) fn record(place: &ProjectRef, decision: &Decision, now: UnixMillis) -> Option<DraftEntry> {
    let asked = decision.expansion.as_ref()?;
    let Question::Confirmation(Confirmation { facts, .. }) = &decision.question else { return None };
    let (session, delegation) = (decision.raised_by.session?, decision.raised_by.delegation?);
    let (outcome, by, reason) = match &decision.state {
        DecisionState::Pending { .. } => ("raised", "agent", None),
        DecisionState::Accepted { rationale, .. } => ("approved", "user", rationale.clone()),
        DecisionState::Rejected { rationale, .. } => ("denied", "user", rationale.clone()),
        DecisionState::Expired { .. } => ("expired", "service", None),
        DecisionState::Cancelled { .. } | DecisionState::Answered { .. } => ("cancelled", "service", None),
    };
    let shown = facts.scope_expansion.as_ref()?;
    Some(
        DraftEntry::new((place.0, &place.1), "scope_expansion", now)
            .in_session(session, &shown.session_id)
            .under_delegation(delegation, &decision.raised_by.principal)
            .open("decision_id", decision.id.as_str())
            .open("outcome", outcome)
            .open("by", by)
            .open("scopes", json!(asked.scopes))
            .open_if("operator", decision.raised_by.operator.as_ref().map(|operator| operator.as_str().to_owned()))
            .hidden_if("reason", reason),
    )
}

/// Until when a denied request is not raised again. An unanswered one counts as denied; a withdrawn one does not.
pub fn denied_until(decision: &Decision, document: &ProjectDocument) -> Option<UnixMillis> {
    match &decision.state {
        DecisionState::Rejected { by, .. } => Some(by.at.plus_secs(document.decisions.pause_seconds)),
        DecisionState::Expired { at, .. } => Some(at.plus_secs(document.decisions.pause_seconds)),
        _ => None,
    }
}

/// Whether the session still has what the decision approved.
pub fn has_approved(session: &Session, decision: &Decision) -> bool {
    session.expansions.iter().any(|expansion| expansion.decision_id.as_ref() == Some(&decision.id))
}

/// The address of the answer, below the project's.
pub fn poll_path(session_id: &str) -> String {
    format!("/agent/scope-approval?session_id={}", percent(session_id))
}

/// The requests of a session under its receipt. `asked`: newest first, each with its page.
pub fn document(session: &Session, asked: &[(Decision, String)], document: &ProjectDocument) -> ScopeApproval {
    let receipt = session.receipt.as_ref().map(|receipt| receipt.said);
    // A project that rejects every expansion has no requests.
    let receipt = receipt.filter(|_| ExpansionMode::of(document) != ExpansionMode::Reject);
    let of_receipt = |(decision, page): &(Decision, String)| {
        let expansion = decision.expansion.as_ref().filter(|asked| Some(asked.receipt) == receipt)?;
        Some(status((session, decision), expansion, page, document))
    };
    let requests: Vec<ScopeRequest> = asked.iter().filter_map(of_receipt).collect();
    let pending = requests.iter().find(|request| request.status == ScopeStatus::Pending);
    let current = pending.or(requests.first()).cloned().unwrap_or_default();
    ScopeApproval { session_id: session.session_id.clone(), current, requests }
}

fn status(
    (session, decision): (&Session, &Decision),
    asked: &RequestedExpansion,
    page: &str,
    document: &ProjectDocument,
) -> ScopeRequest {
    let request = ScopeRequest {
        scopes: asked.scopes.clone(),
        decision_id: Some(decision.id.clone()),
        page: Some(page.to_owned()),
        ask_again_at: denied_until(decision, document),
        ..ScopeRequest::default()
    };
    let denied = |why, reason: &Option<String>| (ScopeStatus::Denied, None, Some(why), reason.clone());
    let (status, expires_at, denied_for, reason) = match &decision.state {
        DecisionState::Pending { deadline, .. } => (ScopeStatus::Pending, Some(*deadline), None, None),
        DecisionState::Accepted { rationale, .. } if has_approved(session, decision) => {
            (ScopeStatus::Approved, Some(asked.until), None, rationale.clone())
        }
        DecisionState::Rejected { rationale, .. } => denied(DeniedFor::Rejected, rationale),
        DecisionState::Expired { .. } => denied(DeniedFor::Expired, &None),
        DecisionState::Cancelled { reason, .. } => denied(DeniedFor::Cancelled, reason),
        // An approval that ended with an earlier run of the session.
        DecisionState::Accepted { .. } | DecisionState::Answered { .. } => denied(DeniedFor::Cancelled, &None),
    };
    ScopeRequest { status, expires_at, denied_for, reason, ..request }
}
