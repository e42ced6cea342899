//! Claiming an approval, its outcome, and the events about it.

use crate::{
    decision_store::Outcome,
    decision_stream::Listener,
    decision_world::{
        ADMIN, ALICE, Ask, BOB, CAROL, DAN, NOW, Plane, answer, answerer, beside, claim, document, reply,
    },
};
use countersign_core::{
    decision::{claim::Claim, outcome::OutcomeReport, reconcile::Reconcile},
    records::{Assurance, Decision, ExecutionState, Point, Record, Reporter, Table},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::{
    aaep::event::{Payload, YesNo},
    hash::Digest,
    ids::RowKey,
};

fn accepted(plane: &mut Plane, ask: &Ask, by: RowKey) -> Decision {
    let now = plane.store.now;
    let step = plane.raise(ask, now).unwrap();
    let question = plane.commit(step).decision;
    let step = plane.answer(question.key, answer(by, reply(YesNo::Accept), now), now).unwrap();
    plane.commit(step).decision
}

fn spent(plane: &mut Plane, ask: &Ask, by: RowKey) -> Decision {
    let decision = accepted(plane, ask, by);
    let step = plane.claim(decision.key, claim(decision.digest), true, plane.store.now).unwrap();
    plane.commit(step);
    decision
}

fn unknown(plane: &mut Plane, ask: &Ask, by: RowKey) -> Decision {
    let decision = spent(plane, ask, by);
    plane.store.now = plane.store.now.plus_secs(decision.terms.lease_s);
    let step = plane.lease_due(decision.key, plane.store.now).unwrap();
    plane.commit(step);
    decision
}

#[test]
fn an_approval_is_claimed_for_exactly_the_approved_call_at_its_enforcement_point() {
    let mut plane = Plane::new();
    let decision = accepted(&mut plane, &Ask::of("file.move"), ALICE);
    let elsewhere = |claim: Claim| {
        let refused = plane.claim(decision.key, claim, true, NOW).map(drop);
        assert!(matches!(refused, Err(Refusal::ConfirmationInvalid(_))), "{refused:?}");
    };
    elsewhere(claim(Digest::of(b"ten times as much")));
    elsewhere(Claim { point: Point::Gateway, ..claim(decision.digest) });
    elsewhere(Claim { point: Point::McpProxy, ..claim(decision.digest) });
}

#[test]
fn without_a_valid_approval_nothing_runs() {
    let mut plane = Plane::new();
    let step = plane.raise(&Ask::of("file.move"), NOW).unwrap();
    let open = plane.commit(step).decision;
    let conflict = |plane: &Plane, decision: &Decision, stands, now| {
        let refused = plane.claim(decision.key, claim(decision.digest), stands, now).map(drop);
        assert!(matches!(refused, Err(Refusal::ApprovalGone(_))), "{refused:?}");
    };
    conflict(&plane, &open, true, NOW);
    let step = plane.answer(open.key, answer(ALICE, reply(YesNo::Reject), NOW), NOW).unwrap();
    let rejected = plane.commit(step).decision;
    conflict(&plane, &rejected, true, NOW);
    let yes = accepted(&mut plane, &Ask::of("money.pay"), BOB);
    conflict(&plane, &yes, false, NOW);
    conflict(&plane, &yes, true, NOW.plus_secs(45));
    let effects = plane.take_back(yes.key, NOW).unwrap();
    assert_eq!(plane.store.commit(&effects), Outcome::Committed);
    conflict(&plane, &yes, true, NOW);
    let cut_off = accepted(&mut plane, &Ask::of("file.move"), ALICE);
    let asking = plane.raise(&Ask { number: 7, ..Ask::of("file.move") }, NOW).unwrap();
    let held = plane.claim(cut_off.key, claim(cut_off.digest), true, NOW).unwrap();
    let step = plane.revoke(0, NOW).unwrap();
    plane.commit(step);
    conflict(&plane, &cut_off, true, NOW);
    for effects in [held.effects, asking.effects] {
        assert_eq!(plane.store.commit(&effects), Outcome::Stale, "nor what was decided before the revocation");
    }
}

///
#[test]
fn a_claim_that_was_under_way_when_the_agent_was_cut_off_is_not_written() {
    let mut plane = Plane::new();
    let decision = accepted(&mut plane, &Ask::of("file.move"), ALICE);
    let step = plane.claim(decision.key, claim(decision.digest), true, NOW).unwrap();
    let delegation = decision.raised_by.delegation.unwrap();
    plane.store.standing.insert((Table::Delegation, delegation), 6);
    assert_eq!(plane.store.commit(&step.effects), Outcome::Stale);
}

#[test]
fn of_two_claims_one_is_written_and_the_time_of_an_approval_is_the_stores() {
    let mut plane = Plane::new();
    let decision = accepted(&mut plane, &Ask::of("file.move"), ALICE);
    let [left, right] = [(), ()].map(|()| plane.claim(decision.key, claim(decision.digest), true, NOW).unwrap());
    plane.store.now = NOW.plus_secs(60);
    assert_eq!(plane.store.commit(&left.effects), Outcome::OutOfTime);
    plane.store.now = NOW.plus_secs(60).plus_millis(-1);
    assert_eq!(plane.store.commit(&left.effects), Outcome::Committed);
    assert_eq!(plane.store.commit(&right.effects), Outcome::Stale);
    assert_eq!(plane.store.executions().count(), 1);
}

///
#[test]
fn the_same_neither_runs_nor_is_asked_beside_itself() {
    let mut plane = Plane::new();
    let first = accepted(&mut plane, &Ask::of("file.move"), ALICE);
    let second = accepted(&mut plane, &Ask::of("file.move"), ALICE);
    let step = plane.claim(first.key, claim(first.digest), true, NOW).unwrap();
    plane.commit(step);
    let beside = plane.claim(second.key, claim(second.digest), true, NOW).unwrap();
    assert_eq!(plane.store.commit(&beside.effects), Outcome::Stale);
    let Err(Refusal::Conflict(why)) = plane.raise(&Ask::of("file.move"), NOW).map(drop) else { panic!("was asked") };
    assert!(why.contains(&first.id));
    let step = plane.on_execution(first.key, OutcomeReport::Committed, NOW).unwrap();
    plane.commit(step);
    let step = plane.claim(second.key, claim(second.digest), true, NOW).unwrap();
    plane.commit(step);
}

///
#[test]
fn every_claim_has_a_higher_fence_number_than_all_before_it() {
    let mut plane = Plane::new();
    let decision = accepted(&mut plane, &Ask::of("file.move"), ALICE);
    let now = NOW.secs();
    for (highest, next) in [(0, now), (now - 1, now), (now, now + 1), (now + 41, now + 42)] {
        let step = plane.claim_after(highest, decision.key, claim(decision.digest), true, NOW).unwrap();
        assert_eq!(step.answer.fence, next);
        let written = step.effects.puts.iter().find_map(|record| match record {
            Record::Execution(execution) => Some(execution.fence),
            _ => None,
        });
        assert_eq!(written, Some(next));
    }
}

/// AAEP-6.1-12
#[test]
fn an_accepted_call_is_resolved_announced_run_and_completed_in_that_order() {
    let mut plane = Plane::new();
    let session = plane.open_session(0, NOW).unwrap();
    let session = plane.commit(session).key;
    let decision = spent(&mut plane, &Ask::of("money.pay").within(session), BOB);
    let step = plane.on_execution(decision.key, OutcomeReport::Committed, NOW).unwrap();
    plane.commit(step);
    let mut listener = Listener::default();
    listener.listen(&plane.store);
    let about = plane.store.said.iter().filter(|said| beside(&said.event, "decision_id").is_some());
    let order: Vec<String> = about
        .map(|said| match &said.event.payload {
            Payload::StateChanged(changed) => format!("{} → {}", changed.from_state, changed.to_state),
            payload => payload.type_name().replace("aaep:agent.", ""),
        })
        .collect();
    let expected = [
        "idle → awaiting_input",
        "awaiting.confirmation",
        "awaiting_input → calling_tool",
        "tool.invoked",
        "tool.completed",
        "calling_tool → thinking",
    ];
    assert_eq!(order, expected);
}

///
#[test]
fn a_lease_and_an_approval_lapse_by_the_stores_clock_and_not_before() {
    let mut plane = Plane::new();
    let ran = spent(&mut plane, &Ask::of("file.move"), ALICE);
    let unused = accepted(&mut plane, &Ask::of("money.pay"), BOB);
    let lease = plane.lease_due(ran.key, NOW.plus_secs(30)).unwrap();
    let yes = plane.allowance_due(unused.key, NOW.plus_secs(45)).unwrap();
    plane.store.now = NOW.plus_secs(30).plus_millis(-1);
    assert_eq!(plane.store.commit(&lease.effects), Outcome::OutOfTime);
    let still = plane.on_execution(ran.key, OutcomeReport::Running, NOW.plus_secs(29)).unwrap();
    plane.store.now = NOW.plus_secs(30);
    assert_eq!(plane.store.commit(&still.effects), Outcome::OutOfTime, "a lapsed lease is not renewed");
    assert_eq!(plane.store.commit(&lease.effects), Outcome::Committed);
    plane.store.now = NOW.plus_secs(45).plus_millis(-1);
    assert_eq!(plane.store.commit(&yes.effects), Outcome::OutOfTime);
    plane.store.now = NOW.plus_secs(45);
    assert_eq!(plane.store.commit(&yes.effects), Outcome::Committed);
}

///
#[test]
fn an_outcome_counts_once_and_also_when_it_comes_late() {
    let mut plane = Plane::new();
    let done = spent(&mut plane, &Ask::of("file.move"), ALICE);
    let step = plane.on_execution(done.key, OutcomeReport::Running, NOW.plus_secs(29)).unwrap();
    plane.commit(step);
    let early = plane.lease_due(done.key, NOW.plus_secs(31)).unwrap();
    assert!(early.effects.is_empty(), "the lease was renewed");
    let step = plane
        .on_execution(done.key, OutcomeReport::Failed { why: Some("no paper".into()), refused: false }, NOW)
        .unwrap();
    plane.commit(step);
    assert!(
        plane
            .on_execution(done.key, OutcomeReport::Failed { why: None, refused: false }, NOW)
            .unwrap()
            .effects
            .is_empty()
    );
    let other = plane.on_execution(done.key, OutcomeReport::Committed, NOW).map(drop);
    assert!(matches!(other, Err(Refusal::Conflict(_))));

    let late = unknown(&mut plane, &Ask::of("lamp.dim"), ALICE);
    let now = plane.store.now;
    let still = plane.on_execution(late.key, OutcomeReport::Running, now).map(drop);
    assert!(matches!(still, Err(Refusal::Conflict(_))));
    let step = plane.on_execution(late.key, OutcomeReport::Committed, now).unwrap();
    plane.commit(step);
    let state = &plane.store.execution_of(late.key).unwrap().state;
    assert_eq!(*state, ExecutionState::Committed { at: now, by: Reporter::Claimant });
}

fn looks(by: RowKey, own_approval: bool) -> Reconcile {
    Reconcile { by: answerer(by, Assurance::Session), ran: true, reason: "asked the bank".into(), own_approval }
}

///
#[test]
fn an_approver_or_an_admin_settles_an_unreported_outcome_and_the_person_concerned_cannot() {
    for (person, own_approval, may) in [
        (ALICE, false, false),
        (ALICE, true, false),
        (BOB, false, true),
        (CAROL, false, true),
        (DAN, true, false),
        (ADMIN, false, true),
    ] {
        let mut plane = Plane::new();
        let decision = unknown(&mut plane, &Ask::of("money.pay"), BOB);
        let decided = plane.on_execution(decision.key, looks(person, own_approval), plane.store.now).map(drop);
        assert_eq!(decided.is_ok(), may, "{person} {own_approval}: {decided:?}");
        assert!(may || matches!(decided, Err(Refusal::NotAuthorized(_))));
    }
}

///
#[test]
fn an_admin_concerned_themselves_needs_the_switch() {
    let mut plane = Plane::new();
    let decision = unknown(&mut plane, &Ask::of("money.pay"), BOB);
    let both = |own_approval| {
        let mut looks = looks(ALICE, own_approval);
        looks.by.roles = answerer(ADMIN, Assurance::Session).roles;
        plane.on_execution(decision.key, looks, plane.store.now).is_ok()
    };
    assert!(!both(false) && both(true));
}

///
#[test]
fn finding_out_needs_a_reason_a_right_and_something_unknown() {
    let mut plane = Plane::new();
    let known = spent(&mut plane, &Ask::of("money.pay"), BOB);
    let early = plane.on_execution(known.key, looks(BOB, false), NOW).map(drop);
    assert!(matches!(early, Err(Refusal::Conflict(_))));
    let decision = unknown(&mut plane, &Ask { number: 1, ..Ask::of("money.pay") }, BOB);
    let now = plane.store.now;
    let silent = Reconcile { reason: " ".into(), ..looks(BOB, false) };
    assert!(matches!(plane.on_execution(decision.key, silent, now).map(drop), Err(Refusal::InvalidRequest(_))));
    let mut reads_only = looks(BOB, false);
    reads_only.by.may_answer = false;
    assert!(matches!(plane.on_execution(decision.key, reads_only, now).map(drop), Err(Refusal::NotAuthorized(_))));
    let thrown_out = plane.on_execution(decision.key, looks(CAROL, false), now).unwrap();
    plane.store.standing.insert((Table::Membership, CAROL), 2);
    assert_eq!(plane.store.commit(&thrown_out.effects), Outcome::Stale);
    let step = plane.on_execution(decision.key, looks(BOB, false), now).unwrap();
    let closed = plane.commit(step);
    let by = Reporter::Person { person: BOB, reason: "asked the bank".into() };
    assert_eq!(closed.state, ExecutionState::Committed { at: now, by });
    let again = plane.on_execution(decision.key, looks(ADMIN, false), now).map(drop);
    assert!(matches!(again, Err(Refusal::Conflict(_))));
}

///
#[test]
fn people_are_asked_no_more_than_they_can_bear() {
    let mut small = document();
    small.decisions.max_open_per_agent = 2;
    small.decisions.max_open_per_person = 3;
    small.decisions.max_raised_per_hour = 4;
    let mut plane = Plane::with(small);
    let ask = |agent, number| Ask { agent, number, ..Ask::of("file.move") };
    let mut raise = |agent, number| {
        let step = plane.raise(&ask(agent, number), plane.store.now).unwrap();
        let outcome = plane.store.commit(&step.effects);
        (outcome, step.answer.decision.key)
    };
    let first = raise(0, 0).1;
    let second = raise(0, 1).1;
    assert_eq!(raise(0, 2).0, Outcome::LimitReached(0), "two of one agent");
    assert_eq!(raise(1, 0).0, Outcome::Committed);
    assert_eq!(raise(1, 1).0, Outcome::LimitReached(1), "three for one person");
    for key in [first, second] {
        let step = plane.withdraw(key, plane.store.now).unwrap();
        plane.commit(step);
    }
    for number in [3, 4] {
        let step = plane.raise(&ask(0, number), plane.store.now).unwrap();
        let key = plane.commit(step).decision.key;
        let step = plane.withdraw(key, plane.store.now).unwrap();
        plane.commit(step);
    }
    let fifth = plane.raise(&ask(0, 5), plane.store.now).unwrap();
    assert_eq!(plane.store.commit(&fifth.effects), Outcome::LimitReached(2), "four an hour");
    plane.store.now = plane.store.now.plus_secs(3600);
    let next_hour = plane.raise(&ask(0, 5), plane.store.now).unwrap();
    plane.commit(next_hour);
}

///
#[test]
fn an_action_rests_after_three_rejections_with_any_arguments() {
    let mut plane = Plane::new();
    for number in 0..3 {
        let step = plane.raise(&Ask { number, ..Ask::of("file.move") }, NOW).unwrap();
        let question = plane.commit(step).decision;
        let step = plane.answer(question.key, answer(ALICE, reply(YesNo::Reject), NOW), NOW).unwrap();
        plane.commit(step);
    }
    let fourth = plane.raise(&Ask { number: 3, ..Ask::of("file.move") }, NOW).unwrap();
    assert_eq!(plane.store.commit(&fourth.effects), Outcome::LimitReached(3));
    let another = plane.raise(&Ask::of("lamp.dim"), NOW).unwrap();
    plane.commit(another);
    plane.store.now = NOW.plus_secs(601);
    let rested = plane.raise(&Ask { number: 3, ..Ask::of("file.move") }, plane.store.now).unwrap();
    plane.commit(rested);
}

///
#[test]
fn asking_while_nobody_is_there_counts_as_asking() {
    let mut early = document();
    early.decisions.early_reject = true;
    let mut plane = Plane::with(early);
    let ask = |number| Ask { number, somebody_there: false, ..Ask::of("file.move") };
    for number in 0..5 {
        let step = plane.raise(&ask(number), NOW).unwrap();
        plane.commit(step);
    }
    let sixth = plane.raise(&ask(5), NOW).unwrap();
    assert_eq!(plane.store.commit(&sixth.effects), Outcome::LimitReached(2));
    assert_eq!(plane.store.count(&format!("1:asked:{ALICE}")), 0, "and leaves nothing open");
}

///
#[test]
fn another_agents_question_is_not_handed_out() {
    let mut plane = Plane::new();
    let step = plane.raise(&Ask::of("file.move"), NOW).unwrap();
    let mut foreign = plane.commit(step).decision;
    foreign.raised_by = plane.raiser(1);
    foreign.version += 1;
    let effects = Effects { puts: vec![Record::Decision(foreign)], ..Effects::default() };
    assert_eq!(plane.store.commit(&effects), Outcome::Committed);
    let refused = plane.raise(&Ask::of("file.move"), NOW).map(drop);
    assert!(matches!(refused, Err(Refusal::Conflict(_))));
}
