//! `/inbox`: a person's pending questions, in each project in which the person has a role.

use super::{
    answer, places, question_summary,
    visit::{Visit, name_of},
};
use crate::{
    App,
    http::answer::RefusalResponse,
    pages::{InboxError, InboxPage, ListenAt, Listening, QuestionSummary, Typed, Undoable, Unreported},
};
use axum::{extract::State, response::Response};
use countersign_engine::{
    ExecutionState, ProjectAt, ProjectMember, Refusal, Tenancy, UndoableCalls, UnknownOutcome, Via, audience,
    may_reconcile,
};
use countersign_protocol::time::UnixMillis;
use http::StatusCode;

pub(super) const HERE: &str = "/inbox";

pub(super) async fn get(State(app): State<App>, visit: Visit) -> Result<Response, RefusalResponse> {
    let page = page(&app, &visit).await?;
    Ok(answer::listening_page(StatusCode::OK, &page.frame, &page))
}

/// Renders the page again with the error of one form.
pub(super) async fn again(
    app: &App,
    visit: &Visit,
    error: InboxError,
    (execution_id, typed): (&str, Typed),
) -> Result<Response, Refusal> {
    let mut page = page(app, visit).await?;
    for item in page.unreported.iter_mut().filter(|item| item.execution_id == execution_id) {
        item.typed = typed.clone();
    }
    let status = match error {
        InboxError::FormExpired | InboxError::NotEntitled => StatusCode::FORBIDDEN,
        InboxError::NothingChosen { .. } | InboxError::NoReason { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        InboxError::KnownAlready => StatusCode::CONFLICT,
    };
    let page = InboxPage { error: Some(error), ..page };
    Ok(answer::listening_page(status, &page.frame, &page))
}

async fn page(app: &App, visit: &Visit) -> Result<InboxPage, Refusal> {
    let who = visit.person()?;
    let places = places::behind(app, visit, who).await?;
    let frame = match places.as_slice() {
        [only] => visit.frame_of(&only.project),
        _ => visit.frame(app).await,
    };
    let now = app.engine.now();
    let mut page = InboxPage {
        frame,
        questions: Vec::new(),
        unreported: Vec::new(),
        undoable: Vec::new(),
        undoable_more: false,
        open_yeses: 0,
        listening: Listening { here: HERE.into(), places: Vec::new() },
        csrf: visit.csrf(app)?,
        error: None,
    };
    for at in &places {
        let member = app.engine.people().member(who, at.project.key).await?;
        page.questions.extend(waiting(app, at, &member, now).await?);
        let unknown = app.engine.decisions().unknown_outcomes(at, &member).await?;
        for unknown in &unknown {
            page.unreported.push(unreported(app, at, &member, unknown).await?);
        }
        let (undoable, more) = undoable(app, at, &member).await?;
        page.undoable.extend(undoable);
        page.undoable_more |= more;
        page.open_yeses += app.engine.decisions().open_allowances(at, &member).await?.len();
        page.listening.places.extend(listen_at(app, at, &member));
    }
    page.questions.sort_by_key(|asked| asked.deadline);
    page.tell_apart();
    Ok(page)
}

/// Questions that can still be answered. Expired ones are about to be settled.
async fn waiting(
    app: &App,
    at: &ProjectAt,
    member: &ProjectMember,
    now: UnixMillis,
) -> Result<Vec<QuestionSummary>, Refusal> {
    let items = app.engine.decisions().inbox(at, member).await?;
    let open =
        items.iter().filter(|item| question_summary::deadline(&item.decision).is_some_and(|deadline| now < deadline));
    Ok(open
        .map(|item| question_summary::of(at, &item.decision, &item.session.id, &item.session.producer.agent_id, now))
        .collect())
}

/// The approved calls that this person may still undo, and whether there may be more.
async fn undoable(app: &App, at: &ProjectAt, member: &ProjectMember) -> Result<(Vec<Undoable>, bool), Refusal> {
    let by = app.engine.decisions().answerer(at, member, Via::Page);
    let mut all = Vec::new();
    let UndoableCalls { calls, more } = app.engine.calls().undoable(at, &by).await?;
    for call in calls {
        let decision = &call.decision;
        let principal = question_summary::principal(app, at, member, decision).await?;
        all.push(Undoable {
            decision_id: decision.id.clone(),
            project: at.project.id.to_string(),
            service: name_of(&at.project).into(),
            by: question_summary::by(decision, &principal),
            action: question_summary::headline_line(decision, 300),
            closes_at: call.closes_at,
            call_id: call.call_id,
        });
    }
    Ok((all, more))
}

async fn unreported(
    app: &App,
    at: &ProjectAt,
    member: &ProjectMember,
    unknown: &UnknownOutcome,
) -> Result<Unreported, Refusal> {
    let UnknownOutcome { execution, decision } = unknown;
    let (person, roles) = (member.person.key, member.roles());
    let sees_question = audience(decision).includes(person, &roles);
    let principal = question_summary::principal(app, at, member, decision).await?;
    Ok(Unreported {
        execution_id: execution.id.clone(),
        decision_id: decision.id.clone(),
        project: at.project.id.to_string(),
        service: name_of(&at.project).into(),
        by: question_summary::by(decision, &principal),
        action: question_summary::headline_line(decision, 300),
        claimed_at: execution.claimed_at,
        since: match execution.state {
            ExecutionState::Unknown { since } => since,
            _ => execution.claimed_at,
        },
        asked_until: execution.probe.as_ref().and_then(|probe| probe.probed_until()),
        sees_question,
        may_reconcile: may_reconcile(decision, person, &roles, at.project.document.decisions.own_approval),
        typed: Typed::default(),
    })
}

/// The event stream of a project, for people with a role in it: nobody else may subscribe there.
pub(super) fn listen_at(app: &App, at: &ProjectAt, member: &ProjectMember) -> Option<ListenAt> {
    let prefix = match app.engine.settings().tenancy {
        Tenancy::Single => String::new(),
        Tenancy::Multi => format!("/projects/{}", at.project.id),
    };
    (!member.roles().is_empty()).then(|| ListenAt { prefix, project: at.project.id.to_string() })
}
