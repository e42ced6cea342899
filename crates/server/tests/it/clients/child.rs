//! A third-party program: started, read line by line, and ended on every exit.

use countersign_testkit::deadline::WAIT;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
};
use tokio::sync::mpsc;

pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::UnboundedReceiver<String>,
    said: Vec<String>,
}

impl Client {
    /// A program of the packages from PyPI.
    pub(super) fn python(program: &str, arguments: &[&str]) -> Self {
        let path = root().join(".venv/bin").join(program);
        assert!(path.exists(), "{} is missing: run ./test --prepare", path.display());
        Self::start(Command::new(path).args(arguments).env("PYTHONUNBUFFERED", "1").env("NO_COLOR", "1"))
    }

    /// The interpreter, with a folder that it searches for packages first.
    pub(super) fn python_with(packages: &Path, arguments: &[&str]) -> Self {
        let path = root().join(".venv/bin/python");
        assert!(path.exists(), "{} is missing: run ./test --prepare", path.display());
        Self::start(Command::new(path).args(arguments).env("PYTHONPATH", packages))
    }

    /// `aaep-listen`, printing each event as a line of JSON.
    pub(super) fn cli_debug(endpoint: &str, more: &[&str]) -> Self {
        Self::python("aaep-listen", &[&["--endpoint", endpoint, "--no-color", "--quiet"], more].concat())
    }

    /// The bridge to a screen reader, without the screen reader.
    pub(super) fn narrator(endpoint: &str, more: &[&str]) -> Self {
        Self::python("aaep-narrator-bridge", &[&["--endpoint", endpoint, "--mock"], more].concat())
    }

    /// The React component in a page of that origin.
    pub(super) fn react(endpoint: &str, origin: &str) -> Self {
        for package in ["@aaep/web-subscriber-react", "react-dom", "jsdom", "eventsource"] {
            let path = root().join("node_modules").join(package);
            assert!(path.exists(), "{} is missing: run ./test --prepare", path.display());
        }
        let given = json!({ "endpoint": endpoint, "origin": origin }).to_string();
        Self::start(Command::new("node").arg("tests/foreign/aaep-react.mjs").arg(given).env("NODE_ENV", "production"))
    }

    fn start(command: &mut Command) -> Self {
        let command = command.current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|why| panic!("{command:?} does not start: {why}"));
        let (tell, lines) = mpsc::unbounded_channel();
        listen(child.stdout.take().unwrap(), tell.clone());
        listen(child.stderr.take().unwrap(), tell);
        Self { input: child.stdin.take(), child, lines, said: Vec::new() }
    }

    /// Waits for a line with a meaning to the test; returns the meaning.
    pub(super) async fn says<T>(&mut self, what: &str, meaning: impl Fn(&str) -> Option<T>) -> T {
        let found = async {
            while let Some(line) = self.lines.recv().await {
                self.said.push(line.clone());
                if let Some(meant) = meaning(&line) {
                    return Some(meant);
                }
            }
            None
        };
        let found = tokio::time::timeout(WAIT, found).await.ok().flatten();
        found.unwrap_or_else(|| panic!("never said: {what}\n{}", self.said.join("\n")))
    }

    /// Waits for a line that contains these words.
    pub(super) async fn says_words(&mut self, words: &str) -> String {
        self.says(words, |line| line.contains(words).then(|| line.to_owned())).await
    }

    /// Waits for a line of JSON like this.
    pub(super) async fn says_json(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.says(what, |line| serde_json::from_str(line).ok().filter(&fits)).await
    }

    /// Waits for an event of this type, given by its name below `aaep:agent.`.
    pub(super) async fn hears(&mut self, name: &str) -> Value {
        let kind = format!("aaep:agent.{name}");
        // The React driver prints more than events, and marks events as such.
        let event = |line: Value| if line["event"].is_object() { line["event"].clone() } else { line };
        let meaning = |line: &str| serde_json::from_str(line).ok().map(event).filter(|event| event["type"] == kind);
        self.says(&kind, meaning).await
    }

    /// Types a line.
    pub(super) fn is_told(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits until it ends by itself; returns its whole output.
    pub(super) async fn ends(&mut self) -> (ExitStatus, String) {
        let over = async {
            while let Some(line) = self.lines.recv().await {
                self.said.push(line);
            }
        };
        let over = tokio::time::timeout(WAIT, over).await;
        assert!(over.is_ok(), "it does not end by itself:\n{}", self.said.join("\n"));
        (self.child.wait().unwrap(), self.said.join("\n"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ended_already = self.child.kill();
        let _ended = self.child.wait();
    }
}

fn listen(output: impl Read + Send + 'static, tell: mpsc::UnboundedSender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
