//! A child process speaking JSON lines, killed in any case.

use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

/// The timeout for a line. An interpreter starts slowly on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Program {
    pub(super) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap_or_else(|why| panic!("{command:?} does not start: {why}"));
        let out = BufReader::new(child.stdout.take().unwrap());
        let (to, lines) = mpsc::channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(to.send(line))));
        Self { input: child.stdin.take(), child, lines }
    }

    pub(super) fn is_told(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line, which must be JSON.
    pub(super) fn says(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|why| panic!("nothing more was said: {why}"));
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{line:?} is no JSON: {why}"))
    }

    pub(super) fn asks(&mut self, question: &Value) -> Value {
        self.is_told(&question.to_string());
        self.says()
    }

    /// Closes the input; returns the exit status and any further lines.
    pub(super) fn ends(mut self) -> (ExitStatus, Vec<String>) {
        drop(self.input.take());
        let mut more = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => more.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => return (self.child.wait().unwrap(), more),
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end: {more:?}"),
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended = self.child.wait();
    }
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file fetched by `./test --prepare`.
pub(super) fn brought(path: &str) -> PathBuf {
    let path = root().join(path);
    assert!(path.exists(), "{} is missing: run ./test --prepare", path.display());
    path
}
