//! `countersign audit verify` and `bundle`, through the built binary.

use crate::cli_folder::Folder;

const BUNDLE: &str = include_str!("../../../../tests/data/evidence/bundle.json");

/// The keys of the log and of the witness in the fixture.
fn keys() -> [String; 2] {
    let bundle: serde_json::Value = serde_json::from_str(BUNDLE).unwrap();
    [bundle["key"].as_str().unwrap().to_owned(), bundle["witnesses"][0].as_str().unwrap().to_owned()]
}

#[test]
fn a_bundle_is_verified_without_any_service_and_tells_its_story() {
    let folder = Folder::new("bundle-verified");
    folder.write("bundle.json", BUNDLE);
    let [log, witness] = keys();
    let told = folder.does(&format!("audit verify bundle.json --key {log} --key {witness}"));
    for part in [
        "Proven by the log plane.example/evidence/acme of 301 entries, whose key you named.",
        "The witness w.example saw this log at 2026-04-24T",
        "[entry 4]  2026-05-04T09:00:00Z: The question ended as accepted, decided by alice",
        "[entries 3 and 9]  The claimed request is exactly the one that the question was about",
        "not that nothing else did",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert!(folder.does("audit verify bundle.json").contains("with the key in the file: compare it"));
    let report = folder.json("audit verify bundle.json");
    assert_eq!((&report["size"], &report["key_is_trusted"]), (&301.into(), &false.into()), "{report:#}");
}

#[test]
fn the_first_thing_wrong_with_a_bundle_is_named_and_the_exit_code_is_one() {
    let folder = Folder::new("bundle-refused");
    let [log, witness] = keys();
    let other = witness.replace("w.example", "v.example");
    for (name, text, arguments, error) in [
        ("digit", BUNDLE.replacen("82,000.00", "83,000.00", 1), String::new(), "document at documents[0]: "),
        ("cut", BUNDLE[..BUNDLE.len() / 2].to_owned(), String::new(), "not-json at bundle: "),
        (
            "version",
            BUNDLE.replacen("\"version\": 1", "\"version\": 2", 1),
            String::new(),
            "other-version at version: ",
        ),
        ("good", BUNDLE.to_owned(), format!("--key {}", log.replacen("plane", "plane2", 1)), "--key: the key's id"),
        ("good", BUNDLE.to_owned(), format!("--key {other}"), "--key: the key's id"),
    ] {
        folder.write(name, &text);
        let ran = folder.run(&format!("audit verify {name} {arguments}"));
        assert_eq!(ran.code, 1, "{name}: {}", ran.err);
        assert!(ran.err.contains(error), "{name}: {}", ran.err);
    }
    assert_eq!(folder.run("audit verify none.json").code, 1);
    assert_eq!(folder.run("audit bundle -o out.json").code, 2, "a bundle is about something");
}
