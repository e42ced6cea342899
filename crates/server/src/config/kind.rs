//! The types of configuration values.

use super::{credentials, document, secret::MASK, witness};
use countersign_gateway::{Destination, Network};
use countersign_protocol::{domain::Domain, origin::Origin};
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, net::SocketAddr};
use url::Url;

#[derive(Clone, Copy, Debug)]
pub(super) enum ConfigKind {
    Flag,
    Whole {
        least: u64,
        most: u64,
    },
    Choice(&'static [&'static str]),
    Text,
    Path,
    Address,
    /// May be empty: no address.
    MaybeAddress,
    Origin,
    /// May be empty: derived from another key.
    MaybeOrigin,
    TextList,
    PathList,
    Networks,
    Origins,
    /// Allowed upstreams of the gateway.
    Upstreams,
    /// Witnesses of the evidence: an address and a verifier key each.
    Witnesses,
    Hosts,
    /// One table per credential; [`super::credentials`] checks its members.
    Credentials,
    PostgresUrl,
    Secret,
}

impl ConfigKind {
    pub(super) fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Flag => value.is_boolean(),
            Self::Whole { least, most } => value.as_u64().is_some_and(|n| (least..=most).contains(&n)),
            Self::Choice(names) => value.as_str().is_some_and(|text| names.contains(&text)),
            Self::Text | Self::Path | Self::Secret => value.is_string(),
            Self::Address => reads::<SocketAddr>(value),
            Self::MaybeAddress => is_empty(value) || reads::<SocketAddr>(value),
            Self::Origin => reads::<Origin>(value),
            Self::MaybeOrigin => is_empty(value) || reads::<Origin>(value),
            Self::TextList | Self::PathList => reads::<Vec<String>>(value),
            Self::Networks => reads::<Vec<Network>>(value),
            Self::Origins => reads::<Vec<Origin>>(value),
            Self::Upstreams => Vec::<String>::deserialize(value)
                .is_ok_and(|list| list.iter().all(|text| Destination::parse(text).is_ok())),
            Self::Witnesses => Vec::<String>::deserialize(value)
                .is_ok_and(|list| list.iter().all(|text| witness::parse(text).is_some())),
            Self::Hosts => reads::<BTreeMap<Domain, SocketAddr>>(value),
            Self::Credentials => reads::<BTreeMap<String, Map<String, Value>>>(value),
            Self::PostgresUrl => value.as_str().is_some_and(|text| text.is_empty() || postgres(text).is_some()),
        }
    }

    /// Completes "must be …".
    pub(super) fn expected(self) -> String {
        match self {
            Self::Flag => "true or false".into(),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Choice(names) => format!("one of {}", names.join(", ")),
            Self::Text | Self::Secret => "text".into(),
            Self::Path => "a path".into(),
            Self::Address => "an IP address and a port, such as 127.0.0.1:8420".into(),
            Self::MaybeAddress => "an IP address and a port, such as 127.0.0.1:8422, or empty".into(),
            Self::MaybeOrigin => {
                "https://host (http only for localhost and loopback) without a path or a slash at the end, or empty"
                    .into()
            }
            Self::Origin => {
                "https://host (http only for localhost and loopback) without a path or a slash at the end".into()
            }
            Self::TextList => "a list of texts".into(),
            Self::PathList => "a list of paths".into(),
            Self::Networks => "a list of addresses (10.1.2.3) and ranges (10.0.0.0/8)".into(),
            Self::Origins => {
                "a list of origins, each https://host (http only for localhost and loopback) without a path".into()
            }
            Self::Upstreams => "a list of services, each http://host:port or https://host:port without a path".into(),
            Self::Witnesses => "a list of witnesses, each \"https://host/path NAME+ID+KEY\"".into(),
            Self::Credentials => "a table of credentials by name, each a table itself".into(),
            Self::Hosts => "a table of host names in lower case, each with an IP address and a port".into(),
            Self::PostgresUrl => "postgres://user@host/database".into(),
        }
    }

    /// Parses the text of an environment variable. Text that cannot be parsed stays text, which [`Self::accepts`]
    /// refuses.
    pub(super) fn read_text(self, text: &str) -> Value {
        let read = match self {
            Self::Flag => text.parse().ok().map(Value::Bool),
            Self::Whole { .. } => text.parse::<u64>().ok().map(Value::from),
            Self::TextList | Self::PathList | Self::Networks | Self::Origins | Self::Upstreams | Self::Witnesses => {
                list(text)
            }
            Self::Hosts | Self::Credentials => table(text),
            _ => None,
        };
        read.unwrap_or_else(|| Value::String(text.to_owned()))
    }

    /// The value without its secrets.
    pub(super) fn masked(self, value: &Value) -> Value {
        match (self, value.as_str()) {
            (Self::Secret, Some(text)) if !text.is_empty() => MASK.into(),
            (Self::PostgresUrl, Some(text)) if !text.is_empty() => without_password(text).into(),
            (Self::Credentials, None) => credentials::masked(value),
            _ => value.clone(),
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_str() == Some("")
}

fn reads<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

/// `a,b`, or a TOML list if an entry contains a comma.
fn list(text: &str) -> Option<Value> {
    if text.trim_start().starts_with('[') {
        return document::value(text).ok();
    }
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    Some(Value::Array(entries.map(Value::from).collect()))
}

/// `host=address,host=address`, or a TOML table.
fn table(text: &str) -> Option<Value> {
    if text.trim_start().starts_with('{') {
        return document::value(text).ok();
    }
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let pairs =
        entries.map(|entry| entry.split_once('=').map(|(name, value)| (name.trim().into(), value.trim().into())));
    pairs.collect::<Option<Map<String, Value>>>().map(Value::Object)
}

pub(super) fn postgres(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "postgres" | "postgresql"))
}

/// A URL carries a password before the host or as a parameter; one that cannot be parsed is masked completely.
fn without_password(text: &str) -> String {
    let Some(mut url) = postgres(text) else { return MASK.into() };
    if url.password().is_some() && url.set_password(Some(MASK)).is_err() {
        return MASK.into();
    }
    if url.query().is_some() {
        let masked = |name: &str, value: &str| if name.contains("password") { MASK.into() } else { value.to_owned() };
        let pairs: Vec<_> = url.query_pairs().map(|(name, value)| (name.to_string(), masked(&name, &value))).collect();
        url.query_pairs_mut().clear().extend_pairs(pairs);
    }
    url.to_string()
}
