//! Validates the forwarding section of a document.

use super::{check::Problems, reading::is_header};
use countersign_protocol::project::{ProjectDocument, Route, Upstream};
use std::collections::HashSet;

/// Headers that would carry somebody else's credentials or identity, change the meaning of a request, or apply to one
/// connection only.
const NEVER: &[&str] = &[
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "dpop",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "prefer",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-method",
    "x-original-uri",
    "x-original-url",
    "x-real-ip",
    "x-rewrite-url",
];
const NEVER_BEGINNING: &[&str] = &["x-agent-", "x-forwarded-", "countersign-", "x-countersign-"];

pub(super) fn check_upstreams(document: &ProjectDocument, found: &mut Problems) {
    let mut ids = HashSet::new();
    for (n, upstream) in document.upstreams.iter().enumerate() {
        let at = format!("upstreams[{n}]");
        let named = !upstream.id.is_empty() && ids.insert(upstream.id.as_str());
        found.demand(named, &at, "upstream ids must be given and differ");
        check_upstream(upstream, &at, found);
    }
    let status = document.confirmation_status;
    found.demand(matches!(status, 403 | 428), "confirmation_status", "must be 403 or 428");
}

fn check_upstream(upstream: &Upstream, at: &str, found: &mut Problems) {
    let url = "url must be http:// or https://, a host and perhaps a port, and nothing after it: http://127.0.0.1:9000";
    found.demand(is_origin(&upstream.url), at, url);
    let credential = upstream.credential.as_ref().is_none_or(|name| !name.trim().is_empty());
    found.demand(credential, at, "credential must name one of the node's configuration, or be left out");
    let header = upstream.idempotency_header.as_deref().is_none_or(may_be_forwarded);
    found.demand(header, at, "idempotency_header must be a header's name in lower case, such as idempotency-key");
    let times = [upstream.connect_timeout_seconds, upstream.timeout_seconds];
    found.demand(times.into_iter().flatten().all(is_timeout), at, "timeouts must be 1 to 600 seconds");
}

pub(super) fn check_route(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let mut seen = HashSet::new();
    for header in &route.headers {
        let why = format!("headers has {header:?}, which is no header's name in lower case or may never be passed on");
        found.demand(may_be_forwarded(header), at, &why);
        found.demand(seen.insert(header.as_str()), at, &format!("headers has {header:?} twice"));
    }
    let upstream = match &route.upstream {
        Some(id) => document.upstreams.iter().find(|upstream| upstream.id == *id),
        None => document.upstreams.first(),
    };
    let named = route.upstream.is_none() || upstream.is_some();
    found.demand(named, at, "upstream names none of the document's upstreams");
    let ours = route.effect.as_ref().and(upstream).and_then(|upstream| upstream.idempotency_header.as_ref());
    let why = "headers has its upstream's idempotency_header, which carries the effect key: take it out";
    found.demand(ours.is_none_or(|header| !route.headers.contains(header)), at, why);
    let timeout = route.upstream_timeout_seconds.is_none_or(is_timeout);
    found.demand(timeout, at, "upstream_timeout_seconds must be 1 to 600");
}

fn may_be_forwarded(name: &str) -> bool {
    is_header(name) && !NEVER.contains(&name) && !NEVER_BEGINNING.iter().any(|beginning| name.starts_with(beginning))
}

/// Paths are forwarded unchanged, so a path here would change the approved request.
fn is_origin(url: &str) -> bool {
    let Some(authority) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else { return false };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    is_host(host) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|n| n != 0 && !port.starts_with(['0', '+'])))
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    host.split('.').all(label)
}

fn is_timeout(seconds: i64) -> bool {
    (1..=600).contains(&seconds)
}
