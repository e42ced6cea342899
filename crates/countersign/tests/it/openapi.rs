//! The committed OpenAPI description: generated from the code, and valid for an independent validator.

use serde_json::Value;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn committed() -> Vec<u8> {
    fs::read(root().join("docs/openapi.json")).unwrap()
}

#[test]
fn the_committed_openapi_document_is_the_one_that_the_code_describes() {
    let described = Command::new(env!("CARGO_BIN_EXE_countersign")).arg("openapi").output().unwrap().stdout;
    assert!(described == committed(), "run: cargo run -q -- openapi > docs/openapi.json");
}

#[test]
fn the_openapi_document_is_sound_by_the_published_schema_of_openapi() {
    let package = root().join("node_modules/@seriousme/openapi-schema-validator");
    assert!(package.exists(), "{} is missing: run ./test --prepare", package.display());
    assert_eq!(verdict(&committed())["valid"], true, "{}", verdict(&committed()));
    let mut broken: Value = serde_json::from_slice(&committed()).unwrap();
    broken["paths"]["/v1/confirmations"]["post"]["responses"] = Value::Null;
    assert_eq!(verdict(broken.to_string().as_bytes())["valid"], false, "a judge that accepts everything is none");
}

fn verdict(document: &[u8]) -> Value {
    let mut judge = Command::new("node")
        .arg("tests/tools/judge-openapi.mjs")
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    judge.stdin.take().unwrap().write_all(document).unwrap();
    let out = judge.wait_with_output().unwrap();
    assert!(out.status.success(), "the judge failed");
    let verdict: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(verdict["version"], "3.1");
    verdict
}
