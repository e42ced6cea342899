//! Validates the plans and roles of a document (R-7, M-06).

use super::check::Problems;
use crate::mplp::roles::{CONFIRM_OVERRIDE, CONFIRM_REQUEST, NO_ROLE, PLAN_CREATE};
use countersign_protocol::{
    bounds::MAX_USES,
    domain::Domain,
    mplp::role::CONFIRM_APPROVE,
    project::{PlanPolicy, ProjectDocument, RoleEntry},
};
use std::collections::HashSet;

const DAY_S: i64 = 86_400;
/// People do not remember an approval for longer.
const LONGEST_S: i64 = 7 * DAY_S;
const MAX_NAME: usize = 64;
const CAPABILITIES: [&str; 4] = [CONFIRM_APPROVE, CONFIRM_REQUEST, CONFIRM_OVERRIDE, PLAN_CREATE];

pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    check_bounds(&document.plans, found);
    let mut labels = HashSet::new();
    for (n, role) in document.roles.iter().enumerate() {
        let at = format!("roles[{n}]");
        // A label is a role's name or id, so all names and ids must be distinct.
        let own = std::iter::once(role.name.as_str()).chain(role.role_id.as_ref().map(|id| id.as_str()));
        found.demand(own.into_iter().all(|label| labels.insert(label)), &at, "two roles have the same name or role_id");
        check_role(role, &at, found);
    }
    let approves = |role: &RoleEntry| role.capabilities.iter().any(|held| held == CONFIRM_APPROVE);
    found.demand(
        document.roles.is_empty() || document.roles.iter().any(approves),
        "roles",
        "no role has confirm.approve, so nobody could ever approve",
    );
}

fn check_bounds(policy: &PlanPolicy, found: &mut Problems) {
    let at = "plans";
    found.demand((1..=DAY_S).contains(&policy.timeout_seconds), at, "timeout_seconds must be 1 to 86400");
    found.demand((1..=LONGEST_S).contains(&policy.max_seconds), at, "max_seconds must be 1 to 604800");
    let usual = (1..=policy.max_seconds).contains(&policy.default_seconds);
    found.demand(usual, at, "default_seconds must be 1 to max_seconds");
    found.demand((1..=MAX_USES).contains(&policy.max_uses), at, "max_uses must be 1 to 10000");
}

fn check_role(role: &RoleEntry, at: &str, found: &mut Problems) {
    let name = role.name.as_str();
    let readable = !name.is_empty() && name.chars().count() <= MAX_NAME && name.trim() == name;
    let readable = readable && !name.chars().any(char::is_control);
    found.demand(readable, at, "name must be 1 to 64 characters, with none at its ends that cannot be seen");
    let free = name != NO_ROLE && !name.starts_with("system:") && !name.starts_with("auto:");
    found.demand(free, at, "name must not be none, nor begin with system: or auto:, which mean no person");
    let mut held = HashSet::new();
    for capability in &role.capabilities {
        let known = CAPABILITIES.contains(&capability.as_str());
        found.demand(known, at, "capabilities are confirm.approve, confirm.request, confirm.override and plan.create");
        found.demand(held.insert(capability), at, "capabilities has one twice");
    }
    found.demand(
        role.members.iter().all(|member| is_member(member)),
        at,
        "members are role:user, role:approver, role:admin, role:auditor, user:NAME, agents, operator:DOMAIN or key:PRINCIPAL",
    );
}

fn is_member(member: &str) -> bool {
    match member.split_once(':') {
        None => member == "agents",
        Some(("role", name)) => matches!(name, "user" | "approver" | "admin" | "auditor"),
        Some(("operator", domain)) => Domain::parse(domain).is_ok(),
        Some(("user" | "key", name)) => !name.trim().is_empty(),
        Some(_) => false,
    }
}
