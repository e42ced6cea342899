//! Consistency of rounds, times, numbers and totals. All of these chains are signed by the right key.

use super::support::{Given, SESSION, Session, eventful, eventful_registry, gap, key, plan, registry, stamp, value};
use countersign_jose::clarification::{Flaw, Wrong, check_record};
use countersign_protocol::{
    clarification::{DigestText, Severity, signed, signed::AskBody},
    mplp::MplpId,
};
use serde_json::json;

fn session() -> Session {
    Session::begin(SESSION, key(1), plan())
}

fn refused(session: &Session) -> Wrong {
    check_record(&value(&session.record()), &registry(&[&key(1)])).unwrap_err()
}

/// A correct next question, for a test to corrupt.
fn ask(session: &Session, number: u32) -> AskBody {
    AskBody {
        session_id: session.id.clone(),
        round: session.rounds() + 1,
        agent_id: super::support::AGENT.into(),
        agent_public_key: session.key.public_key(),
        ask_timestamp: stamp(session.now),
        gap: gap(number, "payee.account", Severity::Block),
        plan_digest: DigestText(signed::plan_digest(&session.plans[0].0).unwrap()),
        prev: session.head(),
    }
}

/// WWA-7-03
#[test]
fn rounds_count_from_one_without_holes() {
    for round in [0, 2] {
        let mut session = session();
        let wrong_round = AskBody { round, ..ask(&session, 1) };
        session.exchange(wrong_round, Given::own("one"), stamp(1));
        let wrong = refused(&session);
        assert_eq!(wrong.place, "chain[0].round");
        assert_eq!(wrong.flaw, Flaw::WrongRound { expected: 1, found: round });
    }
}

/// WWA-7-04
#[test]
fn a_question_of_another_session_plan_or_place_is_refused() {
    let other_session = |ask| AskBody { session_id: MplpId::parse(super::support::OTHER_SESSION).unwrap(), ..ask };
    let other_plan = |ask| AskBody { plan_digest: DigestText(signed::plan_digest(&json!({})).unwrap()), ..ask };
    let other_place = |ask: AskBody| AskBody { prev: ask.plan_digest, ..ask };
    let other_agent = |ask| AskBody { agent_id: "somebody-else".into(), ..ask };
    let cases: [(&str, &dyn Fn(AskBody) -> AskBody); 4] = [
        ("chain[0].ask_signature", &other_session),
        ("chain[0].plan_digest", &other_plan),
        ("chain[0].prev", &other_place),
        ("chain[0].ask_signature", &other_agent),
    ];
    for (place, moved) in cases {
        let mut session = session();
        let moved = moved(ask(&session, 1));
        session.exchange(moved, Given::own("one"), stamp(1));
        assert_eq!(refused(&session).place, place);
    }
}

/// WWA-4-06, WWA-7-06
#[test]
fn an_answer_is_not_earlier_than_its_question() {
    let mut session = session();
    session.now = 10;
    let question = ask(&session, 1);
    session.exchange(question, Given::own("one"), stamp(9));
    let wrong = refused(&session);
    assert_eq!(wrong.place, "chain[0].answer_timestamp");
    assert_eq!(wrong.flaw, Flaw::TimeRunsBack { after: stamp(10).to_string() });
}

/// WWA-4-06, WWA-7-06
#[test]
fn times_never_decrease_along_a_chain() {
    let mut session = session();
    session.round(&gap(1, "payee.account", Severity::Block), Given::own("one"));
    let question = AskBody { ask_timestamp: stamp(session.now - 1), ..ask(&session, 2) };
    session.exchange(question, Given::own("one"), stamp(session.now));
    assert_eq!(refused(&session).place, "chain[1].ask_timestamp");

    let mut session = eventful();
    session.now -= 1;
    let wrong = check_record(&value(&session.record()), &eventful_registry()).unwrap_err();
    assert_eq!(wrong.place, "signed_at");
}

/// WWA-7-06
#[test]
fn the_same_moment_is_not_earlier() {
    let mut session = session();
    for number in 1..=3 {
        let question = ask(&session, number);
        let at = question.ask_timestamp.clone();
        session.exchange(question, Given::own("one"), at);
    }
    assert!(check_record(&value(&session.record()), &registry(&[&key(1)])).is_ok());
}

/// WWA-7-05
#[test]
fn a_gap_asked_again_is_asked_in_the_same_words() {
    let mut session = session();
    session.round(&gap(1, "payee.account", Severity::Block), Given::escalated("?"));
    let mut other = gap(1, "payee.account", Severity::Block);
    other.question = "Which account do you like best?".into();
    session.round(&other, Given::own("one"));
    let wrong = refused(&session);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain[1].gap", Flaw::GapChanged));
}

/// WWA-4-08
#[test]
fn a_gaps_number_is_not_used_again_for_another_plan() {
    let mut session = session();
    session.round(&gap(1, "payee.account", Severity::Block), Given::escalated("?"));
    session.change_plan(json!({ "other": true }));
    session.round(&gap(1, "payee.account", Severity::Block), Given::own("one"));
    let wrong = refused(&session);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain[2].gap.id", Flaw::GapReused));
}

/// WWA-7-10
#[test]
fn the_total_is_the_number_of_rounds() {
    let session = eventful();
    for total in [4, 6] {
        let wrong = check_record(&value(&session.record_saying(total, true)), &eventful_registry()).unwrap_err();
        assert_eq!(wrong.place, "total_rounds");
        assert_eq!(wrong.flaw, Flaw::Miscounted { expected: 5, found: total });
    }
    assert!(check_record(&value(&session.record_saying(5, true)), &eventful_registry()).is_ok());
}

/// WWA-7-11
#[test]
fn not_everything_is_resolved_while_the_last_answer_to_a_gap_was_not_taken() {
    let mut session = session();
    let account = gap(1, "payee.account", Severity::Block);
    session.round(&account, Given::escalated("the usual one"));
    let wrong = check_record(&value(&session.record_saying(1, true)), &registry(&[&key(1)])).unwrap_err();
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("all_resolved", Flaw::NotResolved { gap_id: "gap-001".into() }));
    assert!(check_record(&value(&session.record_saying(1, false)), &registry(&[&key(1)])).is_ok());
    // A later round settles the gap; the earlier entry is unchanged.
    session.round(&account, Given::person("DE02"));
    let report = check_record(&value(&session.record_saying(2, true)), &registry(&[&key(1)])).unwrap();
    assert_eq!(report.rounds.iter().map(|round| round.resolved).collect::<Vec<_>>(), [false, true]);
}

/// WWA-7-11
#[test]
fn gaps_of_an_earlier_plan_are_closed() {
    let mut session = session();
    session.round(&gap(1, "payee.account", Severity::Block), Given::escalated("the usual one"));
    session.change_plan(json!({ "payee": { "account": "DE02" } }));
    assert!(check_record(&value(&session.record_saying(1, true)), &registry(&[&key(1)])).is_ok());
}

/// WWA-3-08, WWA-7-14
#[test]
fn an_invalid_answer_settles_nothing() {
    let account = gap(1, "payee.account", Severity::Block);
    let mut one_of = gap(1, "terms", Severity::Warn);
    one_of.suggestions_exclusive = true;
    for (gap, answer, settles) in [
        (&one_of, "three", false),
        (&one_of, " TWO", true),
        (&one_of, "accept", true),
        (&account, "", false),
        (&account, " \u{a0}", false),
        (&account, "accept", false),
        (&account, " Accept ", false),
        (&account, "DE02", true),
        (&gap(1, "terms", Severity::Warn), "accept", true),
        (&gap(1, "terms", Severity::Warn), "  ", false),
    ] {
        let mut session = session();
        session.round(gap, Given::own(answer));
        let verdict = check_record(&value(&session.record()), &registry(&[&key(1)]));
        assert_eq!(verdict.is_ok(), settles, "{answer:?}");
        assert!(verdict.err().is_none_or(|wrong| wrong.flaw == Flaw::NoAnswer && wrong.place == "chain[0].resolved"));
    }
}

/// WWA-6.2-06
#[test]
fn a_persons_gap_is_settled_by_a_person() {
    let mut owed = gap(1, "payee.account", Severity::Block);
    owed.person_must_answer = true;
    let mut session = session();
    session.round(&owed, Given::own("DE02"));
    let wrong = refused(&session);
    assert_eq!((wrong.place.as_str(), wrong.flaw), ("chain[0].given_by", Flaw::PersonOwes));

    let mut session = self::session();
    session.round(&owed, Given::escalated("DE02"));
    session.round(&owed, Given::person("DE02"));
    assert!(check_record(&value(&session.record()), &registry(&[&key(1)])).is_ok());

    let mut session = self::session();
    session
        .round(&owed, Given { given_by: countersign_protocol::clarification::GivenBy::Own, ..Given::person("DE02") });
    assert_eq!(refused(&session).flaw, Flaw::NoPerson);
}
