//! Oracles for MPLP documents: the schemas in `docs/schemas/mplp` and, where `COUNTERSIGN_PUBLISHED_SPEC` names their
//! folder, the published ones; both read by validators in Rust, JavaScript and Python.

use crate::aaep_judge::{load_schemas, published as published_aaep, root, schema_errors, validators};
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf, process::Command, sync::LazyLock};

/// The path is explicit because tests without the testkit include this file by its own path.
#[path = "mplp_judge/foreign.rs"]
pub mod foreign;
use foreign::ForeignJudge;

/// The project's names of the schemas, and those of their published twins.
pub const SCHEMAS: [(&str, &str); 11] = [
    ("confirm", "mplp-confirm"),
    ("plan", "mplp-plan"),
    ("trace", "mplp-trace"),
    ("role", "mplp-role"),
    ("event", "events"),
    ("bus-event", "mplp-event-core"),
    ("pipeline-stage", "mplp-pipeline-stage-event"),
    ("graph-update", "mplp-graph-update-event"),
    ("runtime-execution", "mplp-runtime-execution-event"),
    ("learning-sample", "mplp-learning-sample-core"),
    ("learning-sample-intent", "mplp-learning-sample-intent"),
];

/// Fails unless every available oracle accepts each document under the schema named before it.
#[track_caller]
pub fn judge(documents: &[(&str, Value)]) {
    for (name, document) in documents {
        let found = [problems(name, document), published_problems(name, document)].concat();
        assert!(found.is_empty(), "no sound {name}: {found:#?}\n{document:#}");
    }
    for (judge, verdicts) in foreign_verdicts(documents) {
        for ((name, document), accepted) in documents.iter().zip(verdicts) {
            assert!(accepted, "no sound {name}, says {judge}\n{document:#}");
        }
    }
}

/// The errors of a document by the project's own schema: `keyword at /place`.
pub fn problems(name: &str, document: &Value) -> Vec<String> {
    static OURS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| validators(&schemas(), Draft::Draft7));
    match OURS.get(name) {
        Some(schema) => schema_errors(schema, document),
        None => vec![format!("there is no schema of the name {name}")],
    }
}

/// The errors by its published twin; empty if not available.
pub fn published_problems(name: &str, document: &Value) -> Vec<String> {
    static PUBLISHED: LazyLock<BTreeMap<String, Validator>> =
        LazyLock::new(|| validators(&published_schemas(), Draft::Draft7));
    let problems = PUBLISHED.get(twin(name)).map(|schema| schema_errors(schema, document)).unwrap_or_default();
    problems.into_iter().map(|problem| format!("published: {problem}")).collect()
}

/// The verdicts of ajv and Python's jsonschema on each document: by the project's own schema, and by the published one
/// if available.
pub fn foreign_verdicts(documents: &[(&str, Value)]) -> Vec<(&'static str, Vec<bool>)> {
    static PUBLISHED: LazyLock<Bench> = LazyLock::new(|| {
        let names = ["ajv by the published schema", "jsonschema of Python by the published schema"];
        Bench::by(published_schemas(), names)
    });
    let mut verdicts = foreign_verdicts_by_ours(documents);
    if published().is_some() {
        verdicts.extend(PUBLISHED.verdicts(documents, twin));
    }
    verdicts
}

/// Their verdicts by the project's own schema alone.
pub fn foreign_verdicts_by_ours(documents: &[(&str, Value)]) -> Vec<(&'static str, Vec<bool>)> {
    static OURS: LazyLock<Bench> =
        LazyLock::new(|| Bench::by(schemas(), ["ajv by our schema", "jsonschema of Python by our schema"]));
    OURS.verdicts(documents, |name| name)
}

/// The project's own schemas by name.
pub fn schemas() -> BTreeMap<String, Value> {
    load_schemas(&root().join("docs/schemas/mplp"), ".json")
}

/// The published schemas by their own names; empty if not available.
pub fn published_schemas() -> BTreeMap<String, Value> {
    let Some(folder) = published() else { return BTreeMap::new() };
    ["", "common", "events", "learning"]
        .into_iter()
        .flat_map(|name| load_schemas(&folder.join(name), ".schema.json"))
        .collect()
}

pub fn published() -> Option<PathBuf> {
    published_aaep().map(|folder| folder.with_file_name("mplp"))
}

fn twin(name: &str) -> &str {
    SCHEMAS.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, published)| published)
}

/// One process per language for the lifetime of this process: starting them for each test took longer than the tests.
struct Bench {
    schemas: BTreeMap<String, Value>,
    judges: [ForeignJudge; 2],
}

impl Bench {
    fn by(schemas: BTreeMap<String, Value>, [in_node, in_python]: [&'static str; 2]) -> Self {
        let all: Vec<&Value> = schemas.values().collect();
        let judges = [ForeignJudge::start(in_node, ajv(), &all), ForeignJudge::start(in_python, python(), &all)];
        Self { schemas, judges }
    }

    fn verdicts<'n>(
        &self,
        documents: &[(&'n str, Value)],
        named: impl Fn(&'n str) -> &'n str,
    ) -> Vec<(&'static str, Vec<bool>)> {
        let case =
            |(name, document): &(&'n str, Value)| json!({ "schema": self.id(named(name)), "document": document });
        let cases: Vec<Value> = documents.iter().map(case).collect();
        self.judges.iter().map(|judge| (judge.name(), judge.verdicts(&cases))).collect()
    }

    fn id(&self, name: &str) -> &Value {
        let schema = self.schemas.get(name).unwrap_or_else(|| panic!("there is no schema of the name {name}"));
        &schema["$id"]
    }
}

/// The oracles in JavaScript and in Python, for any schemas that have an `$id`.
pub fn foreign_judges(schemas: &[&Value]) -> [ForeignJudge; 2] {
    [ForeignJudge::start("ajv", ajv(), schemas), ForeignJudge::start("jsonschema of Python", python(), schemas)]
}

pub(crate) fn ajv() -> Command {
    let mut node = Command::new("node");
    node.arg(root().join("tests/tools/judge-documents.mjs"));
    node
}

fn python() -> Command {
    let mut python = Command::new(root().join(".venv/bin/python"));
    python.arg(root().join("tests/tools/judge-documents.py"));
    python
}
