//! An oracle in another language: a process with a line-based protocol.
//!
//! It ends when this process ends, however that happens, because its input pipe closes then.

use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Mutex,
};

pub struct ForeignJudge {
    name: &'static str,
    /// Held from a question to its answer, so no answer can be mistaken for another's. A failure in between poisons the
    /// lock: nobody may use an oracle that failed once.
    process: Mutex<ValidatorProcess>,
}

impl ForeignJudge {
    /// An oracle with these schemas.
    pub fn start(name: &'static str, mut program: Command, schemas: &[&Value]) -> Self {
        program.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.spawn().unwrap_or_else(|why| panic!("{name} is missing: run ./test --prepare ({why})"));
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut process = ValidatorProcess { name, child, to, from };
        assert_eq!(process.answer(&json!({ "schemas": schemas, "cases": [] })), [true; 0], "{name}");
        Self { name, process: Mutex::new(process) }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A verdict on each of these, `{ schema, document }`. Fails if the oracle does.
    #[track_caller]
    pub fn verdicts(&self, cases: &[Value]) -> Vec<bool> {
        let Ok(mut process) = self.process.lock() else { panic!("{} failed before", self.name) };
        let verdicts = process.answer(&json!({ "cases": cases }));
        assert_eq!(verdicts.len(), cases.len(), "{}: not a verdict a case", self.name);
        verdicts
    }
}

struct ValidatorProcess {
    name: &'static str,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl ValidatorProcess {
    /// The oracle reads a whole line before it writes one, so the two cannot deadlock.
    #[track_caller]
    fn answer(&mut self, question: &Value) -> Vec<bool> {
        let sent = self.to.write_all(format!("{question}\n").as_bytes());
        let mut line = String::new();
        let read = sent.and_then(|()| self.from.read_line(&mut line));
        if read.is_err() || !line.ends_with('\n') {
            let end = self.child.wait().map_or_else(|why| why.to_string(), |status| status.to_string());
            panic!("{} ended instead of answering: {end}, {read:?}; its words are above", self.name);
        }
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{} answered no verdicts: {why}: {line}", self.name))
    }
}
