use super::loggable;

///
#[test]
fn nothing_of_a_token_in_an_address_is_logged() {
    let token = "cst_abcdefghijklmnopqrstuvwxyz";
    for (path, logged) in [
        (format!("/aaep/legacy/{token}/events"), "/aaep/legacy/…/events"),
        (format!("/projects/north/aaep/legacy/{token}/messages"), "/projects/north/aaep/legacy/…/messages"),
        (format!("/aaep/legacy/{token}"), "/aaep/legacy/…/…"),
        (format!("/aaep/legacy/{token}/{token}"), "/aaep/legacy/…/…"),
        (format!("/aaep/legacy/x/aaep/legacy/{token}/events"), "/aaep/legacy/…/…"),
        (format!("/aaep/v1/events/{token}"), "/aaep/v1/events/cst_"),
    ] {
        assert_eq!(loggable(&path), logged);
    }
}

#[test]
fn of_a_connect_request_only_the_beginning_is_logged() {
    assert_eq!(loggable("/connect/req_0123456789abcdef"), "/connect/req_01234…");
    assert_eq!(loggable("/agent/register"), "/agent/register");
}
