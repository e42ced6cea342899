//! Plan and step transitions: all legal ones, and no others (MPLP 4.3).

use crate::{
    decision_world::{ADMIN, ALICE, NOW, Plane, answerer},
    mplp_submit::id,
    plan_world::{call, document, plan_of, report, use_of},
};
use countersign_core::{
    decision::{
        due::AllowanceDue,
        outcome::OutcomeReport,
        revoke::{By, RevokeApproval},
    },
    mplp::progress::PlanTransition,
    records::{AaepSessionState, AllowanceState, Assurance, CancelledFor, Plan, StepTally},
    refusal::Refusal,
};
use countersign_protocol::{
    ids::RowKey,
    mplp::{
        PlanStatus::{
            self, Approved, Cancelled as Called, Completed as Finished, Draft, Failed as Broken, InProgress as Running,
            Proposed,
        },
        PlanSubmission,
        StepStatus::{self, Blocked, Completed, Failed, InProgress, Pending, Skipped},
    },
};
use serde_json::{Value, json};

const PLANS: [PlanStatus; 7] = [Draft, Proposed, Approved, Running, Finished, Broken, Called];
const STEPS: [StepStatus; 6] = [Pending, InProgress, Completed, Blocked, Skipped, Failed];

/// The published transitions, plus two from `approved`: cancelled, or failed because it expired before anything ran.
pub(crate) fn plan_may_move(from: &str, to: &str) -> bool {
    matches!(
        (from, to),
        ("draft", "proposed" | "cancelled")
            | ("proposed", "approved" | "draft")
            | ("approved", "in_progress" | "cancelled" | "failed")
            | ("in_progress", "completed" | "failed" | "cancelled")
    )
}

/// The published transitions.
pub(crate) fn step_may_move(from: &str, to: &str) -> bool {
    matches!(
        (from, to),
        ("pending", "in_progress" | "blocked" | "skipped")
            | ("in_progress", "completed" | "failed")
            | ("blocked", "pending")
    )
}

fn look(uses: i64) -> Value {
    json!({ "tool": "look", "arguments": { "q": "a" }, "uses": uses })
}

/// A plan forced into any combination of statuses.
fn standing(submission: &PlanSubmission, plan: PlanStatus, first: StepStatus) -> Plan {
    let plane = Plane::with(document());
    let mut row = plane.write(submission, NOW).unwrap().answer;
    row.document.status = plan;
    row.document.steps[0].status = first;
    if let Some(planned) = row.actions.get_mut(&id(1)) {
        planned.tally = StepTally { under_way: i64::from(first == InProgress), ..StepTally::default() };
    }
    row
}

fn step(moving: &PlanTransition, n: usize) -> StepStatus {
    moving.plan().document.steps[n - 1].status
}

/// A transition of a plan.
type Event = fn(&mut PlanTransition) -> bool;

/// MPLP-4.3-03. Every transition from every status: its result, or no change if refused.
#[test]
fn a_plan_moves_as_published_and_in_no_other_way() {
    let decision = {
        let mut plane = Plane::with(document());
        let (_, asked) = plane.proposed(&plan_of(&[(&[], look(1))]));
        plane.store.decision(asked).clone()
    };
    let cancels: Event = |moving| moving.cancel("enough").is_ok();
    let begins: Event = |moving| moving.claim_step(&id(1)).is_ok();
    let skips: Event = |moving| moving.report_step(&id(1), Skipped, None).is_ok();
    let cut_off: Event = |moving| {
        moving.end_access("revoked");
        true
    };
    let taken_back: Event = |moving| {
        moving.end_allowance(&id(1), false);
        true
    };
    let lapsed: Event = |moving| {
        moving.end_allowance(&id(1), true);
        true
    };
    // In the order of `PLANS`; `None` if refused.
    let table: [(&str, Event, [Option<PlanStatus>; 7]); 6] = [
        ("begins", begins, [None, None, Some(Running), Some(Running), None, None, None]),
        ("skips", skips, [None, None, Some(Finished), Some(Finished), None, None, None]),
        ("cancelled", cancels, [Some(Called), None, Some(Called), Some(Called), None, None, None]),
        ("cut off", cut_off, [Draft, Draft, Called, Called, Finished, Broken, Called].map(Some)),
        ("taken back", taken_back, [Draft, Proposed, Called, Finished, Finished, Broken, Called].map(Some)),
        ("lapsed", lapsed, [Draft, Proposed, Broken, Broken, Finished, Broken, Called].map(Some)),
    ];
    for (name, event, leads_to) in table {
        for (from, to) in PLANS.into_iter().zip(leads_to) {
            let mut moving = PlanTransition::of(&standing(&plan_of(&[(&[], look(1))]), from, Pending), NOW);
            assert_eq!(event(&mut moving), to.is_some(), "{name} from {}", from.as_str());
            assert_eq!(moving.plan().document.status, to.unwrap_or(from), "{name} from {}", from.as_str());
        }
    }
    for from in PLANS {
        let mut moving = PlanTransition::of(&standing(&plan_of(&[(&[], look(1))]), from, Pending), NOW);
        assert_eq!(moving.propose(&decision).is_ok(), from == Draft, "proposed from {}", from.as_str());
        assert_eq!(moving.plan().document.status, if from == Draft { Proposed } else { from });
    }
}

/// Only a draft can be rewritten, and only a Confirm takes it further.
#[test]
fn a_plans_claims_about_itself_are_not_believed() {
    let mut plane = Plane::with(document());
    let mut claims = plan_of(&[(&[], look(1)), (&[1], Value::Null)]);
    claims.plan.steps[0].status = Completed;
    assert_eq!(claims.plan.status, Approved);
    for revision in 1..3 {
        let step = plane.write(&claims, NOW).unwrap();
        let plan = plane.commit(step);
        assert_eq!((plan.document.status, plan.revision), (Draft, revision));
        assert!(plan.document.steps.iter().all(|step| step.status == Pending));
    }
    let plan = plane.store.plans().next().unwrap().key;
    plane.proposes(plan);
    assert!(matches!(plane.write(&claims, NOW), Err(Refusal::Conflict(_))));
    let key = plane.store.plan(plan).confirm.unwrap();
    assert!(plane.store.decision(key).is_pending() && plane.store.allowances().next().is_none());
}

/// Every pair of step statuses, in every status of the plan.
#[test]
fn an_agent_reports_the_published_moves_of_a_step_in_a_plan_that_runs_and_no_others() {
    let own = plan_of(&[(&[], Value::Null), (&[], Value::Null)]);
    for plan in PLANS {
        for from in STEPS {
            for to in STEPS {
                let mut moving = PlanTransition::of(&standing(&own, plan, from), NOW);
                let legal = matches!(plan, Approved | Running) && step_may_move(from.as_str(), to.as_str());
                let moved = moving.report_step(&id(1), to, None).is_ok();
                assert_eq!(moved, legal, "{} to {} in {}", from.as_str(), to.as_str(), plan.as_str());
                assert_eq!(step(&moving, 1), if legal { to } else { from });
                assert_eq!(moving.plan().document.status, if legal { Running } else { plan });
            }
        }
    }
    let mut moving = PlanTransition::of(&standing(&own, Running, Pending), NOW);
    assert!(matches!(moving.report_step(&id(9), Skipped, None), Err(Refusal::NotFound(_))));
}

/// A call of a step, or the end of its allowance.
type Call = Box<dyn Fn(&mut PlanTransition)>;

/// A use that ends has begun, so the step is in progress or already over.
#[test]
fn a_call_moves_a_step_as_published_and_never_an_ended_one() {
    let ends = |done: bool, open: bool| move |moving: &mut PlanTransition| moving.end_use(&id(1), done, false, open);
    let table: [(&str, Call, [Option<StepStatus>; 6]); 6] = [
        ("begins", Box::new(|m| _ = m.claim_step(&id(1))), moves(Some(InProgress), InProgress, Some(Blocked))),
        ("is done", Box::new(ends(true, false)), moves(None, Completed, None)),
        ("goes on", Box::new(ends(false, true)), moves(None, InProgress, None)),
        ("fails", Box::new(ends(false, false)), moves(None, Failed, None)),
        ("lapses", Box::new(|m| m.end_allowance(&id(1), true)), moves(Some(Blocked), InProgress, Some(Blocked))),
        (
            "is taken back",
            Box::new(|m| m.end_allowance(&id(1), false)),
            moves(Some(Skipped), InProgress, Some(Blocked)),
        ),
    ];
    for (name, event, leads_to) in table {
        for (from, to) in STEPS.into_iter().zip(leads_to) {
            let plan = plan_of(&[(&[], look(1)), (&[], Value::Null)]);
            let mut moving = PlanTransition::of(&standing(&plan, Running, from), NOW);
            event(&mut moving);
            assert!(to.is_none_or(|to| step(&moving, 1) == to), "{name} from {}", from.as_str());
        }
    }
}

/// In the order of `STEPS`; terminal statuses stay.
fn moves(pending: Option<StepStatus>, in_progress: StepStatus, blocked: Option<StepStatus>) -> [Option<StepStatus>; 6] {
    [pending, Some(in_progress), Some(Completed), blocked, Some(Skipped), Some(Failed)]
}

/// A step that began and has no running call can only fail; it cannot count as skipped.
#[test]
fn a_step_that_began_fails_when_the_rest_of_it_is_gone() {
    for lapsed in [true, false] {
        let mut row = standing(&plan_of(&[(&[], look(2)), (&[], Value::Null)]), Running, InProgress);
        row.actions.get_mut(&id(1)).unwrap().tally = StepTally { done: 1, ..StepTally::default() };
        let mut moving = PlanTransition::of(&row, NOW);
        moving.end_allowance(&id(1), lapsed);
        assert_eq!(step(&moving, 1), Failed);
    }
}

#[test]
fn a_step_begins_only_after_all_that_it_depends_on() {
    let plan = plan_of(&[(&[], Value::Null), (&[], Value::Null), (&[1, 2], look(1))]);
    for first in STEPS {
        for second in STEPS {
            let mut row = standing(&plan, Running, first);
            row.document.steps[1].status = second;
            let may = first == Completed && second == Completed;
            assert_eq!(
                PlanTransition::of(&row, NOW).claim_step(&id(3)).is_ok(),
                may,
                "{} {}",
                first.as_str(),
                second.as_str()
            );
            let reported = PlanTransition::of(&row, NOW).report_step(&id(3), InProgress, None);
            assert_eq!(reported.is_ok(), may, "{} {}", first.as_str(), second.as_str());
        }
    }
    assert!(PlanTransition::of(&standing(&plan, Running, Pending), NOW).claim_step(&id(9)).is_err());
}

/// Claims and commits one call of a step.
fn runs(plane: &mut Plane, n: usize) -> RowKey {
    let allowance = plane.allowance_of_step(n).unwrap().key;
    let claim = use_of(plane, call("look", &json!({ "q": "a" })));
    let step = plane.claim_of(allowance, claim, true, plane.store.now).unwrap();
    plane.commit(step).key
}

fn comes_to(plane: &mut Plane, used: RowKey, report: OutcomeReport) {
    let step = plane.on_use(used, report, plane.store.now).unwrap();
    plane.commit(step);
}

fn statuses(plane: &Plane, plan: RowKey) -> (PlanStatus, Vec<StepStatus>) {
    let document = &plane.store.plan(plan).document;
    (document.status, document.steps.iter().map(|step| step.status).collect())
}

fn session_is_over(plane: &Plane, plan: RowKey) -> bool {
    let asked = plane.store.decision(plane.store.plan(plan).confirm.unwrap()).asked_in;
    matches!(plane.store.session(asked).state, AaepSessionState::Over { .. })
}

#[test]
fn a_failed_step_blocks_the_whole_chain_behind_it_and_nothing_beside_it() {
    let mut plane = Plane::with(document());
    let chain =
        [(&[][..], look(1)), (&[1], Value::Null), (&[2], Value::Null), (&[], Value::Null), (&[3, 4], Value::Null)];
    let plan = plane.approved(&plan_of(&chain));
    let used = runs(&mut plane, 1);
    assert_eq!(statuses(&plane, plan), (Running, vec![InProgress, Pending, Pending, Pending, Pending]));
    comes_to(&mut plane, used, OutcomeReport::Failed { why: None, refused: false });
    assert_eq!(statuses(&plane, plan), (Running, vec![Failed, Blocked, Blocked, Pending, Blocked]));
    // A step reported as pending stays blocked while its dependency has failed.
    let step = plane.report_step(plan, 2, report("pending"), NOW).unwrap();
    plane.commit(step);
    assert_eq!(statuses(&plane, plan).1[1], Blocked);
    let step = plane.report_step(plan, 4, report("skipped"), NOW).unwrap();
    plane.commit(step);
    assert_eq!(statuses(&plane, plan), (Broken, vec![Failed, Blocked, Blocked, Skipped, Blocked]));
    assert!(session_is_over(&plane, plan), "a plan that is over has nothing more to say");
}

#[test]
fn a_plan_is_completed_with_its_last_step_and_its_session_ends() {
    let mut plane = Plane::with(document());
    let plan = plane.approved(&plan_of(&[(&[], look(2)), (&[1], Value::Null)]));
    for left in [1, 0] {
        assert_eq!(statuses(&plane, plan).1[1], Pending);
        let used = runs(&mut plane, 1);
        let early = plane.report_step(plan, 2, report("in_progress"), NOW).map(drop);
        assert!(matches!(early, Err(Refusal::Conflict(_))), "{left} left");
        comes_to(&mut plane, used, OutcomeReport::Committed);
    }
    assert_eq!(statuses(&plane, plan), (Running, vec![Completed, Pending]));
    assert!(!session_is_over(&plane, plan));
    for status in ["in_progress", "completed"] {
        let step = plane.report_step(plan, 2, report(status), NOW).unwrap();
        plane.commit(step);
    }
    assert_eq!(statuses(&plane, plan), (Finished, vec![Completed, Completed]));
    assert!(session_is_over(&plane, plan));
}

/// The late report of an unknown outcome ends the plan and its session.
#[test]
fn a_plan_ends_with_the_late_report_of_its_last_call() {
    for outcome in [OutcomeReport::Committed, OutcomeReport::Failed { why: None, refused: true }] {
        let mut plane = Plane::with(document());
        let plan = plane.approved(&plan_of(&[(&[], look(1))]));
        let used = runs(&mut plane, 1);
        comes_to(&mut plane, used, OutcomeReport::Lost);
        assert_eq!(statuses(&plane, plan), (Running, vec![InProgress]));
        plane.store.now = NOW.plus_secs(400);
        let well = outcome == OutcomeReport::Committed;
        comes_to(&mut plane, used, outcome);
        let (came_to, step) = if well { (Finished, Completed) } else { (Broken, Failed) };
        assert_eq!(statuses(&plane, plan), (came_to, vec![step]));
        assert!(session_is_over(&plane, plan));
        assert!(!plane.allowance_of_step(1).unwrap().is_open(), "its time is over");
    }
}

/// An agent's report about an enforced step ends its allowance.
#[test]
fn a_step_that_needs_no_more_calls_gives_up_its_approval() {
    let mut plane = Plane::with(document());
    let plan = plane.approved(&plan_of(&[(&[], look(3)), (&[], Value::Null)]));
    let used = runs(&mut plane, 1);
    let under_way = plane.report_step(plan, 1, report("completed"), NOW).map(drop);
    assert!(matches!(under_way, Err(Refusal::Conflict(_))), "while a call is under way nobody knows");
    comes_to(&mut plane, used, OutcomeReport::Committed);
    let step = plane.report_step(plan, 1, report("completed"), NOW).unwrap();
    plane.commit(step);
    let allowance = plane.allowance_of_step(1).unwrap().clone();
    assert!(matches!(allowance.state, AllowanceState::Cancelled { why: CancelledFor::Withdrawn, .. }));
    let claim = use_of(&plane, call("look", &json!({ "q": "a" })));
    assert!(matches!(plane.claim_of(allowance.key, claim, true, NOW), Err(Refusal::ApprovalGone(_))));
}

///
#[test]
fn a_plan_whose_agent_is_cut_off_ends_with_everything_that_it_could_run() {
    let steps = [(&[][..], look(2)), (&[1], look(1)), (&[], Value::Null)];
    for began in [false, true] {
        let mut plane = Plane::with(document());
        let plan = plane.approved(&plan_of(&steps));
        let used = began.then(|| runs(&mut plane, 1));
        let step = plane.revoke(0, NOW).unwrap();
        plane.commit(step);
        assert_eq!(statuses(&plane, plan).0, Called);
        assert!(plane.store.allowances().all(|row| !row.is_open()) && session_is_over(&plane, plan));
        // The running call may still be reported, and reopens nothing.
        if let Some(used) = used {
            comes_to(&mut plane, used, OutcomeReport::Failed { why: None, refused: true });
            assert_eq!(statuses(&plane, plan), (Called, vec![Failed, Blocked, Pending]));
        }
        assert!(plane.store.allowances().all(|row| !row.is_open()));
    }
    let mut plane = Plane::with(document());
    let (plan, _) = plane.proposed(&plan_of(&steps));
    let step = plane.revoke(0, NOW).unwrap();
    plane.commit(step);
    assert_eq!((statuses(&plane, plan).0, plane.store.plan(plan).confirm), (Draft, None));
}

/// An upstream refusal returns the claimed use, but not to a plan that is over.
#[test]
fn a_spent_allowance_stays_spent_after_its_plan_is_cancelled() {
    for cancelled in [false, true] {
        let mut plane = Plane::with(document());
        let plan = plane.approved(&plan_of(&[(&[], look(1))]));
        let used = runs(&mut plane, 1);
        assert_eq!(plane.allowance_of_step(1).unwrap().state, AllowanceState::Spent);
        if cancelled {
            let by = By::Person(answerer(ALICE, Assurance::Token));
            let step = plane.cancel(plan, by, Some("enough"), NOW).unwrap();
            plane.commit(step);
        }
        comes_to(&mut plane, used, OutcomeReport::Failed { why: None, refused: true });
        let allowance = plane.allowance_of_step(1).unwrap();
        assert_eq!((allowance.is_open(), allowance.tally.used), (!cancelled, 0));
        let claim = use_of(&plane, call("look", &json!({ "q": "a" })));
        assert_eq!(plane.claim_of(allowance.key, claim, true, NOW).is_ok(), !cancelled);
    }
}

/// A plan with all of its approvals revoked is not reported as completed.
#[test]
fn a_plan_that_never_began_is_cancelled_by_taking_back_all_of_it() {
    let mut plane = Plane::with(document());
    let plan = plane.approved(&plan_of(&[(&[], look(1)), (&[], look(1))]));
    for (n, status) in [(1, Approved), (2, Called)] {
        let back = RevokeApproval { by: answerer(ADMIN, Assurance::Token), reason: None };
        let step = plane.on_allowance(plane.allowance_of_step(n).unwrap().key, back, NOW).unwrap();
        plane.commit(step);
        assert_eq!(statuses(&plane, plan).0, status);
    }
    assert!(session_is_over(&plane, plan));
}

///
#[test]
fn a_plan_that_nobody_began_in_time_has_failed() {
    let mut plane = Plane::with(document());
    let plan = plane.approved(&plan_of(&[(&[], look(1)), (&[1], look(1))]));
    plane.store.now = NOW.plus_secs(300);
    let allowance = plane.allowance_of_step(1).unwrap().key;
    let claim = use_of(&plane, call("look", &json!({ "q": "a" })));
    assert!(matches!(plane.claim_of(allowance, claim, true, plane.store.now), Err(Refusal::ApprovalGone(_))));
    for n in [1, 2] {
        let key = plane.allowance_of_step(n).unwrap().key;
        let step = plane.on_allowance(key, AllowanceDue, plane.store.now).unwrap();
        plane.commit(step);
    }
    assert_eq!(statuses(&plane, plan), (Broken, vec![Blocked, Blocked]));
    assert!(session_is_over(&plane, plan));
}
