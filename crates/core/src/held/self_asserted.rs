//! Self-asserted confirmation: finds the parts of the document that demand a person instead of the agent's own word
//!

use super::scopes_that_say_so;
use crate::{decision::terms, records::Assurance};
use countersign_protocol::{
    aaep::event::Reversibility,
    project::{Confirmed, ProjectDocument, Route, Scope},
};

/// Every member of the document that demands a person for calls by this route, such as `routes[2].approvers`.
pub(crate) fn demands_a_person(document: &ProjectDocument, route: &Route) -> Vec<String> {
    let mut places = of_route(document, route);
    places.extend(of_action(document, route));
    places.extend(of_scopes(document, route));
    places
}

/// The first member that calls these calls irreversible. An action without an entry is treated as irreversible where a person
/// is asked, and is not declared so.
pub(crate) fn declared_irreversible(document: &ProjectDocument, route: &Route) -> Option<String> {
    let says_so = |place: &String| place.ends_with(".irreversible") || place.ends_with(".reversibility");
    demands_a_person(document, route).into_iter().find(says_so)
}

/// The scopes that offer a call by this route, each with its index.
pub(crate) fn offering<'a>(
    document: &'a ProjectDocument,
    route: &'a Route,
) -> impl Iterator<Item = (usize, &'a Scope)> {
    let named = |scope: &Scope| route.scope.as_ref().is_none_or(|id| scope.id == *id);
    let allows =
        |scope: &Scope| scope.allows.contains(&route.action) && !scope.explicitly_excludes.contains(&route.action);
    document.scopes.iter().enumerate().filter(move |(_, scope)| named(scope) && allows(scope))
}

fn of_route(document: &ProjectDocument, route: &Route) -> Vec<String> {
    let demands = [
        ("irreversible", route.irreversible == Some(true)),
        ("reversibility", route.reversibility == Some(Reversibility::Irreversible)),
        ("requires_confirmation", route.requires_confirmation == Some(true)),
        ("approvers", !route.approvers.is_empty()),
        ("assurance", route.assurance.is_some()),
    ];
    let place = document.routes.iter().position(|known| known.id == route.id).unwrap_or_default();
    named(&format!("routes[{place}]"), &demands)
}

/// The route's own settings take precedence over the entry of its action.
fn of_action(document: &ProjectDocument, route: &Route) -> Vec<String> {
    let Some(entry) = terms::policy_of(document, &route.action) else { return Vec::new() };
    let demands = [
        ("irreversible", route.irreversible.is_none() && entry.irreversible),
        ("reversibility", route.reversibility.is_none() && entry.reversibility == Some(Reversibility::Irreversible)),
        ("approvers", route.approvers.is_empty() && !entry.approvers.is_empty()),
        ("assurance", route.assurance.is_none() && more_than_a_token(entry.assurance.as_deref())),
    ];
    let place = document.actions.iter().position(|known| known.name == entry.name).unwrap_or_default();
    named(&format!("actions[{place}]"), &demands)
}

/// Documents of earlier versions have `token` in every entry, even if it was not set.
fn more_than_a_token(assurance: Option<&str>) -> bool {
    assurance.is_some_and(|named| Assurance::from_name(named) != Some(Assurance::Token))
}

/// Any scope of the document, granted or not: if one of them demands a person, no other can leave it to the agent.
fn of_scopes(document: &ProjectDocument, route: &Route) -> Vec<String> {
    let demands = |scope: &Scope| {
        let by_decision = scope.requires_confirmation && scope.confirmation == Confirmed::Decision;
        let place = document.scopes.iter().position(|known| known.id == scope.id).unwrap_or_default();
        named(
            &format!("scopes[{place}]"),
            &[("irreversible", scope.irreversible), ("requires_confirmation", by_decision)],
        )
    };
    scopes_that_say_so(document, route).flat_map(demands).collect()
}

fn named(at: &str, demands: &[(&str, bool)]) -> Vec<String> {
    demands.iter().filter(|(_, holds)| *holds).map(|(member, _)| format!("{at}.{member}")).collect()
}
