//! Checks of the identity provider's sections.

use super::check::Problems;
use crate::{people::accounts::LOCAL, scim::role_named};
use countersign_protocol::project::{ProjectDocument, ScimPolicy, SignalTransmitter};
use std::collections::HashSet;

#[cfg(test)]
mod tests;

pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    if let Some(scim) = &document.scim {
        check_scim(scim, found);
    }
    let mut issuers = HashSet::new();
    for (n, transmitter) in document.shared_signals.iter().enumerate() {
        let at = format!("shared_signals[{n}]");
        check_transmitter(transmitter, &at, found);
        found.demand(issuers.insert(&transmitter.issuer), &at, "two transmitters have the same issuer");
    }
}

fn check_scim(scim: &ScimPolicy, found: &mut Problems) {
    let issuer = scim.issuer == LOCAL || is_issuer(&scim.issuer);
    found.demand(issuer, "scim.issuer", "must be the https URL of the identity provider, or \"local\"");
    found.demand(!scim.roles.is_empty(), "scim.roles", "must name at least one role");
    let known = |roles: &[String]| roles.iter().all(|name| role_named(name).is_some());
    let why = "roles are user, approver, admin and auditor";
    found.demand(known(&scim.roles), "scim.roles", why);
    found.demand(known(&scim.assignable_roles), "scim.assignable_roles", why);
}

fn check_transmitter(transmitter: &SignalTransmitter, at: &str, found: &mut Problems) {
    found.demand(is_issuer(&transmitter.issuer), at, "issuer must be an https URL without query and fragment");
    let below = format!("{}/", transmitter.issuer.trim_end_matches('/'));
    let uri = transmitter.jwks_uri.as_str();
    // Nothing that a client would resolve to another path.
    let plain = uri.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'%' | b'\\' | b'#'))
        && !uri.split('/').any(|segment| matches!(segment, "." | ".."));
    let keys = plain && uri.starts_with(&below);
    found.demand(keys, at, "jwks_uri must be below the issuer: a transmitter speaks for its own people only");
    let people = transmitter.people.as_deref().is_none_or(|people| people == LOCAL);
    found.demand(people, at, "people must be \"local\", or absent for the people of its own issuer");
    found.demand(!transmitter.audience.is_empty(), at, "audience must be the aud that the transmitter sends");
}

fn is_issuer(text: &str) -> bool {
    let host = text.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
        && text.len() <= 512
        && text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'?' | b'#' | b'\\' | b'"'))
}
