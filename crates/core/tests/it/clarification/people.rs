//! Gaps answered by a person: one question and one session, updated in a single step (W-31).

use super::{
    rules::{changed, complete, without},
    world::{World, fields, open},
};
use countersign_core::{
    clarification::texts,
    decision::answer::NotCounted,
    records::{Decision, DecisionState, GapState, TextAuthor},
};
use countersign_protocol::{
    aaep::event::ResponseKind,
    clarification::{GivenBy, limits::MAX_STRING},
    mplp::MplpId,
};
use serde_json::{Value, json};

/// The only gap of a plan without this field, after an unusable answer by the agent.
fn escalated(world: &mut World, field: &str, said: &str) -> (MplpId, Decision) {
    let id = world.submit(without(&[field])).id;
    world.later(10);
    world.resolve(&id, "gap-001", said).unwrap();
    let question = world.question(&id, "gap-001").expect("a person is asked");
    world.later(10);
    (id, question)
}

/// An answer that cannot be written into the plan does not count; the question stays open.
#[test]
fn a_persons_answer_that_cannot_be_stored_is_not_counted_and_the_error_is_shown() {
    let long = "x".repeat(MAX_STRING + 1);
    let unusable = [
        ("amount", "a few"),
        ("amount", ""),
        ("amount", "accept"),
        ("urgent", "maybe"),
        ("target", ""),
        ("target", " "),
        ("target", "\u{200b}"),
        ("target", "accept"),
        ("target", " Accept "),
        ("target", &long),
        ("region", "mars"),
    ];
    for (field, response) in unusable {
        let mut world = World::new();
        let (id, question) = escalated(&mut world, field, "the usual");
        let before = (world.session(&id), world.chain(&id));
        let refused = world.person(question.key, response).map(drop).unwrap_err();
        match refused {
            NotCounted::OutOfBounds(why) => assert!(!why.is_empty()),
            NotCounted::NotAllowed => {}
            other => panic!("{field} {response:?}: {other:?}"),
        }
        assert_eq!((world.session(&id), world.chain(&id)), before);
        assert!(world.question(&id, "gap-001").is_some(), "a later answer counts");
        world.prove(&id);
    }
}

/// WWA-5-02, WWA-6.2-06, WWA-7-09, WWA-7-11
#[test]
fn a_persons_answer_resolves_the_gap_in_the_step_that_settles_the_question() {
    let answers = [
        ("owner", "the night shift", "the night shift"),
        ("owner", "the usual", "the usual"),
        ("target", "Production", "Production"),
        ("target", "production", "Production"),
        ("target", "the third floor", "the third floor"),
        ("region", "us", "us"),
        ("region", "accept", "accept"),
        ("amount", "12.5", "12.5"),
        ("urgent", "TRUE", "TRUE"),
        ("urgent", "accept", "accept"),
    ];
    for (field, response, accepted) in answers {
        let mut world = World::new();
        let (id, question) = escalated(&mut world, field, "");
        let step = world.answering(question.key, response).unwrap();
        world.commit(step);
        assert!(matches!(world.plane.store.decision(question.key).state, DecisionState::Answered { .. }));
        let GapState::Resolved { answer, accepted: taken, given_by, applies, .. } = &world.session(&id).gaps[0].state
        else {
            panic!("{field} {response:?} resolved nothing")
        };
        assert_eq!((answer.as_str(), taken.as_str(), *given_by, *applies), (response, accepted, GivenBy::Person, true));
        let round = world.last(&id);
        assert_eq!((&round["resolved"], &round["given_by"]), (&json!(true), &json!("person")));
        assert_eq!((&round["decision_id"], &round["answer"]), (&json!(question.id), &json!(response)));
        assert_eq!(round["answered_by"]["attested"], false, "we say that it was answered so");
        world.prove(&id);
        if accepted != "Production" {
            world.confirm(&id).unwrap();
            world.prove(&id);
        }
    }
}

///
#[test]
fn a_person_reads_the_rules_words_the_suggestions_and_the_agents_words_marked_as_such() {
    let mut world = World::new();
    let (_, question) = escalated(&mut world, "region", "mars”");
    assert_eq!(question.words, TextAuthor::Owner);
    let asked = World::asks(&question.question);
    assert!(asked.question.contains("region"));
    assert_eq!(asked.kinds, [ResponseKind::MultipleChoice], "nothing but what is offered answers it");
    assert_eq!(asked.choices.iter().map(|choice| choice.value.as_str()).collect::<Vec<_>>(), ["eu", "us", "accept"]);
    assert!(asked.context.as_ref().unwrap().contains("The agent's own answer was “mars\"”"));
    let (_, question) = escalated(&mut world, "target", "");
    let asked = World::asks(&question.question);
    assert_eq!(asked.kinds, [ResponseKind::MultipleChoice, ResponseKind::Freetext]);
    assert!(asked.choices.iter().all(|choice| choice.value != "accept"), "a BLOCK is never left as it is");
    assert!(!asked.context.as_ref().unwrap().contains("own answer"));
    let (_, question) = escalated(&mut world, "owner", "me");
    let asked = World::asks(&question.question);
    assert_eq!((asked.kinds.as_slice(), asked.choices.len()), ([ResponseKind::Freetext].as_slice(), 0));
}

/// A gap has one question, however often the agent tries.
#[test]
fn a_person_is_asked_once_despite_further_answers_of_the_agent() {
    let mut world = World::new();
    let (id, question) = escalated(&mut world, "region", "mars");
    world.resolve(&id, "gap-001", "venus").unwrap();
    assert_eq!(world.question(&id, "gap-001").unwrap().key, question.key);
    assert_eq!(world.plane.store.decisions().count(), 1);
    assert_eq!(world.chain(&id).len(), 2);
    world.prove(&id);
}

/// If the agent finds a usable answer first, the person's answer changes nothing.
#[test]
fn a_persons_answer_to_a_resolved_gap_changes_nothing() {
    let mut world = World::new();
    let (id, question) = escalated(&mut world, "region", "mars");
    world.resolve(&id, "gap-001", "eu").unwrap();
    let before = (world.session(&id), world.chain(&id));
    world.person(question.key, "us").unwrap();
    assert_eq!((world.session(&id), world.chain(&id)), before);
    assert!(world.question(&id, "gap-001").is_none(), "but the question is settled");
}

#[test]
fn a_persons_answer_after_the_plan_was_changed_changes_nothing() {
    let mut world = World::new();
    let (id, question) = escalated(&mut world, "owner", "me");
    let session = world.resubmit(&id, without(&["owner", "amount"])).unwrap();
    assert_eq!(open(&session), ["gap-002", "gap-003"]);
    let before = (world.session(&id), world.chain(&id));
    world.person(question.key, "the night shift").unwrap();
    assert_eq!((world.session(&id), world.chain(&id)), before);
    world.prove(&id);
}

#[test]
fn a_persons_answer_after_the_session_is_over_changes_nothing() {
    let mut world = World::with(|document| document.clarification.session_seconds = 60);
    let (id, question) = escalated(&mut world, "owner", "me");
    world.plane.store.now = world.now().plus_secs(60);
    let before = (world.session(&id), world.chain(&id));
    world.person(question.key, "the night shift").unwrap();
    assert_eq!((world.session(&id), world.chain(&id)), before);
}

/// A person's answer is decided on the session as loaded; if the session has changed since, it is decided again.
#[test]
fn a_persons_answer_and_an_agents_at_once_do_not_fork_the_chain() {
    let mut world = World::new();
    let id = world.submit(without(&["owner", "region"])).id;
    world.resolve(&id, "gap-002", "me").unwrap();
    let question = world.question(&id, "gap-002").unwrap();
    let late = world.answering(question.key, "the night shift").unwrap();
    world.resolve(&id, "gap-001", "eu").unwrap();
    assert!(world.try_commit(late).is_err());
    assert!(world.question(&id, "gap-002").is_some(), "nothing of it happened");
    world.person(question.key, "the night shift").unwrap();
    assert_eq!(world.chain(&id).len(), 3);
    world.prove(&id);
}

#[test]
fn a_persons_answer_can_bring_up_another_gap_and_survives_a_rotation() {
    let mut world = World::new();
    let (id, question) = escalated(&mut world, "target", "");
    world.rotate();
    world.person(question.key, "Production").unwrap();
    assert_eq!(fields(&world.session(&id)), ["window"]);
    world.prove(&id);
    world.resolve(&id, "gap-002", "at night").unwrap();
    world.confirm(&id).unwrap();
    let answers = json!({ "target": "Production", "window": "at night" });
    assert_eq!(world.audit(&id)["accepted_plan"], changed(Value::Object(complete()), answers));
    world.prove(&id);
}

/// WWA-6.2-06
#[test]
fn an_approver_reads_the_author_of_each_answer() {
    let mut world = World::new();
    let id = world.submit(without(&["owner", "amount"])).id;
    world.resolve(&id, "gap-001", "7").unwrap();
    world.resolve(&id, "gap-002", "me").unwrap();
    let question = world.question(&id, "gap-002").unwrap();
    world.person(question.key, "the “night” shift").unwrap();
    let clarified = texts::ClarificationResult::of(&world.session(&id)).unwrap().facts();
    let lines = texts::lines(&clarified, "en");
    assert_eq!(lines[0], "amount: “7” (the agent's own answer)");
    assert_eq!(lines[1], "owner: “the \"night\" shift” (answered by a person)");
    let whose: Vec<GivenBy> = clarified.answers.iter().map(|answer| answer.given_by).collect();
    assert_eq!(whose, [GivenBy::Own, GivenBy::Person]);
}
