//! `/allowances`: open allowances, and their revocation.

use super::{
    answer, answer_form,
    form::Form,
    inbox, places, plan_steps, question_summary, standing_approval,
    visit::{Visit, name_of},
};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{AllowancesError, AllowancesPage, OpenGroup, PlainLine},
};
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use countersign_engine::{
    AllowanceState, CancelledFor, OpenAllowance, ProjectAt, ProjectMember, Refusal, TextAuthor, Via, audience,
};
use http::StatusCode;
use std::collections::HashMap;

const HERE: &str = "/allowances";

pub(super) async fn get(
    State(app): State<App>,
    visit: Visit,
    Query(told): Query<HashMap<String, String>>,
) -> Result<Response, RefusalResponse> {
    let mut page = page(&app, &visit).await?;
    if let Some(id) = told.get("taken-back") {
        page.taken_back = was_taken_back(&app, &visit, id).await?;
    }
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

pub(super) async fn take_back(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Path<HashMap<String, String>>,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let id = path.get("id").map_or("", String::as_str);
    let member = app.engine.people().member(visit.person()?, at.project.key).await?;
    match taken_back(&app, &at, &visit, &member, id, &form).await {
        Ok(()) => Ok(answer::see_other(&format!("{HERE}?taken-back={}", answer::in_query(id)))),
        Err(AllowanceError::Refused(refusal)) => Err(refusal.into()),
        Err(AllowanceError::Told(error, refusal)) => {
            app.metrics.refused(refusal.code());
            Ok(again(&app, &visit, error, id, &form).await?)
        }
    }
}

/// An error the page shows itself, or a refusal with a page of its own.
enum AllowanceError {
    Told(AllowancesError, Refusal),
    Refused(Refusal),
}

impl From<Refusal> for AllowanceError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotAuthorized(_) => Self::Told(AllowancesError::NotYours, refusal),
            Refusal::Conflict(_) => Self::Told(AllowancesError::NothingLeft, refusal),
            refusal => Self::Refused(refusal),
        }
    }
}

async fn taken_back(
    app: &App,
    at: &ProjectAt,
    visit: &Visit,
    member: &ProjectMember,
    id: &str,
    form: &Form,
) -> Result<(), AllowanceError> {
    visit.own_form(app, form.field("csrf")).map_err(|why| AllowanceError::Told(AllowancesError::FormExpired, why))?;
    let too_long = |_| {
        let error = AllowancesError::ReasonTooLong { id: id.to_owned() };
        AllowanceError::Told(error, Refusal::invalid("the reason is too long"))
    };
    let reason = answer_form::reason(form).map_err(too_long)?;
    // An allowance the person may not see is reported as not found.
    let seen = app.engine.decisions().visible_allowance(at, member, id).await?;
    seen.ok_or_else(|| Refusal::NotFound("there is no such permission".into()))?;
    let by = app.engine.decisions().answerer(at, member, Via::Page);
    app.engine.decisions().revoke_allowance(at, id, &by, reason).await?;
    Ok(())
}

async fn again(app: &App, visit: &Visit, error: AllowancesError, id: &str, form: &Form) -> Result<Response, Refusal> {
    let status = match error {
        AllowancesError::FormExpired | AllowancesError::NotYours => StatusCode::FORBIDDEN,
        AllowancesError::ReasonTooLong { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        AllowancesError::NothingLeft => StatusCode::CONFLICT,
    };
    let mut page = page(app, visit).await?;
    for open in page.groups.iter_mut().flat_map(|group| &mut group.open).filter(|open| open.id == id) {
        open.typed = form.field("reason").to_owned();
    }
    let page = AllowancesPage { error: Some(error), ..page };
    Ok(answer::page(status, &page.frame, &page))
}

async fn page(app: &App, visit: &Visit) -> Result<AllowancesPage, Refusal> {
    let who = visit.person()?;
    let places = places::behind(app, visit, who).await?;
    let mut groups = Vec::new();
    for at in &places {
        let member = app.engine.people().member(who, at.project.key).await?;
        for open in app.engine.decisions().open_allowances(at, &member).await? {
            add(app, at, &member, open, &mut groups).await?;
        }
    }
    let frame = match places.as_slice() {
        [only] => visit.frame_of(&only.project),
        _ => visit.frame(app).await,
    };
    Ok(AllowancesPage { frame, groups, csrf: visit.csrf(app)?, error: None, taken_back: false })
}

/// Adds an allowance to the group of its decision, so that the steps of one plan are listed together.
async fn add(
    app: &App,
    at: &ProjectAt,
    member: &ProjectMember,
    open: OpenAllowance,
    groups: &mut Vec<OpenGroup>,
) -> Result<(), Refusal> {
    let OpenAllowance { allowance, decision, plan } = &open;
    let yes = standing_approval::of(at, allowance, decision, plan.as_ref());
    if let Some(group) = groups.iter_mut().find(|group| group.decision_id == decision.id) {
        group.open.push(yes);
        group.open.sort_by_key(|yes| yes.step);
        return Ok(());
    }
    let title = match plan {
        Some(plan) => PlainLine::cut(&plan.document.title, 200),
        None => question_summary::headline_line(decision, 200),
    };
    let sees_question = audience(decision).includes(member.person.key, &member.roles());
    groups.push(OpenGroup {
        decision_id: decision.id.clone(),
        service: name_of(&at.project).into(),
        by: question_summary::by(decision, &question_summary::principal(app, at, member, decision).await?),
        title,
        unchecked: plan.is_some() || decision.words == TextAuthor::Agent,
        plan_path: plan.as_ref().map(|plan| plan_steps::path(at, &plan.id)),
        question_path: sees_question.then(|| format!("{}/{}/{}", inbox::HERE, at.project.id, decision.id)),
        open: vec![yes],
    });
    Ok(())
}

/// Whether the allowance was really revoked: anybody can make up a URL.
async fn was_taken_back(app: &App, visit: &Visit, id: &str) -> Result<bool, Refusal> {
    let who = visit.person()?;
    for at in &places::behind(app, visit, who).await? {
        let member = app.engine.people().member(who, at.project.key).await?;
        let seen = app.engine.decisions().visible_allowance(at, &member, id).await?;
        let back = |state| matches!(state, AllowanceState::Cancelled { why: CancelledFor::TakenBack, .. });
        if seen.is_some_and(|allowance| back(allowance.state)) {
            return Ok(true);
        }
    }
    Ok(false)
}
