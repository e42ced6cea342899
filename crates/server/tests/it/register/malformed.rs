//! Malformed tokens, each refused under the name of its member.

use super::support::{Ready, SQLITE, told, with};
use serde_json::json;

const MEMBERS: [(&str, &str); 3] = [
    ("operator_jwt", "operator_jwt_invalid"),
    ("delegation_token", "delegation_invalid"),
    ("consent_receipt", "consent_invalid"),
];

fn sound(ready: &Ready, member: &str) -> String {
    match member {
        "operator_jwt" => ready.plane.acme().sign_operator(&ready.operator_claims()),
        "delegation_token" => ready.connected.delegation_token.clone(),
        _ => ready.plane.acme().sign_receipt(&ready.receipt()),
    }
}

#[tokio::test]
async fn a_text_that_is_no_jwt_is_refused_in_every_place() {
    let ready = Ready::on(SQLITE).await;
    for (member, code) in MEMBERS {
        let sound = sound(&ready, member);
        let parts: Vec<&str> = sound.split('.').collect();
        let (header, payload, signature) = (parts[0], parts[1], parts[2]);
        let odd = [
            "x".to_owned(),
            "..".to_owned(),
            "a.b.c".to_owned(),
            "é.ü.ß".to_owned(),
            format!("{header}.{payload}"),
            format!("{header}.{payload}."),
            format!("{header}..{signature}"),
            format!(".{payload}.{signature}"),
            format!("{sound}."),
            format!("{sound}.{signature}"),
            format!("{sound}="),
            format!(" {sound}"),
            format!("{sound}\n"),
            format!("{header}.{payload}.{signature}{signature}"),
            format!("{payload}.{header}.{signature}"),
            format!("{header}.{header}.{signature}"),
            format!("Bearer {sound}"),
        ];
        for token in odd {
            let refusal = ready.refusal(&with(ready.body(), member, json!(token))).await;
            assert_eq!(refusal, told(401, code), "{member} {token:?}");
        }
        ready.register(&with(ready.body(), member, json!(sound))).await.expect(200);
    }
}
