//! Roles: entitlement to request and to decide, and the label it is recorded under (M-06). Roles come from the
//! authenticated principal and the project's document, never from the caller's input.

use super::{PRODUCER, derived};
use crate::records;
use countersign_protocol::{
    hash::Digest,
    mplp::{Meta, MplpId, MplpRole, role::CONFIRM_APPROVE},
    project::{ProjectDocument, RoleEntry},
    time::UnixMillis,
};

pub const PLAN_CREATE: &str = "plan.create";
pub const CONFIRM_REQUEST: &str = "confirm.request";
pub const CONFIRM_OVERRIDE: &str = "confirm.override";

/// The label of a principal without a role. It resolves to no role and entitles to nothing.
pub(crate) const NO_ROLE: &str = "none";

/// A role of a project: the published Role and its members.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectRole {
    pub role_id: MplpId,
    pub name: String,
    pub capabilities: Vec<String>,
    pub members: Vec<String>,
}

/// The roles that the project lists, or the default ones.
pub fn roles(document: &ProjectDocument) -> Vec<ProjectRole> {
    let of_entry = |entry: &RoleEntry| ProjectRole {
        role_id: entry.role_id.clone().unwrap_or_else(|| derived_id(document, &entry.name)),
        name: entry.name.clone(),
        capabilities: entry.capabilities.clone(),
        members: entry.members.clone(),
    };
    if document.roles.is_empty() {
        return defaults(document);
    }
    document.roles.iter().map(of_entry).collect()
}

/// The role with this name or id.
pub fn role_of(document: &ProjectDocument, label: &str) -> Option<ProjectRole> {
    roles(document).into_iter().find(|role| role.has_label(label))
}

/// The published roles, without their members.
pub fn documents(document: &ProjectDocument, now: UnixMillis) -> Vec<MplpRole> {
    roles(document).into_iter().map(|role| role.published(now)).collect()
}

/// An authenticated agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asking<'a> {
    /// The delegation or the API key, as in the digest.
    pub principal: &'a str,
    /// The verified domain of its operator.
    pub operator: Option<&'a str>,
    /// The principal of its API key, if it uses one.
    pub key_principal: Option<&'a str>,
}

/// The label under which an agent requests. A claimed label is kept as written if it names a role of the agent (MPLP
/// 2.1).
pub fn requested_by(document: &ProjectDocument, agent: &Asking<'_>, said: Option<&str>) -> Result<String, String> {
    let mut own = roles(document).into_iter().filter(|role| agent.has(role));
    match said {
        None => Ok(own.next().map_or_else(|| NO_ROLE.into(), |role| role.name)),
        Some(said) if own.any(|role| role.has_label(said)) => Ok(said.to_owned()),
        Some(said) => Err(format!("requested_by_role must be a role of this agent, and {said:?} is none")),
    }
}

impl Asking<'_> {
    /// Whether one of its roles has this capability.
    pub fn has_capability(&self, document: &ProjectDocument, capability: &str) -> bool {
        roles(document).iter().any(|role| self.has(role) && role.has_capability(capability))
    }

    fn has(&self, role: &ProjectRole) -> bool {
        role.members.iter().any(|member| match member.split_once(':') {
            None => member == "agents",
            Some(("operator", domain)) => self.operator == Some(domain),
            Some(("key", principal)) => self.key_principal == Some(principal),
            Some(_) => false,
        })
    }
}

/// The roles of one person, in the project's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Deciding(Vec<ProjectRole>);

impl Deciding {
    /// A person without membership in the project counts as a user.
    pub fn of(document: &ProjectDocument, subject: &str, places: &[records::Role]) -> Self {
        let places = if places.is_empty() { &[records::Role::User] } else { places };
        let is_member = |member: &String| match member.split_once(':') {
            Some(("role", name)) => places.iter().any(|place| member_role_name(*place) == name),
            Some(("user", name)) => name == subject,
            _ => false,
        };
        Self(roles(document).into_iter().filter(|role| role.members.iter().any(is_member)).collect())
    }

    /// A person without any entitlement.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// A person with one approving role.
    pub fn approver(label: &str) -> Self {
        let role_id = MplpId::of_hash(&Digest::of(label.as_bytes()));
        Self(vec![ProjectRole::new(role_id, label, &[CONFIRM_APPROVE], &[])])
    }

    pub fn approves(&self) -> bool {
        self.0.iter().any(ProjectRole::approves)
    }

    /// Whether the person may override a lock (M-27).
    pub fn overrides(&self) -> bool {
        self.0.iter().any(|role| role.has_capability(CONFIRM_OVERRIDE))
    }

    /// The label recorded with a decision: the first approving role.
    pub fn label(&self) -> &str {
        let approving = self.0.iter().find(|role| role.approves());
        approving.or(self.0.first()).map_or(NO_ROLE, |role| &role.name)
    }

    /// The name of the claimed role, if the person has it and it approves. A person without an approving role may still
    /// reject a request of their own agent, under any role of theirs.
    pub fn approving_role(&self, said: Option<&str>) -> Option<&str> {
        let Some(said) = said else { return Some(self.label()) };
        let named = self.0.iter().find(|role| role.has_label(said))?;
        (named.approves() || !self.approves()).then_some(named.name.as_str())
    }
}

impl ProjectRole {
    fn new(role_id: MplpId, name: &str, capabilities: &[&str], members: &[&str]) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self { role_id, name: name.to_owned(), capabilities: owned(capabilities), members: owned(members) }
    }

    pub fn has_label(&self, label: &str) -> bool {
        self.name == label || self.role_id.as_str() == label
    }

    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|held| held == capability)
    }

    fn approves(&self) -> bool {
        self.has_capability(CONFIRM_APPROVE)
    }

    fn published(self, now: UnixMillis) -> MplpRole {
        MplpRole {
            meta: Meta::ours(now, PRODUCER),
            governance: None,
            role_id: self.role_id,
            name: self.name,
            description: None,
            capabilities: self.capabilities,
            created_at: None,
            updated_at: None,
            trace: None,
            events: Vec::new(),
        }
    }
}

fn defaults(document: &ProjectDocument) -> Vec<ProjectRole> {
    let role = |name, capabilities: &[&str], member| {
        ProjectRole::new(derived_id(document, name), name, capabilities, &[member])
    };
    vec![
        role("agent", &[PLAN_CREATE, CONFIRM_REQUEST], "agents"),
        role("user", &[PLAN_CREATE, CONFIRM_APPROVE], "role:user"),
        role("approver", &[CONFIRM_APPROVE], "role:approver"),
        role("admin", &[CONFIRM_APPROVE, CONFIRM_OVERRIDE], "role:admin"),
        role("auditor", &[], "role:auditor"),
    ]
}

/// Derived, so that it is the same in every process and never stored.
fn derived_id(document: &ProjectDocument, name: &str) -> MplpId {
    derived("role", &[document.id.as_str(), name])
}

fn member_role_name(place: records::Role) -> &'static str {
    match place {
        records::Role::User => "user",
        records::Role::Approver => "approver",
        records::Role::Admin => "admin",
        records::Role::Auditor => "auditor",
    }
}
