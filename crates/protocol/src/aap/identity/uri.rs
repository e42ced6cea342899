//! Https URIs in a spelling that leaves no two parsers room to disagree about the host.

use crate::domain::Domain;
use serde::Serialize;

/// `https://host[:port][/path][?query]`: no user, no fragment, host a lower-case hostname.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct HttpsUri(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an https URI with a lower-case hostname, without user and fragment")]
pub struct NotAnHttpsUri;

impl HttpsUri {
    pub fn parse(text: &str) -> Result<Self, NotAnHttpsUri> {
        let rest = text.strip_prefix("https://").ok_or(NotAnHttpsUri)?;
        let (host, port) = host_and_port(authority(rest));
        let port_ok = port.is_none_or(|p| !p.starts_with('0') && p.parse::<u16>().is_ok());
        if text.bytes().all(is_uri_byte) && port_ok && Domain::parse(host).is_ok() {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnHttpsUri)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn host(&self) -> &str {
        host_and_port(authority(self.0.strip_prefix("https://").unwrap_or_default())).0
    }
}

/// RFC 3986 without `#`: a fragment is never sent and means nothing here.
fn is_uri_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&b)
}

fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)))
}

impl std::fmt::Display for HttpsUri {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
