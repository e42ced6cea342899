//! Runs the real operations on one plan and one standing approval, with the reference beside them.

use crate::{
    decision_store::Outcome,
    decision_world::{ADMIN, ALICE, Ask, DAN, NOW, Plane, answerer},
    mplp_submit::id,
    plan_reference::{Lane, Reference, Run, Told, Verdict, Wanted, Yes},
    plan_world::{call, document, no, only, plan_of, report, use_of, yes},
};
use countersign_core::{
    decision::{
        answer::{Answer, Extra, NotCounted},
        due::{AllowanceDue, LeaseDue},
        outcome::OutcomeReport,
        reconcile::Reconcile,
        revoke::{By, RevokeApproval},
    },
    records::Assurance,
    refusal::Refusal,
    step::{Effects, Step},
};
use countersign_protocol::{
    hash::Digest,
    ids::RowKey,
    mplp::{PlanStatus, PlanSubmission, StepStatus},
    time::UnixMillis,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The agent's own step, and the standing approval.
const OWN: usize = 3;
pub(crate) const BOUNDED: usize = 5;
/// The lanes with something to claim.
const CLAIMED: [usize; 5] = [0, 1, 2, 4, BOUNDED];

/// The answer about the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Opening {
    All,
    /// The first and the third step.
    Some,
    No,
}

/// The cost of a call: fixed, or at the edge of the remaining amount.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Cents(i64),
    WhatIsLeft,
    OneMore,
}

/// `Flush` commits one of the decided, uncommitted steps now; `Crash` discards it.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Pass { millis: i64 },
    PassTo { which: u8, millis: i64 },
    Claim { lane: usize, cost: Cost, twist: u8, stands: bool, same_rules: bool },
    Report { which: u8, told: Told },
    LeaseDue { which: u8 },
    Reconcile { which: u8, person: RowKey, ran: bool },
    RevokeApproval { lane: usize, person: RowKey },
    Lapse { lane: usize },
    Cancel { person: Option<RowKey> },
    Step { status: StepStatus },
    Revoke,
    Flush { which: u8 },
    Crash { which: u8 },
}

/// A command with its resolved inputs.
#[derive(Clone, Debug)]
enum Matter {
    Claim(Wanted),
    Report(usize, Told),
    LeaseDue(usize),
    Reconcile(usize, bool, bool),
    RevokeApproval(usize, bool),
    Lapse(usize),
    Cancel(Option<bool>),
    Step(StepStatus),
    Revoke,
}

struct Held {
    matter: Matter,
    node: UnixMillis,
    effects: Effects,
}

pub(crate) struct Runner {
    pub(crate) plane: Plane,
    pub(crate) reference: Reference,
    pub(crate) plan: RowKey,
    /// The questions about the plan and about the call with the standing approval.
    pub(crate) asked: [RowKey; 2],
    /// Allowances by lane; `None` without an approval.
    pub(crate) yeses: Vec<Option<RowKey>>,
    /// Uses in the order of their claims.
    pub(crate) uses: Vec<RowKey>,
    held: Vec<Held>,
    /// The number of evidence entries already checked.
    pub(crate) entries: usize,
    pub(crate) seen: BTreeSet<String>,
}

/// Look, then pay up to four times, then the agent's own step; send twice; pay twice once both branches are done.
fn submission() -> PlanSubmission {
    let pay = |released: Value, uses: i64, to: &str| {
        json!({ "tool": "pay", "uses": uses, "released": released,
                "arguments": { "to": to, "amount": "2.00", "currency": "EUR" } })
    };
    let open = json!({ "amount": { "most": "5.00", "sum": "10.00", "unit_from": "currency" } });
    let send =
        json!({ "tool": "send", "uses": 2, "arguments": { "text": "hi" }, "released": { "text": { "text": 10 } } });
    plan_of(&[
        (&[], json!({ "tool": "look", "arguments": { "q": "a" } })),
        (&[1], pay(open, 4, "x")),
        (&[], send),
        (&[2], Value::Null),
        (&[3, 4], pay(json!({}), 2, "y")),
    ])
}

/// A call of a lane, and whether it fits the approval.
fn calling(lane: usize, cents: i64, twist: u8) -> (&'static str, Value, bool) {
    let amount = |cents: i64| format!("{}.{:02}", cents / 100, cents % 100);
    let length = usize::try_from(1 + cents % 12).unwrap();
    let pay = |to: &str, cents: i64| json!({ "to": to, "amount": amount(cents), "currency": "EUR" });
    let (tool, mut arguments, within) = match lane {
        0 => ("look", json!({ "q": "a" }), true),
        1 => ("pay", pay("x", cents), cents <= 500),
        2 => ("send", json!({ "text": "x".repeat(length) }), length <= 10),
        4 => ("pay", pay("y", 200), true),
        _ => ("pay", pay("z", cents), cents <= 300),
    };
    let first = arguments.as_object().unwrap().keys().next().unwrap().clone();
    match twist {
        0 => {}
        1 => arguments["extra"] = json!(1),
        2 => arguments["currency"] = json!("USD"),
        3 => drop(arguments.as_object_mut().unwrap().remove(&first)),
        _ => arguments[&first] = json!(["other"]),
    }
    (tool, arguments, within && twist == 0)
}

impl Runner {
    pub(crate) fn new(opening: Opening) -> Self {
        let mut plane = Plane::with(document());
        let (plan, about_plan) = plane.proposed(&submission());
        let stranger = plane.answer(about_plan, yes(DAN), NOW).map(drop);
        assert_eq!(stranger, Err(NotCounted::NotEntitled));
        let answer = match opening {
            Opening::All => yes(ALICE),
            Opening::Some => Answer { extra: only(&[1, 3]), ..yes(ALICE) },
            Opening::No => no(ALICE),
        };
        let step = plane.answer(about_plan, answer, NOW).unwrap();
        plane.commit(step);
        let about_call = bounded_yes(&mut plane);
        let find = |lane: usize| match lane {
            BOUNDED => plane.store.allowance_of(about_call).map(|row| row.key),
            _ => plane.allowance_of_step(lane + 1).map(|row| row.key),
        };
        let yeses = (0..=BOUNDED).map(find).collect();
        let asked = [about_plan, about_call];
        let (reference, uses, held, seen) = (reference(opening), Vec::new(), Vec::new(), BTreeSet::new());
        Self { plane, reference, plan, asked, yeses, uses, held, entries: 0, seen }
    }

    pub(crate) fn take(&mut self, command: &Command, hold: bool) {
        let now = self.plane.store.now;
        match command {
            Command::Pass { millis } => self.plane.store.now = now.plus_millis(*millis),
            Command::PassTo { which, millis } => self.pass_to(*which, *millis),
            Command::Crash { which } | Command::Flush { which } if !self.held.is_empty() => {
                let held = self.held.remove(usize::from(*which) % self.held.len());
                if matches!(command, Command::Flush { .. }) {
                    self.commit_late(held);
                }
            }
            Command::Crash { .. } | Command::Flush { .. } => {}
            command => {
                if let Some((matter, decided)) = self.decide(command, now) {
                    self.settle(matter, decided, now, hold);
                }
            }
        }
    }

    fn pass_to(&mut self, which: u8, millis: i64) {
        let now = self.plane.store.now;
        let leases = self.reference.uses.iter().filter_map(|made| match made.run {
            Run::Claimed(lease) => Some(lease),
            _ => None,
        });
        let ends = self.reference.lanes.iter().filter(|lane| lane.yes == Yes::Open).map(|lane| lane.until);
        let ahead = leases.chain(ends).map(|at| at.plus_millis(millis)).filter(|at| *at > now);
        let ahead: Vec<UnixMillis> = ahead.collect::<BTreeSet<_>>().into_iter().collect();
        if let Some(at) = usize::from(which).checked_rem(ahead.len()).and_then(|index| ahead.get(index)) {
            self.plane.store.now = *at;
        }
    }

    fn settle(&mut self, matter: Matter, decided: Result<Effects, Refusal>, node: UnixMillis, hold: bool) {
        let expected = self.expected(&matter);
        let effects = match decided {
            Ok(effects) if effects.is_empty() => return self.agree(&matter, expected, Verdict::Nothing),
            Ok(effects) => effects,
            Err(why) => return self.agree(&matter, expected, refused(&why)),
        };
        if hold {
            return self.held.push(Held { matter, node, effects });
        }
        let verdict = match self.plane.store.commit(&effects) {
            Outcome::Committed => Verdict::Done,
            Outcome::Stale => Verdict::Stale,
            Outcome::OutOfTime => Verdict::OutOfTime,
            Outcome::LimitReached(index) => panic!("no counter has a limit here: {index}"),
        };
        self.agree(&matter, expected, verdict);
        if verdict == Verdict::Done {
            self.happened(matter, node);
        }
    }

    /// A step decided on a stale view is either still legal when it is committed, or refused by the store.
    fn commit_late(&mut self, Held { matter, node, effects }: Held) {
        let outcome = self.plane.store.commit(&effects);
        self.saw(&matter, &format!("late {outcome:?}"));
        if outcome == Outcome::Committed {
            let expected = self.expected(&matter);
            self.agree(&matter, expected, Verdict::Done);
            self.happened(matter, node);
        }
    }

    fn agree(&mut self, matter: &Matter, expected: Verdict, real: Verdict) {
        assert_eq!(real, expected, "{matter:?}\n{:#?}", self.reference);
        self.saw(matter, &format!("{real:?}"));
    }

    fn saw(&mut self, matter: &Matter, what: &str) {
        let name = format!("{matter:?}");
        let kind = name.split(['(', ' ']).next().unwrap();
        let bounded = matches!(matter, Matter::Claim(wanted) if wanted.lane == BOUNDED);
        self.seen.insert(format!("{kind}{} {what}", if bounded { " more" } else { "" }));
    }

    fn pick(&self, which: u8) -> Option<usize> {
        usize::from(which).checked_rem(self.uses.len())
    }

    /// Runs the real operation on the current rows.
    fn decide(&self, command: &Command, now: UnixMillis) -> Option<(Matter, Result<Effects, Refusal>)> {
        let plane = &self.plane;
        Some(match command {
            Command::Claim { lane, cost, twist, stands, same_rules } => {
                let lane = CLAIMED[lane % CLAIMED.len()];
                let (tool, arguments, fits) = calling(lane, self.cents(lane, *cost), *twist);
                let summed = matches!(lane, 1 | BOUNDED);
                let cents = if summed { self.cents(lane, *cost) } else { 0 };
                let text = format!("{tool} {arguments}");
                let mut claim = use_of(plane, call(tool, &arguments));
                claim.rules = if *same_rules { claim.rules } else { Some(Digest::of(b"other rules")) };
                let decided = plane.claim_of(self.yeses[lane]?, claim, *stands, now);
                let wanted = Wanted { lane, cents, text, fits, stands: *stands, same_rules: *same_rules };
                (Matter::Claim(wanted), effects(decided))
            }
            Command::Report { which, told } => {
                let made = self.pick(*which)?;
                let failed = |refused| OutcomeReport::Failed { why: None, refused };
                let report = match told {
                    Told::Running => OutcomeReport::Running,
                    Told::Committed => OutcomeReport::Committed,
                    Told::Failed => failed(false),
                    Told::Refused => failed(true),
                    Told::Lost => OutcomeReport::Lost,
                };
                (Matter::Report(made, *told), effects(plane.on_use(self.uses[made], report, now)))
            }
            Command::LeaseDue { which } => {
                let made = self.pick(*which)?;
                (Matter::LeaseDue(made), effects(plane.on_use(self.uses[made], LeaseDue, now)))
            }
            Command::Reconcile { which, person, ran } => {
                let made = self.pick(*which)?;
                let by = answerer(*person, Assurance::Session);
                let look = Reconcile { by, ran: *ran, reason: "looked".into(), own_approval: false };
                let decided = effects(plane.on_use(self.uses[made], look, now));
                (Matter::Reconcile(made, *person == ADMIN, *ran), decided)
            }
            Command::RevokeApproval { lane, person } => {
                let back = RevokeApproval { by: answerer(*person, Assurance::Session), reason: None };
                let decided = effects(plane.on_allowance(self.yeses[*lane]?, back, now));
                (Matter::RevokeApproval(*lane, *person != DAN), decided)
            }
            Command::Lapse { lane } => {
                (Matter::Lapse(*lane), effects(plane.on_allowance(self.yeses[*lane]?, AllowanceDue, now)))
            }
            Command::Cancel { person } => {
                let by = person.map_or(By::Agent, |person| By::Person(answerer(person, Assurance::Session)));
                let may = person.map(|person| person != DAN);
                (Matter::Cancel(may), effects(plane.cancel(self.plan, by, None, now)))
            }
            Command::Step { status } => {
                let decided = plane.report_step(self.plan, OWN + 1, report(status.as_str()), now);
                (Matter::Step(*status), effects(decided))
            }
            Command::Revoke if self.reference.revoked => return None,
            Command::Revoke => (Matter::Revoke, effects(plane.revoke(0, now))),
            _ => return None,
        })
    }

    fn cents(&self, lane: usize, cost: Cost) -> i64 {
        let left = self.reference.lanes[lane].limit.map_or(0, |limit| limit - self.reference.lanes[lane].spent);
        match cost {
            Cost::Cents(cents) => cents,
            Cost::WhatIsLeft => left,
            Cost::OneMore => left + 1,
        }
    }

    fn expected(&self, matter: &Matter) -> Verdict {
        let (reference, now) = (&self.reference, self.plane.store.now);
        match matter {
            Matter::Claim(wanted) => reference.claim(wanted, now),
            Matter::Report(made, told) => reference.report(*made, *told, now),
            Matter::LeaseDue(made) => reference.lease_due(*made, now),
            Matter::Reconcile(made, may, _) => reference.reconcile(*made, *may),
            Matter::RevokeApproval(lane, may) => reference.take_back(*lane, *may),
            Matter::Lapse(lane) => reference.lapse(*lane, now),
            Matter::Cancel(by_person) => reference.cancel(*by_person),
            Matter::Step(status) => reference.step(OWN, *status),
            Matter::Revoke => Verdict::Done,
        }
    }

    fn happened(&mut self, matter: Matter, node: UnixMillis) {
        let reference = &mut self.reference;
        match matter {
            Matter::Claim(wanted) => {
                reference.claimed(wanted, node);
                let fresh = self.plane.store.executions().find(|run| !self.uses.contains(&run.key));
                self.uses.push(fresh.unwrap().key);
            }
            Matter::Report(made, told) => reference.reported(made, told, node),
            Matter::LeaseDue(made) => reference.reported(made, Told::Lost, node),
            Matter::Reconcile(made, _, ran) => {
                reference.reported(made, if ran { Told::Committed } else { Told::Failed }, node);
                reference.uses[made].reconciled = true;
            }
            Matter::RevokeApproval(lane, _) => reference.ended(lane, false),
            Matter::Lapse(lane) => reference.ended(lane, true),
            Matter::Cancel(_) => reference.cancelled(),
            Matter::Step(status) => reference.stepped(OWN, status),
            Matter::Revoke => reference.revoked(),
        }
    }
}

/// Approves one payment as a standing approval: three calls of at most three euros, six in total, for 200 seconds.
fn bounded_yes(plane: &mut Plane) -> RowKey {
    let step = plane.raise(&Ask::of("pay"), NOW).unwrap();
    let asked = plane.commit(step).decision.key;
    let bounds = json!({ "uses": 3, "seconds": 200,
                         "released": { "amount": { "most": "3.00", "sum": "6.00", "unit_from": "currency" } } });
    let extra = Extra { bounds: Some(serde_json::from_value(bounds).unwrap()), ..Extra::default() };
    let shown = call("pay", &json!({ "to": "z", "amount": "1.00", "currency": "EUR" }));
    let step = plane.answer_about(asked, Some(shown), Answer { extra, ..yes(ALICE) }, NOW).unwrap();
    plane.commit(step);
    asked
}

fn reference(opening: Opening) -> Reference {
    let lane = |waits_for: &[usize], uses: i64, limit: Option<i64>, lease_s: i64| Lane {
        waits_for: waits_for.to_vec(),
        uses,
        used: 0,
        limit,
        spent: 0,
        until: NOW.plus_secs(300),
        lease_s,
        yes: if uses == 0 { Yes::None } else { Yes::Open },
        status: StepStatus::Pending,
        under_way: 0,
        done: 0,
    };
    let mut lanes = vec![
        lane(&[], 1, None, 20),
        lane(&[0], 4, Some(1000), 30),
        lane(&[], 2, None, 20),
        lane(&[1], 0, None, 0),
        lane(&[2, OWN], 2, None, 30),
        Lane { until: NOW.plus_secs(200), ..lane(&[], 3, Some(600), 30) },
    ];
    let (plan, left_out): (_, &[usize]) = match opening {
        Opening::All => (PlanStatus::Approved, &[]),
        Opening::Some => (PlanStatus::Approved, &[1, 3, 4]),
        Opening::No => (PlanStatus::Draft, &[0, 1, 2, 3, 4]),
    };
    for index in left_out {
        lanes[*index].yes = Yes::None;
        if plan == PlanStatus::Approved {
            lanes[*index].status = StepStatus::Skipped;
        }
    }
    Reference { plan, lanes, uses: Vec::new(), over: [plan == PlanStatus::Draft, false], revoked: false }
}

fn effects<A>(decided: Result<Step<A>, Refusal>) -> Result<Effects, Refusal> {
    decided.map(|step| step.effects)
}

fn refused(refusal: &Refusal) -> Verdict {
    match refusal {
        Refusal::Conflict(_) | Refusal::ApprovalGone(_) => Verdict::Gone,
        Refusal::ConfirmationInvalid(_) => Verdict::Unfit,
        Refusal::NotAuthorized(_) => Verdict::Forbidden,
        other => panic!("{other:?}"),
    }
}

/// The id of a lane's step.
pub(crate) fn step_of(lane: usize) -> countersign_protocol::mplp::MplpId {
    id(lane + 1)
}
