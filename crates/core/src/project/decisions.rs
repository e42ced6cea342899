//! Whether what a document says about decisions can be applied.

use super::check::Problems;
use crate::{decision::terms, records::Assurance};
use countersign_protocol::{
    aaep::event::{Reversibility, Risk, YesNo},
    project::{ActionPolicy, DecisionPolicy, ProjectDocument},
};
use std::collections::HashSet;

pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    check_bounds(&document.decisions, found);
    let mut names = HashSet::new();
    for (n, policy) in document.actions.iter().enumerate() {
        let at = format!("actions[{n}]");
        found.demand(names.insert(policy.name.as_str()), &at, "two entries have the same name");
        found.demand(is_tool(&policy.name), &at, "name must be a tool's: a letter or _, then letters, digits, _ . -");
        check_action(policy, &at, found);
    }
}

fn check_bounds(policy: &DecisionPolicy, found: &mut Problems) {
    let at = "decisions";
    let counts = [policy.max_open_per_agent, policy.max_open_per_person, policy.max_raised_per_hour];
    found.demand(counts.iter().all(|n| (1..=1_000_000).contains(n)), at, "limits must be 1 to 1000000");
    found.demand(is_time(policy.max_timeout_seconds), at, "max_timeout_seconds must be 1 to 86400");
    found.demand(is_time(policy.allowance_seconds), at, "allowance_seconds must be 1 to 86400");
    found.demand(is_time(policy.lease_seconds), at, "lease_seconds must be 1 to 86400");
    let or_none = |seconds: i64| (0..=86_400).contains(&seconds);
    found.demand(or_none(policy.max_extension_seconds), at, "max_extension_seconds must be 0 to 86400");
    found.demand(or_none(policy.pause_seconds), at, "pause_seconds must be 0 to 86400");
    found.demand(is_language(&policy.language), at, "language must be a tag such as en or de-CH");
}

/// An entry, or what a route comes to.
pub(super) fn check_action(policy: &ActionPolicy, at: &str, found: &mut Problems) {
    let known =
        |name: &String| terms::role(name).is_some() || name.strip_prefix("user:").is_some_and(|n| !n.is_empty());
    found.demand(policy.approvers.iter().all(known), at, "approvers are role:approver, role:admin or user:NAME");
    let assurance = Assurance::named(&policy.assurance).filter(|a| *a <= Assurance::Fresh);
    found.demand(assurance.is_some(), at, "assurance must be token, session or fresh");
    let times = [
        policy.timeout_seconds,
        policy.min_timeout_seconds,
        policy.max_timeout_seconds,
        policy.allowance_seconds,
        policy.lease_seconds,
    ];
    found.demand(times.into_iter().flatten().all(is_time), at, "times must be 1 to 86400 seconds");
    let (least, most) = (policy.min_timeout_seconds.unwrap_or(1), policy.max_timeout_seconds.unwrap_or(86_400));
    let usual = policy.timeout_seconds.unwrap_or(least);
    found.demand((least..=most).contains(&usual), at, "timeout_seconds must lie within its bounds");
    let irreversible = policy.irreversible || policy.reversibility == Some(Reversibility::Irreversible);
    let may_accept = !irreversible && policy.risk < Risk::High;
    found.demand(
        policy.default_decision != Some(YesNo::Accept) || may_accept,
        at,
        "default_decision accept is only for what is reversible and not of high risk",
    );
}

fn is_time(seconds: i64) -> bool {
    (1..=86_400).contains(&seconds)
}

/// The form that `tool.invoked` demands, since that is where the name will stand.
pub(crate) fn is_tool(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.len() <= 256
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

fn is_language(tag: &str) -> bool {
    let part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    tag.split('-').all(part)
        && tag.split('-').next().is_some_and(|first| first.bytes().all(|b| b.is_ascii_alphabetic()))
}
