//! `/account/subscribers`: issues and revokes tokens for a person's own programs.

use super::{
    account, answer,
    form::Form,
    places,
    visit::{Visit, name_of},
};
use crate::{
    App,
    http::{answer::RefusalResponse, at::AtProject},
    pages::{AccountError, AccountPage, NewSubscriber, PlainLine, SubscriberMadePage, SubscriberRow, SubscribersError},
};
use axum::{
    extract::{Path, State},
    response::Response,
};
use countersign_engine::{NewSubscriberToken, ProjectAt, Refusal, SubscriberToken, TokenState};
use http::StatusCode;
use std::collections::HashMap;

/// The person's active tokens, and the form for a new one.
pub(super) async fn of(app: &App, visit: &Visit) -> Result<(Vec<SubscriberRow>, NewSubscriber), Refusal> {
    let who = visit.person()?;
    let now = app.engine.now();
    let (mut found, mut new) = (Vec::new(), NewSubscriber::default());
    for at in places(app, visit).await? {
        let tokens = app.engine.events().subscriber_tokens(&at, who.person.key).await?;
        let good = tokens.iter().filter(|token| token.state(&who.person, now) == TokenState::Active);
        found.extend(good.map(|token| shown(&at, token)));
        if !app.engine.people().member(who, at.project.key).await?.roles().is_empty() {
            new.projects.push((at.project.id.to_string(), name_of(&at.project).into()));
            new.legacy |= at.project.document.decisions.legacy_subscribers;
            new.days = new.days.max(at.project.document.decisions.subscriber_token_days);
        }
    }
    Ok((found, new))
}

/// The name of a token, if it was really revoked: anybody can make up a URL.
pub(super) async fn taken_back(app: &App, visit: &Visit, id: &str) -> Result<Option<PlainLine>, Refusal> {
    let who = visit.person()?;
    for at in places(app, visit).await? {
        let tokens = app.engine.events().subscriber_tokens(&at, who.person.key).await?;
        if let Some(token) = tokens.iter().find(|token| token.id == id && token.revoked_at.is_some()) {
            return Ok(Some(token.name.as_str().into()));
        }
    }
    Ok(None)
}

pub(super) async fn add(State(app): State<App>, visit: Visit, form: Form) -> Result<Response, RefusalResponse> {
    let who = visit.person()?;
    if let Err(refusal) = visit.own_form(&app, form.field("csrf")) {
        return Ok(account::expired(&app, &visit, &refusal).await?);
    }
    let at = places(&app, &visit).await?.into_iter().find(|at| at.project.id.as_str() == form.field("project"));
    let at = at.ok_or(Refusal::ProjectNotFound)?;
    let new = wanted(&form);
    if let Some(error) = wrong(&at, &new) {
        return Ok(again(&app, &visit, &form, error).await?);
    }
    let member = app.engine.people().member(who, at.project.key).await?;
    let made = match app.engine.events().add_subscriber_token(&at, &member, new).await {
        // The person enters the password again, then returns to the form.
        Err(Refusal::FreshSignInRequired) => return Ok(answer::see_other("/sign-in?fresh&next=%2Faccount")),
        made => made?,
    };
    let endpoint = made.token.legacy.then(|| format!("{}{}/aaep/legacy/{}", at.service, at.prefix(), made.secret));
    let page = SubscriberMadePage {
        frame: visit.frame_of(&at.project),
        subscriber: shown(&at, &made.token),
        secret: made.secret,
        endpoint,
    };
    Ok(answer::page(StatusCode::OK, &page.frame, &page))
}

pub(super) async fn revoke(
    State(app): State<App>,
    AtProject(at): AtProject,
    visit: Visit,
    Path(path): Path<HashMap<String, String>>,
    form: Form,
) -> Result<Response, RefusalResponse> {
    let who = visit.person()?;
    if let Err(refusal) = visit.own_form(&app, form.field("csrf")) {
        return Ok(account::expired(&app, &visit, &refusal).await?);
    }
    let member = app.engine.people().member(who, at.project.key).await?;
    let id = path.get("id").map_or("", String::as_str);
    let token = app.engine.events().revoke_subscriber_token(&at, &member, id).await?;
    Ok(answer::see_other(&format!("/account?taken-back={}", token.id)))
}

/// The projects in which the person can have subscribers; empty if the URL names no project.
async fn places(app: &App, visit: &Visit) -> Result<Vec<ProjectAt>, Refusal> {
    match places::behind(app, visit, visit.person()?).await {
        Err(Refusal::ProjectNotFound) => Ok(Vec::new()),
        found => found,
    }
}

fn wanted(form: &Form) -> NewSubscriberToken {
    NewSubscriberToken {
        name: form.field("name").to_owned(),
        may_answer: form.field("may_answer") == "true",
        legacy: form.field("legacy") == "true",
        approves_high_risk: form.field("approves_high_risk") == "true",
        lifetime_s: None,
    }
}

/// Checks the form by itself; the engine checks again.
fn wrong(at: &ProjectAt, new: &NewSubscriberToken) -> Option<SubscribersError> {
    if !(1..=128).contains(&new.name.trim().chars().count()) {
        return Some(SubscribersError::Name);
    }
    if new.approves_high_risk && !new.may_answer {
        return Some(SubscribersError::Listens);
    }
    (new.legacy && !at.project.document.decisions.legacy_subscribers).then_some(SubscribersError::Legacy)
}

async fn again(app: &App, visit: &Visit, form: &Form, error: SubscribersError) -> Result<Response, Refusal> {
    app.metrics.refused(countersign_protocol::aap::error::Code::InvalidRequest);
    let page = account::page(app, visit).await?;
    let new_subscriber = NewSubscriber { name: form.field("name").to_owned(), ..page.new_subscriber };
    let page = AccountPage { new_subscriber, error: Some(AccountError::Subscriber(error)), ..page };
    Ok(answer::page(StatusCode::UNPROCESSABLE_ENTITY, &page.frame, &page))
}

fn shown(at: &ProjectAt, token: &SubscriberToken) -> SubscriberRow {
    SubscriberRow {
        id: token.id.clone(),
        project: at.project.id.to_string(),
        service: name_of(&at.project).into(),
        name: PlainLine::cut(&token.name, 128),
        may_answer: token.may_answer,
        legacy: token.legacy,
        approves_high_risk: token.approves_high_risk,
        since: token.created_at,
        until: token.expires_at,
    }
}
