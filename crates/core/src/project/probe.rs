//! Whether a route's probe can be applied.

use super::check::Problems;
use crate::{
    decision::probe::MAX_SETTLING_S,
    held::{check_probe_path, must_be_confirmed},
};
use countersign_protocol::project::{ProbeAnswer, ProjectDocument, Route};

pub(super) fn check(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let Some(probe) = &route.probe else { return };
    let held = must_be_confirmed(document, route);
    let why = "probe is for calls that a person confirms: set requires_confirmation = true, or leave it out";
    found.demand(held, at, why);
    let why = "probe asks the route's upstream: add one under upstreams, or leave it out";
    found.demand(document.upstream_of(route).is_some(), at, why);
    if let Err(why) = check_probe_path(&probe.path, route) {
        found.demand(false, at, &format!("probe.path: {why}"));
    }
    check_answer(&probe.done, "probe.done", at, found);
    found.demand(probe.done.statuses.iter().all(is_done_status), at, "probe.done.statuses must be 200 to 299");
    let Some(not_done) = &probe.not_done else {
        let why = "probe.settling_seconds sets when not_done begins to count: add not_done, or leave it out";
        found.demand(probe.settling_seconds.is_none(), at, why);
        return;
    };
    check_answer(not_done, "probe.not_done", at, found);
    let why = "probe.not_done.statuses must be 200 to 299, or 400 to 499 other than 401, 403, 407, 408, 425 and 429, \
               which mean nothing for the call";
    found.demand(not_done.statuses.iter().all(|status| is_done_status(status) || is_not_done_status(*status)), at, why);
    let settling = probe.settling_seconds.is_some_and(|seconds| (1..=MAX_SETTLING_S).contains(&seconds));
    let why = "probe.settling_seconds must be 1 to 3600 where not_done is given: how long after its connection was \
               closed the upstream may still carry a call out";
    found.demand(settling, at, why);
    let overlap = probe.done.statuses.iter().find(|status| not_done.statuses.contains(status));
    if let Some(status) = overlap.filter(|_| !exclude_each_other(&probe.done, not_done)) {
        let why = format!(
            "probe.done and probe.not_done both have status {status}: give them different statuses, or the same member \
             with other items or equals"
        );
        found.demand(false, at, &why);
    }
}

pub(super) fn check_answer(answer: &ProbeAnswer, member: &str, at: &str, found: &mut Problems) {
    found.demand(!answer.statuses.is_empty(), at, &format!("{member}.statuses must name at least one status"));
    let pointer = answer.member.as_deref().is_none_or(is_pointer);
    found.demand(pointer, at, &format!("{member}.member must be a JSON pointer, such as /items or /data/0/state"));
    let says_how = answer.equals.is_some() || answer.items.is_some();
    found.demand(
        answer.member.is_some() || !says_how,
        at,
        &format!("{member}.member is missing: equals and items are about it"),
    );
    let both = answer.equals.is_some() && answer.items.is_some();
    found.demand(!both, at, &format!("{member} has equals and items: use one of them"));
}

/// No body fits both.
fn exclude_each_other(done: &ProbeAnswer, not_done: &ProbeAnswer) -> bool {
    let same_member = done.member.is_some() && done.member == not_done.member;
    let items = done.items.is_some() && not_done.items.is_some() && done.items != not_done.items;
    let values = done.equals.is_some() && not_done.equals.is_some() && done.equals != not_done.equals;
    same_member && (items || values)
}

fn is_pointer(text: &str) -> bool {
    let escapes = |step: &str| step.split('~').skip(1).all(|behind| behind.starts_with(['0', '1']));
    text.is_empty() || (text.starts_with('/') && escapes(text))
}

fn is_done_status(status: &u16) -> bool {
    (200..300).contains(status)
}

fn is_not_done_status(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 408 | 425 | 429)
}
