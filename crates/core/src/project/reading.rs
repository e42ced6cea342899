//! Validates the approval settings and templates of a route.

use super::{check::Problems, decisions};
use crate::{
    decision::terms::policy_of_route,
    held::{self, BadTemplate, Name, Template, demands_a_person, key_template, must_be_confirmed, offering},
};
use countersign_protocol::project::{
    Confirmed, ProjectDocument, Route, RouteStream, RouteTexts, Scope, Upstream, ValueField,
};
use std::collections::HashSet;

const MAX_BODY: u64 = 16 << 20;
/// What a lease has left after connecting, unless a quarter of it is less.
const LEASE_MARGIN_MS: i64 = 2_000;

pub(super) fn check(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    if has_approval_setting(route) {
        decisions::check_action(&policy_of_route(document, route), document, at, found);
    }
    let held = must_be_confirmed(document, route);
    if held {
        check_self_asserted(route, document, at, found);
        check_lease(route, document, at, found);
    }
    found.demand(
        held || route.effect.is_none(),
        at,
        "effect is for calls that a person confirms: set requires_confirmation = true, or leave it out",
    );
    let body = route.max_body_bytes.is_none_or(|bytes| (1..=MAX_BODY).contains(&bytes));
    found.demand(body, at, "max_body_bytes must be 1 to 16777216 (16 MiB)");
    check_stream(route, held || (is_socket(route) && may_be_irreversible(document, route)), at, found);
    if let Some(described) = &route.describe {
        check_described(described, route, at, found);
    }
    check_values(&route.values, route, at, found);
    for (member, text) in [("effect", route.effect.as_deref()), ("resource", route.resource_template())] {
        let template = text.map(key_template);
        report(template.transpose().and_then(|template| check_template(template, route)), member, at, found);
    }
}

/// A lease outlasts connecting, or a claim would lapse before its first byte.
fn check_lease(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let named = |upstream: &&Upstream| route.upstream.as_ref().is_none_or(|id| *id == upstream.id);
    let Some(upstream) = document.upstreams.iter().find(named) else { return };
    let lease = policy_of_route(document, route).lease_seconds.unwrap_or(document.decisions.lease_seconds);
    let connect = upstream.connect_timeout_s();
    let why = format!(
        "lease_seconds is {lease}, which connecting to {} ({connect} s) may use up: raise it here or under [decisions], or \
         lower connect_timeout_seconds of the upstream",
        upstream.id
    );
    let margin_ms = LEASE_MARGIN_MS.min(lease.saturating_mul(250));
    let outlasts = connect.saturating_mul(1000).saturating_add(margin_ms) < lease.saturating_mul(1000);
    found.demand(outlasts, at, &why);
}

/// The agent's own word cannot suffice if a person is demanded. A scope that contradicts itself is reported with
/// the scope.
fn check_self_asserted(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let takes_own_word = |(_, scope): &(usize, &Scope)| scope.confirmation == Confirmed::SelfAsserted;
    for (n, _) in offering(document, route).filter(takes_own_word) {
        let scope = format!("scopes[{n}]");
        for place in demands_a_person(document, route).iter().filter(|place| !place.starts_with(&format!("{scope}."))) {
            let why = format!(
                "{place} demands a person, and {scope}.confirmation = \"self_asserted\" takes the agent's own word: \
                 change one of them, or give the action {} to another scope",
                route.action
            );
            found.demand(false, at, &why);
        }
    }
}

/// Inherited settings are checked and reported with the entry that has them.
fn has_approval_setting(route: &Route) -> bool {
    let times = [route.timeout_seconds, route.allowance_seconds, route.lease_seconds];
    route.irreversible.is_some()
        || route.reversibility.is_some()
        || route.risk.is_some()
        || route.assurance.is_some()
        || !route.approvers.is_empty()
        || times.iter().any(Option::is_some)
}

/// An approval covers one exact request, not the traffic of an open connection.
fn check_stream(route: &Route, held: bool, at: &str, found: &mut Problems) {
    found.demand(!is_socket(route) || route.method == "GET", at, "stream = \"websocket\" is for GET only");
    let why = "stream cannot be combined with a confirmation: an approval covers one request, not the stream after it";
    found.demand(route.stream.is_none() || !held, at, why);
}

fn is_socket(route: &Route) -> bool {
    route.stream == Some(RouteStream::Websocket)
}

/// A socket can carry everything that a scope of its action allows, although it is opened with GET.
fn may_be_irreversible(document: &ProjectDocument, route: &Route) -> bool {
    let holds = |scope: &&Scope| scope.irreversible || scope.requires_confirmation;
    document.scopes.iter().filter(holds).any(|scope| scope.allows.contains(&route.action))
}

fn check_described(described: &RouteTexts, route: &Route, at: &str, found: &mut Problems) {
    let action = "describe.action must describe the action";
    found.demand(!described.action.trim().is_empty(), at, action);
    let texts = [
        ("describe.action", Some(&described.action)),
        ("describe.consequence", described.consequence.as_ref()),
        ("describe.terse", described.terse.as_ref()),
        ("describe.normal", described.normal.as_ref()),
        ("describe.detailed", described.detailed.as_ref()),
    ];
    for (member, text) in texts {
        let Some(text) = text else { continue };
        found.demand(
            !text.trim().is_empty() || member == "describe.action",
            at,
            &format!("{member} is empty: leave it out"),
        );
        report(Template::parse(text).and_then(|template| check_template(Some(template), route)), member, at, found);
    }
}

fn check_values(values: &[ValueField], route: &Route, at: &str, found: &mut Problems) {
    let mut names = HashSet::new();
    for value in values {
        let named = !value.name.trim().is_empty() && names.insert(value.name.as_str());
        found.demand(named, at, "values must have names that differ");
        report(Name::parse(&value.from).and_then(|name| name.fits(route)), "values.from", at, found);
        found.demand(!value.unit.trim().is_empty(), at, "values.unit must be a word such as USD, or {body.currency}");
        report(
            Template::parse(&value.unit).and_then(|unit| check_template(Some(unit), route)),
            "values.unit",
            at,
            found,
        );
    }
}

fn check_template(template: Option<Template>, route: &Route) -> Result<(), BadTemplate> {
    template.map_or(Ok(()), |template| template.fits(route))
}

fn report(read: Result<(), BadTemplate>, member: &str, at: &str, found: &mut Problems) {
    if let Err(why) = read {
        found.demand(false, at, &format!("{member}: {why}"));
    }
}

/// A header name in lower case.
pub(super) fn is_header(name: &str) -> bool {
    held::is_token(name) && !name.bytes().any(|b| b.is_ascii_uppercase())
}
