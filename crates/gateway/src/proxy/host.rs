//! The project of a request, by its host. The origin is always a configured one.

#[cfg(test)]
mod tests;

use super::GatewaySettings;
use countersign_engine::{Address, Refusal};
use http::{HeaderMap, Uri, header};
use std::borrow::Cow;

/// The project's address, and its public origin.
pub(super) fn resolve<'a>(
    settings: &'a GatewaySettings,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<(Address, Cow<'a, str>), Refusal> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let authority = uri.authority().map(http::uri::Authority::as_str);
    // A URL as target must name the same authority as Host, or another reader would see another address.
    if let (Some(authority), Some(host)) = (authority, host)
        && !authority.eq_ignore_ascii_case(host)
    {
        return Err(misdirected());
    }
    let public = settings.public_origin.authority();
    match authority.or(host) {
        Some(host) if is_same_host(host, public) => Ok((Address::Unscoped, settings.public_origin.as_str().into())),
        Some(host) if settings.subdomains => {
            let label = label_before(host, public).ok_or_else(misdirected)?;
            let origin = settings.public_origin.with_subdomain(&label);
            Ok((Address::Subdomain(label), origin.as_str().to_owned().into()))
        }
        _ => Err(misdirected()),
    }
}

fn is_same_host(host: &str, public: &str) -> bool {
    host.eq_ignore_ascii_case(public)
}

fn label_before(host: &str, public: &str) -> Option<String> {
    let cut = host.len().checked_sub(public.len() + 1)?;
    let (label, rest) = (host.get(..cut)?, host.get(cut..)?);
    let rest = rest.strip_prefix('.')?;
    let plain = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (plain && is_same_host(rest, public)).then(|| label.to_ascii_lowercase())
}

fn misdirected() -> Refusal {
    Refusal::invalid("the request names a host that is not served here")
}
