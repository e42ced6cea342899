//! Repository files: lints, migrations, and no reference to a particular machine.

use super::{assert_none, crates, files, read, root, toml};
use std::{collections::BTreeMap, fs};

#[test]
fn every_crate_inherits_the_lints_of_the_workspace() {
    let inherits = |name: &String| {
        let manifest = toml(&format!("crates/{name}/Cargo.toml"));
        manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(|on| on.as_bool()) == Some(true)
    };
    let strays: Vec<_> = crates().into_iter().filter(|name| !inherits(name)).collect();
    assert_none("crates without `[lints] workspace = true`", &strays);
}

#[test]
fn both_databases_have_the_same_migrations() {
    let (sqlite, postgres) = (migrations("sqlite"), migrations("postgres"));
    assert!(!sqlite.is_empty(), "no migrations");
    assert_eq!(sqlite, postgres);
}

/// Version → name of `V1__name.sql`.
fn migrations(dialect: &str) -> BTreeMap<u32, String> {
    let folder = root().join("crates/engine/migrations").join(dialect);
    let entries = fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let migrations: BTreeMap<u32, String> = names.iter().map(|name| migration(name)).collect();
    assert_eq!(names.len(), migrations.len(), "two migrations of {dialect} have one version: {names:?}");
    migrations
}

fn migration(file: &str) -> (u32, String) {
    let parts =
        file.strip_prefix('V').and_then(|rest| rest.strip_suffix(".sql")).and_then(|rest| rest.split_once("__"));
    let (version, name) = parts.unwrap_or_else(|| panic!("{file} is not named V<number>__<name>.sql"));
    (version.parse().unwrap_or_else(|why| panic!("{file}: {why}")), name.to_owned())
}

/// A lock file with a host name works only where that host is reachable.
#[test]
fn no_file_names_a_registry_host_or_the_place_it_was_written_at() {
    // Assembled here, so that this file does not contain the forbidden names.
    let dot = |parts: &[&str]| parts.join(".");
    let hosts = [
        dot(&["registry", "npmjs", "org"]),
        dot(&["registry", "yarnpkg", "com"]),
        dot(&["pypi", "org"]),
        dot(&["pythonhosted", "org"]),
        dot(&["index", "crates", "io"]),
        dot(&["static", "crates", "io"]),
        dot(&["deb", "debian", "org"]),
    ];
    let beside = ["..", "shared"].join("/");
    let places = [["", "work", ""].join("/"), ["", "root", ""].join("/")];
    let mut offences = Vec::new();
    for (file, text) in texts() {
        let named = hosts.iter().chain(&places).filter(|needle| names(&text, needle));
        offences.extend(named.map(|needle| format!("{file} names {needle}")));
        if file != ".ci/run" && text.contains(&beside) {
            offences.push(format!("{file} names {beside}"));
        }
    }
    assert_none("names that mean something in one place only", &offences);
}

/// A path reference begins with the needle; further inside, the same letters are just a folder or a route.
fn names(text: &str, needle: &str) -> bool {
    let begins =
        |at: usize| !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || "-_.*}".contains(before));
    text.match_indices(needle).any(|(at, _)| begins(at))
}

#[test]
fn the_lock_files_name_packages_and_never_their_source() {
    let cargo = toml("Cargo.lock");
    let packages = cargo["package"].as_array().unwrap();
    let sources = packages.iter().filter_map(|package| package.get("source")).map(|source| source.as_str().unwrap());
    let strays: Vec<_> =
        sources.filter(|source| *source != "registry+https://github.com/rust-lang/crates.io-index").collect();
    assert!(strays.is_empty(), "Cargo.lock: {strays:?}");
    assert!(!read("package-lock.json").contains("\"resolved\""), "package-lock.json: delete the `resolved` members");
    assert!(!read("tests/tools/requirements.txt").contains("://"), "requirements.txt names a host");
    assert!(!read(".cargo/config.toml").contains("[source"), ".cargo/config.toml replaces a source");
}

/// All text files with their content.
fn texts() -> impl Iterator<Item = (String, String)> {
    files().into_iter().filter_map(|file| {
        let bytes = fs::read(root().join(&file)).unwrap();
        String::from_utf8(bytes).ok().map(|text| (file, text))
    })
}
