//! Oracles for the documents of a session: the schemas, validated in Rust and JavaScript; the project's own verifier;
//! and an independent one in Python.

use crate::{
    Backend, Kit,
    aaep_judge::{load_schemas, root, schema_errors, validators},
    mplp_judge::{ajv, foreign::ForeignJudge},
};
use countersign_jose::KeyPolicy;
use countersign_jose::clarification::{
    ChainReport, Registry as Known, Wrong, check_attestation, check_audit, check_handoff, check_message, check_record,
};
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{LazyLock, Mutex},
};

/// Checks each response at once, and collects documents for the oracles in other languages.
pub struct Judges {
    kit: Kit,
    heard: Mutex<Vec<(Value, Value)>>,
}

impl Judges {
    pub fn of(kit: Kit) -> Self {
        Self { kit, heard: Mutex::default() }
    }

    /// Fails unless everything signed in a response can be verified with these keys.
    #[track_caller]
    pub fn check(&self, keys: &Value, answer: &Value) {
        assert_eq!(problems("keys", keys), [""; 0], "{keys:#}");
        for document in signed_in(answer) {
            let found = problems(kind_of(&document), &document);
            assert!(found.is_empty(), "no sound {}: {found:#?}\n{document:#}", kind_of(&document));
            if let Err(wrong) = proven(keys, &document) {
                panic!("cannot be proven: {wrong}\n{document:#}");
            }
            self.heard.lock().unwrap().push((keys.clone(), document));
        }
        if let Some(message) = answer.get("clarification") {
            assert_members_match(answer, message);
        }
    }
}

/// Runs the foreign oracles on drop, so that no test can forget it. One database is enough: the documents are the same.
impl Drop for Judges {
    fn drop(&mut self) {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap());
        if std::thread::panicking() || self.kit.0 != Backend::Sqlite {
            return;
        }
        for (keys, document) in &heard {
            assert_eq!(python_finds(Some(keys), document), None, "{document:#}");
        }
        let case = |(_, document): &(Value, Value)| json!({ "schema": id(kind_of(document)), "document": document });
        let cases: Vec<Value> = heard.iter().map(case).collect();
        let accepted = AJV.verdicts(&cases);
        assert!(accepted.iter().all(|accepted| *accepted), "ajv refuses one of {cases:#?}");
    }
}

/// The verifiable documents of a response.
fn signed_in(answer: &Value) -> Vec<Value> {
    if answer.get("clarification_chain").is_some() || answer.get("handoff_version").is_some() {
        return vec![answer.clone()];
    }
    ["clarification", "attestation"].into_iter().filter_map(|name| answer.get(name).cloned()).collect()
}

/// The members beside the message equal those in it (W-15).
#[track_caller]
fn assert_members_match(answer: &Value, message: &Value) {
    let pairs = [
        ("status", "status"),
        ("gaps", "gaps"),
        ("blocking_count", "blocking_gaps"),
        ("warning_count", "warning_gaps"),
        ("session_id", "session_id"),
    ];
    for (beside, signed) in pairs {
        assert_eq!(answer[beside], message[signed], "{beside}: {answer:#}");
    }
    let ids = |list: &Value, name: &str| -> Vec<Value> {
        list.as_array().expect("a list").iter().map(|item| item[name].clone()).collect()
    };
    assert_eq!(ids(&answer["asks"], "gap_id"), ids(&message["gaps"], "id"), "{answer:#}");
}

/// The result of the project's own verifier with an agent's published keys.
pub fn proven(keys: &Value, document: &Value) -> Result<ChainReport, Wrong> {
    let published = serde_json::from_value(keys.clone()).expect("published keys");
    let known = Known::new(KeyPolicy::default()).with(&published);
    match kind_of(document) {
        "audit" => check_audit(document, &known),
        "handoff" => check_handoff(document, &known),
        "attestation" => check_attestation(document, &known),
        "record" => check_record(document, &known),
        _ => check_message(document, &known),
    }
}

fn kind_of(document: &Value) -> &'static str {
    let kinds = [
        ("clarification_chain", "audit"),
        ("handoff_version", "handoff"),
        ("attestation_version", "attestation"),
        ("chain", "record"),
    ];
    kinds.into_iter().find(|(member, _)| document.get(member).is_some()).map_or("message", |(_, kind)| kind)
}

/// The errors of a document by the project's own schema: `keyword at /place`.
pub fn problems(name: &str, document: &Value) -> Vec<String> {
    schema_errors(OURS.get(name).expect("a schema of ours"), document)
}

static SCHEMAS: LazyLock<BTreeMap<String, Value>> =
    LazyLock::new(|| load_schemas(&root().join("docs/schemas/clarification"), ".json"));

static OURS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| validators(&SCHEMAS, Draft::Draft202012));

static AJV: LazyLock<ForeignJudge> =
    LazyLock::new(|| ForeignJudge::start("ajv by our schema", ajv(), &SCHEMAS.values().collect::<Vec<_>>()));

fn id(name: &str) -> &'static Value {
    &SCHEMAS[name]["$id"]
}

/// The place of the first flaw that the Python verifier finds, or `None`.
pub fn python_finds(keys: Option<&Value>, document: &Value) -> Option<String> {
    static PYTHON: LazyLock<Mutex<Verifier>> = LazyLock::new(|| Mutex::new(Verifier::start()));
    let mut question = json!({ "id": 1, "document": document.to_string() });
    if let Some(keys) = keys {
        question["keys"] = keys.clone();
    }
    let verdict = PYTHON.lock().expect("a verifier that did not fail before").answer(&question);
    match verdict["verdict"].as_str() {
        Some("ok") => {
            let expected = if keys.is_some() { "known key" } else { "integrity only" };
            assert_eq!(verdict["signed_by"], expected, "{verdict}");
            None
        }
        _ => Some(format!("{}: {}", verdict["place"].as_str().unwrap(), verdict["why"].as_str().unwrap())),
    }
}

/// One process for the lifetime of this one; it ends when its input pipe closes.
struct Verifier {
    _process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Verifier {
    fn start() -> Self {
        let mut python = Command::new(root().join(".venv/bin/python"));
        python.arg(root().join("tests/tools/verify_clarification.py")).arg("--serve");
        let child = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|why| panic!("Python is missing: run ./test --prepare ({why})"));
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { _process: child, to, from: BufReader::new(from) }
    }

    fn answer(&mut self, question: &Value) -> Value {
        self.to.write_all(format!("{question}\n").as_bytes()).expect("a verifier that listens");
        let mut line = String::new();
        self.from.read_line(&mut line).expect("a verifier that answers");
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("no verdict: {why}: {line:?}"))
    }
}
