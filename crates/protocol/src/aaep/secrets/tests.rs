use super::*;
use serde_json::json;

/// Assembled at run time, so that secret scanners find nothing in this file.
fn credentials() -> Vec<String> {
    let random = "4fQz8LhT2vXc".repeat(4);
    vec![
        format!("-----BEGIN {}PRIVATE KEY-----\nMIIE", ""),
        format!("-----BEGIN {}PRIVATE KEY-----", "OPENSSH "),
        format!("token eyJhbGciOiJ{}.eyJzdWIiOiJ{}.c2ln", "FUzI1NiJ9", "hIn0"),
        format!("Authorization: Bearer {random}"),
        format!("curl -H 'authorization: bearer {random}'"),
        format!("AKIA{}", "IOSFODNN7EXAMPLE"),
        format!("key ASIA{}, please", "IOSFODNN7EXAMPLE"),
        format!("sk-{random}"),
        format!("sk-proj-{random}"),
        format!("(sk_live_{random})"),
        format!("https://x/?t=ghp_{random}"),
        format!("github_pat_{random}"),
        format!("glpat-{random}"),
        format!("xoxb-12345678-{random}"),
        format!("aat_{random}"),
        format!("web_{random}"),
        format!("csk_{random}."),
        format!("code_{random}"),
        "password=tulip".into(),
        "db_password=tulip&x=1".into(),
        "PASSWORD='tulip'".into(),
        "user: x, password: hunter22".into(),
        r#"{"client_secret": "q8w7e6r5"}"#.into(),
        "Server=db;Pwd=tulip;".into(),
        "api_key=7k".into(),
    ]
}

#[test]
fn credentials_of_every_kind_are_seen() {
    for credential in credentials() {
        assert!(is_secret(&credential), "{credential}");
        assert!(is_secret(&format!("Er sagt: {credential} – so")), "{credential}");
    }
}

#[test]
fn words_that_only_remind_of_credentials_are_let_through() {
    for harmless in [
        "",
        "Enter your password: it must have 12 characters.",
        "Changes the password of user 7.",
        "password=***",
        "password=<redacted>",
        "password=[hidden]",
        "password=${DB_PASSWORD}",
        "PWD=/home/folake",
        "The bearer of this letter may enter.",
        "bearer authentication is required",
        "task-management-and-planning-2026",
        "sk-learn",
        "scikit-learn and sk-image",
        "Says -----BEGIN CERTIFICATE-----",
        "User confirmation received (reply_token rpl_4f8a2e7d9c1b6a3f).",
        "evt_8a3f5b22c91e4d7a3f5b22c91e4d7a3f5b22c91e4d7a3f5b22c91e4d7aA",
        "transfer_funds_between_accounts_of_the_same_customer_twice",
        "account_id: checking-7821",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "eyJ is how encoded JSON begins.",
        "version 1.2.3.4",
        "Ẹ ku àárọ̀. Ṣé o sun re?",
        "秘密",
        "token budget: 5000 tokens",
    ] {
        assert!(!is_secret(harmless), "{harmless}");
    }
}

#[test]
fn a_member_that_is_called_a_secret_holds_none() {
    for leaking in [json!({ "password": "tulip" }), json!([{ "x": { "CLIENT_SECRET": "tulip" } }])] {
        assert!(contains_secret(&leaking), "{leaking}");
    }
    for harmless in
        [json!({ "password": "***" }), json!({ "secret": true }), json!({ "password_changed": "yes" }), json!(null)]
    {
        assert!(!contains_secret(&harmless), "{harmless}");
    }
}
