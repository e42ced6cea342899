//! Oracles for AAEP documents: the schemas in `docs/schemas/aaep`, the protocol crate's own parser, and, where
//! `COUNTERSIGN_PUBLISHED_SPEC` names their folder, the published schemas.

use countersign_protocol::aaep::check;
use jsonschema::{Draft, Registry, Validator};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// Fails unless every available oracle accepts the event as one that Countersign may emit.
#[track_caller]
pub fn judge_event(event: &Value) {
    let name = event["type"].as_str().and_then(|name| name.strip_prefix("aaep:")).unwrap_or("envelope");
    let mut found: Vec<String> = check::event(event).iter().map(ToString::to_string).collect();
    found.extend(problems(name, event));
    found.extend(published_problems(name, event));
    assert!(found.is_empty(), "no sound event: {found:#?}\n{event:#}");
}

/// Fails unless every available oracle accepts the message: `subscription.accepted`, `confirmation.reply`,
/// `producer.manifest` and so on.
#[track_caller]
pub fn judge_message(kind: &str, message: &Value) {
    let mut found = problems(kind, message);
    found.extend(published_problems(kind, message));
    assert!(found.is_empty(), "no sound {kind}: {found:#?}\n{message:#}");
}

/// The errors of a document by the project's own schema: `keyword at /place`.
pub fn problems(name: &str, document: &Value) -> Vec<String> {
    static OURS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| validators(&schemas(), Draft::Draft202012));
    match OURS.get(name) {
        Some(schema) => schema_errors(schema, document),
        None => vec![format!("there is no schema of the name {name}")],
    }
}

/// The errors by the published schema; empty if there is none, or none available.
pub fn published_problems(name: &str, document: &Value) -> Vec<String> {
    static PUBLISHED: LazyLock<BTreeMap<String, Validator>> =
        LazyLock::new(|| validators(&published_schemas(), Draft::Draft202012));
    let problems = PUBLISHED.get(name).map(|schema| schema_errors(schema, document)).unwrap_or_default();
    problems.into_iter().map(|problem| format!("published: {problem}")).collect()
}

/// The project's own schemas by name.
pub fn schemas() -> BTreeMap<String, Value> {
    load_schemas(&root().join("docs/schemas/aaep"), ".json")
}

/// The published schemas, under the names of the project's own; empty if not available.
pub fn published_schemas() -> BTreeMap<String, Value> {
    let Some(folder) = published() else { return BTreeMap::new() };
    let folders = ["schemas", "schemas/core", "schemas/handshake"];
    folders.into_iter().flat_map(|name| load_schemas(&folder.join(name), ".schema.json")).collect()
}

/// The folder of the published protocol files, if available.
#[expect(clippy::disallowed_methods, reason = "where the published schemas lie is said by the environment alone")]
pub fn published() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("COUNTERSIGN_PUBLISHED_SPEC")?).join("aaep"))
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents of a folder by their names.
pub fn load_schemas(folder: &Path, ending: &str) -> BTreeMap<String, Value> {
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name()?.to_str()?.strip_suffix(ending).map(str::to_owned);
    paths.filter_map(|path| Some((name(&path)?, read(&path)))).collect()
}

/// A validator for each schema; schemas may refer to one another.
pub(crate) fn validators(schemas: &BTreeMap<String, Value>, draft: Draft) -> BTreeMap<String, Validator> {
    let mut registry = Registry::new();
    for schema in schemas.values() {
        registry = registry.add(schema["$id"].as_str().unwrap(), schema).unwrap();
    }
    let registry = registry.prepare().unwrap();
    let options = jsonschema::options().with_draft(draft).should_validate_formats(true);
    let options = options.should_ignore_unknown_formats(false).with_format("uuid", is_uuid).with_registry(&registry);
    schemas.iter().map(|(name, schema)| (name.clone(), options.build(schema).unwrap())).collect()
}

/// MPLP's published schemas use this format, which their dialect does not know yet.
fn is_uuid(text: &str) -> bool {
    let fits = |(at, c): (usize, char)| if [8, 13, 18, 23].contains(&at) { c == '-' } else { c.is_ascii_hexdigit() };
    text.len() == 36 && text.chars().enumerate().all(fits)
}

/// The errors of a document: `keyword at /place`.
pub(crate) fn schema_errors(schema: &Validator, document: &Value) -> Vec<String> {
    let described = |error: jsonschema::ValidationError<'_>| {
        let keyword = error.schema_path().as_str().rsplit('/').next().unwrap_or_default().to_owned();
        format!("{keyword} at {}", error.instance_path())
    };
    schema.iter_errors(document).map(described).collect()
}

fn read(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}
