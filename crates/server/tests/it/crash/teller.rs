//! The process that plays the story until it is killed. It prints each step before it starts, and each response.

use super::{
    cast::{Cast, Known, Questions, Script, next_question},
    story::{Act, STORY, Step},
};
use countersign_testkit::{Backend, Kit, faulty_store::CrashPoint, leaks::Folder};
use serde::{Deserialize, Serialize};
use std::{
    io::Write as _,
    os::unix::process::ExitStatusExt as _,
    process::{Command, Output, Stdio},
    time::Duration,
};

/// The environment variable that makes a process the teller and names its script.
const SCRIPT: &str = "COUNTERSIGN_TEST_STORY";
/// The time limit of a wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// The teller starts this long after the database was made.
pub(super) const BEGINS_S: i64 = 10;

/// A line that the teller writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Line {
    Begins(usize),
    /// Its number, and the state of the question at that point.
    Done(usize, Known),
}

/// Alone it plays the whole story; with a script in the environment it is another process's teller.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_story_runs_to_its_end() {
    match script() {
        Some(script) => tokio::time::timeout(PATIENCE, tell(&script, say)).await.expect("the story goes on"),
        None => {
            let folder = Folder::make();
            let (place, _kept) = Kit(Backend::Sqlite).readable_location().await;
            tell(&Script::written(Kit(Backend::Sqlite), place, folder.path()).await, |_| {}).await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what a process of ours is started for is said by its environment")]
fn script() -> Option<Script> {
    let script = std::env::var(SCRIPT).ok()?;
    Some(serde_json::from_str(&script).expect("a script"))
}

async fn tell(script: &Script, say: impl Fn(&Line)) {
    let cast = script.cast(BEGINS_S, 2).await;
    let mut known = Questions::new();
    let mut heard = cast.alice.opens_stream(&cast.plane).await;
    for (number, step) in STORY.iter().enumerate() {
        say(&Line::Begins(number));
        let done = done(&cast, *step, &known, &mut heard).await;
        say(&Line::Done(number, done.clone()));
        known.insert(step.1.to_owned(), done);
    }
}

/// Performs a step and waits for its effect: the effect of a reply is not in its response.
async fn done(
    cast: &Cast,
    step: Step,
    known: &Questions,
    heard: &mut countersign_testkit::aaep::ReceivedEvents,
) -> Known {
    let answer = cast.does(step, known).await;
    assert!(answer.is_success(), "{step:?}: {}", answer.text());
    if step.0 == Act::Raise {
        return Known { decision: answer.json(), event: next_question(heard).await };
    }
    let before = &known[step.1];
    Known { decision: cast.looks(&before.decision).await, event: before.event.clone() }
}

/// Writes at once, past the test harness's capture of output.
fn say(line: &Line) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{}\n", serde_json::to_string(line).unwrap()).as_bytes()).unwrap();
    out.flush().unwrap();
}

/// The lines of a teller before it was killed.
pub(super) struct Told {
    pub(super) lines: Vec<Line>,
    /// False if the story ended before the kill.
    pub(super) killed: bool,
}

impl Told {
    /// Plays the story in another process.
    pub(super) async fn by_another(script: &Script, doom: CrashPoint) -> Self {
        let script = serde_json::to_string(&Script { doom: Some(doom), ..script.clone() }).unwrap();
        let run = move || {
            let us = std::env::current_exe().expect("this test binary");
            let name = concat!(module_path!(), "::the_story_runs_to_its_end");
            let name = name.split_once("::").expect("a path").1;
            let mut command = Command::new(us);
            command.args(["--exact", name, "--nocapture"]).env(SCRIPT, script).stdin(Stdio::null());
            command.output().expect("a process")
        };
        Self::from(&tokio::task::spawn_blocking(run).await.expect("a process"))
    }

    fn from(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let killed = output.status.signal() == Some(9);
        let said = || format!("{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(killed || output.status.success(), "{}: {}", output.status, said());
        Self { lines, killed }
    }
}
