//! Our schemas in `docs/schemas/aap`, and every document of the plane validated against them.
//!
//! Ours are always used. Where `COUNTERSIGN_PUBLISHED_SPEC` names the folder of the published schemas, they validate the
//! same documents; where it does not, the run says so.

mod agreement;
mod baseline;
mod incoming;
mod produced;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_protocol::aap::manifest::EXTENSIONS;
use jsonschema::{Draft, Registry, Validator};
use serde_json::Value;
use std::{collections::BTreeMap, fs, io::Write as _, path::PathBuf, sync::LazyLock};

/// Every schema of ours, and the name of the published one for the same document, if there is one.
const NAMES: &[(&str, Option<&str>)] = &[
    ("manifest", Some("manifest")),
    ("operator-identity", Some("identity")),
    ("consent-receipt", Some("consent")),
    ("delegation-token", Some("delegation")),
    ("effective-policy", Some("policy")),
    ("error-envelope", None),
    ("audit-page", None),
    ("register-response", None),
    ("dry-run-preview", None),
];

/// Fails unless every available schema accepts the document.
#[track_caller]
pub(crate) fn assert_valid(name: &str, document: &Value) {
    let found: Vec<String> = problems(name, document).into_iter().chain(published_problems(name, document)).collect();
    assert!(found.is_empty(), "no sound {name}: {found:#?}\n{document:#}");
}

/// The errors of our schema for a document: `keyword at /place`.
pub(crate) fn problems(name: &str, document: &Value) -> Vec<String> {
    static OURS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(ours);
    found(&OURS[name], document)
}

/// The errors of the published schema; none if it does not exist or is not available.
pub(crate) fn published_problems(name: &str, document: &Value) -> Vec<String> {
    static PUBLISHED: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(published);
    let Some(schema) = PUBLISHED.get(name) else { return Vec::new() };
    let problems = found(schema, &without_extensions(name, document));
    problems.into_iter().map(|problem| format!("published: {problem}")).collect()
}

/// The published manifest is closed, though other sections demand members that it does not know (C-08).
pub(crate) fn without_extensions(name: &str, document: &Value) -> Value {
    let mut document = document.clone();
    if let (Some(members), "manifest") = (document.as_object_mut(), name) {
        members.retain(|member, _| !EXTENSIONS.contains(&member.as_str()));
    }
    document
}

pub(crate) fn schema(name: &str) -> Value {
    read(&root().join(format!("docs/schemas/aap/{name}.json")))
}

fn ours() -> BTreeMap<String, Validator> {
    let policy = schema("effective-policy");
    let id = policy["$id"].as_str().unwrap().to_owned();
    let registry = Registry::new().add(id, &policy).unwrap().prepare().unwrap();
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let options = options.should_ignore_unknown_formats(false).with_registry(&registry);
    NAMES.iter().map(|(name, _)| ((*name).to_owned(), options.build(&schema(name)).unwrap())).collect()
}

fn published() -> BTreeMap<String, Validator> {
    let Some(schemas) = published_schemas() else {
        // Past the test runner's capture: the run must not pass for a comparison with the published schemas.
        let said =
            "NOT COMPARED with the published AAP schemas: COUNTERSIGN_PUBLISHED_SPEC is not set; ours alone judge";
        let _told = writeln!(std::io::stderr(), "{said}");
        return BTreeMap::new();
    };
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    let paired = NAMES.iter().filter_map(|(ours, theirs)| Some((*ours, (*theirs)?)));
    paired.map(|(ours, theirs)| (ours.to_owned(), options.build(&schemas[theirs]).unwrap())).collect()
}

#[expect(clippy::disallowed_methods, reason = "where the published schemas lie is said by the environment alone")]
fn published_schemas() -> Option<Value> {
    let folder = std::env::var_os("COUNTERSIGN_PUBLISHED_SPEC")?;
    Some(read(&PathBuf::from(folder).join("aap-schemas.json")))
}

fn found(schema: &Validator, document: &Value) -> Vec<String> {
    let told = |error: jsonschema::ValidationError<'_>| {
        let keyword = error.schema_path().as_str().rsplit('/').next().unwrap_or_default().to_owned();
        format!("{keyword} at {}", error.instance_path())
    };
    schema.iter_errors(document).map(told).collect()
}

fn read(path: &std::path::Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}

/// The claims of a compact JWT.
pub(crate) fn claims_of(jwt: &str) -> Value {
    let payload = jwt.split('.').nth(1).expect("three parts");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).expect("base64url")).expect("claims")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
