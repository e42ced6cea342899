//! The receiver as a second judge: the library of Standard Webhooks, and HMACs of another implementation.

use countersign_protocol::time::UnixMillis;
use countersign_testkit::operator_host::Received;
use serde_json::{Map, Value, json};
use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Which signatures of a message verify with a secret: of Standard Webhooks, of AAP's header, and of the body member.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verified {
    pub(super) standard: bool,
    pub(super) header: bool,
    pub(super) member: bool,
}

pub(super) const ALL: Verified = Verified { standard: true, header: true, member: true };
pub(super) const NONE: Verified = Verified { standard: false, header: false, member: false };

pub(super) fn judge(message: &Received, secret: &str, now: UnixMillis) -> Verified {
    judge_body(message, &message.body, secret, now)
}

/// The same with another body under the same headers.
pub(super) fn judge_body(message: &Received, body: &[u8], secret: &str, now: UnixMillis) -> Verified {
    assert!(Path::new(ROOT).join("node_modules/standardwebhooks").exists(), "run ./test --prepare");
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (name.to_string(), Value::from(value.to_str().unwrap_or_default()))
    };
    let headers: Map<String, Value> = message.headers.iter().map(header).collect();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let question = json!({ "secret": secret, "headers": headers, "body": body, "now": now.0 });
    let mut node = Command::new("node");
    node.arg("tests/foreign/webhook.mjs").current_dir(ROOT).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = node.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{question}").unwrap();
    let said = child.wait_with_output().unwrap().stdout;
    let answer: Value = serde_json::from_slice(&said).unwrap();
    let is = |member: &str| answer[member].as_bool().unwrap();
    Verified { standard: is("standard"), header: is("header"), member: is("member") }
}
