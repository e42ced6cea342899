//! Messages, attestations, handoffs and seals, each on its own.

use super::support::{
    Given, SESSION, Session, eventful, eventful_plan, eventful_registry, gap, key, plan, registry, stamp, value,
};
use countersign_jose::clarification::{
    ChainSeal, Flaw, ProvenKind, Registry, check_against, check_attestation, check_handoff, check_message, check_record,
};
use countersign_protocol::clarification::{Attestation, DigestText, Message, Severity, Stamp, Status, signed};
use serde_json::{Value, json};

fn asking() -> Session {
    let mut session = Session::begin(SESSION, key(1), plan());
    session.open = vec![gap(1, "payee.account", Severity::Block), gap(2, "terms", Severity::Warn)];
    session
}

/// JSON pointers to all leaves of a document.
pub(super) fn leaves(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| leaves(value, &format!("{at}/{name}"), into)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| leaves(value, &format!("{at}/{index}"), into));
        }
        _ => into.push(at.to_owned()),
    }
}

/// A minimally different value of the same type.
pub(super) fn spoiled(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            match text.pop() {
                Some(last) => text.push(if last == '1' { '2' } else { '1' }),
                None => text.push('1'),
            }
            json!(text)
        }
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::Bool(flag) => json!(!flag),
        _ => json!("1"),
    }
}

fn each_leaf_counts(document: &Value, check: impl Fn(&Value) -> bool) {
    assert!(check(document));
    let mut places = Vec::new();
    leaves(document, "", &mut places);
    for place in places {
        let mut changed = document.clone();
        let leaf = changed.pointer_mut(&place).unwrap();
        *leaf = spoiled(leaf);
        assert!(!check(&changed), "{place} was changed and nobody noticed");
    }
    for name in document.as_object().unwrap().keys() {
        assert!(!check(&signed::without(document, name)), "{name} was left out and nobody noticed");
    }
    let mut more = document.clone();
    more["note"] = json!("more");
    assert!(!check(&more), "a member was added and nobody noticed");
}

/// WWA-4-18, WWA-9-03
#[test]
fn a_change_of_any_member_of_a_message_is_found_and_so_is_a_missing_signature() {
    let message = value(&asking().message());
    each_leaf_counts(&message, |message| check_message(message, &Registry::default()).is_ok());
    let wrong = check_message(&signed::without(&message, "signature"), &Registry::default()).unwrap_err();
    assert_eq!(wrong.to_string(), "signature: is required");
}

/// WWA-4-18
#[test]
fn a_message_that_contradicts_itself_is_refused_though_it_is_signed() {
    let session = asking();
    let sound = session.message();
    let cases: [(&str, Message); 5] = [
        ("blocking_gaps", Message { blocking_gaps: 0, ..sound.clone() }),
        ("warning_gaps", Message { warning_gaps: 7, ..sound.clone() }),
        ("status", Message { status: Status::ReadyToProceed, ..sound.clone() }),
        (
            "gaps[1].id",
            Message { gaps: vec![sound.gaps[0].clone(); 2], blocking_gaps: 2, warning_gaps: 0, ..sound.clone() },
        ),
        ("$schema", Message { schema: "https://example.com/".into(), ..sound.clone() }),
    ];
    for (place, message) in cases {
        let wrong = check_message(&value(&session.signed_message(message)), &Registry::default()).unwrap_err();
        assert_eq!(wrong.place, place);
    }
}

/// WWA-4-06
#[test]
fn a_time_with_an_offset_is_refused_in_a_signed_document() {
    let mut message = value(&asking().message());
    message["timestamp"] = json!("2026-05-10T15:00:00+00:00");
    let body = signed::without(&message, "signature");
    let input = signed::input(countersign_protocol::clarification::SignedType::Message, &body).unwrap();
    message["signature"] = value(&key(1).sign(&input));
    let wrong = check_message(&message, &Registry::default()).unwrap_err();
    assert_eq!(wrong.place, "timestamp");
}

/// WWA-4-06
#[test]
fn the_time_is_signed_as_it_is_written() {
    let mut session = asking();
    session.open.truncate(1);
    let written: Stamp = "2026-05-10T15:00:00.000Z".parse().unwrap();
    let message = value(&session.signed_message(Message { timestamp: written, warning_gaps: 0, ..session.message() }));
    assert_eq!(message["timestamp"], "2026-05-10T15:00:00.000Z");
    assert!(check_message(&message, &Registry::default()).is_ok());
    let mut reformatted = message.clone();
    reformatted["timestamp"] = json!("2026-05-10T15:00:00Z");
    assert!(check_message(&reformatted, &Registry::default()).is_err());
}

/// WWA-9-02
#[test]
fn a_change_of_any_member_of_an_attestation_breaks_it() {
    let attestation = value(&eventful().attestation(&eventful_plan()));
    each_leaf_counts(&attestation, |it| check_attestation(it, &eventful_registry()).is_ok());
    let report = check_attestation(&attestation, &eventful_registry()).unwrap();
    assert_eq!((report.proven, report.head), (ProvenKind::Attestation, Some(eventful().head())));
}

/// WWA-9-02
#[test]
fn an_attestation_names_one_chain_only() {
    let session = eventful();
    let sound = session.attestation(&eventful_plan());
    let mut other_rounds = sound.clone();
    other_rounds.inputs.clarification_rounds = 4;
    let mut other_chain = sound.clone();
    other_chain.inputs.clarification_chain_ref = DigestText(session.genesis());
    for (place, it) in [("inputs.clarification_rounds", other_rounds), ("inputs.clarification_chain_ref", other_chain)]
    {
        let signed: Attestation = session.signed_attestation(it);
        assert_eq!(check_attestation(&value(&signed), &eventful_registry()).unwrap_err().place, place);
    }
}

#[test]
fn a_handoff_is_proven_with_the_chain_inside_it() {
    let session = eventful();
    let handoff = value(&session.handoff(Some(eventful_plan())));
    let report = check_handoff(&handoff, &eventful_registry()).unwrap();
    assert_eq!((report.proven, report.rounds.len()), (ProvenKind::Handoff, 5));
    assert_eq!(handoff["context"]["clarification"], value(&session.record()));
    let mut changed = handoff.clone();
    changed["context"]["clarification"]["chain"][1]["answer"] = json!("DE99");
    let wrong = check_handoff(&changed, &eventful_registry()).unwrap_err();
    assert_eq!(wrong.place, "context.clarification.chain[1].entry_hash");
    each_leaf_counts(&handoff, |it| check_handoff(it, &eventful_registry()).is_ok());
}

#[test]
fn no_plan_is_handed_over_while_a_gap_is_open() {
    let session = asking();
    assert!(check_handoff(&value(&session.handoff(None)), &registry(&[&key(1)])).is_ok());
    let wrong = check_handoff(&value(&session.handoff(Some(plan()))), &registry(&[&key(1)])).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("plan", Flaw::PlanBeforeAnswers));
}

/// WWA-7-12
#[test]
fn a_chain_that_was_cut_off_is_exposed_by_its_later_signature() {
    let mut earlier = Session::begin(SESSION, key(1), plan());
    earlier.round(&gap(1, "payee.account", Severity::Block), Given::own("one"));
    let mut later = earlier.clone();
    later.round(&gap(2, "terms", Severity::Warn), Given::own("accept"));
    let known = registry(&[&key(1)]);
    let (short, long) = (value(&earlier.record()), value(&later.record()));
    // Each chain is valid by itself.
    assert!(check_record(&short, &known).is_ok() && check_record(&long, &known).is_ok());
    let kept = ChainSeal::of_record(&long, &known).unwrap();
    let wrong = check_against(&short, &kept, &known).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain", Flaw::Truncated { kept: 2, found: 1 }));
    // A longer or an unchanged chain passes.
    let kept_short = ChainSeal::of_record(&short, &known).unwrap();
    assert!(check_against(&long, &kept_short, &known).is_ok() && check_against(&long, &kept, &known).is_ok());
    let read: ChainSeal = serde_json::from_value(value(&kept)).unwrap();
    assert_eq!(read, kept);
}

/// WWA-7-12
#[test]
fn a_chain_that_went_another_way_is_exposed_however_far_it_went_on() {
    let (account, bank) = (gap(1, "payee.account", Severity::Block), gap(2, "payee.bank", Severity::Block));
    let mut common = Session::begin(SESSION, key(1), plan());
    let mut of_another_plan = Session::begin(SESSION, key(1), json!({}));
    common.round(&account, Given::own("one"));
    of_another_plan.round(&account, Given::own("one"));
    let (mut kept, mut forked) = (common.clone(), common.clone());
    kept.round(&bank, Given::own("one"));
    forked.round(&bank, Given::own("another"));
    of_another_plan.round(&bank, Given::own("one"));
    let known = registry(&[&key(1)]);
    let seal = |session: &Session| ChainSeal::of_record(&value(&session.record()), &known).unwrap();
    let (kept, begun, common) = (seal(&kept), seal(&Session::begin(SESSION, key(1), plan())), seal(&common));
    for number in 3..6 {
        forked.round(&gap(number, "terms", Severity::Warn), Given::own("accept"));
        of_another_plan.round(&gap(number, "terms", Severity::Warn), Given::own("accept"));
        let (fork, foreign) = (value(&forked.record()), value(&of_another_plan.record()));
        assert!(forked.rounds() > kept.body.total_rounds && check_record(&fork, &known).is_ok());
        for (longer, seal) in [(&fork, &kept), (&foreign, &kept), (&foreign, &common), (&foreign, &begun)] {
            let wrong = check_against(longer, seal, &known).unwrap_err();
            assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain", Flaw::Forked));
        }
        // Seals from before the fork match both chains.
        assert!(check_against(&fork, &common, &known).is_ok() && check_against(&fork, &begun, &known).is_ok());
    }
}

/// WWA-7-12
#[test]
fn a_chain_that_went_another_way_is_exposed_too() {
    let mut session = Session::begin(SESSION, key(1), plan());
    let mut other = session.clone();
    session.round(&gap(1, "payee.account", Severity::Block), Given::own("one"));
    other.round(&gap(1, "payee.account", Severity::Block), Given::own("another"));
    let known = registry(&[&key(1)]);
    let kept = ChainSeal::of_record(&value(&session.record()), &known).unwrap();
    assert_eq!(check_against(&value(&other.record()), &kept, &known).unwrap_err().flaw, Flaw::Forked);
    // A forged seal proves nothing.
    let mut made_up = kept.clone();
    made_up.body.total_rounds = 9;
    assert_eq!(check_against(&value(&session.record()), &made_up, &known).unwrap_err().place, "kept.chain_signature");
    // A changed plan and a rotation count as entries, although they take no round.
    let before = value(&session.record());
    session.change_plan(json!({}));
    let kept = ChainSeal::of_record(&value(&session.record()), &known).unwrap();
    assert_eq!(check_against(&before, &kept, &known).unwrap_err().flaw, Flaw::Forked);
    assert_eq!(kept.body.signed_at, stamp(2));
}
