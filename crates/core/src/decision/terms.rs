//! The terms of a question: the project's policy, which a caller can tighten but not loosen (R-1, AAEP 6.4.1).

use crate::{
    project::undo::route_window_s,
    records::{Approvers, Assurance, DecisionTerms, NO_PERSON, Role},
    refusal::Refusal,
};
use countersign_protocol::{
    aaep::event::{Reversibility, Risk, YesNo},
    decisions::{ActionDocument, ActionsDocument},
    hash::Digest,
    ids::RowKey,
    project::{ActionPolicy, DecisionPolicy, ProjectDocument, Route},
    time::UnixMillis,
};
use std::borrow::Cow;

/// Shortest timeout with acceptance by default, so that no approver is rushed.
pub const LEAST_FOR_ACCEPT_S: i64 = 30;
const LONGEST_S: i64 = 86_400;
/// Its agent polls, so the person need not be there at once.
const SCOPE_EXPANSION_S: i64 = 900;

/// Terms requested by the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    pub risk: Option<Risk>,
    pub irreversible: Option<bool>,
    pub reversibility: Option<Reversibility>,
    pub timeout_s: Option<i64>,
    pub default: Option<YesNo>,
}

/// The people involved.
#[derive(Clone, Debug, PartialEq)]
pub struct People {
    /// The person the agent acts for.
    pub own: RowKey,
    /// Members of the project named as approvers by `user:NAME` in the policy.
    pub named: Vec<RowKey>,
    /// Further people the agent may ask if the policy names none.
    pub asks: Vec<RowKey>,
    /// The longest timeout needed by one of the approvers (AAEP 6.4.2).
    pub needs_s: Option<i64>,
}

/// The terms of an action with an execution.
pub fn of_action(
    document: &ProjectDocument,
    action: &str,
    wishes: &Wishes,
    people: &People,
    now: UnixMillis,
) -> Result<DecisionTerms, Refusal> {
    of_policy(document, policy_of(document, action), wishes, people, now)
}

/// As `of_action`, with the policy already looked up.
pub fn of_policy(
    document: &ProjectDocument,
    policy: Option<&ActionPolicy>,
    wishes: &Wishes,
    people: &People,
    now: UnixMillis,
) -> Result<DecisionTerms, Refusal> {
    let reversibility = reversibility(policy, wishes.reversibility);
    let irreversible = policy.is_none_or(is_irreversible)
        || wishes.irreversible == Some(true)
        || reversibility == Some(Reversibility::Irreversible);
    let risk = policy.map_or(Risk::High, |p| p.risk).max(wishes.risk.unwrap_or(Risk::Low));
    let default = default_of(policy, wishes.default, irreversible, risk)?;
    let (floor, high_risk_tokens) = floor(policy, irreversible, risk);
    let timeout_s =
        timeout(policy, &document.decisions, wishes.timeout_s, default_timeout_s(irreversible, risk), people)?;
    if default == YesNo::Accept && timeout_s < LEAST_FOR_ACCEPT_S {
        let why = "a question that defaults to accept gives people at least 30 seconds";
        return Err(Refusal::invalid(why));
    }
    Ok(DecisionTerms {
        risk,
        irreversible,
        reversibility,
        default,
        timeout_s,
        latest: latest(&document.decisions, timeout_s, now),
        approvers: approvers(document, policy, people)?,
        also: Vec::new(),
        floor,
        high_risk_tokens,
        allowance_s: policy.and_then(|p| p.allowance_seconds).unwrap_or(document.decisions.allowance_seconds),
        lease_s: policy.and_then(|p| p.lease_seconds).unwrap_or(document.decisions.lease_seconds),
    })
}

/// The terms of a question without an execution.
pub fn of_clarification(
    document: &ProjectDocument,
    timeout_s: Option<i64>,
    people: &People,
    now: UnixMillis,
) -> Result<DecisionTerms, Refusal> {
    let timeout_s = timeout(None, &document.decisions, timeout_s, 180, people)?;
    Ok(DecisionTerms {
        risk: Risk::Low,
        irreversible: false,
        reversibility: None,
        default: YesNo::Reject,
        timeout_s,
        latest: latest(&document.decisions, timeout_s, now),
        approvers: approvers(document, None, people)?,
        also: Vec::new(),
        floor: Assurance::Token,
        high_risk_tokens: false,
        allowance_s: document.decisions.allowance_seconds,
        lease_s: document.decisions.lease_seconds,
    })
}

/// The terms of a request for scopes beyond a consent receipt: the person who consented decides, in a sign-in session, and
/// nobody's silence is an approval. Calls that need an approval have terms of their own.
pub fn of_scope_expansion(
    document: &ProjectDocument,
    until: UnixMillis,
    people: &People,
    now: UnixMillis,
) -> Result<DecisionTerms, Refusal> {
    let left_s = (until.millis_since(now) / 1000).max(1);
    let timeout_s = timeout(None, &document.decisions, None, SCOPE_EXPANSION_S, people)?.min(left_s);
    Ok(DecisionTerms {
        risk: Risk::Medium,
        irreversible: false,
        reversibility: None,
        default: YesNo::Reject,
        timeout_s,
        latest: latest(&document.decisions, timeout_s, now).min(until),
        approvers: approvers(document, None, people)?,
        also: Vec::new(),
        floor: Assurance::Session,
        high_risk_tokens: false,
        allowance_s: document.decisions.allowance_seconds,
        lease_s: document.decisions.lease_seconds,
    })
}

/// The policy of one action in a plan, and the people named in it.
#[derive(Clone, Debug)]
pub struct PartOf<'a> {
    pub policy: Option<Cow<'a, ActionPolicy>>,
    pub named: Vec<RowKey>,
}

/// The terms of several actions: the strictest of each. An approver must be entitled for every action, and a timeout
/// is never an approval (M-25).
pub fn of_plan(
    document: &ProjectDocument,
    parts: &[PartOf<'_>],
    timeout_s: Option<i64>,
    people: &People,
    now: UnixMillis,
) -> Result<DecisionTerms, Refusal> {
    let timeout_s = timeout(None, &document.decisions, timeout_s, document.plans.timeout_seconds, people)?;
    let mut whole = DecisionTerms {
        risk: Risk::Low,
        irreversible: false,
        reversibility: None,
        default: YesNo::Reject,
        timeout_s,
        latest: latest(&document.decisions, timeout_s, now),
        approvers: Approvers::default(),
        also: Vec::new(),
        floor: Assurance::Token,
        high_risk_tokens: false,
        allowance_s: document.plans.default_seconds,
        lease_s: document.decisions.lease_seconds,
    };
    let mut all: Vec<Approvers> = Vec::new();
    for part in parts {
        let known = People { named: part.named.clone(), ..people.clone() };
        let own = of_policy(document, part.policy.as_deref(), &Wishes::default(), &known, now)?;
        whole.risk = whole.risk.max(own.risk);
        whole.irreversible |= own.irreversible;
        let stricter = own.floor > whole.floor;
        let both = own.floor < whole.floor || own.high_risk_tokens;
        whole.high_risk_tokens = if stricter { own.high_risk_tokens } else { whole.high_risk_tokens && both };
        whole.floor = whole.floor.max(own.floor);
        if !all.contains(&own.approvers) {
            all.push(own.approvers);
        }
    }
    if all.is_empty() {
        all.push(approvers(document, None, people)?);
    }
    check_approvers(&all, people)?;
    whole.approvers = all.remove(0);
    whole.also = all;
    Ok(whole)
}

/// Refuses a question without any possible approver. Role members are unknown here, so a list with roles may include
/// anyone.
fn check_approvers(all: &[Approvers], people: &People) -> Result<(), Refusal> {
    let could = |person: RowKey, who: &Approvers| match person == people.own {
        true => who.own_yes,
        false => who.people.contains(&person) || !who.roles.is_empty(),
    };
    let Some(named) = all.iter().find(|who| who.roles.is_empty()) else { return Ok(()) };
    let somebody = |person: &RowKey| all.iter().all(|who| could(*person, who));
    match named.people.iter().chain([&people.own]).any(somebody) {
        true => Ok(()),
        false => Err(Refusal::invalid(
            "no person may approve all of these steps, since different people decide about them; propose them as \
             separate plans",
        )),
    }
}

/// Digest of the rules for a request. A change of rules ends an approval given under the earlier ones.
pub fn rules(document: &ProjectDocument, action: &str, route: Option<&str>) -> Digest {
    let route = route.and_then(|id| document.routes.iter().find(|route| route.id == id));
    let policy = policy_for(document, action, route.map(|route| route.id.as_str()));
    let mut said = serde_json::json!({
        "policy": policy.as_deref(),
        "route": route,
        "own_approval": document.decisions.own_approval,
    });
    // The scopes declare it, not the route: what was approved to run at once is not approved to be held, nor the reverse.
    let window_s = route.map_or(0, |route| route_window_s(document, route));
    if let (1.., Some(members)) = (window_s, said.as_object_mut()) {
        members.insert("undo_window_s".into(), window_s.into());
    }
    Digest::of(said.to_string().as_bytes())
}

pub fn policy_of<'a>(document: &'a ProjectDocument, action: &str) -> Option<&'a ActionPolicy> {
    document.actions.iter().find(|policy| !action.is_empty() && policy.name == action)
}

/// The actions available to an agent: those listed in its key or, without a key, those of the policy and more.
pub fn actions_of(document: &ProjectDocument, listed: Option<&[String]>) -> ActionsDocument {
    let policies: Vec<Cow<'_, ActionPolicy>> = match listed {
        Some(names) => {
            let unknown = |name: &str| Cow::Owned(ActionPolicy::unknown(name));
            names.iter().map(|name| policy_of(document, name).map_or_else(|| unknown(name), Cow::Borrowed)).collect()
        }
        None => document.actions.iter().map(Cow::Borrowed).collect(),
    };
    ActionsDocument { actions: policies.iter().map(|policy| action(policy)).collect(), others: listed.is_none() }
}

fn action(policy: &ActionPolicy) -> ActionDocument {
    ActionDocument {
        name: policy.name.clone(),
        risk_level: policy.risk,
        irreversible: policy.irreversible,
        timeout_seconds: policy.timeout_seconds,
        default_decision: policy.default_decision,
    }
}

/// The policy of a tool, or of a request's route.
pub fn policy_for<'a>(
    document: &'a ProjectDocument,
    action: &str,
    route: Option<&str>,
) -> Option<Cow<'a, ActionPolicy>> {
    match route.and_then(|id| document.routes.iter().find(|route| route.id == id)) {
        Some(route) => Some(Cow::Owned(policy_of_route(document, route))),
        None => policy_of(document, action).map(Cow::Borrowed),
    }
}

/// The route's own members apply first, then the entry of its action, then the strictest default. A scope marked as
/// irreversible cannot be overridden.
pub fn policy_of_route(document: &ProjectDocument, route: &Route) -> ActionPolicy {
    let base = policy_of(document, &route.action).cloned().unwrap_or_else(|| ActionPolicy::unknown(&route.action));
    let by_scope = document
        .scopes
        .iter()
        .any(|scope| scope.irreversible && scope.allows.contains(&route.action) && route.writes());
    ActionPolicy {
        irreversible: by_scope || route.irreversible.unwrap_or(base.irreversible),
        reversibility: route.reversibility.or(base.reversibility),
        risk: route.risk.unwrap_or(base.risk),
        approvers: if route.approvers.is_empty() { base.approvers } else { route.approvers.clone() },
        assurance: route.assurance.clone().or(base.assurance),
        timeout_seconds: route.timeout_seconds.or(base.timeout_seconds),
        allowance_seconds: route.allowance_seconds.or(base.allowance_seconds),
        lease_seconds: route.lease_seconds.or(base.lease_seconds),
        ..base
    }
}

/// The policy's assurance floor. By default, a high-risk irreversible action requires a signed-in person or a token
/// with its person's permission for such approvals.
fn floor(policy: Option<&ActionPolicy>, irreversible: bool, risk: Risk) -> (Assurance, bool) {
    match policy.and_then(|policy| policy.assurance.as_deref()) {
        Some(named) => (Assurance::from_name(named).unwrap_or(Assurance::Passkey), false),
        None if is_irreversible_and_high_risk(irreversible, risk) => (Assurance::Session, true),
        None => (Assurance::Token, false),
    }
}

/// Such actions have a higher assurance floor, and no argument of theirs is released.
pub fn is_irreversible_and_high_risk(irreversible: bool, risk: Risk) -> bool {
    irreversible && risk == Risk::High
}

/// Irreversible if either member says so (E-05).
pub fn is_irreversible(policy: &ActionPolicy) -> bool {
    policy.irreversible || policy.reversibility == Some(Reversibility::Irreversible)
}

/// The caller's value applies only where it is stricter: an action that the policy calls irreversible, explicitly or by
/// default, is never presented as reversible.
fn reversibility(policy: Option<&ActionPolicy>, wish: Option<Reversibility>) -> Option<Reversibility> {
    let by_policy = policy.and_then(|p| p.reversibility);
    let at_least = by_policy.or(policy.is_none_or(is_irreversible).then_some(Reversibility::Irreversible));
    wish.map_or(by_policy, |_| wish.max(at_least))
}

/// Acceptance by default requires the policy's consent, a reversible action and less than high risk (R-1, C5).
fn default_of(
    policy: Option<&ActionPolicy>,
    wish: Option<YesNo>,
    irreversible: bool,
    risk: Risk,
) -> Result<YesNo, Refusal> {
    let by_policy = policy.and_then(|p| p.default_decision);
    let wanted = wish.or(by_policy).unwrap_or(YesNo::Reject);
    let possible = by_policy == Some(YesNo::Accept) && !irreversible && risk < Risk::High;
    match (wanted, possible, wish) {
        (YesNo::Reject, _, _) => Ok(YesNo::Reject),
        (YesNo::Accept, true, _) => Ok(YesNo::Accept),
        // The policy's default yields to the caller's stricter terms.
        (YesNo::Accept, false, None) => Ok(YesNo::Reject),
        (YesNo::Accept, false, Some(_)) => Err(Refusal::invalid(
            "default_decision accept is only for actions that the project's policy accepts by default, calls reversible \
             and not of high risk; leave it out",
        )),
    }
}

/// Default timeouts, within the recommended ranges (AAEP 6.4.2).
pub fn default_timeout_s(irreversible: bool, risk: Risk) -> i64 {
    match (irreversible, risk) {
        (_, Risk::High) => 300,
        (true, _) | (_, Risk::Medium) => 120,
        (false, Risk::Low) => 60,
    }
}

/// The timeout, unless the caller or an approver's needs change it.
pub(crate) fn time_to_answer_s(document: &ProjectDocument, policy: &ActionPolicy) -> i64 {
    let usual = default_timeout_s(is_irreversible(policy), policy.risk);
    let (least, most) = time_bounds_s(Some(policy), &document.decisions);
    policy.timeout_seconds.unwrap_or(usual).clamp(least, most)
}

/// If an action's minimum exceeds the project's maximum, the project's maximum applies.
fn time_bounds_s(policy: Option<&ActionPolicy>, bounds: &DecisionPolicy) -> (i64, i64) {
    let most = policy.and_then(|p| p.max_timeout_seconds).unwrap_or(LONGEST_S).min(bounds.max_timeout_seconds).max(1);
    let least = policy.and_then(|p| p.min_timeout_seconds).unwrap_or(1).clamp(1, most);
    (least, most)
}

fn timeout(
    policy: Option<&ActionPolicy>,
    bounds: &DecisionPolicy,
    wish: Option<i64>,
    usual: i64,
    people: &People,
) -> Result<i64, Refusal> {
    let (least, most) = time_bounds_s(policy, bounds);
    let asked = wish.unwrap_or_else(|| policy.and_then(|p| p.timeout_seconds).unwrap_or(usual).clamp(least, most));
    if !(least..=most).contains(&asked) {
        return Err(Refusal::invalid(format!("timeout_seconds must be {least} to {most} here")));
    }
    // An approver's need for more time extends the timeout, within the policy's maximum.
    Ok(people.needs_s.map_or(asked, |needs| asked.max(needs.min(most))))
}

fn latest(bounds: &DecisionPolicy, timeout_s: i64, now: UnixMillis) -> UnixMillis {
    now.plus_secs(timeout_s.saturating_add(bounds.max_extension_seconds).min(LONGEST_S.max(timeout_s)))
}

/// By default, the person the agent acts for. With named approvers, that person's approval counts only if the policy
/// names them or an admin allowed it.
fn approvers(document: &ProjectDocument, policy: Option<&ActionPolicy>, people: &People) -> Result<Approvers, Refusal> {
    let Some(policy) = policy.filter(|policy| !policy.approvers.is_empty()) else {
        // A service account acts for nobody: admins decide.
        if people.own == NO_PERSON {
            return Ok(Approvers { people: people.asks.clone(), roles: vec![Role::Admin], own_yes: false });
        }
        let mut asked = vec![people.own];
        asked.extend(people.asks.iter().filter(|person| **person != people.own));
        return Ok(Approvers { people: asked, roles: Vec::new(), own_yes: true });
    };
    let roles: Vec<Role> = policy.approvers.iter().filter_map(|name| role(name)).collect();
    let named = people.named.clone();
    if roles.is_empty() && named.is_empty() {
        let why = "the project's policy names approvers for this action, and none of them exists";
        return Err(Refusal::NotAuthorized(why.into()));
    }
    let own_yes = named.contains(&people.own) || document.decisions.own_approval;
    Ok(Approvers { people: named, roles, own_yes })
}

pub fn role(name: &str) -> Option<Role> {
    match name {
        "role:approver" => Some(Role::Approver),
        "role:admin" => Some(Role::Admin),
        _ => None,
    }
}

impl DecisionTerms {
    /// Whether every argument stays as it was shown, also under a standing approval.
    pub fn fixes_arguments(&self) -> bool {
        is_irreversible_and_high_risk(self.irreversible, self.risk)
    }

    /// The lowest accepted assurance, with or without a token for high-risk approvals.
    pub fn floor_for(&self, approves_high_risk: bool) -> Assurance {
        match self.high_risk_tokens && approves_high_risk {
            true => Assurance::Token,
            false => self.floor.max(Assurance::Token),
        }
    }
}
