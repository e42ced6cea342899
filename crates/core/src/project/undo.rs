//! Undo windows: their length by scope and route, and whether they can be applied (AAP 14.1, C-58).

use super::check::Problems;
use crate::held::{must_be_confirmed, offering};
use countersign_protocol::project::{ProjectDocument, Route, RouteUndo, Scope};

/// The published window of a scope, in seconds: 0 unless a route that it offers can be undone.
pub fn scope_window_s(document: &ProjectDocument, scope: &Scope) -> i64 {
    let offers = |route: &&Route| offering(document, route).any(|(_, offered)| offered.id == scope.id);
    match document.routes.iter().filter(|route| route.undo.is_some()).any(|route| offers(&route)) {
        true => declared_s(scope),
        false => 0,
    }
}

/// The window of a call by this route, in seconds: the longest of the scopes that offer it.
pub fn route_window_s(document: &ProjectDocument, route: &Route) -> i64 {
    let windows = offering(document, route).map(|(_, scope)| declared_s(scope));
    route.undo.as_ref().and_then(|_| windows.max()).unwrap_or(0)
}

/// Whether approved calls by this route are held. Each is approved by itself: under a standing approval nobody would
/// have seen the held call.
pub fn is_held_for_undo(document: &ProjectDocument, route: &Route) -> bool {
    route_window_s(document, route) > 0
}

fn declared_s(scope: &Scope) -> i64 {
    scope.undo_window_s.unwrap_or(if scope.irreversible { RouteUndo::WINDOW_S } else { 0 })
}

pub(super) fn check_scope(scope: &Scope, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let Some(seconds) = scope.undo_window_s else { return };
    let why = format!("undo_window_s must be 0 to {} seconds", RouteUndo::MAX_WINDOW_S);
    found.demand((0..=RouteUndo::MAX_WINDOW_S).contains(&seconds), at, &why);
    let why = "undo_window_s promises an undo that no route of this scope declares: add undo to such a route, or \
               leave it out";
    found.demand(seconds <= 0 || scope_window_s(document, scope) > 0, at, why);
}

pub(super) fn check_route(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    if route.undo.is_none() {
        return;
    }
    let why = "undo is for calls that a person confirms: set requires_confirmation = true, or leave it out";
    found.demand(must_be_confirmed(document, route), at, why);
    let why = "undo holds a call until it is sent to the route's upstream: add one under upstreams, or leave it out";
    found.demand(document.upstream_of(route).is_some(), at, why);
    let says = |scope: &Scope| scope.undo_window_s.is_some() || scope.irreversible;
    let why = "undo has no window: set undo_window_s in a scope that allows the action";
    found.demand(offering(document, route).any(|(_, scope)| says(scope)), at, why);
}
