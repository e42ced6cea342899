//! The documented list of codes equals the implemented one.

use countersign_protocol::aap::error::Code;
use std::{collections::BTreeMap, fs, path::Path};

/// The codes of AAP 16.2 itself.
const CATALOGUE: &[&str] = &[
    "operator_jwt_invalid",
    "operator_jwt_expired",
    "operator_not_found",
    "operator_suspended",
    "delegation_not_found",
    "delegation_expired",
    "delegation_revoked",
    "delegation_mismatch",
    "consent_expired",
    "consent_scope_exceeded",
    "consent_service_mismatch",
    "scope_not_granted",
    "dpop_missing",
    "dpop_invalid",
    "dpop_replayed",
    "mode_not_supported",
    "mode_missing",
    "boundary_violation",
    "usage_limit_reached",
    "auto_revoked",
    "spec_version_unsupported",
    "dry_run_unsupported",
    "irreversible_requires_confirm",
];

/// A row of the table: status, origin of the code, meaning, next step.
struct Row {
    status: u16,
    from: String,
    meaning: String,
    advice: String,
}

fn documented() -> BTreeMap<String, Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/errors.md");
    let text = fs::read_to_string(path).unwrap();
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `") && line.matches(" | ").count() >= 4) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(|cell| cell.trim()).collect();
        let [code, status, from, meaning, advice] = cells[..] else { panic!("a row of another form: {line}") };
        let row = Row {
            status: status.parse().unwrap(),
            from: from.into(),
            meaning: meaning.into(),
            advice: advice.trim_end_matches('|').trim().into(),
        };
        assert!(rows.insert(code.trim_matches('`').to_owned(), row).is_none(), "{code} stands twice");
    }
    rows
}

/// AAP-16.1-01
#[test]
fn every_code_is_documented_with_its_one_status_and_no_other_is() {
    let documented = documented();
    let known: BTreeMap<String, u16> = Code::ALL.iter().map(|code| (code.as_str().to_owned(), code.status())).collect();
    assert_eq!(known.len(), Code::ALL.len(), "a code stands twice");
    let told: BTreeMap<String, u16> = documented.iter().map(|(code, row)| (code.clone(), row.status)).collect();
    assert_eq!(told, known);
    assert!(documented.values().all(|row| !row.meaning.is_empty() && !row.advice.is_empty()));
}

/// AAP-16.1-01
#[test]
fn our_own_codes_are_marked_as_such() {
    for (code, row) in documented() {
        let from = if CATALOGUE.contains(&code.as_str()) { "AAP 16.2" } else { "extension" };
        assert_eq!(row.from, from, "{code}");
    }
    assert!(CATALOGUE.iter().all(|code| Code::ALL.iter().any(|known| known.as_str() == *code)));
}
