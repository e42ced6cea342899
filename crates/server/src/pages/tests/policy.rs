use crate::pages::{content_security_policy, local_path};

#[test]
fn signing_in_never_leads_to_another_server() {
    for next in ["", "agents", "https://evil.example", "//evil.example", "/\\evil.example", "/\t/evil.example", "/ä"] {
        assert_eq!(local_path(next), None, "{next}");
    }
    assert_eq!(local_path("/connect/req_1?lang=de"), Some("/connect/req_1?lang=de"));
}

#[test]
fn no_page_may_be_framed_or_run_foreign_scripts() {
    let policy = content_security_policy(None);
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert!(policy.contains("base-uri 'none'") && policy.contains("form-action 'self';"));
    assert!(!policy.contains("unsafe"));
}

#[test]
fn an_answer_may_lead_to_the_callback_and_to_nothing_that_is_smuggled_in() {
    let policy = content_security_policy(Some("https://agents.northwind.example"));
    assert!(policy.contains("form-action 'self' https://agents.northwind.example;"));
    for smuggled in ["https://a.example; script-src *", "https://a.example *", "http://a.example", "'unsafe-inline'"] {
        assert_eq!(content_security_policy(Some(smuggled)), content_security_policy(None), "{smuggled}");
    }
}
