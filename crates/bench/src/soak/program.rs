//! The programs of a soak: `countersign` beside this one, and a few Debian tools for the faults.

use anyhow::{Context as _, bail, ensure};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

pub(super) const PASSWORD: &str = "correct horse battery staple";

/// The binary of the same build, beside this one.
pub(super) fn countersign() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name(format!("countersign{}", std::env::consts::EXE_SUFFIX));
    ensure!(
        program.is_file(),
        "{} is missing: build it in the same profile, `cargo build [--release] -p countersign`",
        program.display()
    );
    Ok(program)
}

/// Runs a command in the folder of a node; returns its output.
pub(super) fn run(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new(countersign()?);
    command.args(arguments).current_dir(folder).env_clear().env("COUNTERSIGN_PASSWORD", PASSWORD);
    let ran = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "countersign {}: {}", arguments.join(" "), said.trim());
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// The same without blocking the runtime.
pub(super) async fn run_aside(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let folder = folder.to_owned();
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let run = move || run(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(run).await?
}

/// Sends a signal to a process that this program started.
pub(super) fn signal(pid: u32, name: &str) -> anyhow::Result<()> {
    tool("kill", "procps", &[&format!("-{name}"), &pid.to_string()])
}

/// Limits the size of a process's files from now on.
pub(super) fn limit_files(pid: u32, bytes: Option<u64>) -> anyhow::Result<()> {
    let limit = bytes.map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string());
    tool("prlimit", "util-linux", &["--pid", &pid.to_string(), &format!("--fsize={limit}:")])
}

fn tool(name: &str, package: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let ran = Command::new(name).args(arguments).stdin(Stdio::null()).output();
    let ran = ran.with_context(|| missing(name, package))?;
    ensure!(ran.status.success(), "{name} {}: {}", arguments.join(" "), String::from_utf8_lossy(&ran.stderr).trim());
    Ok(())
}

/// The library that gives a process another clock.
pub(super) fn faketime() -> anyhow::Result<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib")?.flatten().map(|entry| entry.path());
    let mut found = folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1")).filter(|file| file.is_file());
    found.next().with_context(|| {
        format!("{}; or leave clock steps out: --faults kill,stop,…", missing("libfaketimeMT.so.1", "faketime"))
    })
}

/// Reports missing tools before the run begins.
pub(super) fn needs(tools: &[(&str, &str)]) -> anyhow::Result<()> {
    for (name, package) in tools {
        let found =
            ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"].map(|folder| Path::new(folder).join(name));
        if !found.iter().any(|file| file.is_file()) {
            bail!(missing(name, package));
        }
    }
    Ok(())
}

fn missing(name: &str, package: &str) -> String {
    format!("{name} is missing: install the Debian package `{package}`")
}
