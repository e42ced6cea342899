//! Abandoned sessions: recorded in the chain, and followed only by a person's own answer.

use super::support::{Given, SESSION, Session, gap, key, plan, registry, value};
use countersign_jose::clarification::{ChainReport, Flaw, Wrong, check_handoff, check_record};
use countersign_protocol::clarification::{GivenBy, Severity};
use serde_json::json;

fn session() -> Session {
    Session::begin(SESSION, key(1), plan())
}

fn checked(session: &Session) -> Result<ChainReport, Wrong> {
    check_record(&value(&session.record()), &registry(&[&key(1)]))
}

fn flaw(session: &Session) -> (String, Flaw) {
    let wrong = checked(session).unwrap_err();
    (wrong.place, wrong.flaw)
}

/// WWA-7-01
#[test]
fn nothing_is_asked_answered_or_accepted_after_it() {
    let mut asked = session();
    asked.abandon(GivenBy::Own);
    asked.round(&gap(1, "payee.account", Severity::Block), Given::own("one"));
    assert_eq!(flaw(&asked), ("chain[1]".into(), Flaw::AfterAbandoned));
    let mut changed = session();
    changed.abandon(GivenBy::Own);
    changed.change_plan(json!({}));
    assert_eq!(flaw(&changed), ("chain[1]".into(), Flaw::AfterAbandoned));
    let mut again = session();
    again.abandon(GivenBy::Own);
    again.abandon(GivenBy::Own);
    assert_eq!(flaw(&again), ("chain[1].abandoned_by".into(), Flaw::AfterAbandoned));
    let mut over = session();
    over.abandon(GivenBy::Person);
    let handoff = over.handoff(Some(plan()));
    let wrong = check_handoff(&value(&handoff), &registry(&[&key(1)])).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("plan", Flaw::AfterAbandoned));
}

/// WWA-7-01
#[test]
fn the_author_is_signed() {
    let mut session = session();
    session.abandon(GivenBy::Own);
    let mut record = value(&session.record());
    record["chain"][0]["abandoned_by"] = json!("person");
    let wrong = check_record(&record, &registry(&[&key(1)])).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain[0].entry_hash", Flaw::Changed));
    session.abandon(GivenBy::Person);
    let report = checked(&session).unwrap();
    assert_eq!(report.abandoned.as_ref().map(|(_, by)| *by), Some(GivenBy::Person));
    assert!(report.to_string().contains("by a person"), "{report}");
}
