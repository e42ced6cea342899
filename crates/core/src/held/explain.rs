//! Explains a request for the owner of a route table: requirements, approvers, and the confirmation request.

use super::{
    Fields, HttpRequest, UnreadableRequest, action_says_so, demands_a_person, effect, offering, question, resource,
    says_so, scopes_that_say_so,
};
use crate::{
    aaep::texts::LANGUAGES,
    aap::access::{DryRun, proof_required},
    decision::{
        runs::{Composition, RunTexts},
        terms::{self, People, Wishes},
    },
    project::{is_plain_path, matching_route, tier_needed},
    records::{Confirmation, Decision, Question},
    refusal::Refusal,
};
use countersign_protocol::{
    aaep::event::Risk,
    aap::dry_run::{HEADER, QuestionTexts},
    project::{Confirmed, ProjectDocument, Route, Scope},
    time::UnixMillis,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The project's policy for a request. `problem` is the reason for a 400 response before anybody is asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    pub route: String,
    pub action: String,
    /// The scopes, one of which must be granted.
    pub scopes: Vec<String>,
    pub intent_types: Vec<String>,
    pub tier: u8,
    pub writes: bool,
    /// Whether a dry run of it is answered; by the upstream if the route says so.
    pub dry_run: bool,
    /// Whether it is forwarded before its audit entry is durable.
    pub speculative: bool,
    /// Whether every call needs a proof of possession (DPoP).
    pub proof: bool,
    pub resource: Option<String>,
    /// Headers covered by the approval and forwarded to the upstream.
    pub headers: Vec<String>,
    pub upstream: Option<String>,
    pub held: Option<HoldTerms>,
    pub problem: Option<String>,
}

/// The terms of a request that needs approval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HoldTerms {
    pub why: Vec<String>,
    pub risk: Risk,
    pub irreversible: bool,
    pub asked: Vec<String>,
    pub assurance: String,
    pub timeout_s: i64,
    /// The lifetime of an approval.
    pub allowance_s: i64,
    /// The scopes of those above that accept the agent's own confirmation instead (C-02).
    pub self_asserted: Vec<String>,
    pub effect: Option<String>,
    pub question: Option<QuestionTexts>,
}

/// A request that matches no route is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no route matches {method} {path}{}", if *.plain { "" } else { ": the path could be read in more than one way" })]
pub struct NoRoute {
    pub method: String,
    pub path: String,
    /// Whether the path is unambiguous; an ambiguous one matches nothing.
    pub plain: bool,
    /// The nearest route: `GET /events/{event}`.
    pub nearest: Option<String>,
}

/// Explains a request. `url` may also be a path with a query.
pub fn explain(
    document: &ProjectDocument,
    method: &str,
    url: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<Explanation, NoRoute> {
    let (origin, target) = split_origin(url);
    let path = target.split('?').next().unwrap_or_default();
    let route = matching_route(document, method, path).ok_or_else(|| no_route(document, method, path))?;
    let (target, dry_run) = without_marker(target, headers, route);
    let request = dry_run.and_then(|()| request(route, method, (origin, &target), headers, body));
    Ok(match request {
        Ok(request) => explain_call(document, route, &request),
        Err(problem) => Explanation { problem: Some(problem), ..of_route(document, route) },
    })
}

/// The marker of a dry run is no part of a request.
fn without_marker(target: &str, headers: &[(String, String)], route: &Route) -> (String, Result<(), String>) {
    let named = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(HEADER));
    let values: Vec<&[u8]> = named.map(|(_, value)| value.as_bytes()).collect();
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let (marker, rest) = DryRun::read(query, &values);
    let target = rest.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    (target, marker.check(route.offers_dry_run()).map_err(|refusal| refusal.to_string()))
}

/// The same for a request of the gateway.
pub fn explain_call(document: &ProjectDocument, route: &Route, request: &HttpRequest) -> Explanation {
    let known = of_route(document, route);
    match tell(document, route, request) {
        Ok(told) => known.with(told),
        Err(problem) => Explanation { problem: Some(problem), ..known },
    }
}

/// The part that is known without the request.
fn of_route(document: &ProjectDocument, route: &Route) -> Explanation {
    let (held, problem) = match held(document, route) {
        Ok(held) => (held, None),
        Err(why) => (None, Some(why.to_string())),
    };
    let tier = tier_needed(document, route);
    Explanation {
        route: route.id.clone(),
        action: route.action.clone(),
        scopes: offering(document, route).map(|(_, scope)| scope.id.clone()).collect(),
        intent_types: intent_types(document, route),
        tier,
        writes: route.writes(),
        dry_run: route.offers_dry_run(),
        speculative: route.is_speculative(),
        proof: proof_required(document) || tier >= 3,
        resource: None,
        headers: route.headers.clone(),
        upstream: upstream(document, route),
        held,
        problem,
    }
}

/// The part that is read from the request.
struct RequestFacts {
    resource: Option<String>,
    effect: Option<String>,
    question: Option<QuestionTexts>,
}

fn tell(document: &ProjectDocument, route: &Route, request: &HttpRequest) -> Result<RequestFacts, String> {
    let said = |why: UnreadableRequest| why.to_string();
    let held = super::must_be_confirmed(document, route);
    if !held && route.resource_template().is_none() {
        return Ok(RequestFacts { resource: None, effect: None, question: None });
    }
    let fields = Fields::read(route, request).map_err(said)?;
    let asked = held.then(|| question(route, request, &fields)).transpose().map_err(said)?;
    Ok(RequestFacts {
        resource: resource(route, &fields).map_err(said)?,
        effect: effect(route, &fields).map_err(said)?.map(|effect| effect.key),
        question: asked.as_ref().map(texts_of_request),
    })
}

impl Explanation {
    fn with(self, told: RequestFacts) -> Self {
        let held = self.held.map(|held| HoldTerms { effect: told.effect, question: told.question, ..held });
        Self { resource: told.resource, held, ..self }
    }
}

/// As in an AAEP event.
fn texts_of_request(asked: &Confirmation) -> QuestionTexts {
    let [language, ..] = LANGUAGES;
    in_all_verbosities(Composition::of_request(asked).texts(language))
}

/// The texts of a confirmation request, with everything that the service states beside the request.
pub fn texts_of(decision: &Decision) -> Option<QuestionTexts> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    Some(in_all_verbosities(Composition::new(decision, asked).texts(&decision.language)))
}

fn in_all_verbosities(texts: RunTexts) -> QuestionTexts {
    let RunTexts { action, consequence, summaries } = texts;
    QuestionTexts {
        action,
        consequence,
        terse: summaries.terse.unwrap_or_default(),
        normal: summaries.normal.unwrap_or_default(),
        detailed: summaries.detailed.unwrap_or_default(),
    }
}

/// Invalid terms, such as a default approval that comes too soon, are a problem of every such call.
fn held(document: &ProjectDocument, route: &Route) -> Result<Option<HoldTerms>, Refusal> {
    let why = reasons(document, route);
    if why.is_empty() {
        return Ok(None);
    }
    let policy = terms::policy_of_route(document, route);
    // A placeholder person: the approvers' names can be resolved only with the people records.
    let people = People { own: 0, named: vec![0], asks: Vec::new(), needs_s: None };
    let terms = terms::of_policy(document, Some(&policy), &Wishes::default(), &people, UnixMillis(0))?;
    let nobody_named = || vec!["the person for whom the agent acts".to_owned()];
    let own_word = demands_a_person(document, route).is_empty();
    let takes_own_word = |scope: &&Scope| own_word && scope.confirmation == Confirmed::SelfAsserted;
    Ok(Some(HoldTerms {
        why,
        risk: terms.risk,
        irreversible: terms.irreversible,
        asked: if policy.approvers.is_empty() { nobody_named() } else { policy.approvers },
        assurance: terms.floor.as_str().to_owned(),
        timeout_s: terms.timeout_s,
        allowance_s: terms.allowance_s,
        self_asserted: offering(document, route)
            .map(|(_, scope)| scope)
            .filter(takes_own_word)
            .map(|scope| scope.id.clone())
            .collect(),
        effect: None,
        question: None,
    }))
}

fn reasons(document: &ProjectDocument, route: &Route) -> Vec<String> {
    let mut why = Vec::new();
    if says_so(route) {
        why.push(format!("the route {} requires it", route.id));
    }
    if action_says_so(document, route) {
        why.push(format!("the action {} is irreversible", route.action));
    }
    let says = |scope: &Scope| match scope.irreversible {
        true => format!("the scope {} is irreversible", scope.id),
        false => format!("the scope {} requires confirmation", scope.id),
    };
    why.extend(scopes_that_say_so(document, route).map(says));
    why
}

fn intent_types(document: &ProjectDocument, route: &Route) -> Vec<String> {
    if !route.intent_types.is_empty() {
        return route.intent_types.clone();
    }
    let mut types: Vec<String> = offering(document, route).flat_map(|(_, scope)| scope.intent_types.clone()).collect();
    types.sort();
    types.dedup();
    types
}

fn upstream(document: &ProjectDocument, route: &Route) -> Option<String> {
    let named = |id: &String| document.upstreams.iter().find(|upstream| upstream.id == *id);
    let found = route.upstream.as_ref().map_or_else(|| document.upstreams.first(), named)?;
    Some(format!("{} at {}", found.id, found.url))
}

/// As the gateway would build it: only the listed headers.
fn request(
    route: &Route,
    method: &str,
    (origin, target): (&str, &str),
    headers: &[(String, String)],
    body: &[u8],
) -> Result<HttpRequest, String> {
    let one = |name: &str| {
        let mut found = headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("the header {name} occurs twice")),
            (first, None) => Ok(first.cloned()),
        }
    };
    let mut listed = BTreeMap::new();
    for name in &route.headers {
        listed.extend(one(name)?.map(|value| (name.clone(), value)));
    }
    Ok(HttpRequest {
        method: method.to_owned(),
        origin: origin.to_owned(),
        target: target.to_owned(),
        content_type: one("content-type")?.unwrap_or_default(),
        content_encoding: one("content-encoding")?.unwrap_or_default(),
        headers: listed,
        body: body.to_vec(),
    })
}

fn split_origin(url: &str) -> (&str, &str) {
    let Some(authority) = url.find("://").map(|scheme| scheme + 3) else { return ("", url) };
    let end = url.get(authority..).and_then(|rest| rest.find(['/', '?'])).map_or(url.len(), |end| authority + end);
    let (origin, target) = url.split_at(end);
    (origin, if target.is_empty() { "/" } else { target })
}

fn no_route(document: &ProjectDocument, method: &str, path: &str) -> NoRoute {
    let likeness = |route: &&Route| {
        let same = |(wanted, given): (&str, &str)| wanted.eq_ignore_ascii_case(given) || wanted.starts_with('{');
        let length = route.path.split('/').count() == path.split('/').count();
        let alike = route.path.split('/').zip(path.split('/')).skip(1).take_while(|pair| same(*pair)).count();
        (alike + usize::from(length), route.method == method)
    };
    let nearest = document.routes.iter().filter(|route| likeness(route).0 > 1).max_by_key(likeness);
    NoRoute {
        method: method.to_owned(),
        path: path.to_owned(),
        plain: is_plain_path(path),
        nearest: nearest.map(|route| format!("{} {}", route.method, route.path)),
    }
}
