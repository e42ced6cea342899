//! The base URI of a service: `service`, `iss` and `aud` must equal it byte for byte (C-12, C-13).

use serde::{Deserialize, Serialize};

/// `scheme://host[:port]`, nothing after it, host in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Origin(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a public origin is https://host (http only for localhost and loopback), without a path or trailing slash")]
pub struct NotAnOrigin;

impl Origin {
    pub fn parse(text: &str) -> Result<Self, NotAnOrigin> {
        let origin = Self(text.to_owned());
        let (scheme, authority) = text.split_once("://").ok_or(NotAnOrigin)?;
        let (host, port) = split_port(authority);
        let host_ok = !host.is_empty()
            && host
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'[' | b']' | b':'));
        let port_ok = port.is_none_or(|p| p.parse::<u16>().is_ok_and(|n| n != 0 && !p.starts_with('0')));
        let scheme_ok = scheme == "https" || (scheme == "http" && origin.is_loopback());
        if host_ok && port_ok && scheme_ok { Ok(origin) } else { Err(NotAnOrigin) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn host(&self) -> &str {
        split_port(self.authority()).0
    }

    /// Host and port as a browser sends them in `Host`.
    pub fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, rest)| rest)
    }

    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|a| a.is_loopback())
    }

    /// The same origin with a label before its host: a project's subdomain.
    pub fn with_subdomain(&self, label: &str) -> Self {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("https", ""));
        Self(format!("{scheme}://{label}.{rest}"))
    }
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}
