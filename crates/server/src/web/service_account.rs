//! `/connect/{request}` for a service account: an admin proposes a grant, reads everything it contains, and answers (AAP 11.2).

use super::{
    answer,
    connect::{connected, deny},
    consent::ConsentRequest,
    form::Form,
    visit::Visit,
};
use crate::{
    App,
    pages::{EndRules, GrantError, GrantReview, PlainLine, ProposedGrant, ProposedScope, ServiceAccountPage, examine},
};
use axum::response::Response;
use countersign_engine::{Refusal, Role};
use countersign_protocol::{
    aap::{
        delegate::{DelegateRequest, ServiceAccountDisclosure},
        error::Code,
        policy::LifecycleEvent,
    },
    domain::Domain,
};
use http::StatusCode;
use serde_json::json;

/// The members of the proposal, from the first one on.
const FIRST_FIELD: &str = "account_id";

pub(super) async fn show(app: &App, visit: &Visit, asked: &ConsentRequest) -> Result<Response, Refusal> {
    check_answerable(app, asked)?;
    let form = Form::of_query(&visit.uri)?;
    let page = page(app, visit, asked, &form).await?;
    Ok(sent(asked, &page))
}

pub(super) async fn settle(app: &App, visit: &Visit, asked: &ConsentRequest, form: &Form) -> Result<Response, Refusal> {
    check_answerable(app, asked)?;
    if visit.own_form(app, form.field("csrf")).is_err() {
        return again(app, visit, asked, form, GrantError::FormExpired).await;
    }
    match form.field("answer") {
        "deny" => deny(app, visit, asked).await,
        "approve" => approve(app, visit, asked, form).await,
        _ => Err(Refusal::invalid("answer must be approve or deny")),
    }
}

/// The engine grants only what it showed to this admin for this request, under the id that the form carries.
async fn approve(app: &App, visit: &Visit, asked: &ConsentRequest, form: &Form) -> Result<Response, Refusal> {
    if form.field("acknowledged_disclosure") != "true" {
        return again(app, visit, asked, form, GrantError::NotAcknowledged).await;
    }
    let body = DelegateRequest {
        disclosure_id: Some(form.field("disclosure_id").to_owned()),
        acknowledged_disclosure: true,
        ..proposal(asked, form)
    };
    match app.engine.agents().grant_account(&asked.at, &asked.member, &body).await {
        Ok(granted) => connected(app, visit, asked, granted).await,
        Err(Refusal::InvalidRequest(_)) => again(app, visit, asked, form, GrantError::ChangedSince).await,
        Err(refusal) => Err(refusal),
    }
}

/// The same rules as in the engine, before the proposal is shown.
fn check_answerable(app: &App, asked: &ConsentRequest) -> Result<(), Refusal> {
    if asked.end(app.engine.now()).is_some() {
        return Err(Refusal::ConnectRequestGone("it was answered, or has expired"));
    }
    match asked.member.has_role(Role::Admin) {
        true => Ok(()),
        false => Err(Refusal::NotAuthorized("only an admin of this project grants service accounts".into())),
    }
}

fn proposal(asked: &ConsentRequest, form: &Form) -> DelegateRequest {
    let scopes: Vec<&String> = asked.request.scopes.iter().filter(|scope| is_chosen(form, scope)).collect();
    let resources: Vec<&str> = form.field("resources").lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let granted_scope = json!({
        "description": form.field("description").trim(), "scopes": scopes, "resources": resources,
    });
    DelegateRequest {
        account_id: Some(form.field(FIRST_FIELD).trim().to_owned()),
        org_id: Some(form.field("org_id").trim().to_owned()),
        granted_scope: Some(granted_scope),
        ..asked.body()
    }
}

fn is_chosen(form: &Form, scope: &str) -> bool {
    form.field(&ProposedGrant::scope_field(scope)) == "true"
}

async fn again(
    app: &App,
    visit: &Visit,
    asked: &ConsentRequest,
    form: &Form,
    error: GrantError,
) -> Result<Response, Refusal> {
    app.metrics.refused(match error {
        GrantError::FormExpired => Code::CsrfRejected,
        _ => Code::InvalidRequest,
    });
    let page = page(app, visit, asked, form).await?;
    Ok(sent(asked, &ServiceAccountPage { error: Some(error), ..page }))
}

/// The page, and a record of what it shows: every line of the review comes from the engine.
async fn page(app: &App, visit: &Visit, asked: &ConsentRequest, form: &Form) -> Result<ServiceAccountPage, Refusal> {
    let agents = app.engine.agents();
    let shown = match form.field(FIRST_FIELD).is_empty() {
        true => None,
        false => {
            let body = proposal(asked, form);
            Some(agents.show_account(&asked.at, &asked.member, &body, visit.language.tag()).await)
        }
    };
    let (review, error) = match shown {
        None => (None, None),
        Some(Ok(shown)) => (Some(review(app, asked, shown)), None),
        // Of an admin that is only the missing address for the token.
        Some(Err(Refusal::InvalidRequest(why) | Refusal::NotAuthorized(why))) => {
            (None, Some(GrantError::Proposal(PlainLine::cut(&why, 300))))
        }
        Some(Err(refusal)) => return Err(refusal),
    };
    let operator = asked.operator();
    let service = Domain::parse(app.engine.settings().origin.host()).ok();
    Ok(ServiceAccountPage {
        frame: visit.frame_of(&asked.at.project),
        request: asked.request.id.clone(),
        warnings: examine(&operator.domain, &operator.name, &asked.connected(app).await?, service.as_ref()),
        operator,
        proposed: proposed(asked, form),
        review,
        callback_host: asked.callback().and_then(|callback| callback.host_str().map(str::to_owned)),
        answer_by: asked.request.expires_at,
        csrf: visit.csrf(app)?,
        error,
    })
}

fn proposed(asked: &ConsentRequest, form: &Form) -> ProposedGrant {
    let typed = |name: &str| form.field(name).to_owned();
    let scope = |id: &String| ProposedScope { id: id.clone(), words: asked.offered(id), chosen: is_chosen(form, id) };
    ProposedGrant {
        account_id: typed(FIRST_FIELD),
        org_id: typed("org_id"),
        description: typed("description"),
        resources: typed("resources"),
        scopes: asked.request.scopes.iter().map(scope).collect(),
    }
}

fn review(app: &App, asked: &ConsentRequest, shown: ServiceAccountDisclosure) -> GrantReview {
    let lines = |texts: &[String]| texts.iter().map(|text| PlainLine::exact(text)).collect();
    let mut policy = shown.effective_policy;
    // An account acts for no person, so what happens to a person's account does not end it.
    policy.on_events.remove(&LifecycleEvent::UserOffboarded);
    policy.on_events.remove(&LifecycleEvent::UserRoleChanged);
    GrantReview {
        account_id: shown.account_id.as_str().into(),
        org_id: shown.org_id.as_str().into(),
        description: PlainLine::cut(&shown.granted_scope.description, 200),
        authorized_by: PlainLine::exact(&shown.authorized_by),
        scopes: shown.scopes.iter().map(|scope| asked.scope(scope)).collect(),
        resources: lines(&shown.granted_scope.resources),
        routes_without_resource: lines(&shown.routes_without_resource),
        crosses_users: shown.granted_scope.crosses_users,
        mode_disclosure: shown.mode_disclosure.as_str().into(),
        lasts_s: (shown.access_ends_at.millis_since(app.engine.now()) + 999).div_euclid(1000),
        ends: EndRules { policy, sources: shown.effective_policy_sources },
        disclosure_id: shown.disclosure_id,
    }
}

fn sent(asked: &ConsentRequest, page: &ServiceAccountPage) -> Response {
    let status = match page.error {
        None => StatusCode::OK,
        Some(GrantError::NotAcknowledged | GrantError::Proposal(_)) => StatusCode::UNPROCESSABLE_ENTITY,
        Some(GrantError::FormExpired) => StatusCode::FORBIDDEN,
        Some(GrantError::ChangedSince) => StatusCode::CONFLICT,
    };
    answer::page_leading_to(status, &page.frame, page, asked.callback().as_ref())
}
