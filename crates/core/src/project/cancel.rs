//! Whether a route's cancel endpoint can be applied (AAP 17.7).

use super::{check::Problems, probe};
use crate::held::check_cancel_path;
use countersign_protocol::{
    aaep::event::Reversibility,
    project::{ProjectDocument, Route},
};

pub(super) fn check(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let Some(cancel) = &route.cancel else { return };
    found.demand(route.writes(), at, "cancel undoes writes: leave it out, or set writes = true");
    let irreversible = route.irreversible == Some(true) || route.reversibility == Some(Reversibility::Irreversible);
    let why = "cancel undoes a call that the route calls irreversible: remove one of them";
    found.demand(!irreversible, at, why);
    found.demand(route.stream.is_none(), at, "cancel undoes calls with one response, and stream has many: remove one");
    let why = "cancel asks the route's upstream: add one under upstreams, or leave it out";
    found.demand(document.upstream_of(route).is_some(), at, why);
    let method = matches!(cancel.method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
    found.demand(method, at, "cancel.method must be POST, PUT, PATCH or DELETE");
    if let Err(why) = check_cancel_path(&cancel.path, route) {
        found.demand(false, at, &format!("cancel.path: {why}"));
    }
    if let Some(undone) = &cancel.undone {
        probe::check_answer(undone, "cancel.undone", at, found);
        let sound =
            undone.statuses.iter().all(|status| (200..300).contains(status) || matches!(status, 404 | 409 | 410));
        let why = "cancel.undone.statuses must be 200 to 299, or 404, 409 or 410 for what is not there any more";
        found.demand(sound, at, why);
    }
}
