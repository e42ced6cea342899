//! Repository-wide rules that no compiler checks.

mod arrows;
mod built;
mod documents;
mod imports;
mod licence;
mod recipes;
mod repository;
mod signatures;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The text of a file, by its path from the root.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn toml(path: &str) -> toml::Table {
    read(path).parse().unwrap_or_else(|why| panic!("{path}: {why}"))
}

/// The output of `cargo`; arguments are separated by spaces.
fn cargo(arguments: &str) -> String {
    output(env!("CARGO"), &arguments.split(' ').collect::<Vec<_>>())
}

/// The output of a command run at the root. It must succeed.
fn output(program: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program).args(arguments).current_dir(root()).output();
    let ran = ran.unwrap_or_else(|why| panic!("{program}: {why}"));
    assert!(ran.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// The files of the repository, including new ones, without ignored ones. A deleted file may still be listed.
fn files() -> Vec<String> {
    let listed = output(
        "git",
        // In containers the checkout may belong to another user.
        &["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    );
    let mut files: Vec<String> = listed.split_terminator('\0').map(String::from).collect();
    files.retain(|file| root().join(file).is_file());
    files.sort();
    files.dedup();
    assert!(files.iter().any(|file| file == "Cargo.toml"), "git lists no Cargo.toml");
    files
}

/// The folders below `crates/`, one per crate.
fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| root().join("crates").join(name).join("Cargo.toml").is_file());
    names.sort();
    names
}

/// Fails with all violations at once, one per line.
#[track_caller]
fn assert_none(rule: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}
