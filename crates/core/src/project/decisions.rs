//! Validates the decision policies of a document.

use super::check::Problems;
use crate::{
    decision::terms::{self, LEAST_FOR_ACCEPT_S},
    records::Assurance,
};
use countersign_protocol::{
    aaep::event::{Risk, YesNo},
    project::{ActionPolicy, DecisionPolicy, ProjectDocument},
};
use std::collections::HashSet;

const MAX_TOKEN_DAYS: i64 = 3650;

pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    check_bounds(&document.decisions, found);
    let mut names = HashSet::new();
    for (n, policy) in document.actions.iter().enumerate() {
        let at = format!("actions[{n}]");
        found.demand(names.insert(policy.name.as_str()), &at, "two entries have the same name");
        found.demand(is_tool(&policy.name), &at, "name must be a tool's: a letter or _, then letters, digits, _ . -");
        check_action(policy, document, &at, found);
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
    let idle = (60..=7 * 86_400).contains(&policy.session_idle_seconds);
    found.demand(idle, at, "session_idle_seconds must be 60 to 604800");
    found.demand(or_none(policy.max_extension_seconds), at, "max_extension_seconds must be 0 to 86400");
    found.demand(or_none(policy.pause_seconds), at, "pause_seconds must be 0 to 86400");
    let days = (1..=MAX_TOKEN_DAYS).contains(&policy.subscriber_token_days);
    found.demand(days, at, "subscriber_token_days must be 1 to 3650");
    found.demand(is_language(&policy.language), at, "language must be a tag such as en or de-CH");
}

/// An entry of `actions`, or the effective policy of a route.
pub(super) fn check_action(policy: &ActionPolicy, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let known =
        |name: &String| terms::role(name).is_some() || name.strip_prefix("user:").is_some_and(|n| !n.is_empty());
    found.demand(policy.approvers.iter().all(known), at, "approvers are role:approver, role:admin or user:NAME");
    let known = |named: &str| Assurance::from_name(named).is_some_and(|assurance| assurance <= Assurance::Fresh);
    let assurance = policy.assurance.as_deref().is_none_or(known);
    found.demand(assurance, at, "assurance must be token, session or fresh");
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
    if policy.default_decision == Some(YesNo::Accept) {
        check_default_accept(policy, document, at, found);
    }
}

/// Silence approves only actions that are reversible and not of high risk, and never quickly.
fn check_default_accept(policy: &ActionPolicy, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let may_accept = !terms::is_irreversible(policy) && policy.risk < Risk::High;
    let why = "default_decision accept is only for actions that are reversible and not of high risk";
    found.demand(may_accept, at, why);
    let seconds = terms::time_to_answer_s(document, policy);
    let why = format!(
        "default_decision accept gives people at least {LEAST_FOR_ACCEPT_S} seconds to answer, and they would have \
         {seconds}: raise timeout_seconds and max_timeout_seconds here, or decisions.max_timeout_seconds"
    );
    found.demand(seconds >= LEAST_FOR_ACCEPT_S, at, &why);
}

fn is_time(seconds: i64) -> bool {
    (1..=86_400).contains(&seconds)
}

/// The syntax that `tool.invoked` requires, since the name is published there.
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
