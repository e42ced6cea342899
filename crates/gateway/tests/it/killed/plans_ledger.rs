//! The expected state after each act, written by hand and independent of the plane's own counters.

use super::plans_story::{Act, SUM, USES, WHOLE, amount};
use countersign_engine::store::StoreLocation;
use countersign_testkit::{
    bank::{Bank, Got},
    stored_evidence,
};
use serde_json::Value;

/// The known state of one use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Claimed,
    Unknown,
    Done,
}

/// The fate of an act that was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Nothing,
    /// A use is claimed, and no outcome is recorded.
    Begun,
    Happened,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Unwritten,
    Draft,
    Proposed,
    Approved,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    stage: Stage,
    /// In cents, without the refused ones.
    payments: Vec<(i64, Use)>,
    refused: usize,
    order: Option<Use>,
    taken_back: bool,
}

impl Ledger {
    /// Every possible state after this many acknowledged acts, with the next one not acknowledged.
    pub(super) fn possible(acknowledged: usize) -> Vec<(Fate, Self)> {
        let (sure, rest) = WHOLE.split_at(acknowledged);
        let before = sure.iter().fold(Self::default(), |ledger, act| ledger.with(*act));
        let Some(act) = rest.first() else { return vec![(Fate::Happened, before)] };
        let begun = act.call().map(|_| (Fate::Begun, before.clone().begun(*act)));
        let happened = (Fate::Happened, before.clone().with(*act));
        [(Fate::Nothing, before)].into_iter().chain(begun).chain([happened]).collect()
    }

    pub(super) fn with(mut self, act: Act) -> Self {
        match act {
            Act::Writes => self.stage = Stage::Draft,
            Act::Proposes => self.stage = Stage::Proposed,
            Act::Approves => self.stage = Stage::Approved,
            Act::Pays | Act::IsLost => {
                let known = if act == Act::Pays { Use::Done } else { Use::Unknown };
                self.payments.extend(act.cents().map(|cents| (cents, known)));
            }
            Act::IsRefused => self.refused += 1,
            Act::TakesBack => self.taken_back = true,
            Act::Orders => self.order = Some(Use::Done),
        }
        self
    }

    pub(super) fn paid(mut self, cents: i64) -> Self {
        self.payments.push((cents, Use::Done));
        self
    }

    fn begun(mut self, act: Act) -> Self {
        match act.cents() {
            Some(cents) => self.payments.push((cents, Use::Claimed)),
            None => self.order = Some(Use::Claimed),
        }
        self
    }

    /// The lease of a claim is over without a reported outcome.
    pub(super) fn lapsed(mut self) -> Self {
        let uses = self.payments.iter_mut().map(|(_, known)| known).chain(&mut self.order);
        uses.filter(|known| **known == Use::Claimed).for_each(|known| *known = Use::Unknown);
        self
    }

    /// The remainder of the sum.
    pub(super) fn left(&self) -> i64 {
        SUM - self.payments.iter().map(|(cents, _)| cents).sum::<i64>()
    }

    pub(super) fn covers(&self, cents: i64) -> bool {
        !self.taken_back && self.payments.len() < USES && cents <= self.left()
    }

    pub(super) fn is_taken_back(&self) -> bool {
        self.taken_back
    }

    pub(super) fn has_ordered(&self) -> bool {
        self.order == Some(Use::Done)
    }

    /// Every use, as the bank would know it.
    fn uses(&self) -> Vec<(String, Use)> {
        let payments = self.payments.iter().map(|(cents, known)| (format!("/transfers {}", amount(*cents)), *known));
        payments.chain(self.order.map(|known| ("/orders ".to_owned(), known))).collect()
    }

    /// A completed use ran once, an unknown one once at most, and nothing else ran.
    pub(super) fn agrees_with(&self, bank: &Bank) {
        let mut effects: Vec<String> = bank.effects().iter().map(effect).collect();
        for (what, known) in self.uses() {
            let ran = effects.iter().position(|effect| *effect == what).map(|at| effects.swap_remove(at));
            assert!(ran.is_some() || known != Use::Done, "{what} is said to be done, and was not");
        }
        assert!(effects.is_empty(), "these ran twice, or unclaimed: {effects:?}");
    }

    /// The expected view of the plane.
    pub(super) fn seen(&self) -> Seen {
        if self.stage == Stage::Unwritten {
            return Seen::default();
        }
        let payments: Vec<Use> = self.payments.iter().map(|(_, known)| *known).collect();
        let orders: Vec<Use> = self.order.into_iter().collect();
        let known = |all: &[(String, Use)], is: Use| all.iter().filter(|(_, known)| *known == is).count();
        let uses = self.uses();
        Seen {
            plan: self.plan().into(),
            statuses: vec![self.paying().into(), self.ordering().into(), self.third().into()],
            payments: Counted::of(&payments, self.yes(USES - payments.len(), Some(self.left()))),
            orders: Counted::of(&orders, self.yes_to_order()),
            claimed: uses.len() + self.refused,
            settled: known(&uses, Use::Done) + self.refused,
            unknown: known(&uses, Use::Unknown),
        }
    }

    fn plan(&self) -> &'static str {
        match self.stage {
            Stage::Unwritten => "",
            Stage::Draft => "draft",
            Stage::Proposed => "proposed",
            Stage::Approved if self.paying() == "skipped" && self.ordering() == "completed" => "completed",
            Stage::Approved if self.uses().is_empty() && self.refused == 0 => "approved",
            Stage::Approved => "in_progress",
        }
    }

    /// A revoked step is over unless a person must still record the outcome of a use.
    fn paying(&self) -> &'static str {
        let open = self.payments.iter().any(|(_, known)| *known != Use::Done);
        match (self.taken_back, self.payments.is_empty()) {
            (true, _) if !open => "skipped",
            (false, true) => "pending",
            _ => "in_progress",
        }
    }

    fn ordering(&self) -> &'static str {
        match self.order {
            None => "pending",
            Some(Use::Done) => "completed",
            Some(_) => "in_progress",
        }
    }

    fn third(&self) -> &'static str {
        if self.stage == Stage::Approved { "skipped" } else { "pending" }
    }

    fn yes(&self, uses: usize, cents: Option<i64>) -> Option<Yes> {
        let (state, uses) = if self.taken_back { ("cancelled", 0) } else { ("open", uses) };
        (self.stage == Stage::Approved).then(|| Yes { state: state.into(), uses, cents })
    }

    fn yes_to_order(&self) -> Option<Yes> {
        let (state, uses) = if self.order.is_some() { ("spent", 0) } else { ("open", 1) };
        (self.stage == Stage::Approved).then(|| Yes { state: state.into(), uses, cents: None })
    }
}

/// The plane's view of the plan, and the number of uses in its log by their outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    plan: String,
    statuses: Vec<String>,
    payments: Counted,
    orders: Counted,
    claimed: usize,
    settled: usize,
    unknown: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counted {
    done: usize,
    under_way: usize,
    left: Option<Yes>,
}

/// The remainder of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Yes {
    state: String,
    uses: usize,
    cents: Option<i64>,
}

impl Seen {
    pub(super) async fn of(actions: Option<Value>, place: &StoreLocation) -> Self {
        let entries = stored_evidence(place).await;
        let of = |event: &str| entries.iter().filter(|entry| entry.event_type == event).count();
        let (claimed, settled, unknown) = (of("execution_claimed"), of("execution_settled"), of("execution_unknown"));
        let log = Self { claimed, settled, unknown, ..Self::default() };
        let Some(shown) = actions else { return log };
        Self {
            plan: text(&shown["status"]),
            statuses: shown["steps"].as_array().unwrap().iter().map(|step| text(&step["status"])).collect(),
            payments: Counted::shown(&shown["steps"][0]["runs"]),
            orders: Counted::shown(&shown["steps"][1]["runs"]),
            ..log
        }
    }
}

impl Counted {
    fn of(uses: &[Use], left: Option<Yes>) -> Self {
        let done = uses.iter().filter(|known| **known == Use::Done).count();
        Self { done, under_way: uses.len() - done, left }
    }

    fn shown(runs: &Value) -> Self {
        let left = runs.get("left").map(|left| Yes {
            state: text(&left["state"]),
            uses: count(&left["uses"]),
            cents: left["sums"].get(0).map(|sum| cents(&text(&sum["left"]))),
        });
        Self { done: count(&runs["done"]), under_way: count(&runs["under_way"]), left }
    }
}

fn effect(got: &Got) -> String {
    let body: Value = serde_json::from_slice(&got.body).expect("a body of JSON");
    format!("{} {}", got.target, body["amount"].as_str().unwrap_or_default())
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn count(value: &Value) -> usize {
    value.as_u64().and_then(|count| count.try_into().ok()).expect("a count")
}

/// An exact amount with any number of decimals.
fn cents(amount: &str) -> i64 {
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    format!("{whole}{part:0<2}").parse().expect("an amount in cents")
}
