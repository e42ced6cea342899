//! Validates a document before it is applied. Reports every problem at once, with its location and the correction.

use super::routes;
use crate::{
    aap::{scope_expansion::ExpansionMode, texts::GRANTED_DESCRIPTION},
    records::Mode,
};
use countersign_protocol::{
    aap::{manifest, policy::PolicyDuration},
    duration,
    project::{Confirmed, ProjectDocument, Route, Scope, overlaps_reserved},
};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{at}: {why}")]
pub struct DocumentProblem {
    pub at: String,
    pub why: String,
}

/// All problems of a document; none means that it can be applied.
pub fn check(document: &ProjectDocument) -> Vec<DocumentProblem> {
    let mut found = Problems(Vec::new());
    check_manifest(document, &mut found);
    check_durations(document, &mut found);
    for (n, scope) in document.scopes.iter().enumerate() {
        let at = format!("scopes[{n}]");
        check_scope(scope, &at, &mut found);
        super::undo::check_scope(scope, document, &at, &mut found);
    }
    for (n, route) in document.routes.iter().enumerate() {
        let at = format!("routes[{n}]");
        check_route(route, document, &at, &mut found);
        super::reading::check(route, document, &at, &mut found);
        super::forwarding::check_route(route, document, &at, &mut found);
        super::probe::check(route, document, &at, &mut found);
        super::cancel::check(route, document, &at, &mut found);
        super::resources::check_route(route, document, &at, &mut found);
        super::undo::check_route(route, document, &at, &mut found);
        super::dry_run::check_route(route, &at, &mut found);
    }
    super::resources::check(document, &mut found);
    super::forwarding::check_upstreams(document, &mut found);
    check_unique(document, &mut found);
    super::decisions::check(document, &mut found);
    super::plans::check(document, &mut found);
    super::clarification::check(document, &mut found);
    super::identity_provider::check(document, &mut found);
    super::trust::check(document, &mut found);
    super::conformance::check(document, &mut found);
    found.0
}

pub(super) struct Problems(Vec<DocumentProblem>);

impl Problems {
    pub(super) fn demand(&mut self, holds: bool, at: &str, why: &str) {
        if !holds {
            self.0.push(DocumentProblem { at: at.into(), why: why.into() });
        }
    }
}

fn check_manifest(document: &ProjectDocument, found: &mut Problems) {
    found.demand(document.display_name.chars().count() <= 80, "display_name", "is longer than 80 characters");
    found.demand(is_ttl(document.credential_ttl), "credential_ttl", "must be 300 to 86400 seconds");
    found.demand(is_ttl(document.max_agent_ttl), "max_agent_ttl", "must be 300 to 86400 seconds");
    let expansion = ExpansionMode::parse(&document.scope_expansion);
    found.demand(expansion.is_some(), "scope_expansion", "must be reject, notify or silent");
    check_modes(document, found);
    let words = |text: &String| text.split_whitespace().count() <= 150 && !text.trim().is_empty();
    let liability = document.liability_disclosure.as_ref();
    found.demand(liability.is_none_or(words), "liability_disclosure", "must have 1 to 150 words");
}

fn check_modes(document: &ProjectDocument, found: &mut Problems) {
    let modes = &document.identity_modes_supported;
    found.demand(!modes.is_empty(), "identity_modes_supported", "must name at least one mode");
    for mode in modes {
        found.demand(
            manifest::is_mode(mode),
            "identity_modes_supported",
            "knows user_delegated and service_account only",
        );
    }
    for (mode, text) in &document.disclosures {
        found.demand(modes.contains(mode), "disclosures", "names a mode that identity_modes_supported does not");
        found.demand(!text.trim().is_empty(), "disclosures", "has an empty text");
        let fillable = mode != Mode::ServiceAccount.as_str() || text.contains(GRANTED_DESCRIPTION);
        let why = "of service_account must contain {granted_scope.description}, which the token fills in";
        found.demand(fillable, "disclosures", why);
    }
}

fn check_durations(document: &ProjectDocument, found: &mut Problems) {
    let form = "must be a duration such as 90d, 12h or P7D";
    found.demand(PolicyDuration::parse(&document.max_duration).is_some(), "max_duration", form);
    if let Some((member, why)) = document.auto_revoke.problem() {
        found.demand(false, &format!("auto_revoke.{member}"), why);
    }
    found.demand(duration::parse_secs(&document.max_receipt_duration).is_some(), "max_receipt_duration", form);
    let token = document.token_duration.as_deref();
    found.demand(token.is_none_or(|t| duration::parse_secs(t).is_some()), "token_duration", form);
}

fn check_scope(scope: &Scope, at: &str, found: &mut Problems) {
    let id_form = "id must read resource.action in lower case, such as calendar.write";
    found.demand(manifest::is_scope_id(&scope.id), at, id_form);
    let description = scope.description.trim();
    found.demand(!description.is_empty(), at, "description must state in words what the scope permits an agent");
    found.demand(scope.description.chars().count() <= 200, at, "description is longer than 200 characters");
    found.demand(!scope.allows.is_empty(), at, "allows must list at least one action");
    found.demand(!scope.intent_types.is_empty(), at, "intent_types must list at least one type");
    found.demand(
        scope.intent_types.iter().all(|t| is_intent_type(t)),
        at,
        "intent types are 1 to 64 of A-Z, 0-9 and _",
    );
    let own_word = scope.irreversible && scope.confirmation == Confirmed::SelfAsserted;
    let why = format!(
        "{at}.irreversible demands a person, and {at}.confirmation = \"self_asserted\" takes the agent's own word: \
         remove one of them"
    );
    found.demand(!own_word, at, &why);
}

fn check_route(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let method_form = "method must be an upper-case HTTP method";
    found.demand(!route.method.is_empty() && route.method.bytes().all(|b| b.is_ascii_uppercase()), at, method_form);
    let path_form =
        "path must begin with /, name each {segment} as a whole, and contain nothing that servers parse differently";
    found.demand(routes::is_template(&route.path), at, path_form);
    let mut names = HashSet::new();
    found.demand(routes::names(&route.path).all(|name| names.insert(name)), at, "path names two segments alike");
    let ours = route.path == "/.countersign" || route.path.starts_with("/.countersign/");
    found.demand(!ours, at, "path must not lie under /.countersign/, which the gateway keeps for itself");
    if let (false, Some(reserved)) = (ours, overlaps_reserved(&route.path)) {
        let why = format!(
            "path matches requests for {reserved}, where the gateway answers agents itself: begin it with another \
             literal segment"
        );
        found.demand(false, at, &why);
    }
    let why = "speculative is for reads: a write is never forwarded before it is recorded; leave it out, or set writes \
               = false if it changes nothing";
    found.demand(!(route.speculative == Some(true) && route.writes()), at, why);
    let offered = document.scopes.iter().any(|scope| scope.allows.contains(&route.action));
    found.demand(offered, at, "no scope lists the action in allows, so nobody could ever call this route");
    check_scope_of(route, document, at, found);
}

/// The scope that a route names, and the route's intent types among those of its scopes.
fn check_scope_of(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let named = |scope: &&Scope| route.scope.as_ref().is_none_or(|id| scope.id == *id);
    let allowing =
        |scope: &&Scope| scope.allows.contains(&route.action) && !scope.explicitly_excludes.contains(&route.action);
    let scopes: Vec<&Scope> = document.scopes.iter().filter(named).filter(allowing).collect();
    let why = "scope must be the id of a scope whose allows has the route's action";
    found.demand(route.scope.is_none() || !scopes.is_empty(), at, why);
    let known = |wanted: &String| scopes.iter().any(|scope| scope.intent_types.contains(wanted));
    let why = "intent_types must be among those of the scopes that allow the action";
    found.demand(route.intent_types.iter().all(known), at, why);
}

fn check_unique(document: &ProjectDocument, found: &mut Problems) {
    let mut seen = HashSet::new();
    for scope in &document.scopes {
        found.demand(seen.insert(scope.id.as_str()), "scopes", "two scopes have the same id");
    }
    let mut ids = HashSet::new();
    let mut shapes = HashSet::new();
    for route in &document.routes {
        found.demand(
            !route.id.is_empty() && ids.insert(route.id.as_str()),
            "routes",
            "route ids must be given and differ",
        );
        let shape = (route.method.as_str(), routes::shape(&route.path));
        found.demand(shapes.insert(shape), "routes", "two routes match the same requests");
    }
}

fn is_ttl(seconds: i64) -> bool {
    (300..=86400).contains(&seconds)
}

/// Intent types are logged, so they must not contain personal text (AAP 12.4).
pub(crate) fn is_intent_type(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}
