//! Processes of a run: pinned to a core, and ended with it.

use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

/// Contenders share this core one after the other; the generator and the upstream have the other.
pub(super) const CONTENDERS: &str = "0";
pub(super) const GENERATOR: &str = "1";

/// A process that prints one line of JSON when it is ready, and ends when its input closes.
pub(super) struct ContenderProcess {
    child: Child,
    input: Option<ChildStdin>,
    /// The command that ends it, where closing its input does not.
    end: Option<Command>,
}

impl ContenderProcess {
    /// Runs a command on the contenders' core.
    pub(super) fn start<T: DeserializeOwned>(name: &str, command: &[&str]) -> anyhow::Result<(Self, T)> {
        let mut child = spawn(command)?;
        let mut output = BufReader::new(child.stdout.take().context("no output")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let input = child.stdin.take();
        // Later output must not fill the pipe.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        let process = Self { child, input, end: None };
        let told = serde_json::from_str(&line).with_context(|| format!("{name} did not start, it said {line:?}"))?;
        Ok((process, told))
    }

    /// Runs this program in another role, under another program if one is given.
    pub(super) fn own<T: DeserializeOwned>(
        under: &[&str],
        part: &str,
        task: &impl serde::Serialize,
    ) -> anyhow::Result<(Self, T)> {
        let program = std::env::current_exe()?;
        let program = program.to_str().context("the program's path is not UTF-8")?;
        let task = serde_json::to_string(task)?;
        Self::start(part, &[under, &[program, "gateway-part", part, &task]].concat())
    }

    /// A process that prints nothing, and is ended by another command.
    pub(super) fn silent(command: &[&str], end: Command) -> anyhow::Result<Self> {
        Ok(Self { child: spawn(command)?, input: None, end: Some(end) })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ContenderProcess {
    fn drop(&mut self) {
        drop(self.input.take());
        let _told = self.end.as_mut().map(Command::output);
        let _ended = self.child.wait();
    }
}

fn spawn(command: &[&str]) -> anyhow::Result<Child> {
    Command::new("taskset")
        .args(["-c", CONTENDERS])
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("taskset does not start: install the Debian package `util-linux`")
}

/// Pins this process to the generator's core. Only later children inherit it, so this comes first.
pub(super) fn take_the_other_core() -> anyhow::Result<()> {
    ensure!(std::thread::available_parallelism()?.get() >= 2, "this benchmark needs two cores: one for the generator");
    let pid = std::process::id().to_string();
    let pinned = Command::new("taskset").args(["-c", "-p", GENERATOR, &pid]).output();
    let pinned = pinned.context("taskset does not start: install the Debian package `util-linux`")?;
    ensure!(pinned.status.success(), "taskset: {}", String::from_utf8_lossy(&pinned.stderr));
    Ok(())
}

/// The process and all of its descendants.
pub(crate) fn tree(roots: &[u32]) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, parent(&entry.path())?)))
        .collect();
    let mut all = roots.to_vec();
    let mut next = 0;
    while let Some(pid) = all.get(next).copied() {
        all.extend(parents.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child));
        next += 1;
    }
    all
}

/// The fourth field of `stat`, after a name in parentheses that may contain anything.
fn parent(process: &Path) -> Option<u32> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Resident memory of all of them; shared pages are counted for each.
pub(crate) fn memory_mib(processes: &[u32]) -> f64 {
    let resident = |pid: &u32| -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    };
    processes.iter().filter_map(resident).sum::<f64>() / 1024.0
}
