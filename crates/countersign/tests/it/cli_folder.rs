//! A folder for running the binary, and a node served from it.

use serde_json::Value;
use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
    sync::mpsc,
    time::Duration,
};

pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// A separate folder; the binary runs in it with an empty environment.
pub(crate) struct Folder(pub(crate) PathBuf);

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The environment of commands that need a password or start a node.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("COUNTERSIGN_PASSWORD", PASSWORD),
    ("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:0"),
    ("COUNTERSIGN_LISTEN__OPERATIONS", "127.0.0.1:0"),
];

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A folder with a configuration, a key and an empty database.
    pub(crate) fn ready(name: &str) -> Self {
        let folder = Self::new(name);
        folder.does("init");
        folder.does("project list");
        folder
    }

    /// A ready folder with the example project and alice as its admin.
    pub(crate) fn with_project(name: &str) -> Self {
        let folder = Self::ready(name);
        folder.does(&format!("project apply {}", example().display()));
        folder.does_as("user add alice --role admin --role user");
        folder
    }

    /// The same on a PostgreSQL database; `config` comes before the store's.
    pub(crate) fn with_project_on(name: &str, url: &str, config: &str) -> Self {
        let folder = Self::new(name);
        folder.configure_postgres(url, config);
        folder.does("init");
        folder.does(&format!("project apply {}", example().display()));
        folder
    }

    pub(crate) fn configure_postgres(&self, url: &str, config: &str) {
        self.write("countersign.toml", &format!("{config}[store]\nkind = \"postgres\"\nurl = \"{url}\"\n"));
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &str, environment: &[(&str, &str)]) -> Ran {
        self.run_words(&arguments.split_whitespace().collect::<Vec<_>>(), environment)
    }

    pub(crate) fn run_words(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        Ran::from(self.command(arguments, environment).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs a command with `input` as standard input.
    pub(crate) fn run_fed(&self, arguments: &str, input: &str) -> Ran {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let mut command = self.command(&arguments, &[]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap())
    }

    /// Runs a command that must succeed; returns its output.
    pub(crate) fn does(&self, arguments: &str) -> String {
        self.run(arguments).succeeded(arguments)
    }

    /// Like `does`, with a password in the environment.
    pub(crate) fn does_as(&self, arguments: &str) -> String {
        self.run_with(arguments, ENVIRONMENT).succeeded(arguments)
    }

    /// The `--json` output of a command.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.does(&format!("{arguments} --json"))).unwrap()
    }

    fn command(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments).current_dir(&self.0).env_clear().envs(environment.iter().copied());
        command
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    pub(crate) fn is_empty(&self) -> bool {
        fs::read_dir(&self.0).unwrap().next().is_none()
    }

    /// Whether any file contains these bytes: the database, its write-ahead log, the logs.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        files
            .map(|path| fs::read(path).unwrap())
            .any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    /// Starts a node on free ports, and returns when it is listening.
    pub(crate) fn serve(&self, environment: &[(&str, &str)]) -> Served {
        self.served_by(self.command(&["serve"], &[ENVIRONMENT, environment].concat()))
    }

    /// Starts a node with `--create`.
    pub(crate) fn serve_created(&self) -> Served {
        self.served_by(self.command(&["serve", "--create"], ENVIRONMENT))
    }

    /// Starts a node with a limit on open files.
    pub(crate) fn serve_with_files(&self, files: u32, environment: &[(&str, &str)]) -> Served {
        let mut command = Command::new("/bin/sh");
        let limited = format!("ulimit -n {files} && exec \"$0\" serve");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_countersign")]).current_dir(&self.0);
        command.env_clear().envs([ENVIRONMENT, environment].concat());
        self.served_by(command)
    }

    fn served_by(&self, mut command: Command) -> Served {
        let log = File::create(self.0.join("log")).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        Served::new(child, self.0.join("log"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The example project in the repository.
pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/calendar.toml").canonicalize().unwrap()
}

impl Ran {
    /// It failed with 1 and printed only errors.
    #[track_caller]
    pub(crate) fn refused(self) -> Self {
        assert_eq!((self.code, self.out.as_str()), (1, ""), "{}", self.err);
        self
    }

    /// It succeeded and printed no warning.
    #[track_caller]
    pub(crate) fn silent(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self
    }

    fn succeeded(self, arguments: &str) -> String {
        assert_eq!(self.code, 0, "{arguments}: {}", self.err);
        self.out
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A running node, killed on drop.
pub(crate) struct Served {
    child: Child,
    _out: BufReader<ChildStdout>,
    log: PathBuf,
    /// The startup announcement.
    pub(crate) said: String,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Served {
    fn new(mut child: Child, log: PathBuf) -> Self {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("stop it with") {
            let read = out.read_line(&mut said).unwrap();
            assert!(read > 0, "it did not start: {}", fs::read_to_string(&log).unwrap());
        }
        Self { child, _out: out, log, said }
    }

    fn address(&self, listener: &str) -> &str {
        self.said.lines().find_map(|line| line.strip_prefix(listener)?.strip_prefix(" listener: ")).unwrap()
    }

    /// The public origin to connect to.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address("public"))
    }

    /// Sends a request to the public listener.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        self.ask_at("public", method, path, headers, body)
    }

    pub(crate) fn ask_at(&self, listener: &str, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let headers = format!("Content-Type: application/json\r\n{headers}");
        self.send(listener, &format!("{method} {path}"), &headers, body)
    }

    /// Submits a form of one of the pages.
    pub(crate) fn post_form(&self, path: &str, headers: &str, form: &str) -> Answer {
        let headers = format!("Content-Type: application/x-www-form-urlencoded\r\n{headers}");
        self.send("public", &format!("POST {path}"), &headers, form)
    }

    fn send(&self, listener: &str, line: &str, headers: &str, body: &str) -> Answer {
        let mut stream = self.connect(listener);
        let length = body.len();
        let request = format!(
            "{line} HTTP/1.1\r\nHost: localhost:8420\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    #[expect(clippy::disallowed_methods, reason = "a test speaks to the node that it started")]
    pub(crate) fn connect(&self, listener: &str) -> TcpStream {
        TcpStream::connect(self.address(listener)).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the node, as in a power failure with an intact file system.
    pub(crate) fn dies(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the node gracefully; returns its exit code.
    pub(crate) fn stops(&mut self) -> i32 {
        self.signal("TERM");
        self.child.wait().unwrap().code().unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }

    /// Sends a signal and waits for the exit; returns the exit code and the log.
    pub(crate) fn ends_by(mut self, signal: &str) -> (i32, String) {
        self.signal(signal);
        let (ended, end) = mpsc::channel();
        let status = std::thread::scope(|scope| {
            let (id, child) = (self.child.id(), &mut self.child);
            scope.spawn(move || ended.send(child.wait().unwrap()).unwrap());
            end.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|_| {
                let _ = Command::new("sh").args(["-c", &format!("kill -KILL {id}")]).status();
                panic!("it did not end by {signal}")
            })
        });
        (status.code().unwrap(), fs::read_to_string(&self.log).unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }
}
