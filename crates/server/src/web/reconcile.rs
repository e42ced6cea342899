//! `/inbox/{project}/{decision_id}/executions/{execution_id}`: a person reports an unknown outcome.

use super::{answer, answer_form, form::Form, inbox, visit::Visit};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{InboxError, Typed},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use countersign_engine::{ProjectAt, ProjectMember, Refusal, UnknownOutcome, Via, audience};
use std::collections::HashMap;

pub(super) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Path<HashMap<String, String>>,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let named = |name: &str| path.get(name).map_or("", String::as_str);
    let (decision_id, execution_id) = (named("decision_id"), named("execution_id"));
    let member = app.engine.people().member(visit.person()?, at.project.key).await?;
    let ran = ran(&form);
    match settle(&app, &at, &visit, &member, (decision_id, execution_id), &form).await {
        Ok(unknown) => Ok(answer::see_other(&follows(&at, &member, &unknown))),
        Err(ReconcileError::Refused(refusal)) => Err(refusal.into()),
        Err(ReconcileError::Told(error, refusal)) => {
            app.metrics.refused(refusal.code());
            let typed = Typed { ran, reason: form.field("reason").to_owned() };
            Ok(inbox::again(&app, &visit, error, (execution_id, typed)).await?)
        }
    }
}

/// An error the page shows itself, or a refusal with a page of its own.
enum ReconcileError {
    Told(InboxError, Refusal),
    Refused(Refusal),
}

impl From<Refusal> for ReconcileError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotAuthorized(_) => Self::Told(InboxError::NotEntitled, refusal),
            Refusal::Conflict(_) => Self::Told(InboxError::KnownAlready, refusal),
            refusal => Self::Refused(refusal),
        }
    }
}

async fn settle(
    app: &App,
    at: &ProjectAt,
    visit: &Visit,
    member: &ProjectMember,
    (decision_id, execution_id): (&str, &str),
    form: &Form,
) -> Result<UnknownOutcome, ReconcileError> {
    if let Err(refusal) = visit.own_form(app, form.field("csrf")) {
        return Err(ReconcileError::Told(InboxError::FormExpired, refusal));
    }
    let execution = execution_id.to_owned();
    let missing = |error| ReconcileError::Told(error, Refusal::invalid("the form is not filled in"));
    let ran = ran(form).ok_or_else(|| missing(InboxError::NothingChosen { execution_id: execution.clone() }))?;
    let reason = answer_form::reason(form).ok().flatten();
    let reason = reason.ok_or_else(|| missing(InboxError::NoReason { execution_id: execution.clone() }))?;
    let unknown = find(app, at, member, decision_id, execution_id).await?;
    let by = app.engine.decisions().answerer(at, member, Via::Page);
    app.engine.decisions().reconcile(at, execution_id, &by, ran, &reason).await?;
    Ok(unknown)
}

/// An unknown outcome that this person may see; otherwise it counts as settled.
async fn find(
    app: &App,
    at: &ProjectAt,
    member: &ProjectMember,
    decision_id: &str,
    execution_id: &str,
) -> Result<UnknownOutcome, Refusal> {
    let unknown = app.engine.decisions().unknown_outcomes(at, member).await?;
    let found = unknown.into_iter().find(|u| u.execution.id == execution_id && u.decision.id == decision_id);
    if let Some(found) = found {
        return Ok(found);
    }
    let seen = app.engine.decisions().visible_decision(at, member, decision_id).await?;
    match seen.execution.is_some_and(|execution| execution.id == execution_id) {
        true => Err(Refusal::Conflict("the outcome is already known".into())),
        false => Err(Refusal::NotFound("there is no such execution".into())),
    }
}

fn ran(form: &Form) -> Option<bool> {
    match form.field("ran") {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// Redirects to the question, if the person may open it.
fn follows(at: &ProjectAt, member: &ProjectMember, unknown: &UnknownOutcome) -> String {
    let decision = &unknown.decision;
    match audience(decision).includes(member.person.key, &member.roles()) {
        true => format!("{}/{}/{}?reconciled", inbox::HERE, at.project.id, decision.id),
        false => inbox::HERE.to_owned(),
    }
}
