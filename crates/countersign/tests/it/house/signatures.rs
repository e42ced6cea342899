//! Signatures are the work of maintained libraries, used in one crate.

use super::{assert_none, cargo, crates, files, read, toml};

const LIBRARIES: [&str; 2] = ["jsonwebtoken", "aws-lc-rs"];

/// Libraries for signatures, besides aws-lc-rs, which has other uses as well: nothing but `jose` depends on them.
const FOR_SIGNATURES: [&str; 7] = ["ecdsa", "ed25519-dalek", "jsonwebtoken", "k256", "p256", "p384", "rsa"];

/// Numbers and points with which signatures could be computed by hand: nothing depends on them.
const ARITHMETIC: [&str; 5] = ["crypto-bigint", "curve25519-dalek", "elliptic-curve", "num-bigint", "num-integer"];

/// The only places that may sign and verify; the demo's bank is a service of somebody else.
const SIGNING: [&str; 2] = ["crates/jose/src/", "crates/demo/src/bank/"];

/// AAP-G-35
#[test]
fn signatures_are_verified_by_locked_libraries_of_one_crate() {
    let lock = toml("Cargo.lock");
    let linked = cargo("tree --locked -p countersign-jose --edges normal --depth 1 --prefix none --format {p}");
    for library in LIBRARIES {
        let locked =
            lock["package"].as_array().unwrap().iter().find(|package| package["name"].as_str() == Some(library));
        let source = locked.and_then(|package| package.get("source")?.as_str()).unwrap_or_default();
        assert!(source.starts_with("registry+"), "{library} is no locked release: {source:?}");
        assert!(linked.lines().any(|line| line.starts_with(&format!("{library} v"))), "jose does not link {library}");
    }
    assert!(
        read("crates/jose/src/jwk.rs").contains("DEFAULT_PROVIDER.verifier_factory"),
        "jose verifies with jsonwebtoken"
    );
    let sources = files()
        .into_iter()
        .filter(|file| file.starts_with("crates/") && file.contains("/src/") && file.ends_with(".rs"));
    let ours = sources.filter(|file| !file.starts_with("crates/testkit/") && !file.starts_with("crates/bench/"));
    let elsewhere = ours.filter(|file| !SIGNING.iter().any(|place| file.starts_with(place)));
    let strays = elsewhere.filter(|file| {
        let text = read(file);
        text.contains("aws_lc_rs::signature") || text.contains("jsonwebtoken::") || text.contains("ed25519_dalek")
    });
    assert_none("signatures outside the crate for them", &strays.collect::<Vec<_>>());
}

/// AAP-G-35
#[test]
fn only_the_crate_for_signatures_has_their_libraries_and_none_has_arithmetic() {
    let mut strays = Vec::new();
    for name in crates() {
        let manifest = toml(&format!("crates/{name}/Cargo.toml"));
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
        let stray = |dependency: &str| {
            ARITHMETIC.contains(&dependency) || (name != "jose" && FOR_SIGNATURES.contains(&dependency))
        };
        let found = dependencies.filter(|(dependency, _)| stray(dependency));
        strays.extend(found.map(|(dependency, _)| format!("{name} -> {dependency}")));
    }
    assert_none("dependencies for signatures", &strays);
}
