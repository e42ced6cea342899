//! A library in another language, asked over its standard input and output.

use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// One process of `tests/foreign/judge.*`. It ends with its input.
pub(crate) struct Judge {
    pub(crate) name: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Judge {
    pub(crate) fn all() -> [Self; 2] {
        [Self::jose(), Self::joserfc()]
    }

    fn jose() -> Self {
        needs("node_modules/jose");
        Self::start("jose", Command::new("node").arg("tests/foreign/judge.mjs"))
    }

    fn joserfc() -> Self {
        needs(".venv/bin/python");
        let python = Path::new(ROOT).join(".venv/bin/python");
        // It warns of algorithms that these tests use to be refused.
        Self::start("joserfc", Command::new(python).args(["-W", "ignore", "tests/foreign/judge.py"]))
    }

    fn start(name: &'static str, command: &mut Command) -> Self {
        let command = command.current_dir(ROOT).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|why| panic!("{name} does not start ({why}): run ./test --prepare"));
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { name, child, input, output }
    }

    /// A key pair for an algorithm: the public and the private key.
    pub(crate) fn keys(&mut self, alg: &str, kid: &str) -> (Value, Value) {
        let answer = self.ask(&json!({ "do": "keys", "alg": alg, "kid": kid }));
        (self.given(&answer, "public"), self.given(&answer, "private"))
    }

    pub(crate) fn sign(&mut self, key: &Value, header: &Value, claims: &Value) -> String {
        let answer = self.ask(&json!({ "do": "sign", "key": key, "header": header, "claims": claims }));
        self.given(&answer, "jwt").as_str().unwrap().to_owned()
    }

    /// The whole result of a verification: `claims` and `header`, or `refused`.
    pub(crate) fn verify(&mut self, jwks: &Value, jwt: &str, expected: Value) -> Value {
        let mut question = expected;
        question["do"] = json!("verify");
        (question["jwks"], question["jwt"]) = (jwks.clone(), json!(jwt));
        self.ask(&question)
    }

    pub(crate) fn thumbprint(&mut self, key: &Value) -> Value {
        let answer = self.ask(&json!({ "do": "thumbprint", "key": key }));
        self.given(&answer, "thumbprint")
    }

    fn given(&self, answer: &Value, member: &str) -> Value {
        let value = answer.get(member).cloned();
        value.unwrap_or_else(|| panic!("{}: {answer}", self.name))
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{question}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{} says {line:?} ({why})", self.name))
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

fn needs(path: &str) {
    assert!(Path::new(ROOT).join(path).exists(), "{path} is missing: run ./test --prepare");
}
