//! The boundaries of a service account (AAP 11.3, C-48, C-49): the resources that its grant covers, and whether they cross
//! users.

use crate::{
    bounded::Pattern,
    held::{self, Template, TemplatePart, key_template},
    records::{PlannedAction, ServiceAccount},
    refusal::Refusal,
};
use countersign_protocol::project::{ProjectDocument, ResourceEntry, ResourceUsers, Route};

#[cfg(test)]
mod tests;

/// The longest resource pattern, as of a resource.
const MAX_PATTERN: usize = 512;
/// The most resources of one approval that are checked one by one; more count as any.
const MAX_LISTED: usize = 1000;

/// Checks a call against the grant: its resource, and whether its data subjects can be known. A route that does not say what
/// its resource is has no boundary, so only one that says that it has none is let through (C-49).
pub fn check_call(account: &ServiceAccount, route: &Route, path: &str, query: Option<&str>) -> Result<(), Refusal> {
    if !route.is_without_resource() {
        let resource = held::resource_of(route, path, query).map_err(|why| Refusal::invalid(why.to_string()))?;
        let resource = resource.ok_or_else(|| Refusal::NoBoundary(route.id.clone()))?;
        if !account.granted_scope.resources.iter().any(|pattern| covers(pattern, &resource)) {
            return Err(Refusal::BoundaryViolation(resource));
        }
    }
    check_data_subjects(account, route)
}

fn check_data_subjects(account: &ServiceAccount, route: &Route) -> Result<(), Refusal> {
    if account.granted_scope.crosses_users && route.data_subjects.is_none() {
        let why =
            "this account's resources have data of several users, and the route does not say whose data it touches";
        return Err(Refusal::NotAuthorized(why.into()));
    }
    Ok(())
}

/// The grant and the route of calls that are to be approved ahead: a standing approval, or a step of a plan.
#[derive(Clone, Debug)]
pub struct CallBoundary {
    pub account: Box<ServiceAccount>,
    pub route: Route,
}

impl CallBoundary {
    /// Checks every call that the pattern allows, so that no person is asked about one that would be refused.
    pub fn check(&self, pattern: &Pattern) -> Result<(), Refusal> {
        let Self { account, route } = self;
        if !route.is_without_resource() {
            let template = route.resource_template().and_then(|text| key_template(text).ok());
            let template = template.ok_or_else(|| Refusal::NoBoundary(route.id.clone()))?;
            let resources = AllowedResources::of(&template, pattern);
            if let Some(beyond) = resources.first_outside(&account.granted_scope.resources) {
                return Err(Refusal::BoundaryViolation(beyond));
            }
        }
        check_data_subjects(account, route)
    }
}

/// Checks the steps of a plan that are calls by a route. Tools have no resource: the agent calls them by itself.
pub fn check_plan<'a>(
    document: &ProjectDocument,
    account: &ServiceAccount,
    actions: impl Iterator<Item = &'a PlannedAction>,
) -> Result<(), Refusal> {
    for planned in actions {
        let Some(id) = &planned.action.route else { continue };
        let route = document.routes.iter().find(|route| route.id == *id);
        let route = route.ok_or_else(|| Refusal::NoBoundary(id.clone()))?.clone();
        CallBoundary { account: Box::new(account.clone()), route }.check(&planned.pattern)?;
    }
    Ok(())
}

/// The resources of all calls that an approval allows.
enum AllowedResources {
    Listed(Vec<String>),
    /// Everything that begins with one of these: the value behind it is released.
    Beginning(Vec<String>),
}

impl AllowedResources {
    fn of(template: &Template, pattern: &Pattern) -> Self {
        let mut known = vec![String::new()];
        for part in &template.parts {
            let values = match part {
                TemplatePart::Text(text) => vec![text.clone()],
                TemplatePart::Name(name) => match pattern.allowed_texts(name) {
                    Some(values) if values.len() * known.len() <= MAX_LISTED => {
                        values.iter().map(|value| held::escaped(value)).collect()
                    }
                    _ => return Self::Beginning(known),
                },
            };
            let longer =
                |beginning: &String| values.iter().map(|value| format!("{beginning}{value}")).collect::<Vec<_>>();
            known = known.iter().flat_map(longer).collect();
        }
        Self::Listed(known)
    }

    /// The first of them that no granted entry covers, as a resource or a pattern.
    fn first_outside(&self, granted: &[String]) -> Option<String> {
        match self {
            Self::Listed(all) => {
                all.iter().find(|resource| !granted.iter().any(|entry| covers(entry, resource))).cloned()
            }
            Self::Beginning(all) => {
                let covered =
                    |text: &&String| granted.iter().filter_map(|e| prefix(e)).any(|prefix| text.starts_with(prefix));
                all.iter().find(|text| !covered(text)).map(|text| format!("{text}*"))
            }
        }
    }
}

/// Whether a granted entry covers a resource: it is equal, or a prefix that ends in `:*`.
pub fn covers(pattern: &str, resource: &str) -> bool {
    match prefix(pattern) {
        Some(prefix) => resource.len() > prefix.len() && resource.starts_with(prefix),
        None => pattern == resource,
    }
}

/// The prefix of a pattern, with its colon.
fn prefix(pattern: &str) -> Option<&str> {
    pattern.strip_suffix('*').filter(|prefix| prefix.ends_with(':'))
}

/// Whether every resource of `inner` is one of `outer`.
fn includes(outer: &str, inner: &str) -> bool {
    match (prefix(outer), prefix(inner)) {
        (Some(outer), Some(inner)) => inner.starts_with(outer),
        (_, None) => covers(outer, inner),
        (None, Some(_)) => false,
    }
}

/// Why a pattern can never match: none of the routes has such a resource.
pub fn check_pattern(document: &ProjectDocument, pattern: &str) -> Result<(), String> {
    let shown: String = pattern.chars().take(80).collect();
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        return Err(format!("{shown:?} must have 1 to {MAX_PATTERN} characters"));
    }
    if pattern.contains('*') && prefix(pattern).is_none_or(|prefix| prefix.contains('*')) {
        return Err(format!("{shown:?} may have * only at its end, after a colon: inbox:*"));
    }
    let templates = document.routes.iter().filter_map(|route| key_template(route.resource_template()?).ok());
    if templates.into_iter().any(|template| can_match(pattern, &template)) {
        return Ok(());
    }
    Err(format!(
        "{shown:?} matches the resource of no route; in values, bytes other than letters, digits and -._~ are written %XX"
    ))
}

/// Whether a route with this template could have a resource that the pattern covers.
pub fn can_match(pattern: &str, template: &Template) -> bool {
    match prefix(pattern) {
        Some(prefix) => produces(&template.parts, prefix.as_bytes(), true),
        None => produces(&template.parts, pattern.as_bytes(), false),
    }
}

/// Whether the parts can produce the text; with `open` a text that only begins with it.
fn produces(parts: &[TemplatePart], text: &[u8], open: bool) -> bool {
    let Some((part, rest)) = parts.split_first() else { return text.is_empty() && !open };
    match part {
        TemplatePart::Text(literal) => match text.strip_prefix(literal.as_bytes()) {
            Some(behind) => produces(rest, behind, open),
            None => open && literal.len() > text.len() && literal.as_bytes().starts_with(text),
        },
        TemplatePart::Name(_) => {
            let mut at = 0;
            loop {
                let step = value_unit(text.get(at..).unwrap_or_default());
                if step == 0 {
                    return open && at == text.len();
                }
                at += step;
                if produces(rest, text.get(at..).unwrap_or_default(), open) {
                    return true;
                }
            }
        }
    }
}

/// The length of the first unit of an escaped value: a kept byte, or `%XX`.
fn value_unit(text: &[u8]) -> usize {
    let hex = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(b));
    match text.first() {
        Some(b'%') if hex(text.get(1)) && hex(text.get(2)) => 3,
        Some(byte) if held::is_kept(*byte) => 1,
        _ => 0,
    }
}

/// The routes of these actions without a resource: only the scopes bound a service account there.
pub fn routes_without_resource<'d>(
    document: &'d ProjectDocument,
    actions: &'d [&str],
) -> impl Iterator<Item = &'d Route> {
    document.routes.iter().filter(|route| route.is_without_resource() && actions.contains(&route.action.as_str()))
}

/// Whether a grant of these resources crosses users (AAP 11.3). What the document does not mention counts as data of many,
/// and two resources of one user each may be two users'.
pub fn crosses_users(document: &ProjectDocument, resources: &[String]) -> bool {
    let users = || resources.iter().map(|pattern| users_of(&document.resources, pattern));
    let single = users().filter(|users| *users == ResourceUsers::One).count();
    single > 1 || users().any(|users| users == ResourceUsers::Many)
}

/// The most specific entry that includes the pattern decides, and for a prefix also every entry below it.
fn users_of(entries: &[ResourceEntry], pattern: &str) -> ResourceUsers {
    let is_prefix = prefix(pattern).is_some();
    let specific = |entry: &&ResourceEntry| (prefix(&entry.pattern).is_none(), entry.pattern.len());
    let own = entries.iter().filter(|entry| includes(&entry.pattern, pattern)).max_by_key(specific);
    let Some(own) = own else { return ResourceUsers::Many };
    let below = entries.iter().filter(|entry| is_prefix && includes(pattern, &entry.pattern));
    let mut users = below.map(|entry| entry.users).chain([own.users]);
    match own.users {
        _ if is_prefix && users.any(|users| users != ResourceUsers::None) => ResourceUsers::Many,
        users => users,
    }
}
