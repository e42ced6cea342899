//! Answers by the agent itself: accepted, escalated to a person, or repeated (W-05, W-12 to W-14).

use super::{
    rules::{changed, complete, without},
    world::{World, fields, open},
};
use countersign_core::{
    clarification::{resolve::AnswerVerdict, texts, view},
    records::{ClarificationSession, GapState},
    refusal::Refusal,
};
use countersign_protocol::{
    clarification::{GivenBy, Severity, limits::MAX_STRING},
    mplp::MplpId,
};
use serde_json::{Value, json};

/// A session with a single gap, about this field.
fn asked_about(world: &mut World, field: &str) -> MplpId {
    let session = match field {
        "note" => world.submit(changed(without(&[]), json!({ "note": "the usual" }))),
        field => world.submit(without(&[field])),
    };
    assert_eq!((open(&session), fields(&session)), (vec!["gap-001"], vec![field]));
    session.id
}

fn accepted(text: &str) -> AnswerVerdict {
    AnswerVerdict::Resolved { accepted: text.into() }
}

fn counts(session: &ClarificationSession) -> [u64; 3] {
    ["accepted_gaps", "blocking_gaps", "warning_gaps"].map(|name| session.message[name].as_u64().unwrap())
}

/// WWA-3-08, WWA-6.2-02, WWA-7-01, WWA-7-09, WWA-7-11
#[test]
fn an_invalid_answer_leaves_the_gap_open_and_a_person_is_asked() {
    let unusable = [
        ("target", ""),
        ("target", " \t\u{200b}"),
        ("target", "accept"),
        ("target", " ACCEPT"),
        ("target", "the usual"),
        ("note", "well, the Usual."),
        ("region", "mars"),
        ("region", "eu or us"),
        ("amount", "many"),
        ("amount", "1e400"),
        ("amount", "12345678901234567890"),
        ("urgent", "perhaps"),
    ];
    for (field, said) in unusable {
        let mut world = World::new();
        let id = asked_about(&mut world, field);
        let before = world.session(&id);
        world.later(1);
        let told = world.resolve(&id, "gap-001", said).unwrap();
        let AnswerVerdict::Escalated { why } = told.verdict else { panic!("{field} took {said:?}") };
        assert!(!why.is_empty() && told.fresh);
        assert_eq!((open(&told.session), counts(&told.session)), (open(&before), counts(&before)), "{said:?}");
        let round = world.last(&id);
        assert_eq!((&round["resolved"], &round["answer"]), (&json!(false), &json!(said)));
        assert_eq!(world.record(&id)["all_resolved"], false);
        let question = world.question(&id, "gap-001").expect("a person is asked");
        let GapState::Open { asked, refused } = &told.session.gaps[0].state else { panic!("not open") };
        assert_eq!((asked, refused), (&Some(question.key), &Some((said.to_owned(), why))));
        world.prove(&id);
    }
}

/// WWA-6.2-06
#[test]
fn an_agents_own_answer_does_not_resolve_a_persons_gap() {
    let mut world = World::new();
    let id = asked_about(&mut world, "owner");
    let told = world.resolve(&id, "gap-001", "the night shift").unwrap();
    assert!(matches!(told.verdict, AnswerVerdict::Escalated { .. }));
    let round = world.last(&id);
    assert_eq!((&round["resolved"], &round["given_by"]), (&json!(false), &json!("own")));
    assert_eq!(round["gap"]["person_must_answer"], true);
    world.prove(&id);
}

/// WWA-6.2-06, R-14
#[test]
fn only_a_person_answers_a_block_on_something_irreversible() {
    let plan = |tool: &str| changed(without(&["target", "region"]), json!({ "actions": { "one": { "tool": tool } } }));
    for (tool, owed) in [("lamp.dim", false), ("money.pay", true), ("nobody.knows", true)] {
        let mut world = World::new();
        let id = world.submit(plan(tool)).id;
        let told = world.resolve(&id, "gap-001", "Staging").unwrap();
        assert_eq!(matches!(told.verdict, AnswerVerdict::Escalated { .. }), owed, "{tool}");
        let warning = world.resolve(&id, "gap-002", "eu").unwrap();
        assert_eq!(warning.verdict, accepted("eu"), "a WARN is never owed by default");
        world.prove(&id);
    }
}

/// WWA-3-08, WWA-4-13, WWA-5-02, WWA-6.2-02, WWA-7-07, WWA-7-09
#[test]
fn an_answer_comes_to_the_suggestion_it_means_or_to_its_own_words() {
    let usable = [
        ("target", "Staging", "Staging"),
        ("target", "  pRODUCTION ", "Production"),
        ("target", " the third floor ", " the third floor "),
        ("region", "EU", "eu"),
        ("region", "accept", "accept"),
        ("urgent", "TRUE", "TRUE"),
        ("urgent", "accept", "accept"),
        ("amount", " 12.5 ", " 12.5 "),
        ("note", "ring twice", "ring twice"),
    ];
    for (field, said, expected) in usable {
        let mut world = World::new();
        let id = asked_about(&mut world, field);
        let told = world.resolve(&id, "gap-001", said).unwrap();
        assert_eq!((told.verdict, told.fresh), (accepted(expected), true), "{field} {said:?}");
        let round = world.last(&id);
        assert_eq!((&round["resolved"], &round["answer"]), (&json!(true), &json!(said)), "verbatim");
        assert!(world.question(&id, "gap-001").is_none(), "nobody is asked");
        world.prove(&id);
    }
}

/// WWA-5-02
#[test]
fn a_proof_holds_for_an_equivalent_spelling_of_the_url() {
    for (field, said) in [("region", " Accept"), ("target", "Sta ging"), ("urgent", "False ")] {
        let mut world = World::new();
        let id = asked_about(&mut world, field);
        world.resolve(&id, "gap-001", said).unwrap();
        assert!(world.confirm(&id).unwrap().is_confirmed());
        world.prove(&id);
    }
}

/// WWA-3-08, WWA-4-15, WWA-4-16, WWA-4-17, WWA-5-03, WWA-7-11
#[test]
fn gaps_are_resolved_one_by_one() {
    let mut world = World::new();
    let session = world.submit(without(&["target", "region", "amount"]));
    let id = session.id.clone();
    assert_eq!(counts(&session), [0, 2, 1]);
    let steps = [
        ("gap-002", "accept", vec!["gap-001", "gap-003"], [1, 2, 0]),
        ("gap-003", "7", vec!["gap-001"], [2, 1, 0]),
        ("gap-001", "Staging", vec![], [3, 0, 0]),
    ];
    for (gap, said, left, expected) in steps {
        let before = world.session(&id);
        let after = world.resolve(&id, gap, said).unwrap().session;
        assert_eq!((open(&after), counts(&after)), (left, expected));
        for (was, is) in before.gaps.iter().zip(&after.gaps).filter(|(was, _)| was.gap.id != gap) {
            assert_eq!(was, is, "the others are as they were");
        }
        assert_eq!(world.record(&id)["all_resolved"], after.open_gaps().next().is_none());
        world.prove(&id);
    }
}

/// WWA-7-11
#[test]
fn a_later_answer_settles_a_gap_that_an_earlier_one_did_not() {
    let mut world = World::new();
    let id = asked_about(&mut world, "region");
    world.resolve(&id, "gap-001", "mars").unwrap();
    world.resolve(&id, "gap-001", "venus").unwrap();
    assert_eq!(world.resolve(&id, "gap-001", "us").unwrap().verdict, accepted("us"));
    let flags: Vec<Value> = world.chain(&id).iter().map(|round| round["resolved"].clone()).collect();
    assert_eq!(flags, [false, false, true]);
    assert_eq!(world.record(&id)["all_resolved"], true);
    world.prove(&id);
}

/// WWA-6.2-03
#[test]
fn the_same_answer_again_says_the_same_and_adds_nothing() {
    for (field, said) in [("target", " staging"), ("region", "mars"), ("owner", "me"), ("region", "accept")] {
        let mut world = World::new();
        let id = asked_about(&mut world, field);
        let first = world.resolve(&id, "gap-001", said).unwrap();
        let (session, chain) = (world.session(&id), world.chain(&id));
        world.later(5_000);
        let again = world.resolve(&id, "gap-001", said).unwrap();
        assert_eq!((again.verdict, again.fresh), (first.verdict, false));
        assert_eq!((world.session(&id), world.chain(&id)), (session, chain));
    }
}

/// WWA-6.2-03
#[test]
fn another_answer_to_a_resolved_gap_is_refused() {
    let mut world = World::new();
    let id = asked_about(&mut world, "target");
    world.resolve(&id, "gap-001", "Staging").unwrap();
    let before = (world.session(&id), world.chain(&id));
    for said in ["Production", "staging", "", "accept"] {
        let refused = world.resolve(&id, "gap-001", said).map(drop);
        assert!(matches!(refused, Err(Refusal::AlreadyResolved(_))), "{said:?}: {refused:?}");
    }
    assert_eq!((world.session(&id), world.chain(&id)), before);
}

/// WWA-6.2-03
#[test]
fn an_agent_cannot_claim_a_persons_answer_as_its_own() {
    let mut world = World::new();
    let id = asked_about(&mut world, "owner");
    world.resolve(&id, "gap-001", "me").unwrap();
    let question = world.question(&id, "gap-001").unwrap();
    world.person(question.key, "me").unwrap();
    let refused = world.resolve(&id, "gap-001", "me").map(drop);
    assert!(matches!(refused, Err(Refusal::AlreadyResolved(_))), "{refused:?}");
}

#[test]
fn a_gap_that_was_never_asked_about_and_an_answer_that_is_too_long_are_refused() {
    let mut world = World::new();
    let id = asked_about(&mut world, "target");
    for gap in ["gap-002", "gap-1", "", "GAP-001"] {
        let refused = world.resolve(&id, gap, "Staging").map(drop);
        assert!(matches!(refused, Err(Refusal::NotFound(_))), "{refused:?}");
    }
    let refused = world.resolve(&id, "gap-001", &"é".repeat(MAX_STRING + 1)).map(drop);
    assert!(matches!(refused, Err(Refusal::InvalidRequest(_))), "{refused:?}");
    assert!(world.chain(&id).is_empty() && world.question(&id, "gap-001").is_none());
    assert_eq!(
        world.resolve(&id, "gap-001", &"é".repeat(MAX_STRING)).unwrap().verdict,
        accepted(&"é".repeat(MAX_STRING))
    );
    world.prove(&id);
}

/// An answer can open a new gap; the session is ready only once that one is answered, too.
#[test]
fn an_answer_can_bring_up_another_gap() {
    let mut world = World::new();
    let id = asked_about(&mut world, "target");
    let after = world.resolve(&id, "gap-001", "production").unwrap().session;
    assert_eq!((open(&after), fields(&after), counts(&after)), (vec!["gap-002"], vec!["window"], [1, 1, 0]));
    assert_eq!(world.record(&id)["all_resolved"], false);
    assert!(!world.confirm(&id).unwrap().is_confirmed());
    world.resolve(&id, "gap-002", "at night").unwrap();
    world.confirm(&id).unwrap();
    let answers = json!({ "target": "Production", "window": "at night" });
    assert_eq!(world.audit(&id)["accepted_plan"], changed(Value::Object(complete()), answers));
    world.prove(&id);
}

/// WWA-6.2-04, WWA-6.2-06, WWA-7-02, WWA-7-03, WWA-7-05, WWA-7-10, WWA-7-12
#[test]
fn a_round_has_the_question_the_answer_and_its_author() {
    let mut world = World::new();
    let session = world.submit(without(&["target", "region"]));
    let id = session.id.clone();
    world.later(7);
    let mut signatures = vec![session.chain_signature.clone()];
    for (number, (gap, said)) in [("gap-002", "mars"), ("gap-002", "us"), ("gap-001", "Staging")].iter().enumerate() {
        world.later(7);
        let asked_at = world.session(&id).last_at;
        let after = world.resolve(&id, gap, said).unwrap().session;
        let (round, record) = (world.last(&id), world.record(&id));
        assert_eq!((&round["round"], &record["total_rounds"]), (&json!(number + 1), &json!(number + 1)));
        let asked = session.message["gaps"].as_array().unwrap().iter().find(|asked| asked["id"] == *gap);
        assert_eq!(Some(&round["gap"]), asked, "member for member as it was sent");
        assert_eq!(round["ask_timestamp"], asked_at.to_rfc3339(), "when it was asked last");
        assert_eq!(round["answer_timestamp"], world.now().to_rfc3339());
        let key = world.key();
        let by = json!({ "agent_id": key.agent_id, "public_key": key.public_key, "attested": false });
        assert_eq!((&round["answered_by"], &round["given_by"]), (&by, &json!("own")));
        assert_eq!(round.get("decision_id"), None);
        assert_eq!(record["session_id"], session.message["session_id"]);
        signatures.push(after.chain_signature);
    }
    signatures.sort();
    signatures.dedup();
    assert_eq!(signatures.len(), 4, "signed anew every time");
    let exchanges = world.audit(&id)["clarification_chain"].clone();
    assert!(exchanges.as_array().unwrap().iter().all(|exchange| exchange["given_by"] == "own"));
    let of = texts::ClarificationResult::of(&world.session(&id)).unwrap();
    assert!(of.answers.iter().all(|answer| answer.given_by == GivenBy::Own));
    assert!(texts::lines(&of.facts(), "en").iter().all(|line| line.contains("agent's own")));
}

/// WWA-4-16, WWA-4-17: a check reports exactly the open gaps.
#[test]
fn a_check_returns_the_open_gaps() {
    let mut world = World::new();
    let session = world.submit(without(&["target", "region", "amount"]));
    world.resolve(&session.id, "gap-003", "7").unwrap();
    let session = world.session(&session.id);
    let told = view::check(&session, &world.key()).unwrap();
    let count = |severity| told.gaps.iter().filter(|gap| gap.severity == severity).count() as u64;
    assert_eq!((told.blocking_count, told.warning_count), (count(Severity::Block), count(Severity::Warn)));
    let asks: Vec<&str> = told.asks.iter().map(|ask| ask.gap_id.as_str()).collect();
    assert_eq!(asks, open(&session));
    assert!(told.asks.iter().all(|ask| ask.round == 2 && ask.prev.0 == session.head));
    let status = view::status(&session, world.now()).unwrap();
    assert_eq!((status.accepted_gaps, status.blocking_gaps, status.warning_gaps, status.total_rounds), (1, 1, 1, 1));
}

/// WWA-7-01
#[test]
fn of_two_answers_at_once_one_counts_and_the_chain_has_one_end() {
    let mut world = World::new();
    let id = world.submit(without(&["target", "region"])).id;
    let resolving = |world: &World, gap: &str, said: &str| {
        use countersign_core::{clarification::resolve::Resolve, step::Operation as _};
        let by = world.plane.raiser(0);
        let resolve = Resolve { by, gap_id: gap.into(), answer: said.into(), signed: None, asked: None };
        resolve.decide(&world.view(&id, 0), &world.plane.env(world.now())).unwrap()
    };
    let (left, right) = (resolving(&world, "gap-001", "Staging"), resolving(&world, "gap-002", "eu"));
    let (same, other) = (resolving(&world, "gap-001", "Staging"), resolving(&world, "gap-001", "Production"));
    world.commit(left);
    for late in [right, same, other] {
        assert!(world.try_commit(late).is_err());
    }
    assert_eq!(world.chain(&id).len(), 1);
    world.prove(&id);
}
