//! Audit documents, and the checks an auditor can make with them.

use super::{
    documents::{leaves, spoiled},
    support::{
        Given, SESSION, Session, eventful, eventful_plan, eventful_registry, gap, key, plan, registry, stamp, value,
    },
};
use countersign_jose::clarification::{Flaw, ProvenKind, Registry, Wrong, check_audit};
use countersign_protocol::clarification::{Attestation, DigestText, GivenBy, Message, Severity};
use serde_json::{Value, json};

fn refused(audit: &Value) -> Wrong {
    check_audit(audit, &eventful_registry()).unwrap_err()
}

fn sound() -> Value {
    eventful().audit(Some(&eventful_plan()))
}

/// WWA-7-13, WWA-7-14
#[test]
fn an_auditor_reads_every_question_its_answer_and_its_author() {
    let report = check_audit(&sound(), &eventful_registry()).unwrap();
    assert_eq!(report.proven, ProvenKind::Audit);
    let told: Vec<_> = report
        .rounds
        .iter()
        .map(|round| (round.gap_id.as_str(), round.answer.as_str(), round.given_by, round.attested, round.resolved))
        .collect();
    assert_eq!(
        told,
        [
            ("gap-001", "the usual one", Some(GivenBy::Own), false, false),
            ("gap-001", "DE02 1203", Some(GivenBy::Person), false, true),
            ("gap-002", "two", Some(GivenBy::Own), true, true),
            ("gap-003", "DE02 1203", Some(GivenBy::Person), false, true),
            ("gap-004", "accept", Some(GivenBy::Own), false, true),
        ]
    );
    let attested = report.attested_at.clone().unwrap();
    assert!(report.rounds.iter().all(|round| !attested.is_before(&round.asked_at)));
    let text = report.to_string();
    assert!(text.contains("by a person: resolved") && text.contains("caller-1, signed"), "{text}");
    assert!(text.contains("by the agent itself, not signed by it: not taken"), "{text}");
}

/// WWA-7-01, WWA-7-15
#[test]
fn a_change_of_anything_in_an_audit_is_found() {
    let sound = sound();
    let mut places = Vec::new();
    leaves(&sound, "", &mut places);
    for place in places {
        let mut changed = sound.clone();
        let leaf = changed.pointer_mut(&place).unwrap();
        *leaf = spoiled(leaf);
        let part = place.split('/').nth(1).unwrap();
        let wrong = refused(&changed);
        let named = wrong.place.starts_with(part) || part == "accepted_plan";
        assert!(named, "{place} was changed, {wrong} was said");
    }
    let mut more = sound.clone();
    more["note"] = json!("more");
    assert_eq!(refused(&more).place, "note");
}

/// WWA-7-14
#[test]
fn neither_the_accepted_plan_nor_its_attestation_can_be_taken_away() {
    for (taken, missed) in [("attestation", "attestation"), ("accepted_plan", "accepted_plan")] {
        let mut audit = sound();
        audit.as_object_mut().unwrap().remove(taken).unwrap();
        assert_eq!(refused(&audit).place, missed);
    }
}

#[test]
fn the_short_view_agrees_with_the_record() {
    let sound = sound();
    for (exchange, round) in sound["clarification_chain"].as_array().unwrap().iter().zip([0, 1, 3, 5, 6]) {
        let entry = &sound["record"]["chain"][round];
        assert_eq!(exchange["timestamp"], entry["answer_timestamp"]);
        assert_eq!(exchange["signature"], entry["answer_signature"]);
    }
    let mut changed = sound.clone();
    changed["clarification_chain"][1]["answer"]["answer"] = json!("DE99");
    let wrong = refused(&changed);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("clarification_chain[1].answer.answer", Flaw::NotAsRecorded));
    let mut shorter = sound.clone();
    shorter["clarification_chain"].as_array_mut().unwrap().pop();
    assert_eq!(refused(&shorter).place, "clarification_chain");
}

/// WWA-7-11, WWA-7-14
#[test]
fn an_attestation_over_an_unanswered_gap_is_reported() {
    let mut session = eventful();
    session.open.push(gap(5, "payee.bank", Severity::Warn));
    let wrong = refused(&session.audit(Some(&eventful_plan())));
    assert_eq!(wrong.flaw, Flaw::PlanBeforeAnswers);
    let mut without_plan = session.audit(Some(&eventful_plan()));
    without_plan.as_object_mut().unwrap().remove("accepted_plan");
    let wrong = refused(&without_plan);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("attestation", Flaw::PlanBeforeAnswers));
    // The record claims that everything is resolved; the message contradicts it.
    let mut audit = session.audit(None);
    audit["record"] = value(&session.record_saying(5, true));
    let wrong = refused(&audit);
    assert_eq!(wrong.place, "record.all_resolved");
    assert_eq!(wrong.flaw, Flaw::NotResolved { gap_id: "gap-005".into() });
}

/// WWA-7-11
#[test]
fn a_record_does_not_say_that_a_gap_is_open_when_none_is() {
    let session = eventful();
    let mut audit = session.audit(None);
    audit["record"] = value(&session.record_saying(5, false));
    let wrong = refused(&audit);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("record.all_resolved", Flaw::NothingOpen));
}

/// WWA-7-02, WWA-7-05
#[test]
fn the_message_beside_a_record_says_the_same() {
    let mut session = Session::begin(SESSION, key(1), plan());
    let account = gap(1, "payee.account", Severity::Block);
    session.round(&account, Given::escalated("?"));
    session.open.push(account.clone());
    let known = registry(&[&key(1)]);
    assert!(check_audit(&session.audit(None), &known).is_ok());
    let told = |message: Message| {
        let mut audit = session.audit(None);
        audit["message"] = value(&session.signed_message(message));
        check_audit(&audit, &known).unwrap_err()
    };
    let sound = session.message();
    let other = countersign_protocol::mplp::MplpId::parse(super::support::OTHER_SESSION).unwrap();
    assert_eq!(told(Message { session_id: other, ..sound.clone() }).place, "message.session_id");
    assert_eq!(told(Message { accepted_gaps: 1, ..sound.clone() }).place, "message.accepted_gaps");
    assert_eq!(told(Message { timestamp: stamp(0), ..sound.clone() }).place, "message.timestamp");
    let mut reworded = sound.clone();
    reworded.gaps[0].context = "Just so.".into();
    assert_eq!(told(reworded).place, "message.gaps[0]");
    let mut session_after = session.clone();
    session_after.round(&account, Given::own("one"));
    let wrong = check_audit(&session_after.audit(None), &known).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("message.gaps[0].id", Flaw::ResolvedAlready { round: 2 }));
}

/// WWA-7-16
#[test]
fn each_plan_is_the_one_that_was_asked_about_at_that_point() {
    let sound = sound();
    let mut swapped = sound.clone();
    swapped["submitted_plans"].as_array_mut().unwrap().swap(0, 1);
    let wrong = refused(&swapped);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("submitted_plans[0].plan_digest", Flaw::AnotherPlan));
    let mut changed = sound.clone();
    changed["submitted_plans"][1]["plan_object"]["amount"] = json!(1);
    let wrong = refused(&changed);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("submitted_plans[1].plan_object", Flaw::PlanChanged));
    let mut missing = sound.clone();
    missing["submitted_plans"].as_array_mut().unwrap().pop();
    assert_eq!(refused(&missing).flaw, Flaw::WrongPlans { expected: 2, found: 1 });
}

/// WWA-9-02
#[test]
fn an_attestation_of_an_earlier_state_does_not_cover_later_entries() {
    let mut session = eventful();
    let early = value(&session.attestation(&eventful_plan()));
    session.round(&gap(5, "payee.bank", Severity::Warn), Given::own("accept"));
    let mut audit = session.audit(None);
    audit["attestation"] = early;
    assert_eq!(refused(&audit).place, "attestation.clarification.rounds");
    // Backdated to before the last question.
    let mut dated = session.attestation(&eventful_plan());
    dated.issued_at = stamp(0);
    audit["attestation"] = value(&session.signed_attestation(dated));
    assert_eq!(refused(&audit).place, "attestation.issued_at");
}

/// WWA-9-02
#[test]
fn an_attestation_of_another_chain_is_refused_though_it_has_as_many_rounds() {
    let session = eventful();
    let sound = session.attestation(&eventful_plan());
    let mut other_head: Attestation = sound.clone();
    other_head.clarification.head = DigestText(session.genesis());
    other_head.inputs.clarification_chain_ref = other_head.clarification.head;
    let mut other_signature: Attestation = sound.clone();
    other_signature.clarification.chain_signature = session.record_saying(5, false).chain_signature;
    for (place, it) in [("head", other_head), ("chain_signature", other_signature)] {
        assert_eq!(it.clarification.rounds, sound.clarification.rounds);
        let mut audit = session.audit(Some(&eventful_plan()));
        audit["attestation"] = value(&session.signed_attestation(it));
        let wrong = refused(&audit);
        assert_eq!((wrong.place, wrong.flaw), (format!("attestation.clarification.{place}"), Flaw::AnotherChain));
    }
}

/// WWA-9-02
#[test]
fn an_attestation_is_about_the_plan_that_was_accepted() {
    let session = eventful();
    let mut audit = session.audit(Some(&eventful_plan()));
    audit["attestation"] = value(&session.attestation(&plan()));
    assert_eq!(refused(&audit).place, "attestation.plan_digest");
}

#[test]
fn a_session_that_nobody_has_answered_yet_is_proven_too() {
    let mut session = Session::begin(SESSION, key(1), plan());
    session.open.push(gap(1, "payee.account", Severity::Block));
    let report = check_audit(&session.audit(None), &Registry::default()).unwrap();
    assert_eq!((report.rounds.len(), report.open.len()), (0, 1));
    assert!(report.to_string().contains("open: gap-001"));
    let mut audit = session.audit(None);
    audit["record"]["plan_digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    assert_eq!(check_audit(&audit, &Registry::default()).unwrap_err().place, "record.chain_signature");
}
