//! The packages for other languages (`clients`): their own tests, against the built binary.

use std::{path::Path, process::Command};

/// Runs a program in a folder below the root, with the binary to test. Programs with a slash come from `./test --prepare`.
fn passes(folder: &str, program: &str, arguments: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let program = if program.contains('/') { root.join(program) } else { program.into() };
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(root.join(folder)).env("COUNTERSIGN_BINARY", env!("CARGO_BIN_EXE_countersign"));
    let ran = command.output().unwrap_or_else(|why| panic!("{}: {why}: run ./test --prepare", program.display()));
    let said = |output: &[u8]| String::from_utf8_lossy(output).into_owned();
    assert!(ran.status.success(), "{}\n{}", said(&ran.stdout), said(&ran.stderr));
}

///
#[test]
fn the_python_package_passes_its_tests() {
    passes("clients/python", ".venv/bin/python", &["-m", "pytest"]);
}

///
#[test]
fn the_typescript_package_is_built_and_passes_its_tests() {
    passes("clients/typescript", "node", &["../../node_modules/typescript/bin/tsc", "-p", "."]);
    passes("clients/typescript", "node", &["--test", "--test-timeout=300000"]);
}
