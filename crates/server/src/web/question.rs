//! `/inbox/{project}/{decision_id}`: one question, answered once, and what became of it.

use super::{answer, asked, became, form::Form, given, inbox, visit::Visit};
use crate::{
    App,
    http::{answer::Refused, at::At},
    pages::{Became, Choosable, Field, Line, Listening, May, QuestionError, QuestionNotice, QuestionPage},
};
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use countersign_engine::{
    Answered, Assurance, ByPerson, Decision, DecisionState, Given, Member, NotCounted, ProjectAt, Question, Refusal,
    Via, Whole, counts,
};
use countersign_protocol::{
    aaep::event::{ResponseKind, YesNo},
    aap::error::Code,
};
use http::StatusCode;
use std::collections::HashMap;

/// How much more time a person can ask for at once.
const MORE_S: [i64; 2] = [60, 300];

type Params = Path<HashMap<String, String>>;

pub(super) async fn get(
    State(app): State<App>,
    At(at): At,
    visit: Visit,
    Path(path): Params,
    Query(told): Query<HashMap<String, String>>,
) -> Result<Response, Refused> {
    let before = Before::load(&app, at, &visit, &path).await?;
    let page = before.page(&app, &visit)?;
    let page = QuestionPage { notice: notice(&told, &page), ..page };
    Ok(answer::listening_page(StatusCode::OK, &page.frame, &page))
}

pub(super) async fn post(
    State(app): State<App>,
    At(at): At,
    visit: Visit,
    Path(path): Params,
    form: Form,
) -> Result<Response, Refused> {
    let before = Before::load(&app, at, &visit, &path).await?;
    let done = match visit.own_form(&app, form.field("csrf")) {
        Err(_) => Err(Trouble::Told(QuestionError::FormExpired)),
        Ok(()) if !form.field("more").is_empty() => before.more_time(&app, &form).await,
        Ok(()) => before.answer(&app, &visit, &form).await,
    };
    match done {
        Ok(done) => Ok(answer::see_other(&format!("{}?{done}", before.path()))),
        Err(Trouble::Refused(refusal)) => Err(refusal.into()),
        Err(Trouble::Told(error)) => {
            let path = HashMap::from([(ID.to_owned(), before.whole.decision.id.clone())]);
            let now = Before::load(&app, before.at, &visit, &path).await?;
            Ok(again(&app, &visit, &now, &form, error)?)
        }
    }
}

const ID: &str = "decision_id";

/// A question before one person.
struct Before {
    at: ProjectAt,
    member: Member,
    whole: Whole,
}

/// Why an answer came to nothing: what the page can say itself, and everything else.
enum Trouble {
    Told(QuestionError),
    Refused(Refusal),
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<QuestionError> for Trouble {
    fn from(error: QuestionError) -> Self {
        Self::Told(error)
    }
}

impl From<NotCounted> for Trouble {
    fn from(why: NotCounted) -> Self {
        match why {
            NotCounted::Unknown => Self::Refused(Refusal::NotFound("there is no such question".into())),
            NotCounted::Settled => Self::Told(QuestionError::Settled),
            NotCounted::TooLate | NotCounted::TooEarly => Self::Told(QuestionError::TooLate),
            NotCounted::TooWeak(floor) if floor <= Assurance::Fresh => Self::Refused(Refusal::FreshSignInRequired),
            NotCounted::NotEntitled | NotCounted::BySoftware | NotCounted::TooWeak(_) => {
                Self::Told(QuestionError::NotEntitled)
            }
            NotCounted::NotAllowed => Self::Told(QuestionError::NotAllowed),
            NotCounted::Refused(refusal) => Self::Refused(refusal),
        }
    }
}

impl Before {
    /// Somebody else's question is not there.
    async fn load(app: &App, at: ProjectAt, visit: &Visit, path: &HashMap<String, String>) -> Result<Self, Refusal> {
        let who = visit.person()?;
        let id = path.get(ID).map_or("", String::as_str);
        let member = app.engine.member(who, at.project.key).await?;
        let whole = app.engine.seen_decision(&at, &member, id).await?;
        Ok(Self { at, member, whole })
    }

    fn path(&self) -> String {
        format!("{}/{}/{}", inbox::HERE, self.at.project.id, self.whole.decision.id)
    }

    fn page(&self, app: &App, visit: &Visit) -> Result<QuestionPage, Refusal> {
        let now = app.engine.now();
        let Whole { decision, session, .. } = &self.whole;
        let reader = self.member.person.key;
        Ok(QuestionPage {
            frame: visit.frame_of(&self.at.project),
            asked: asked::of(&self.at, decision, &session.id, &session.producer.agent_id, now),
            became: became::of(&self.whole, reader, now),
            runs: became::runs(&self.whole, reader, now),
            may: self.may(app),
            more: more(decision),
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

    /// What is offered. Whether it counts is decided when it is done.
    fn may(&self, app: &App) -> May {
        let decision = &self.whole.decision;
        let roles = self.member.roles();
        let counts = |yes| counts(decision, self.member.person.key, &roles, yes);
        let has = app.engine.answerer(&self.member, Via::Page).assurance;
        match &decision.question {
            _ if !counts(true) && !counts(false) => May::Nothing,
            _ if decision.terms.floor > Assurance::Fresh => May::NotHere,
            _ if decision.terms.floor > has => {
                May::ProveFirst { path: format!("/sign-in?fresh&next={}", answer::in_query(&self.path())) }
            }
            Question::Confirmation(asked) => {
                let takes = |reply| asked.allowed_replies.contains(&reply);
                let (yes, no) = (counts(true) && takes(YesNo::Accept), counts(false) && takes(YesNo::Reject));
                if yes || no { May::Decide { yes, no } } else { May::Nothing }
            }
            Question::Clarification(_) if !counts(true) => May::Nothing,
            Question::Clarification(asked) => {
                let choices = asked
                    .choices
                    .iter()
                    .map(|choice| Choosable { value: choice.value.clone(), label: Line::cut(&choice.label, 300) });
                let choices: Vec<Choosable> = choices.collect();
                let fields = asked.kinds.iter().map(|kind| match kind {
                    ResponseKind::Freetext => Field::Text,
                    ResponseKind::Numeric => Field::Number,
                    ResponseKind::YesNo => Field::YesNo,
                    ResponseKind::MultipleChoice => Field::Choices(choices.clone()),
                });
                May::Respond(fields.collect())
            }
        }
    }

    /// What is said in the address of the page that follows.
    async fn answer(&self, app: &App, visit: &Visit, form: &Form) -> Result<&'static str, Trouble> {
        let given = given::of(form, visit.language)?;
        // A yes counts for exactly what was on the page; a no needs no proof of having read.
        let is_no = matches!(given, Given::Reply { decision: YesNo::Reject, .. });
        if !is_no && form.field("shown") != self.page(app, visit)?.shown().digest.hex() {
            return Err(QuestionError::ChangedSince.into());
        }
        let answer = ByPerson {
            by: app.engine.answerer(&self.member, Via::Page),
            given,
            claimed_at: app.engine.now(),
            decided_by: None,
            correlation_id: None,
        };
        let answered: Answered = app.engine.answer_by_id(&self.at, &self.whole.decision.id, &answer).await;
        match answered {
            Ok(_) => Ok("answered"),
            Err(NotCounted::Settled) if self.said_the_same(app, &answer.given).await? => Ok("answered"),
            Err(why) => Err(why.into()),
        }
    }

    /// Whoever sends a form twice is not told that somebody was faster.
    async fn said_the_same(&self, app: &App, given: &Given) -> Result<bool, Refusal> {
        let now = app.engine.seen_decision(&self.at, &self.member, &self.whole.decision.id).await?;
        let me = self.member.person.key;
        Ok(match (&now.decision.state, given) {
            (DecisionState::Accepted { by }, Given::Reply { decision: YesNo::Accept, .. }) => by.person == me,
            (
                DecisionState::Rejected { by, rationale, .. },
                Given::Reply { decision: YesNo::Reject, rationale: r, .. },
            ) => by.person == me && rationale == r,
            (DecisionState::Answered { by, response, .. }, Given::Response { response: r, .. }) => {
                by.person == me && response == r
            }
            _ => false,
        })
    }

    async fn more_time(&self, app: &App, form: &Form) -> Result<&'static str, Trouble> {
        let seconds = form.field("more").parse().ok().filter(|seconds| MORE_S.contains(seconds));
        let seconds = seconds.ok_or_else(|| Refusal::invalid("more must be 60 or 300"))?;
        let by = app.engine.answerer(&self.member, Via::Page);
        app.engine.extend(&self.at, &self.whole.decision.id, &by, seconds).await?;
        Ok("more")
    }
}

/// The page once more, as things are now, with what went wrong.
fn again(app: &App, visit: &Visit, now: &Before, form: &Form, error: QuestionError) -> Result<Response, Refusal> {
    let (status, code) = match error {
        QuestionError::FormExpired => (StatusCode::FORBIDDEN, Code::CsrfRejected),
        QuestionError::NotEntitled => (StatusCode::FORBIDDEN, Code::NotAuthorized),
        QuestionError::ChangedSince | QuestionError::Settled | QuestionError::TooLate => {
            (StatusCode::CONFLICT, Code::Conflict)
        }
        QuestionError::NotAllowed | QuestionError::ReasonTooLong | QuestionError::NoResponse(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidRequest)
        }
    };
    app.metrics.refused(code);
    let typed = [form.field("reason"), form.field("response")].concat();
    let page = QuestionPage { typed, error: Some(error), ..now.page(app, visit)? };
    Ok(answer::listening_page(status, &page.frame, &page))
}

/// Says only what is true: anybody can make up an address.
fn notice(told: &HashMap<String, String>, page: &QuestionPage) -> Option<QuestionNotice> {
    let answered = told.contains_key("answered") && page.became.is_by_you();
    let reconciled = told.contains_key("reconciled") && page.runs.as_ref().is_some_and(|runs| runs.is_told_by_you());
    let extended = told.contains_key("more") && matches!(page.became, Became::Open);
    match (answered, reconciled, extended) {
        (true, ..) => Some(QuestionNotice::Answered),
        (_, true, _) => Some(QuestionNotice::Reconciled),
        (.., true) => Some(QuestionNotice::MoreTime),
        _ => None,
    }
}

/// The steps that still bring anything.
fn more(decision: &Decision) -> Vec<i64> {
    let left = asked::deadline(decision).map_or(0, |deadline| decision.terms.latest.millis_since(deadline) / 1000);
    let [short, long] = MORE_S;
    match left {
        ..=0 => Vec::new(),
        left if left <= short => vec![short],
        _ => vec![short, long],
    }
}
