//! All validators agree, on valid documents and on thousands of copies with one defect each.

use super::{
    documents,
    spoil::{Spoiled, spoiled},
};
use crate::mplp_judge::{self, SCHEMAS};
use countersign_protocol::mplp::{BadDocument, BaseEvent, Confirm, MplpRole, Plan, Trace, read};
use serde_json::Value;

fn cases() -> impl Iterator<Item = (&'static str, Spoiled)> {
    let names = documents::READ.into_iter().chain(documents::WRITTEN);
    names.flat_map(|name| {
        let whole = Spoiled { what: "as it is".into(), document: documents::document(name) };
        [whole].into_iter().chain(spoiled(name)).map(move |spoiled| (name, spoiled))
    })
}

fn readable(name: &str, document: &Value) -> Result<Value, BadDocument> {
    let bytes = document.to_string().into_bytes();
    let written = match name {
        "confirm" => serde_json::to_value(Confirm::read(&bytes)?),
        "plan" => serde_json::to_value(Plan::read(&bytes)?),
        "trace" => serde_json::to_value(read::document::<Trace>(&bytes)?),
        "role" => serde_json::to_value(read::document::<MplpRole>(&bytes)?),
        _ => serde_json::to_value(read::document::<BaseEvent>(&bytes)?),
    };
    Ok(written.unwrap())
}

#[test]
fn every_schema_has_a_sound_document_and_every_document_a_schema() {
    let names: Vec<&str> = documents::READ.into_iter().chain(documents::WRITTEN).collect();
    assert_eq!(names, SCHEMAS.map(|(ours, _)| ours));
    let mut files: Vec<String> = mplp_judge::schemas().into_keys().filter(|name| name != "common").collect();
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn every_judge_accepts_every_sound_document() {
    let names = documents::READ.into_iter().chain(documents::WRITTEN);
    let documents: Vec<(&str, Value)> = names.map(|name| (name, documents::document(name))).collect();
    mplp_judge::judge(&documents);
}

#[test]
fn our_reader_and_our_schemas_agree_on_every_spoiled_document() {
    for (name, Spoiled { what, document }) in cases().filter(|(name, _)| documents::READ.contains(name)) {
        let (read, schema) = (readable(name, &document), mplp_judge::problems(name, &document));
        assert_eq!(read.is_ok(), schema.is_empty(), "{name}, {what}: reader {read:?}, schema {schema:?}");
    }
}

/// Every readable document is written as a valid document with the same content.
#[test]
fn parsed_documents_are_written_soundly() {
    for (name, Spoiled { what, document }) in cases().filter(|(name, _)| documents::READ.contains(name)) {
        let Ok(written) = readable(name, &document) else { continue };
        assert_eq!(mplp_judge::problems(name, &written), [""; 0], "{name}, {what}");
        assert_eq!(readable(name, &written).as_ref(), Ok(&written), "{name}, {what}");
    }
}

#[test]
fn nothing_that_the_published_schemas_refuse_is_called_sound() {
    for (name, Spoiled { what, document }) in cases() {
        let published = mplp_judge::published_problems(name, &document);
        let ours = mplp_judge::problems(name, &document);
        assert!(published.is_empty() || !ours.is_empty(), "{name}, {what}: {published:?}");
    }
}

/// Compared with the published schemas we are stricter in three points only: date-times on which validators disagree,
/// numbers that a reader would round, and UUIDs of observers, which must be lower-case version 4 like all others.
#[test]
fn we_refuse_little_that_the_published_schemas_accept() {
    if mplp_judge::published().is_none() {
        return;
    }
    for (name, Spoiled { what, document }) in cases() {
        let published = mplp_judge::published_problems(name, &document);
        let ours = mplp_judge::problems(name, &document);
        let meant = |problem: &String| problem.starts_with("maximum at") || problem.starts_with("pattern at");
        assert!(!published.is_empty() || ours.iter().all(meant), "{name}, {what}: {ours:?}");
    }
}

/// All validators give the same verdict for every document.
#[test]
fn validators_of_other_languages_agree_with_ours() {
    let cases: Vec<(&str, Spoiled)> = cases().collect();
    let asked: Vec<(&str, Value)> = cases.iter().map(|(name, spoiled)| (*name, spoiled.document.clone())).collect();
    for (judge, verdicts) in mplp_judge::foreign_verdicts_by_ours(&asked) {
        for ((name, Spoiled { what, document }), accepted) in cases.iter().zip(verdicts) {
            let found = mplp_judge::problems(name, document);
            // In Python `$` also matches before a trailing newline.
            let newline = judge.contains("Python") && what.ends_with("\\n\"");
            assert!(newline || accepted == found.is_empty(), "{judge}: {name}, {what}: {found:?}");
        }
    }
}
