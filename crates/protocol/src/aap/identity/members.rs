//! Reads members of a JSON object; every error names the member.

use super::{HttpsUri, NotAnIdentity, wrong};
use crate::domain::Domain;
use serde_json::{Map, Value};

pub(super) const MISSING: &str = "is missing";
pub(super) const ELSEWHERE: &str = "must lie on the operator's domain or below it";

pub(super) struct IdentityMembers<'a>(&'a Map<String, Value>);

impl<'a> IdentityMembers<'a> {
    pub(super) fn of(value: &'a Value, name: &'static str) -> Result<Self, NotAnIdentity> {
        value.as_object().map(Self).ok_or(wrong(name, "must be an object"))
    }

    pub(super) fn object(&self, name: &'static str) -> Result<Option<Self>, NotAnIdentity> {
        self.0.get(name).map(|value| Self::of(value, name)).transpose()
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }

    pub(super) fn text(&self, name: &'static str) -> Result<Option<&'a str>, NotAnIdentity> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or(wrong(name, "must be a string"))
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&'a str, NotAnIdentity> {
        self.text(name)?.ok_or(wrong(name, MISSING))
    }

    /// An https URI on `domain` or a subdomain of it, never on a name with merely the same ending (C-67).
    pub(super) fn uri_below(&self, domain: &Domain, name: &'static str) -> Result<Option<HttpsUri>, NotAnIdentity> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let uri = HttpsUri::parse(text).map_err(|_| wrong(name, "must be an https URI"))?;
        if domain.covers(uri.host()) { Ok(Some(uri)) } else { Err(wrong(name, ELSEWHERE)) }
    }

    /// A list of strings, each read by `parse`; absent means empty.
    pub(super) fn list<T, E>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
        why: &'static str,
    ) -> Result<Vec<T>, NotAnIdentity> {
        let Some(value) = self.0.get(name) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or(wrong(name, "must be a list"))?;
        let one = |item: &Value| item.as_str().and_then(|text| parse(text).ok()).ok_or(wrong(name, why));
        items.iter().map(one).collect()
    }
}
