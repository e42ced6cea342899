use super::{BadDestination, Destination};

#[test]
fn an_upstream_is_an_origin_and_nothing_more() {
    for bad in [
        "",
        "bank.test",
        "ftp://bank.test",
        "http://user@bank.test",
        "http://u:p@bank.test",
        "http://bank.test/api",
        "http://bank.test?x",
        "http://bank.test#x",
        "http://",
        "unix:/run/x",
    ] {
        assert_eq!(Destination::parse(bad), Err(BadDestination), "{bad}");
    }
}

#[test]
fn host_and_port_are_found_and_shown_as_http_shows_them() {
    let shown = |text: &str| {
        let at = Destination::parse(text).unwrap();
        (at.https, at.host.clone(), at.port, at.authority.clone(), at.origin())
    };
    let bank = (true, "bank.test".into(), 443, "bank.test".into(), "https://bank.test".into());
    assert_eq!(shown("https://BANK.test:443/"), bank);
    let local = (false, "127.0.0.1".into(), 9000, "127.0.0.1:9000".into(), "http://127.0.0.1:9000".into());
    assert_eq!(shown("http://127.0.0.1:9000"), local);
    assert_eq!(shown("http://[::1]:80"), (false, "::1".into(), 80, "[::1]".into(), "http://[::1]".into()));
}
