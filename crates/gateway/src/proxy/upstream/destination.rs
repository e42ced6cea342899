//! The address of an upstream.

#[cfg(test)]
mod tests;

use url::{Host, Url};

/// `http://host:port` or `https://host:port`, parsed once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Destination {
    pub(super) https: bool,
    /// As certificates and resolvers take it: an IPv6 address without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// As it stands in `Host`.
    pub(super) authority: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an upstream is http://host:port or https://host:port, and nothing after it")]
pub struct BadDestination;

impl Destination {
    pub fn parse(text: &str) -> Result<Self, BadDestination> {
        let url = Url::parse(text).map_err(|_| BadDestination)?;
        let https = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(BadDestination),
        };
        let bare = url.username().is_empty() && url.password().is_none() && url.path() == "/";
        if !bare || url.query().is_some() || url.fragment().is_some() {
            return Err(BadDestination);
        }
        let (host, shown) = match url.host().ok_or(BadDestination)? {
            Host::Domain(name) => (name.to_owned(), name.to_owned()),
            Host::Ipv4(address) => (address.to_string(), address.to_string()),
            Host::Ipv6(address) => (address.to_string(), format!("[{address}]")),
        };
        let authority = url.port().map_or_else(|| shown.clone(), |port| format!("{shown}:{port}"));
        let port = url.port_or_known_default().ok_or(BadDestination)?;
        Ok(Self { https, host, port, authority })
    }

    /// Scheme, host and port: the audience of statements signed for this upstream.
    pub fn origin(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }
}
