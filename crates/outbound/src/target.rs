//! A URL that may be fetched, parsed once.

#[cfg(test)]
mod tests;

use countersign_protocol::domain::Domain;
use std::{collections::BTreeMap, net::SocketAddr};
use url::{Host, Url};

/// Hosts of the configuration: a name, and its one address and port.
pub type StaticHosts = BTreeMap<String, SocketAddr>;

/// Why a URL is refused before anything is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    #[error("not a URL")]
    NotAUrl,
    #[error("only https is fetched")]
    NotHttps,
    #[error("an IP address is given where a hostname is needed")]
    IpLiteral,
    #[error("the host is not a hostname with at least two labels")]
    NotAHostname,
    #[error("only port 443 is fetched")]
    OtherPort,
    #[error("the URL carries a user or a password")]
    Credentials,
}

/// The target of a request: the name for the certificate, and the parts of the URL for HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundTarget {
    pub host: String,
    /// The value of `Host`: with the port only if the URL names another than 443.
    pub authority: String,
    pub path_and_query: String,
    /// The address of a static host. Without one the name must be resolved and the result checked.
    pub fixed: Option<SocketAddr>,
}

impl OutboundTarget {
    pub fn of(url: &str, hosts: &StaticHosts) -> Result<Self, BadUrl> {
        let url = Url::parse(url).map_err(|_| BadUrl::NotAUrl)?;
        let host = host(&url)?;
        let fixed = hosts.get(&host).copied();
        if fixed.is_none() && Domain::parse(&host).is_err() {
            return Err(BadUrl::NotAHostname);
        }
        let authority = match url.port() {
            None => host.clone(),
            Some(port) if fixed.is_some_and(|address| address.port() == port) => format!("{host}:{port}"),
            Some(_) => return Err(BadUrl::OtherPort),
        };
        Ok(Self { host, authority, path_and_query: path_and_query(&url), fixed })
    }
}

fn host(url: &Url) -> Result<String, BadUrl> {
    if url.scheme() != "https" {
        return Err(BadUrl::NotHttps);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadUrl::Credentials);
    }
    match url.host() {
        Some(Host::Domain(host)) => Ok(host.to_owned()),
        Some(_) => Err(BadUrl::IpLiteral),
        None => Err(BadUrl::NotAHostname),
    }
}

fn path_and_query(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}
