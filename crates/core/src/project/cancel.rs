//! Whether a route's cancel endpoint can be applied (AAP 17.7).

use super::{check::Problems, probe};
use crate::held::{check_cancel_path, declared_irreversible};
use countersign_protocol::project::{ProjectDocument, Route, RouteCancel};

pub(super) fn check(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let Some(cancel) = &route.cancel else { return };
    found.demand(route.writes(), at, "cancel undoes writes: leave it out, or set writes = true");
    if let Some(place) = declared_irreversible(document, route) {
        found.demand(false, at, &format!("cancel undoes a call that {place} calls irreversible: remove one of them"));
    }
    found.demand(route.stream.is_none(), at, "cancel undoes calls with one response, and stream has many: remove one");
    let why = "cancel asks the route's upstream: add one under upstreams, or leave it out";
    found.demand(document.upstream_of(route).is_some(), at, why);
    check_endpoint(cancel, "cancel", route, at, found);
}

/// The members of a request that undoes a call.
pub(super) fn check_endpoint(endpoint: &RouteCancel, member: &str, route: &Route, at: &str, found: &mut Problems) {
    let method = matches!(endpoint.method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
    found.demand(method, at, &format!("{member}.method must be POST, PUT, PATCH or DELETE"));
    if let Err(why) = check_cancel_path(&endpoint.path, route) {
        found.demand(false, at, &format!("{member}.path: {why}"));
    }
    let Some(undone) = &endpoint.undone else { return };
    probe::check_answer(undone, &format!("{member}.undone"), at, found);
    let sound = undone.statuses.iter().all(|status| (200..300).contains(status) || matches!(status, 404 | 409 | 410));
    let why = format!("{member}.undone.statuses must be 200 to 299, or 404, 409 or 410 for what is not there any more");
    found.demand(sound, at, &why);
}
