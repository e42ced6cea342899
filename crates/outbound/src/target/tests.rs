#![allow(clippy::unwrap_used, reason = "tests say what went wrong by failing")]

use super::*;

fn target(url: &str) -> Result<OutboundTarget, BadUrl> {
    OutboundTarget::of(url, &StaticHosts::from([("fixed.test".into(), ([127, 0, 0, 1], 9443).into())]))
}

/// AAP-4.1-08
#[test]
fn anything_but_https_on_port_443_of_a_hostname_is_refused() {
    let refused = [
        ("http://acme.com/", BadUrl::NotHttps),
        ("ftp://acme.com/", BadUrl::NotHttps),
        ("file:///etc/passwd", BadUrl::NotHttps),
        ("https://acme.com:8443/", BadUrl::OtherPort),
        ("https://acme.com:80/", BadUrl::OtherPort),
        ("https://fixed.test:9444/", BadUrl::OtherPort),
        ("https://127.0.0.1/", BadUrl::IpLiteral),
        ("https://2130706433/", BadUrl::IpLiteral),
        ("https://0x7f.1/", BadUrl::IpLiteral),
        ("https://[::1]/", BadUrl::IpLiteral),
        ("https://[::ffff:169.254.169.254]/", BadUrl::IpLiteral),
        ("https://localhost/", BadUrl::NotAHostname),
        ("https://acme.com./", BadUrl::NotAHostname),
        ("https://user@acme.com/", BadUrl::Credentials),
        ("https://:secret@acme.com/", BadUrl::Credentials),
        ("acme.com", BadUrl::NotAUrl),
        ("https://", BadUrl::NotAUrl),
    ];
    for (url, why) in refused {
        assert_eq!(target(url), Err(why), "{url}");
    }
}

#[test]
fn a_sound_url_is_taken_apart() {
    let sound = target("https://Acme.com:443/a/b?c=d#e").unwrap();
    assert_eq!((sound.host.as_str(), sound.authority.as_str()), ("acme.com", "acme.com"));
    assert_eq!((sound.path_and_query.as_str(), sound.fixed), ("/a/b?c=d", None));
}

#[test]
fn a_static_host_answers_at_its_own_address_with_or_without_its_port_in_the_url() {
    let fixed = Some(([127, 0, 0, 1], 9443).into());
    assert_eq!(target("https://fixed.test/").unwrap().fixed, fixed);
    let named = target("https://fixed.test:9443/").unwrap();
    assert_eq!((named.authority.as_str(), named.fixed), ("fixed.test:9443", fixed));
    assert_eq!(target("https://below.fixed.test/").unwrap().fixed, None);
}
