//! One node: `countersign serve` as a process of its own, killed, stopped, starved and started again.

use super::{
    http::{self, Listener, Request},
    program,
};
use anyhow::{Context as _, bail};
use std::{
    io::{BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::sync::oneshot;

/// Longer than any start takes, also on a busy machine.
const START: Duration = Duration::from_secs(90);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Makes a full disk a write error, as usual, instead of a signal. The node ends with this program.
const SERVE: &str = r#"trap '' XFSZ; exec "$0" serve"#;

pub(super) struct SoakNode {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) public: Listener,
    pub(super) gateway: Listener,
    pub(super) operations: Listener,
    /// The file that sets its clock, if the run changes clocks.
    pub(super) clock: Option<Faketime>,
    child: Mutex<Option<Child>>,
    pid: AtomicU32,
}

pub(super) struct Faketime {
    pub(super) library: PathBuf,
    pub(super) file: PathBuf,
}

impl SoakNode {
    pub(super) fn new(name: String, folder: PathBuf, listeners: [Listener; 3], clock: Option<Faketime>) -> Self {
        let [public, gateway, operations] = listeners;
        Self { name, folder, public, gateway, operations, clock, child: Mutex::new(None), pid: AtomicU32::new(0) }
    }

    /// Returns when the node listens.
    pub(super) async fn start(&self) -> anyhow::Result<()> {
        let mut child = self.command()?.spawn().context("setpriv does not start: install the package `util-linux`")?;
        let (out, err) = (child.stdout.take().context("no output")?, child.stderr.take().context("no log")?);
        self.pid.store(child.id(), Ordering::SeqCst);
        *self.child() = Some(child);
        let (listening, listens) = oneshot::channel();
        std::thread::spawn(move || drain(out, listening));
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log())?;
        std::thread::spawn(move || copy(err, log));
        match tokio::time::timeout(START, listens).await {
            Ok(Ok(())) => Ok(()),
            _ => bail!("{} did not start; the end of its log:\n{}", self.name, self.end_of_log()),
        }
    }

    fn command(&self) -> anyhow::Result<Command> {
        // Only the death signal ends a node that lost this program. It is bound to the thread that started the node, which
        // lives as long as the runtime.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "sh", "-c", SERVE]).arg(program::countersign()?);
        command.current_dir(&self.folder).env_clear().env("PATH", "/usr/bin:/bin");
        if let Some(clock) = &self.clock {
            std::fs::write(&clock.file, "+0")?;
            command.env("LD_PRELOAD", &clock.library).env("FAKETIME_TIMESTAMP_FILE", &clock.file);
            command.envs([("FAKETIME_NO_CACHE", "1"), ("DONT_FAKE_MONOTONIC", "1"), ("FAKETIME_DISABLE_SHM", "1")]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid.load(Ordering::SeqCst)
    }

    /// SIGKILL: the node cannot flush or finish anything.
    pub(super) fn kill(&self) -> anyhow::Result<()> {
        let Some(mut child) = self.child().take() else { return Ok(()) };
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// Ends it in good order, like an operator; by force if that takes too long.
    pub(super) async fn stop(&self) -> anyhow::Result<()> {
        program::signal(self.pid(), "TERM")?;
        for _ in 0..200 {
            let ended = match self.child().as_mut() {
                Some(child) => child.try_wait()?.is_some(),
                None => true,
            };
            if ended {
                *self.child() = None;
                return Ok(());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        self.kill()
    }

    pub(super) fn signal(&self, name: &str) -> anyhow::Result<()> {
        program::signal(self.pid(), name)
    }

    pub(super) fn set_clock(&self, offset_s: f64) -> anyhow::Result<()> {
        let clock = self.clock.as_ref().context("this node has no clock that can be set")?;
        // Replaced atomically: a node that read half of the file would see another time.
        let next = clock.file.with_extension("next");
        std::fs::write(&next, format!("{offset_s:+}"))?;
        Ok(std::fs::rename(next, &clock.file)?)
    }

    pub(super) async fn is_ready(&self) -> bool {
        let asked = http::send(&self.operations, Request::get("/readyz"), Duration::from_secs(5)).await;
        asked.is_ok_and(|answer| answer.status == 200)
    }

    pub(super) async fn is_ready_within(&self, patience: Duration) -> bool {
        let ready = async {
            while !self.is_ready().await {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(patience, ready).await.is_ok()
    }

    /// In MiB; zero while it is not running.
    pub(super) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    pub(super) fn end_of_log(&self) -> String {
        end_of(&self.log())
    }
}

impl Drop for SoakNode {
    fn drop(&mut self) {
        let _ended = self.kill();
    }
}

/// Signals when the node listens; later output must not fill the pipe.
fn drain(out: impl Read, listening: oneshot::Sender<()>) {
    let mut lines = BufReader::new(out).lines().map_while(Result::ok);
    if lines.any(|line| line.starts_with("stop it with")) {
        let _heard = listening.send(());
        lines.for_each(drop);
    }
}

/// The log goes through this program: the node's full disk must not affect its log.
fn copy(mut from: impl Read, mut to: impl std::io::Write) {
    let _copied = std::io::copy(&mut from, &mut to);
}

fn end_of(log: &Path) -> String {
    let text = std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().skip(lines.len().saturating_sub(15)).copied().collect::<Vec<_>>().join("\n")
}
