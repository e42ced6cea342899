//! Built packages: licences, banned crates and banned features, with the lists of deny.toml.
//!
//! Uses `cargo tree` instead of `cargo metadata`, because the latter also lists crates that are only locked: cargo
//! locks weak dependencies (`ring?/alloc` of rustls-webpki) that no build contains.

use super::{assert_none, cargo, licence, toml};
use std::collections::BTreeSet;

/// A package in any build of the workspace, on any platform, including tests and build scripts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Built {
    name: String,
    licence: String,
    features: Vec<String>,
}

#[test]
fn every_licence_is_on_the_list() {
    let deny = toml("deny.toml");
    let allowed = strings(&deny["licenses"]["allow"]);
    let strays = built().into_iter().filter(|package| !licence::satisfied(&package.licence, &allowed));
    let strays: Vec<_> = strays.map(|package| format!("{}: {:?}", package.name, package.licence)).collect();
    assert_none("licences that deny.toml does not allow", &strays);
}

#[test]
fn no_banned_crate_is_built() {
    let deny = toml("deny.toml");
    let banned: Vec<_> = deny["bans"]["deny"].as_array().unwrap().iter().map(|ban| text(&ban["crate"])).collect();
    for expected in ["ring", "openssl", "openssl-sys", "native-tls"] {
        assert!(banned.contains(&expected), "deny.toml no longer bans {expected}");
    }
    let strays = built().into_iter().filter(|package| banned.contains(&package.name.as_str()));
    assert_none("banned crates", &strays.map(|package| package.name).collect::<Vec<_>>());
}

#[test]
fn no_banned_feature_is_switched_on() {
    let deny = toml("deny.toml");
    let built = built();
    assert!(built.iter().any(|package| package.name == "serde_json"), "cargo tree shows no serde_json");
    let mut offences = Vec::new();
    for ban in deny["bans"]["features"].as_array().unwrap() {
        let banned = strings(&ban["deny"]);
        for package in built.iter().filter(|package| package.name == text(&ban["crate"])) {
            let strays = package.features.iter().filter(|feature| banned.contains(&feature.as_str()));
            offences.extend(strays.map(|feature| format!("{}/{feature}", package.name)));
        }
    }
    assert_none("banned features", &offences);
}

fn built() -> BTreeSet<Built> {
    let whole = "--workspace --all-features --target all --edges normal,build,dev";
    let tree = cargo(&format!("tree --locked {whole} --prefix none --format {{p}}|{{l}}|{{f}}"));
    tree.lines().filter(|line| !line.is_empty()).map(parse).collect()
}

/// `serde v1.0.0 (proc-macro)|MIT OR Apache-2.0|default,derive (*)`
fn parse(line: &str) -> Built {
    let fields: Vec<_> = line.trim_end_matches(" (*)").split('|').collect();
    let [package, licence, features] = fields[..] else { panic!("cargo tree prints {line:?}") };
    let name = package.split(' ').next().unwrap().to_owned();
    Built { name, licence: licence.to_owned(), features: features.split(',').map(String::from).collect() }
}

fn strings(list: &toml::Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(text).collect()
}

fn text(value: &toml::Value) -> &str {
    value.as_str().unwrap()
}
