//! Dry runs: their declarations on routes, and the part of a conformance tier (AAP 14.1, 15, C-04).

use super::check::Problems;
use countersign_protocol::project::{ProjectDocument, Route, RouteDryRun};

/// Whether every route that writes offers a dry run or is declared without one, and at least one offers it.
pub(super) fn is_provided(document: &ProjectDocument) -> bool {
    let writing = || document.routes.iter().filter(|route| route.writes());
    let is_declared = |route: &Route| route.dry_run == Some(RouteDryRun::Offered(false));
    let none_writes = writing().next().is_none();
    none_writes
        || writing().any(Route::offers_dry_run) && writing().all(|route| route.offers_dry_run() || is_declared(route))
}

pub(super) fn check_route(route: &Route, at: &str, found: &mut Problems) {
    let declared = route.dry_run.as_ref().is_some_and(|declared| *declared != RouteDryRun::Offered(false));
    let why = "dry_run is for requests that end, and stream is for those that do not: set dry_run = false, or leave one of \
               them out";
    found.demand(!(declared && route.stream.is_some()), at, why);
    for (member, text) in texts(route) {
        let why = format!("{member} has {{query.dry_run}}, which the gateway takes out of every request: leave it out");
        found.demand(!text.contains("query.dry_run"), at, &why);
    }
}

/// The members that name parts of a request.
fn texts(route: &Route) -> Vec<(&'static str, &str)> {
    let described = route.describe.iter().flat_map(|texts| {
        [
            Some(&texts.action),
            texts.consequence.as_ref(),
            texts.terse.as_ref(),
            texts.normal.as_ref(),
            texts.detailed.as_ref(),
        ]
    });
    let described = described.flatten().map(|text| ("describe", text.as_str()));
    let values =
        route.values.iter().flat_map(|value| [("values", value.from.as_str()), ("values", value.unit.as_str())]);
    let keys = [("effect", &route.effect), ("resource", &route.resource)];
    let keys = keys.into_iter().filter_map(|(member, text)| Some((member, text.as_deref()?)));
    let probe = route.probe.iter().map(|probe| ("probe", probe.path.as_str()));
    described.chain(values).chain(keys).chain(probe).collect()
}
