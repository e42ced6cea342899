//! `/inbox/{project}/{decision_id}`: one question, answered once, and its outcome.

use super::{
    answer, answer_form, clarification_answers, form::Form, inbox, offers, outcome, plan_steps, question_summary,
    standing_limits, visit::Visit,
};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{
        CallUndo, HELD, Language, Listening, MoreError, OutcomeText, QuestionError, QuestionNotice, QuestionPage, Runs,
    },
};
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use countersign_engine::{
    Abandoning, Answer, AnswerContent, Answered, AskedFor, AskedGap, Assurance, Decision, DecisionState, Extra,
    MORE_TIME_S, NotCounted, Plan, ProjectAt, ProjectMember, ProjectReader, ProvenPerson, Refusal, Via, Whole,
    check_revoke_entitlement, offers as offers_to,
};
use countersign_protocol::{aaep::event::YesNo, aap::error::Code, mplp::MplpId, time::UnixMillis};
use http::StatusCode;
use serde_json::{Map, Value};
use std::{borrow::Cow, collections::HashMap};

/// The parameter that names the call of an undo.
const UNDONE: &str = "undone";

type Params = Path<HashMap<String, String>>;

pub(super) async fn get(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Params,
    Query(told): Query<HashMap<String, String>>,
) -> Result<Response, RefusalResponse> {
    let before = Before::load(&app, at, &visit, &path).await?.about_call(&app, told.get(UNDONE)).await?;
    let page = before.page(&app, &visit)?;
    let page = QuestionPage { notice: notice(&told, &page), ..page };
    Ok(answer::listening_page(StatusCode::OK, &page.frame, &page))
}

pub(super) async fn post(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Params,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let before = Before::load(&app, at, &visit, &path).await?;
    let done: Result<Cow<'static, str>, AnswerError> = match visit.own_form(&app, form.field("csrf")) {
        Err(_) => Err(AnswerError::Told(QuestionError::FormExpired)),
        Ok(()) if !form.field("more").is_empty() => before.more_time(&app, &form).await.map(Cow::from),
        Ok(()) if !form.field("abandon").is_empty() => before.abandon(&app).await.map(Cow::from),
        Ok(()) if !form.field("undo").is_empty() => before.undo(&app, form.field("undo")).await.map(Cow::from),
        Ok(()) => before.answer(&app, &visit, &form).await.map(Cow::from),
    };
    match done {
        Ok(done) => Ok(answer::see_other(&format!("{}?{done}", before.path()))),
        Err(AnswerError::Refused(refusal)) => Err(refusal.into()),
        Err(AnswerError::Told(error)) => {
            let path = HashMap::from([(ID.to_owned(), before.whole.decision.id.clone())]);
            let now = Before::load(&app, before.at, &visit, &path).await?;
            Ok(again(&app, &visit, &now, &form, error)?)
        }
    }
}

const ID: &str = "decision_id";

/// A question and its viewer.
struct Before {
    at: ProjectAt,
    member: ProjectMember,
    whole: Whole,
    /// The plan that the question is about.
    plan: Option<Plan>,
    /// The arguments of a tool call.
    arguments: Map<String, Value>,
    /// The call that a standing approval would generalise.
    asked_for: Option<AskedFor>,
    /// The gap that the question is about.
    gap: Option<AskedGap>,
    /// The clarification session of that gap, if this person may abandon it.
    abandons: Option<MplpId>,
}

/// Why an answer was not accepted: an error the page shows itself, or a refusal with a page of its own.
enum AnswerError {
    Told(QuestionError),
    Refused(Refusal),
}

impl From<Refusal> for AnswerError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<QuestionError> for AnswerError {
    fn from(error: QuestionError) -> Self {
        Self::Told(error)
    }
}

impl From<NotCounted> for AnswerError {
    fn from(why: NotCounted) -> Self {
        match why {
            NotCounted::Unknown => Self::Refused(Refusal::NotFound("there is no such question".into())),
            NotCounted::Settled => Self::Told(QuestionError::Settled),
            NotCounted::TooLate | NotCounted::TooEarly => Self::Told(QuestionError::TooLate),
            NotCounted::TooWeak(floor) if floor <= Assurance::Fresh => Self::Refused(Refusal::FreshSignInRequired),
            NotCounted::TokenNotAllowed => Self::Refused(Refusal::SignInRequired),
            NotCounted::NotEntitled | NotCounted::BySoftware | NotCounted::TooWeak(_) => {
                Self::Told(QuestionError::NotEntitled)
            }
            NotCounted::Locked => Self::Told(QuestionError::Locked),
            NotCounted::NotAllowed | NotCounted::NotShown => Self::Told(QuestionError::NotAllowed),
            NotCounted::OutOfBounds(why) => Self::Told(QuestionError::OutOfBounds(why)),
            NotCounted::Refused(refusal) => Self::Refused(refusal),
        }
    }
}

impl Before {
    /// Of several calls that the approval covered, the page is about the one that was just undone.
    async fn about_call(mut self, app: &App, call_id: Option<&String>) -> Result<Self, Refusal> {
        if let Some(call_id) = call_id.filter(|call_id| *call_id != HELD) {
            let call = app.engine.calls().undoable_call(&self.whole.decision, call_id).await?;
            self.whole.undoable = call.or(self.whole.undoable);
        }
        Ok(self)
    }

    /// Another person's question is reported as not found.
    async fn load(app: &App, at: ProjectAt, visit: &Visit, path: &HashMap<String, String>) -> Result<Self, Refusal> {
        let who = visit.person()?;
        let id = path.get(ID).map_or("", String::as_str);
        let member = app.engine.people().member(who, at.project.key).await?;
        let whole = app.engine.decisions().visible_decision(&at, &member, id).await?;
        let decision = &whole.decision;
        let plan = plan_of(app, &at, &member, decision).await?;
        let arguments = app.engine.decisions().kept_arguments(&at.project, decision).await?.unwrap_or_default();
        let asked_for = match decision.is_pending() && decision.target.is_none() {
            true => app.engine.decisions().requested_call(&at.project, decision).await?,
            false => None,
        };
        let gap = app.engine.clarifications().asked_gap(decision).await?;
        let abandons = app.engine.clarifications().session_to_abandon(decision, &member).await?;
        Ok(Self { at, member, whole, plan, arguments, asked_for, gap, abandons })
    }

    fn path(&self) -> String {
        format!("{}/{}/{}", inbox::HERE, self.at.project.id, self.whole.decision.id)
    }

    fn page(&self, app: &App, visit: &Visit) -> Result<QuestionPage, Refusal> {
        let now = app.engine.now();
        let Whole { decision, session, .. } = &self.whole;
        let reader = self.member.person.key;
        let by = app.engine.decisions().answerer(&self.at, &self.member, Via::Page);
        let offered = offers_to(decision, &by);
        let plan = self.plan.as_ref().and_then(|plan| plan_steps::of(&self.at, plan, decision));
        let gap = self.gap.as_ref().filter(|_| decision.is_pending()).and_then(clarification_answers::gap);
        let asked = question_summary::of(&self.at, decision, &session.id, &session.producer.agent_id, now);
        // The call lists its arguments, unless the question is older than the recording of calls.
        let arguments = self.arguments.iter().filter(|_| asked.call.is_none()).map(question_summary::detail).collect();
        Ok(QuestionPage {
            frame: visit.frame_of(&self.at.project),
            asked: match &gap {
                _ if plan.is_some() => asked.told_by_plan(),
                Some(gap) => asked.told_by_rule(gap.why.clone()),
                None => asked,
            },
            became: outcome::of(&self.whole, reader, now),
            runs: outcome::runs(&self.whole, reader, now),
            open: outcome::open(&self.at, &self.whole, now),
            plan,
            arguments,
            difference: question_summary::difference(&self.at, decision, visit.language),
            wider: question_summary::wider(&self.at, decision),
            clarified: clarification_answers::of(decision),
            gap,
            may: offers::of(&offered.offer, decision, &self.path()),
            abandons: self.abandons.is_some(),
            undo: self.undo_of(&by, now),
            locked: decision.is_locked() && decision.is_pending(),
            allow_more: self.asked_for.as_ref().map(|asked| standing_limits::of(&self.at, decision, asked)),
            more: offered.more_time_seconds,
            latest: decision.terms.latest,
            digest: decision.digest,
            listening: Listening {
                here: self.path(),
                places: inbox::listen_at(app, &self.at, &self.member).into_iter().collect(),
            },
            csrf: visit.csrf(app)?,
            typed: String::new(),
            error: None,
            notice: None,
        })
    }

    /// Returns the query of the page to redirect to.
    async fn answer(&self, app: &App, visit: &Visit, form: &Form) -> Result<&'static str, AnswerError> {
        let given = answer_form::of(form, visit.language)?;
        let page = self.page(app, visit)?;
        // An approval is valid only for the exact text of the page; a rejection needs no proof of reading.
        let is_no = matches!(given, AnswerContent::Reply { decision: YesNo::Reject, .. });
        if !is_no && form.field("shown") != page.shown().digest.hex() {
            return Err(QuestionError::ChangedSince.into());
        }
        let extra = extra(&page, form, is_no, visit.language)?;
        let answer = Answer {
            by: app.engine.decisions().answerer(&self.at, &self.member, Via::Page),
            given,
            claimed_at: app.engine.now(),
            decided_by: None,
            correlation_id: None,
            extra,
        };
        let answered: Answered = app.engine.decisions().answer_by_id(&self.at, &self.whole.decision.id, &answer).await;
        match answered {
            Ok(_) => Ok("answered"),
            Err(NotCounted::Settled) if self.said_the_same(app, &answer.given).await? => Ok("answered"),
            // The page shows limit violations beside the fields.
            Err(NotCounted::OutOfBounds(why)) if form.field("answer") == answer_form::MORE => {
                Err(QuestionError::More(MoreError::Refused(why)).into())
            }
            Err(NotCounted::Refused(why @ (Refusal::BoundaryViolation(_) | Refusal::NoBoundary(_)))) => {
                Err(QuestionError::More(MoreError::Refused(why.to_string())).into())
            }
            Err(why) => Err(why.into()),
        }
    }

    /// Whether the person already gave the same answer: a form sent twice must not report that another person was
    /// faster.
    async fn said_the_same(&self, app: &App, given: &AnswerContent) -> Result<bool, Refusal> {
        let now = app.engine.decisions().visible_decision(&self.at, &self.member, &self.whole.decision.id).await?;
        let me = self.member.person.key;
        Ok(match (&now.decision.state, given) {
            (DecisionState::Accepted { by, .. }, AnswerContent::Reply { decision: YesNo::Accept, .. }) => {
                by.person == me
            }
            (
                DecisionState::Rejected { by, rationale, .. },
                AnswerContent::Reply { decision: YesNo::Reject, rationale: r, .. },
            ) => by.person == me && rationale == r,
            (DecisionState::Answered { by, response, .. }, AnswerContent::Response { response: r, .. }) => {
                by.person == me && response == r
            }
            _ => false,
        })
    }

    /// Abandons the clarification session: none of its gaps is asked about or stops the agent any more.
    async fn abandon(&self, app: &App) -> Result<&'static str, AnswerError> {
        let gone = || Refusal::NotFound("there is no clarification here to abandon".into());
        let session = self.abandons.as_ref().ok_or_else(gone)?;
        app.engine.clarifications().clarify_abandon(&self.at, Abandoning::Person(&self.member), session).await?;
        Ok("abandoned")
    }

    /// Undoes the call: a held one is never sent, of another the page shows what became of it.
    async fn undo(&self, app: &App, named: &str) -> Result<String, AnswerError> {
        let by = app.engine.decisions().answerer(&self.at, &self.member, Via::Page);
        let call_id = Some(named).filter(|named| *named != HELD);
        match app.engine.calls().undo_by_person(&self.whole.decision, call_id, &by).await {
            Ok(_) => Ok(format!("{UNDONE}={named}")),
            Err(Refusal::Conflict(_)) if self.whole.undoable.is_some() => Ok(format!("{UNDONE}={named}")),
            Err(Refusal::UndoWindowClosed(_) | Refusal::Conflict(_)) => Err(QuestionError::UndoOver.into()),
            Err(Refusal::NotAuthorized(_)) => Err(QuestionError::NotEntitled.into()),
            Err(refusal) => Err(refusal.into()),
        }
    }

    fn undo_of(&self, by: &ProvenPerson, now: UnixMillis) -> Option<CallUndo> {
        let allowance = self.whole.allowance.as_ref();
        let (closes_at, call_id) = match &self.whole.undoable {
            Some(call) => match call.open_until() {
                Some(closes_at) => (closes_at, Some(call.call_id.clone())),
                None => return outcome::undo(call),
            },
            None => (allowance?.queued_call()?.closes_at, None),
        };
        let is_entitled = check_revoke_entitlement(by, &self.whole.decision, allowance).is_ok();
        (now < closes_at && is_entitled).then_some(CallUndo::Offered { call_id })
    }

    async fn more_time(&self, app: &App, form: &Form) -> Result<&'static str, AnswerError> {
        let seconds = form.field("more").parse().ok().filter(|seconds| MORE_TIME_S.contains(seconds));
        let seconds = seconds.ok_or_else(|| Refusal::invalid("more must be 60 or 300"))?;
        let by = app.engine.decisions().answerer(&self.at, &self.member, Via::Page);
        app.engine.decisions().extend(&self.at, &self.whole.decision.id, &by, seconds).await?;
        Ok("more")
    }
}

/// Renders the page again in its current state, with the error.
fn again(app: &App, visit: &Visit, now: &Before, form: &Form, error: QuestionError) -> Result<Response, Refusal> {
    let (status, code) = match error {
        QuestionError::FormExpired => (StatusCode::FORBIDDEN, Code::CsrfRejected),
        QuestionError::NotEntitled => (StatusCode::FORBIDDEN, Code::NotAuthorized),
        QuestionError::ChangedSince | QuestionError::Settled | QuestionError::TooLate | QuestionError::Locked => {
            (StatusCode::CONFLICT, Code::Conflict)
        }
        QuestionError::UndoOver => (StatusCode::CONFLICT, Code::UndoWindowClosed),
        _ => (StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidRequest),
    };
    app.metrics.refused(code);
    let page = QuestionPage { error: Some(error), ..typed(now.page(app, visit)?, form) };
    Ok(answer::listening_page(status, &page.frame, &page))
}

/// Restores the input and the ticked steps: nobody fills in a form twice.
fn typed(mut page: QuestionPage, form: &Form) -> QuestionPage {
    page.typed = [form.field("reason"), form.field("response")].concat();
    page.allow_more = page.allow_more.map(|offered| standing_limits::typed(offered, form));
    if !form.field("answer").is_empty() && form.field("answer") != answer_form::MORE {
        let steps = page.plan.iter_mut().flat_map(|plan| &mut plan.steps);
        steps.for_each(|step| step.chosen = plan_steps::is_ticked(step, form));
    }
    page
}

/// The additions to an approval: chosen steps, limits, or the override of a lock.
fn extra(page: &QuestionPage, form: &Form, is_no: bool, language: Language) -> Result<Extra, QuestionError> {
    let by_override = page.locked && form.field("override") == "yes";
    let mut extra = Extra { by_override, ..Extra::default() };
    if is_no {
        return Ok(extra);
    }
    if let Some(plan) = &page.plan {
        extra.steps = Some(plan_steps::chosen(plan, form)?);
    }
    if form.field("answer") == answer_form::MORE {
        let offered = page.allow_more.clone().ok_or(QuestionError::NotAllowed)?;
        extra.bounds =
            Some(standing_limits::read(&standing_limits::typed(offered, form), language).map_err(QuestionError::More)?);
    }
    Ok(extra)
}

/// The plan, if this person may see it. A former addressee of a question about it sees only that question.
async fn plan_of(
    app: &App,
    at: &ProjectAt,
    member: &ProjectMember,
    decision: &Decision,
) -> Result<Option<Plan>, Refusal> {
    let Some(target) = decision.target.as_ref().filter(|target| target.plan.is_some()) else { return Ok(None) };
    let reader = ProjectReader::Person(Box::new(member.clone()));
    match app.engine.plans().plan(at, &reader, &target.target_id).await {
        Ok(shown) => Ok(Some(shown.plan)),
        Err(Refusal::NotFound(_)) => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// The notice, checked against the page: anybody can make up a URL.
fn notice(told: &HashMap<String, String>, page: &QuestionPage) -> Option<QuestionNotice> {
    let answered = told.contains_key("answered") && page.became.is_by_you();
    let reconciled = told.contains_key("reconciled") && page.runs.as_ref().is_some_and(|runs| runs.is_told_by_you());
    let extended = told.contains_key("more") && matches!(page.became, OutcomeText::Open);
    if told.contains_key(UNDONE) {
        return match (&page.runs, &page.undo) {
            (Some(Runs::Undone { .. }), _) => Some(QuestionNotice::NeverSent),
            (_, Some(undo)) if !matches!(undo, CallUndo::Offered { .. }) => Some(QuestionNotice::UndoAsked),
            _ => None,
        };
    }
    match (answered, reconciled, extended) {
        (true, ..) => Some(QuestionNotice::Answered),
        (_, true, _) => Some(QuestionNotice::Reconciled),
        (.., true) => Some(QuestionNotice::MoreTime),
        _ => None,
    }
}
