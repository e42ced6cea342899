//! The main job, as the README promises it.

use std::process::Command;

#[test]
fn the_scripted_demo_keeps_every_promise_and_ends_with_success() {
    let demo = Command::new(env!("CARGO_BIN_EXE_countersign")).args(["demo", "--scripted"]).output().unwrap();
    let told = String::from_utf8_lossy(&demo.stdout);
    assert!(demo.status.success(), "{told}\n{}", String::from_utf8_lossy(&demo.stderr));
    assert!(told.ends_with("Everything was as promised.\n"), "{told}");
    assert!(!told.contains('\u{1b}'), "nothing is said by colour alone");
}

#[test]
fn the_committed_openapi_document_is_the_one_that_the_code_describes() {
    let described = Command::new(env!("CARGO_BIN_EXE_countersign")).arg("openapi").output().unwrap().stdout;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let committed = std::fs::read(path).unwrap();
    assert!(described == committed, "run: cargo run -q -- openapi > docs/openapi.json");
}
