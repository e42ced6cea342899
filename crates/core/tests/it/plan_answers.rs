//! Valid answers about a plan, their effect, and that only one counts (MPLP 3 and 4.3).

use crate::{
    decision_store::Outcome,
    decision_world::{ADMIN, ALICE, BOB, DAN, NOW, Plane, answerer, at_deadline},
    mplp_submit::id,
    plan_world::{call, document, no, only, plan_of, use_of, yes},
};
use countersign_core::{
    decision::{
        answer::{Answer, AnswerContent, AnswerView, Extra, NotCounted, ProvenPerson},
        cancel::CancelQuestion,
        due::DueView,
    },
    mplp::{
        confirm,
        govern::{Govern, GovernView},
        roles::Deciding,
    },
    records::{Assurance, DecisionState, Plan, Project, Role},
    refusal::Refusal,
    step::{Effects, Operation as _},
};
use countersign_protocol::{
    aaep::event::YesNo,
    ids::RowKey,
    mplp::{ConfirmStatus, DecisionStatus, PlanStatus, PlanSubmission, StepStatus},
    project::ProjectDocument,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn look() -> Value {
    json!({ "tool": "look", "arguments": { "q": "a" } })
}

/// Three steps with actions, each depending on the previous one.
fn chain() -> PlanSubmission {
    plan_of(&[(&[], look()), (&[1], look()), (&[2], look())])
}

fn why(plane: &Plane, asked: RowKey, answer: Answer) -> Option<NotCounted> {
    plane.answer(asked, answer, plane.store.now).err()
}

/// Asserts that the question is still pending and nothing may run.
fn assert_open(plane: &Plane, plan: RowKey, asked: RowKey) {
    assert!(plane.store.decision(asked).is_pending());
    assert_eq!(plane.store.plan(plan).document.status, PlanStatus::Proposed);
    assert!(plane.store.allowances().next().is_none());
}

///
#[test]
fn an_approval_covers_no_more_calls_than_the_project_allows_when_it_is_given() {
    let mut loose = document();
    loose.plans.max_uses = 20;
    let mut plane = Plane::with(loose);
    let often = || json!({ "tool": "look", "arguments": { "q": "a" }, "uses": 6 });
    let (plan, asked) = plane.proposed(&plan_of(&[(&[], often()), (&[], often())]));
    plane.project = Arc::new(Project { document: document().into(), ..(*plane.project).clone() });
    let Some(NotCounted::OutOfBounds(reason)) = why(&plane, asked, yes(ALICE)) else { panic!("it counted") };
    assert!(reason.contains("12 calls") && reason.contains("at most 10"), "{reason}");
    assert_open(&plane, plan, asked);
    let fewer = Answer { extra: only(&[1]), ..yes(ALICE) };
    assert_eq!(why(&plane, asked, fewer), None);
}

fn with_roles() -> ProjectDocument {
    let roles = json!([
        { "name": "reader", "members": ["role:user"] },
        { "name": "reviewer", "capabilities": ["confirm.approve"], "members": ["user:person-201"] },
        { "name": "chief", "capabilities": ["confirm.approve", "confirm.override"], "members": ["role:admin"] },
    ]);
    ProjectDocument { roles: serde_json::from_value(roles).unwrap(), ..document() }
}

/// A person with the roles assigned to this subject and these memberships.
fn as_(person: RowKey, subject: &str, places: &[Role]) -> ProvenPerson {
    let deciding = Deciding::of(&with_roles(), subject, places);
    ProvenPerson { deciding, ..answerer(person, Assurance::Session) }
}

fn by(by: ProvenPerson, said: Answer) -> Answer {
    Answer { by, ..said }
}

fn lock(plane: &mut Plane, asked: RowKey, by: ProvenPerson) -> Result<(), NotCounted> {
    let governance = serde_json::from_value(json!({ "locked": true })).unwrap();
    let view = GovernView { place: plane.place(), decision: plane.store.decision(asked).clone() };
    let step = Govern { by, governance }.decide(&view, &plane.env(NOW))?;
    plane.commit(step);
    Ok(())
}

/// MPLP-4.3-09
#[test]
fn a_role_without_the_capability_decides_nothing_and_no_other_label_helps() {
    let mut plane = Plane::with(with_roles());
    let (plan, asked) = plane.proposed(&chain());
    let erin = as_(ALICE, "erin", &[Role::User]);
    for as_role in [None, Some("reader"), Some("reviewer"), Some("chief"), Some("nobody")] {
        let extra = Extra { as_role: as_role.map(str::to_owned), ..Extra::default() };
        let refused = why(&plane, asked, by(erin.clone(), Answer { extra, ..yes(ALICE) }));
        assert_eq!(refused, Some(NotCounted::NotEntitled), "{as_role:?}");
    }
    // An entitled person, under the label of a foreign or non-approving role.
    let alice = as_(ALICE, "person-201", &[Role::User]);
    for label in ["chief", "reader", "system:timeout"] {
        let extra = Extra { as_role: Some(label.into()), ..Extra::default() };
        let refused = why(&plane, asked, by(alice.clone(), Answer { extra, ..yes(ALICE) }));
        assert_eq!(refused, Some(NotCounted::NotEntitled), "{label}");
    }
    assert_open(&plane, plan, asked);
    let extra = Extra { as_role: Some("reviewer".into()), ..Extra::default() };
    let step = plane.answer(asked, by(alice, Answer { extra, ..yes(ALICE) }), NOW).unwrap();
    let settled = plane.commit(step).decision;
    assert!(matches!(&settled.state, DecisionState::Accepted { by, .. } if by.role.as_deref() == Some("reviewer")));
}

///
#[test]
fn the_rejection_by_the_person_concerned_counts_with_any_role() {
    let mut plane = Plane::with(with_roles());
    let (plan, asked) = plane.proposed(&chain());
    let erin = as_(ALICE, "erin", &[Role::User]);
    let refused = why(&plane, asked, by(as_(DAN, "dan", &[Role::User]), no(DAN)));
    assert_eq!(refused, Some(NotCounted::NotEntitled), "but nobody else's");
    let step = plane.answer(asked, by(erin, no(ALICE)), NOW).unwrap();
    plane.commit(step);
    assert_eq!(plane.store.plan(plan).document.status, PlanStatus::Draft);
}

/// MPLP-2.2-06
#[test]
fn a_locked_plan_is_decided_by_override_alone() {
    let mut plane = Plane::with(with_roles());
    let (plan, asked) = plane.proposed(&chain());
    let alice = || as_(ALICE, "person-201", &[Role::User]);
    let chief = |person| as_(person, "erin", &[Role::Admin]);
    assert_eq!(lock(&mut plane, asked, alice()), Err(NotCounted::NotEntitled));
    let reads_only = ProvenPerson { may_answer: false, ..chief(ADMIN) };
    assert_eq!(lock(&mut plane, asked, reads_only), Err(NotCounted::NotEntitled));
    lock(&mut plane, asked, chief(ADMIN)).unwrap();
    let over = || Extra { by_override: true, ..Extra::default() };
    for said in [yes(ALICE), no(ALICE)] {
        for extra in [Extra::default(), over()] {
            let answer = by(alice(), Answer { given: said.given.clone(), extra, ..yes(ALICE) });
            assert_eq!(why(&plane, asked, answer), Some(NotCounted::Locked), "without the permission");
        }
    }
    assert_eq!(why(&plane, asked, by(chief(ALICE), yes(ALICE))), Some(NotCounted::Locked), "without saying so");
    for by_override in [false, true] {
        let off = CancelQuestion { by: alice(), reason: None, by_override };
        let refused = off.decide(&plane.due_view(asked), &plane.env(NOW)).map(drop);
        assert_eq!(refused, Err(NotCounted::Locked));
    }
    assert!(matches!(plane.withdraw(asked, NOW), Err(Refusal::Conflict(_))), "nor by its agent");
    assert_open(&plane, plan, asked);
    let step = plane.answer(asked, by(chief(ALICE), Answer { extra: over(), ..yes(ALICE) }), NOW).unwrap();
    let settled = plane.commit(step).decision;
    assert!(matches!(&settled.state, DecisionState::Accepted { by, .. } if by.by_override));
    assert_eq!(plane.store.plan(plan).document.status, PlanStatus::Approved);
    assert_eq!(lock(&mut plane, asked, chief(ADMIN)), Err(NotCounted::Settled));
}

///
#[test]
fn only_steps_that_can_stand_alone_are_approved_alone() {
    let mut plane = Plane::with(document());
    let (plan, asked) = plane.proposed(&chain());
    for (steps, told) in [
        (vec![2], "depends on step"),
        (vec![1, 3], "depends on step"),
        (vec![1, 9], "no step"),
        (vec![], "reject the plan"),
    ] {
        let refused = why(&plane, asked, Answer { extra: only(&steps), ..yes(ALICE) });
        let Some(NotCounted::OutOfBounds(said)) = refused else { panic!("{steps:?}: {refused:?}") };
        assert!(said.contains(told), "{said}");
    }
    assert_open(&plane, plan, asked);
    let step = plane.answer(asked, Answer { extra: only(&[2, 1]), ..yes(ALICE) }, NOW).unwrap();
    plane.commit(step);
    let row = plane.store.plan(plan);
    let statuses: Vec<StepStatus> = row.document.steps.iter().map(|step| step.status).collect();
    assert_eq!(statuses, [StepStatus::Pending, StepStatus::Pending, StepStatus::Skipped]);
    let allowed: Vec<bool> = (1..4).map(|n| plane.allowance_of_step(n).is_some()).collect();
    assert_eq!(allowed, [true, true, false]);
}

/// Naming a step repeatedly does not increase its number of uses.
#[test]
fn a_step_that_is_named_twice_is_approved_once() {
    let mut plane = Plane::with(document());
    let (_, asked) = plane.proposed(&chain());
    let step = plane.answer(asked, Answer { extra: only(&[1, 1, 2, 1]), ..yes(ALICE) }, NOW).unwrap();
    assert_eq!(step.answer.allowances.len(), 2);
    plane.commit(step);
}

/// A step above the project's risk limit, or the agent's own step, gets no allowance from the plan's approval.
#[test]
fn a_step_that_asks_again_gets_no_approval_in_advance() {
    let mut plane = Plane::with(document());
    let vault = json!({ "tool": "vault", "arguments": {} });
    let (_, asked) = plane.proposed(&plan_of(&[(&[], vault), (&[], Value::Null)]));
    let step = plane.answer(asked, yes(BOB), NOW).unwrap();
    assert!(step.answer.allowances.is_empty());
    plane.commit(step);
}

/// The possible ends of a question about a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Approve,
    Reject,
    CancelQuestion,
    Withdraw,
    Expire,
}

const ENDS: [End; 5] = [End::Approve, End::Reject, End::CancelQuestion, End::Withdraw, End::Expire];

/// The effects of this end on the current rows; `None` if it is refused.
fn tries(plane: &Plane, asked: RowKey, end: End) -> Option<Effects> {
    let now = plane.store.now;
    let rejects =
        AnswerContent::Reply { decision: YesNo::Reject, rationale: Some("too dear".into()), modified_action: None };
    match end {
        End::Approve => plane.answer(asked, yes(ALICE), now).ok().map(|step| step.effects),
        End::Reject => plane.answer(asked, Answer { given: rejects, ..yes(ALICE) }, now).ok().map(|step| step.effects),
        End::CancelQuestion => {
            let off = CancelQuestion {
                by: answerer(ALICE, Assurance::Token),
                reason: Some("wait".into()),
                by_override: false,
            };
            off.decide(&plane.due_view(asked), &plane.env(now)).ok().map(|step| step.effects)
        }
        End::Withdraw => plane.withdraw(asked, now).ok().map(|step| step.effects),
        End::Expire => {
            let due = plane.due(asked, at_deadline(), NOW.plus_secs(120)).ok();
            due.map(|step| step.effects).filter(|effects| !effects.is_empty())
        }
    }
}

/// A plan with its question settled this way.
fn settled(end: End) -> (Plane, RowKey, RowKey) {
    let mut plane = Plane::with(document());
    let (plan, asked) = plane.proposed(&chain());
    let effects = tries(&plane, asked, end).unwrap();
    if end == End::Expire {
        plane.store.now = NOW.plus_secs(120);
    }
    assert_eq!(plane.store.commit(&effects), Outcome::Committed);
    plane.store.now = NOW;
    (plane, plan, asked)
}

/// MPLP-3.1-03, MPLP-3.2-02, MPLP-3.2-03, MPLP-3.2-04
#[test]
fn a_confirm_goes_from_pending_to_one_end_and_from_there_nowhere() {
    let statuses = [
        ConfirmStatus::Approved,
        ConfirmStatus::Rejected,
        ConfirmStatus::Cancelled,
        ConfirmStatus::Cancelled,
        ConfirmStatus::Cancelled,
    ];
    for (end, status) in ENDS.into_iter().zip(statuses) {
        let (plane, plan, asked) = settled(end);
        let confirm = confirm::document(plane.store.decision(asked), &document());
        assert_eq!((confirm.status, confirm.decisions.len()), (status, 1), "{end:?}");
        let before = plane.store.decision(asked).clone();
        for again in ENDS {
            assert!(tries(&plane, asked, again).is_none(), "{again:?} after {end:?}");
        }
        assert_eq!(*plane.store.decision(asked), before);
        let approved = plane.store.plan(plan).document.status == PlanStatus::Approved;
        assert_eq!(approved, end == End::Approve, "only an approval approves");
        assert_eq!(plane.store.allowances().count(), if approved { 3 } else { 0 });
    }
}

/// MPLP-3.1-03. Both decided while it was pending; the first commit wins.
#[test]
fn of_two_simultaneous_decisions_exactly_one_is_recorded() {
    for first in ENDS {
        for second in ENDS {
            let mut plane = Plane::with(document());
            let (_, asked) = plane.proposed(&chain());
            let both = [tries(&plane, asked, first).unwrap(), tries(&plane, asked, second).unwrap()];
            if first == End::Expire {
                plane.store.now = NOW.plus_secs(120);
            }
            assert_eq!(plane.store.commit(&both[0]), Outcome::Committed);
            let state = plane.store.decision(asked).state.clone();
            assert_eq!(plane.store.commit(&both[1]), Outcome::Stale, "{second:?} after {first:?}");
            assert_eq!(plane.store.decision(asked).state, state);
        }
    }
}

/// MPLP-4.3-08, MPLP-4.3-10, MPLP-1-02
#[test]
fn a_plan_that_was_not_approved_is_a_draft_again_with_the_reason() {
    for (end, reason) in [
        (End::Reject, "too dear"),
        (End::CancelQuestion, "wait"),
        (End::Withdraw, "not needed"),
        (End::Expire, "expired"),
    ] {
        let (plane, plan, asked) = settled(end);
        let row = plane.store.plan(plan);
        assert_eq!((row.document.status, row.confirm), (PlanStatus::Draft, None), "{end:?}");
        assert_eq!(row.feedback.as_ref().unwrap().reason, reason);
        assert_eq!(row.feedback.as_ref().unwrap().confirm_id, confirm::confirm_id(plane.store.decision(asked)));
        assert!(row.document.steps.iter().all(|step| step.status == StepStatus::Pending));
        assert!(plane.store.allowances().next().is_none(), "and nothing may run");
    }
}

/// MPLP-4.3-10. Even if policy defaults to approval for the same action on its own.
#[test]
fn silence_about_a_plan_is_never_an_approval() {
    let mut plane = Plane::with(document());
    let (plan, asked) = plane.proposed(&chain());
    assert_eq!(plane.store.decision(asked).terms.default, YesNo::Reject);
    plane.store.now = NOW.plus_secs(120);
    let late = plane.answer(asked, yes(ALICE), plane.store.now).map(drop);
    assert_eq!(late, Err(NotCounted::TooLate));
    let step = plane.due(asked, at_deadline(), plane.store.now).unwrap();
    plane.commit(step);
    let confirm = confirm::document(plane.store.decision(asked), &document());
    let [one] = confirm.decisions.as_slice() else { panic!("{:?}", confirm.decisions) };
    assert_eq!((one.status, one.decided_by_role.as_str()), (DecisionStatus::Cancelled, "system:timeout"));
    assert_eq!(one.reason.as_deref(), Some("expired"));
    assert_eq!(plane.store.plan(plan).document.status, PlanStatus::Draft);
}

/// MPLP-3.2-03, MPLP-1-01
#[test]
fn a_changed_plan_is_asked_about_again_under_another_confirm() {
    let (mut plane, plan, first) = settled(End::Reject);
    let step = plane.write(&plan_of(&[(&[], look())]), NOW).unwrap();
    assert_eq!(plane.commit(step).revision, 2);
    let second = plane.proposes(plan);
    let ids = [first, second].map(|asked| confirm::confirm_id(plane.store.decision(asked)));
    assert_ne!(ids[0], ids[1]);
    assert!(why(&plane, first, yes(ALICE)) == Some(NotCounted::Settled));
    let step = plane.answer(second, yes(ALICE), NOW).unwrap();
    plane.commit(step);
    assert_eq!(plane.store.plan(plan).document.status, PlanStatus::Approved);
    assert!(matches!(plane.propose(plan, NOW), Err(Refusal::Conflict(_))), "only a draft is proposed");
}

/// MPLP-4.3-03. Neither the Confirm of another plan nor one the plan does not refer to.
#[test]
fn only_the_confirm_that_a_plan_waits_for_approves_it() {
    let mut plane = Plane::with(document());
    let (plan, asked) = plane.proposed(&chain());
    let row = plane.store.plan(plan).clone();
    let unlike: [fn(&mut Plan); 3] =
        [|plan| plan.confirm = Some(1), |plan| plan.confirm = None, |plan| plan.document.status = PlanStatus::Draft];
    for change in unlike {
        let mut other = row.clone();
        change(&mut other);
        let DueView { place, decision, session, .. } = plane.due_view(asked);
        let (plan, asked_for, policy) = (Some(other), None, document().plans);
        let view = AnswerView {
            place,
            pause_s: 600,
            decision,
            session,
            plan,
            asked_for,
            boundary: None,
            policy,
            gap: None,
            widening: None,
        };
        let refused = yes(ALICE).decide(&view, &plane.env(NOW)).map(drop);
        assert!(matches!(refused, Err(NotCounted::Refused(Refusal::Conflict(_)))), "{refused:?}");
    }
}

/// The approval is void once the approver loses the entitlement or the rules change.
#[test]
fn a_plans_approval_ends_with_its_approver_and_with_its_policy() {
    let mut plane = Plane::with(document());
    plane.approved(&chain());
    let allowance = plane.allowance_of_step(1).unwrap().key;
    let wanted = || use_of(&plane, call("look", &json!({ "q": "a" })));
    let refused =
        |claim, stands| matches!(plane.claim_of(allowance, claim, stands, NOW), Err(Refusal::ApprovalGone(_)));
    assert!(refused(wanted(), false));
    let mut other = wanted();
    other.rules = None;
    assert!(refused(other, true));
    assert!(plane.claim_of(allowance, wanted(), true, NOW).is_ok());
    // The second step depends on the first, even though it has an allowance.
    let second = plane.allowance_of_step(2).unwrap().key;
    assert!(matches!(plane.claim_of(second, wanted(), true, NOW), Err(Refusal::ApprovalGone(_))));
    assert_eq!(plane.store.allowance(second).step.as_ref().unwrap().step, id(2));
}
