use super::resolve;
use crate::proxy::GatewaySettings;
use countersign_engine::Address;
use countersign_protocol::origin::Origin;
use http::{HeaderMap, HeaderValue, Uri, header};

fn at(subdomains: bool, host: Option<&str>, target: &str) -> Option<(Address, String)> {
    let origin = Origin::parse("https://api.bank.test").unwrap();
    let settings = GatewaySettings { subdomains, ..GatewaySettings::new(origin) };
    let mut headers = HeaderMap::new();
    if let Some(host) = host {
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
    }
    let uri: Uri = target.parse().unwrap();
    resolve(&settings, &headers, &uri).ok().map(|(address, origin)| (address, origin.into_owned()))
}

///
#[test]
fn a_host_that_is_not_ours_is_refused() {
    for host in ["evil.test", "api.bank.test.evil.test", "xapi.bank.test", "api.bank.test:8443", "", "127.0.0.1"] {
        assert_eq!(at(false, Some(host), "/a"), None, "{host}");
        assert_eq!(at(true, Some(host), "/a"), None, "{host}");
    }
    assert_eq!(at(false, Some("shop.api.bank.test"), "/a"), None);
    for host in ["a.b.api.bank.test", ".api.bank.test", "a_b.api.bank.test", "a@api.bank.test"] {
        assert_eq!(at(true, Some(host), "/a"), None, "{host}");
    }
    assert_eq!(at(false, None, "/a"), None);
}

#[test]
fn a_url_as_target_must_name_our_origin_and_the_host_header() {
    assert_eq!(at(false, Some("api.bank.test"), "https://evil.test/a"), None);
    assert_eq!(at(false, Some("evil.test"), "https://api.bank.test/a"), None);
    assert_eq!(at(true, Some("api.bank.test"), "https://shop.api.bank.test/a"), None);
    assert!(at(false, Some("api.bank.test"), "https://API.bank.test/a").is_some());
}

///
#[test]
fn the_origin_is_the_projects_own_and_configured() {
    let ours = (Address::Unscoped, "https://api.bank.test".to_owned());
    assert_eq!(at(true, Some("API.bank.TEST"), "/a"), Some(ours));
    let shop = (Address::Subdomain("shop".into()), "https://shop.api.bank.test".to_owned());
    assert_eq!(at(true, Some("Shop.api.bank.test"), "/a"), Some(shop));
}
