//! `countersign serve` as a separate process, so that it can be killed.

use super::super::plane::trouble;
use crate::DemoFailure;
use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

pub(super) struct NodeProcess {
    child: Child,
    /// Kept open for as long as the process runs.
    said: BufReader<ChildStdout>,
}

impl NodeProcess {
    /// Returns when the node listens.
    pub(super) async fn serve(configuration: &Path, log: &Path) -> Result<Self, DemoFailure> {
        let binary = std::env::current_exe().map_err(trouble)?;
        let mut command = Command::new(binary);
        command.arg("--config").arg(configuration).arg("serve").env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(log).map_err(trouble)?);
        let started = tokio::task::spawn_blocking(move || Self::listening(command.spawn().map_err(trouble)?));
        let why = |failure: DemoFailure| failure.hint(std::fs::read_to_string(log).unwrap_or_default().trim());
        started.await.map_err(trouble)?.map_err(why)
    }

    fn listening(mut child: Child) -> Result<Self, DemoFailure> {
        let out = child.stdout.take().ok_or_else(|| DemoFailure::new("the node has no output"))?;
        let mut process = Self { child, said: BufReader::new(out) };
        let mut line = String::new();
        while !line.starts_with("stop it with") {
            line.clear();
            if process.said.read_line(&mut line).map_err(trouble)? == 0 {
                return Err(DemoFailure::new("the node did not start as a process of its own"));
            }
        }
        Ok(process)
    }

    /// SIGKILL: the node cannot flush or finish anything.
    pub(super) fn kill(mut self) -> Result<(), DemoFailure> {
        self.child.kill().map_err(trouble)?;
        self.child.wait().map(drop).map_err(trouble)
    }
}

/// The process must not outlive the demo.
impl Drop for NodeProcess {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
