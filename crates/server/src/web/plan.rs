//! `/plans/{project}/{plan_id}`: the progress of a plan, and its revocation.

use super::{
    answer, answer_form,
    form::Form,
    inbox, plan_steps, question_summary, standing_approval,
    visit::{Visit, name_of},
};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{
        AskedBy, OperatorLabel, PlainLine, PlanChangeMark, PlanError, PlanEvent, PlanPage, Prose, StepAsked,
        StepProgress,
    },
};
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use countersign_engine::{
    Plan, PlanShown, ProjectAt, ProjectMember, ProjectReader, Refusal, Via, audience, check_revoke_entitlement,
    mplp_views::is_running,
};
use countersign_protocol::mplp::{BaseEvent, MplpId, Plan as PlanDocument, PlanStatus, PlanStep};
use http::StatusCode;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// Number of events shown; the evidence log has all.
const EVENTS: usize = 20;

type Params = Path<HashMap<String, String>>;

pub(super) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Params,
    Query(told): Query<HashMap<String, String>>,
) -> Result<Response, RefusalResponse> {
    let here = Here::load(&app, at, &visit, &path).await?;
    let page = here.page(&app, &visit).await?;
    // Checked against the plan: anybody can make up a URL.
    let taken_back = told.contains_key("taken-back") && page.status == PlanStatus::Cancelled;
    let page = PlanPage { taken_back, ..page };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

pub(super) async fn take_back(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Params,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let here = Here::load(&app, at, &visit, &path).await?;
    let (status, error, refusal) = match here.cancel(&app, &visit, &form).await {
        Ok(()) => return Ok(answer::see_other(&format!("{}?taken-back", here.path()))),
        Err((why, refusal)) => match why {
            Some(PlanError::ReasonTooLong) => (StatusCode::UNPROCESSABLE_ENTITY, PlanError::ReasonTooLong, refusal),
            Some(PlanError::NothingLeft) => (StatusCode::CONFLICT, PlanError::NothingLeft, refusal),
            Some(error) => (StatusCode::FORBIDDEN, error, refusal),
            None => return Err(refusal.into()),
        },
    };
    app.metrics.refused(refusal.code());
    let now = Here::load(&app, here.at, &visit, &path).await?;
    let typed = form.field("reason").to_owned();
    let page = PlanPage { typed, error: Some(error), ..now.page(&app, &visit).await? };
    Ok(answer::page(status, &page.frame, &page))
}

/// A plan and its viewer.
struct Here {
    at: ProjectAt,
    member: ProjectMember,
    shown: PlanShown,
}

impl Here {
    /// Another person's plan is reported as not found.
    async fn load(app: &App, at: ProjectAt, visit: &Visit, path: &HashMap<String, String>) -> Result<Self, Refusal> {
        let member = app.engine.people().member(visit.person()?, at.project.key).await?;
        let id = path.get("plan_id").map_or("", String::as_str);
        let id = MplpId::parse(id).map_err(|_| Refusal::NotFound("there is no such plan".into()))?;
        let shown = app.engine.plans().plan(&at, &ProjectReader::Person(Box::new(member.clone())), &id).await?;
        Ok(Self { at, member, shown })
    }

    fn path(&self) -> String {
        plan_steps::path(&self.at, &self.shown.plan.id)
    }

    async fn page(&self, app: &App, visit: &Visit) -> Result<PlanPage, Refusal> {
        let plan = &self.shown.plan;
        let document = &plan.document;
        Ok(PlanPage {
            frame: visit.frame_of(&self.at.project),
            path: self.path(),
            id: plan.id.to_string(),
            service: name_of(&self.at.project).into(),
            by: self.by(app).await?,
            title: document.title.as_str().into(),
            objective: document.objective.as_str().into(),
            status: document.status,
            until: plan.until.filter(|_| is_running(plan)),
            question_path: self.question_path(),
            feedback: plan.feedback.as_ref().map(|back| back.reason.as_str().into()),
            steps: self.steps(app),
            events: document.events.iter().rev().filter_map(|event| happened(document, event)).take(EVENTS).collect(),
            may_take_back: self.may_take_back(app),
            csrf: visit.csrf(app)?,
            typed: String::new(),
            error: None,
            taken_back: false,
        })
    }

    async fn by(&self, app: &App) -> Result<AskedBy, Refusal> {
        let Plan { by, .. } = &self.shown.plan;
        Ok(match (&by.operator, &self.shown.decision) {
            (Some(domain), _) => AskedBy::Operator(OperatorLabel::new(domain.clone(), "")),
            (None, Some(decision)) => {
                let principal = question_summary::principal(app, &self.at, &self.member, decision).await?;
                AskedBy::Key(PlainLine::cut(&principal, 200))
            }
            (None, None) => AskedBy::Key(PlainLine::cut(&by.principal, 200)),
        })
    }

    fn question_path(&self) -> Option<String> {
        let decision = self.shown.decision.as_ref()?;
        let sees = audience(decision).includes(self.member.person.key, &self.member.roles());
        sees.then(|| format!("{}/{}/{}", inbox::HERE, self.at.project.id, decision.id))
    }

    fn steps(&self, app: &App) -> Vec<StepProgress> {
        let plan = &self.shown.plan;
        let steps = plan_steps::steps(&plan.document, &plan.actions, plan.approved.as_deref());
        steps.into_iter().zip(&plan.document.steps).map(|(asked, step)| self.progress(app, asked, step)).collect()
    }

    fn progress(&self, app: &App, asked: StepAsked, step: &PlanStep) -> StepProgress {
        let PlanShown { plan, decision, allowances } = &self.shown;
        let tally = plan.actions.get(&step.step_id).map(|planned| planned.tally).unwrap_or_default();
        let now = app.engine.now();
        let open = allowances.iter().find(|allowance| {
            let of_it = allowance.step.as_ref().is_some_and(|of| of.step == step.step_id);
            of_it && allowance.is_open() && now < allowance.until
        });
        let open = open.zip(decision.as_ref());
        StepProgress {
            asked,
            status: step.status,
            done: tally.done,
            under_way: tally.under_way,
            lost: tally.lost,
            open: open.map(|(allowance, decision)| standing_approval::of(&self.at, allowance, decision, Some(plan))),
        }
    }

    /// Whether the form is offered. The engine checks again when it is sent.
    fn may_take_back(&self, app: &App) -> bool {
        let by = app.engine.decisions().answerer(&self.at, &self.member, Via::Page);
        let could = |decision| check_revoke_entitlement(&by, decision, None).is_ok();
        is_running(&self.shown.plan) && self.shown.decision.as_ref().is_some_and(could)
    }

    async fn cancel(&self, app: &App, visit: &Visit, form: &Form) -> Result<(), (Option<PlanError>, Refusal)> {
        visit.own_form(app, form.field("csrf")).map_err(|why| (Some(PlanError::FormExpired), why))?;
        let too_long = |_| (Some(PlanError::ReasonTooLong), Refusal::invalid("the reason is too long"));
        let reason = answer_form::reason(form).map_err(too_long)?;
        let by = app.engine.decisions().answerer(&self.at, &self.member, Via::Page);
        let cancelled = app.engine.plans().cancel_plan(&self.at, &self.shown.plan.id, &by, reason).await;
        cancelled.map(|_| ()).map_err(|refusal| match refusal {
            Refusal::NotAuthorized(_) => (Some(PlanError::NotYours), refusal),
            Refusal::Conflict(_) => (Some(PlanError::NothingLeft), refusal),
            refusal => (None, refusal),
        })
    }
}

/// One of the plan's own events, if it is a transition.
fn happened(document: &PlanDocument, event: &BaseEvent) -> Option<PlanEvent> {
    let data = event.data.as_ref()?;
    let step = data.get("step_id").and_then(|id| id.as_str()).and_then(|id| MplpId::parse(id).ok());
    let change = match step {
        Some(step) => {
            PlanChangeMark::Step { number: plan_steps::number(document, &step)?, to: status(data.get("to")?)? }
        }
        None => PlanChangeMark::Plan { to: status(data.get("to")?)? },
    };
    let reason = data.get("reason").and_then(|reason| reason.as_str()).map(Prose::from);
    Some(PlanEvent { at: event.timestamp, change, reason })
}

fn status<T: DeserializeOwned>(word: &serde_json::Value) -> Option<T> {
    serde_json::from_value(word.clone()).ok()
}
