//! Checks across several keys, beyond the check of each key alone.

use super::{
    layers::Values,
    load::Warning,
    problem::ConfigProblem,
    table::{KEYS, Key},
};
use countersign_protocol::{domain::Domain, origin::Origin};
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

pub(super) fn problems(values: &Values) -> Vec<ConfigProblem> {
    let checks = [test_mode, subdomains, database, one_key_source, two_listeners, gateway_listener, gateway_origin];
    checks.iter().filter_map(|check| check(values)).collect()
}

pub(super) fn warnings(values: &Values) -> Vec<Warning> {
    let looks = [
        test_mode_is_on,
        operations_in_the_open,
        unreachable_origin,
        nothing_behind_the_gateway,
        one_address_takes_everything,
    ];
    let found = looks.iter().filter_map(|look| look(values));
    found.chain(without_effect(values)).chain(without_a_gateway(values)).collect()
}

/// The key that names the source of the key-encryption key: the environment takes precedence over the file, and the
/// file over the defaults. `None` if two are set in the same place, or none at all.
pub(super) fn key_source(values: &Values) -> Option<&'static str> {
    let said = KEYS.iter().filter(|key| key.section() == "keys" && is_filled(values, key));
    let ranked: Vec<(u8, &str)> = said.map(|key| (values.origin(key.path).rank(), key.path)).collect();
    let last = ranked.iter().map(|(rank, _)| *rank).max()?;
    let mut latest = ranked.iter().filter(|(rank, _)| *rank == last);
    latest.next().filter(|_| latest.next().is_none()).map(|(_, path)| *path)
}

fn is_filled(values: &Values, key: &Key) -> bool {
    let Some(said) = values.set_value(key.path) else { return false };
    said.value.as_str().is_some_and(|text| !text.is_empty())
        || said.value.as_array().is_some_and(|list| !list.is_empty())
}

/// Test keys are published: any reader of the protocol can sign with them (AAP 23).
fn test_mode(values: &Values) -> Option<ConfigProblem> {
    let origin: Origin = values.get("public.origin").ok()?;
    let hosts: BTreeMap<Domain, SocketAddr> = values.get("outbound.static").ok()?;
    let closed = origin.is_loopback() || hosts.keys().any(|host| host.as_str() == origin.host());
    (flag(values, "test_mode") && !closed).then(|| {
        let wrong = format!("is refused for {origin}, which strangers can reach");
        let hint = "set test_mode = false, or use an origin on localhost or one listed in outbound.static";
        values.problem("test_mode", wrong, hint)
    })
}

fn subdomains(values: &Values) -> Option<ConfigProblem> {
    let origin: Origin = values.get("public.origin").ok()?;
    let numeric = origin.host().starts_with('[') || origin.host().parse::<IpAddr>().is_ok();
    let single = text(values, "tenancy") == "single";
    let problem = |wrong: &str, hint: &str| Some(values.problem("public.subdomains", wrong, hint));
    match (flag(values, "public.subdomains"), single, numeric) {
        (true, true, _) => problem("needs tenancy = \"multi\"", "set tenancy = \"multi\", or subdomains = false"),
        (true, false, true) => {
            problem("needs a host name in public.origin", "an IP address has no subdomains: use a name")
        }
        _ => None,
    }
}

fn database(values: &Values) -> Option<ConfigProblem> {
    let url: String = values.get("store.url").ok()?;
    (text(values, "store.kind") == "postgres" && url.is_empty()).then(|| {
        let hint = "set it to postgres://user@host/database, here or as COUNTERSIGN_STORE__URL";
        values.problem("store.url", "is empty, but store.kind is \"postgres\"", hint)
    })
}

fn one_key_source(values: &Values) -> Option<ConfigProblem> {
    let keys = || KEYS.iter().filter(|key| key.section() == "keys");
    if key_source(values).is_some() || keys().any(|key| values.set_value(key.path).is_none()) {
        return None;
    }
    let filled = keys().filter(|key| is_filled(values, key)).map(|key| key.path);
    // The problem is reported at the place with the highest precedence.
    let Some(path) = filled.max_by_key(|path| values.origin(path).rank()) else {
        return Some(values.problem(
            "keys.file",
            "is empty, and so are keys.environment and keys.command",
            "name one of them",
        ));
    };
    Some(values.problem(
        path,
        "is not the only source of the key",
        "keep one of file, environment and command; empty the others",
    ))
}

fn two_listeners(values: &Values) -> Option<ConfigProblem> {
    let (public, operations): (SocketAddr, SocketAddr) =
        (values.get("listen.public").ok()?, values.get("listen.operations").ok()?);
    // Port 0 asks the system for any free one.
    (public == operations && public.port() != 0)
        .then(|| values.problem("listen.operations", "is the same as listen.public", "give it a port of its own"))
}

fn gateway_listener(values: &Values) -> Option<ConfigProblem> {
    let gateway: SocketAddr = values.get("gateway.listen").ok()?;
    let others = ["listen.public", "listen.operations"];
    let same = others.into_iter().find(|path| values.get::<SocketAddr>(path).is_ok_and(|other| other == gateway))?;
    (gateway.port() != 0)
        .then(|| values.problem("gateway.listen", format!("is the same as {same}"), "give it a port of its own"))
}

/// Proofs and approvals are bound to an origin that the owner names; it can be inferred only on loopback.
fn gateway_origin(values: &Values) -> Option<ConfigProblem> {
    let gateway: SocketAddr = values.get("gateway.listen").ok()?;
    let guessed = text(values, "gateway.public_origin").is_empty() && !gateway.ip().is_loopback();
    guessed.then(|| {
        let hint = "set it to how agents reach the gateway, such as https://api.example.com";
        values.problem("gateway.public_origin", "is empty, but gateway.listen is not on loopback", hint)
    })
}

fn nothing_behind_the_gateway(values: &Values) -> Option<Warning> {
    let none = values.get::<Vec<String>>("gateway.upstreams").is_ok_and(|listed| listed.is_empty());
    let what = "is empty, and tenancy is \"multi\": the gateway may use no upstream";
    let gateway = !text(values, "gateway.listen").is_empty();
    (none && gateway && text(values, "tenancy") == "multi").then(|| warning("gateway.upstreams", what))
}

fn test_mode_is_on(values: &Values) -> Option<Warning> {
    flag(values, "test_mode")
        .then(|| warning("test_mode", "published test keys are accepted: never use this for real data"))
}

fn operations_in_the_open(values: &Values) -> Option<Warning> {
    let address: SocketAddr = values.get("listen.operations").ok()?;
    let what = "asks for no credentials and is not on loopback: make sure that only your own network reaches it";
    (!address.ip().is_loopback()).then(|| warning("listen.operations", what))
}

fn unreachable_origin(values: &Values) -> Option<Warning> {
    let (origin, address): (Origin, SocketAddr) =
        (values.get("public.origin").ok()?, values.get("listen.public").ok()?);
    let what = "is on loopback, but listen.public is not: others who connect receive an address that they cannot use";
    (origin.is_loopback() && !address.ip().is_loopback()).then(|| warning("public.origin", what))
}

/// Strangers must not lock out everybody else.
fn one_address_takes_everything(values: &Values) -> Option<Warning> {
    let path = "listen.max_connections_per_address";
    let (of_one, of_all): (usize, usize) = (values.get(path).ok()?, values.get("listen.max_connections").ok()?);
    (of_one >= of_all && of_all > 1)
        .then(|| warning(path, "is not below listen.max_connections: one address can keep everybody else out"))
}

/// Changed keys of a store that is not in use.
fn without_effect(values: &Values) -> Vec<Warning> {
    let kind = text(values, "store.kind");
    let idle: &[&str] = match kind.as_str() {
        "sqlite" => &["store.url", "store.password", "store.root_certificates", "store.pool", "store.state"],
        _ => &["store.path", "store.readers"],
    };
    let keys = KEYS.iter().filter(|key| idle.contains(&key.path) && is_changed(values, key));
    keys.map(|key| warning(key.path, &format!("has no effect while store.kind is {kind:?}"))).collect()
}

fn without_a_gateway(values: &Values) -> Vec<Warning> {
    let idle = text(values, "gateway.listen").is_empty();
    let keys = KEYS.iter().filter(|key| idle && key.section() == "gateway" && is_changed(values, key));
    keys.map(|key| warning(key.path, "has no effect while gateway.listen is empty")).collect()
}

fn is_changed(values: &Values, key: &Key) -> bool {
    values.set_value(key.path).is_some_and(|said| said.value != key.default_value())
}

fn warning(key: &str, what: &str) -> Warning {
    Warning { key: key.to_owned(), what: what.to_owned() }
}

fn flag(values: &Values, path: &str) -> bool {
    values.get(path).unwrap_or(false)
}

fn text(values: &Values, path: &str) -> String {
    values.get(path).unwrap_or_default()
}
