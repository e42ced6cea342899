//! A second judge of policies, written without the core: a year of grants from a seed, and for each its end by its rules.

use serde_json::{Value, json};

/// All times are numbers of this period since the start.
pub(super) const TICK_S: i64 = 6 * 3600;
/// One year.
pub(super) const TICKS: i64 = 365 * 4;
const DAY: i64 = 4;
pub(super) const PEOPLE: usize = 60;
/// The project's own rules: a longest duration, and one event.
pub(super) const LONGEST: i64 = 45 * DAY;
pub(super) const CANCELLED: &str = "org.subscription_cancelled";

const OFFBOARDED: &str = "user.offboarded";
const ROLE_CHANGED: &str = "user.role_changed";
const DELETED: &str = "resource.deleted";

#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    lasts: i64,
    idle: Option<i64>,
    on_task: bool,
    on_events: Vec<&'static str>,
    max_requests: Option<i64>,
    max_writes: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    Read,
    Write,
    Complete,
}

/// An event from the service's own systems.
#[derive(Clone, Debug)]
pub(super) struct ReportedEvent {
    pub(super) at: i64,
    pub(super) event: &'static str,
    pub(super) about: About,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Person(usize),
    Grant(usize),
    Everyone,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedGrant {
    pub(super) at: i64,
    pub(super) person: usize,
    pub(super) rules: Rules,
    /// In order, at most one a tick.
    pub(super) acts: Vec<(i64, Act)>,
    pub(super) end: End,
}

/// When, and the words of the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) at: i64,
    pub(super) trigger: &'static str,
    pub(super) reason: &'static str,
}

pub(super) struct Year {
    pub(super) grants: Vec<PlannedGrant>,
    pub(super) events: Vec<ReportedEvent>,
}

impl Year {
    pub(super) fn of(seed: u64, grants: usize) -> Self {
        let mut dice = Dice(seed);
        let leaving: Vec<(usize, i64)> = (0..8).map(|person| (person, dice.between(40 * DAY, 320 * DAY))).collect();
        let mut grants = planned(grants, &leaving, &mut dice);
        let mut events: Vec<ReportedEvent> = Vec::new();
        let mut report = |at, event, about| events.push(ReportedEvent { at, event, about });
        for (person, at) in &leaving {
            report(*at, OFFBOARDED, About::Person(*person));
        }
        for _ in 0..40 {
            report(dice.between(1, TICKS - 1), ROLE_CHANGED, About::Person(8 + dice.below(PEOPLE - 8)));
        }
        for _ in 0..3 {
            report(dice.between(60 * DAY, TICKS - 1), CANCELLED, About::Everyone);
        }
        for (n, grant) in grants.iter().enumerate().filter(|(n, _)| n % 25 == 0) {
            report(grant.at + dice.between(1, 20 * DAY), DELETED, About::Grant(n));
        }
        events.retain(|event| event.at < TICKS);
        events.sort_by_key(|event| event.at);
        for (n, grant) in grants.iter_mut().enumerate() {
            grant.end = end_of(grant, n, &events);
        }
        Self { grants, events }
    }
}

fn planned(count: usize, leaving: &[(usize, i64)], dice: &mut Dice) -> Vec<PlannedGrant> {
    let days = 330 * DAY;
    let mut all = Vec::with_capacity(count);
    for at in 0..days {
        // One person signs in at a time, and none that has left.
        let person = dice.below(PEOPLE);
        let gone = leaving.iter().any(|(who, left)| *who == person && *left <= at);
        let person = if gone { PEOPLE - 1 } else { person };
        let upto = count * usize::try_from(at + 1).unwrap() / usize::try_from(days).unwrap();
        while all.len() < upto {
            let rules = rules(dice);
            let acts = acts(at, &rules, dice);
            all.push(PlannedGrant { at, person, rules, acts, end: End { at: 0, trigger: "", reason: "" } });
        }
    }
    all
}

fn rules(dice: &mut Dice) -> Rules {
    let events = [ROLE_CHANGED, DELETED].into_iter().filter(|_| dice.percent(30)).collect();
    Rules {
        lasts: dice.between(1, 60 * DAY),
        idle: dice.percent(45).then(|| dice.between(1, 10 * DAY)),
        on_task: dice.percent(30),
        on_events: events,
        max_requests: dice.percent(15).then(|| dice.between(1, 3)),
        max_writes: dice.percent(10).then(|| dice.between(1, 2)),
    }
}

/// A fifth of the agents act, and those with a budget mostly.
fn acts(granted: i64, rules: &Rules, dice: &mut Dice) -> Vec<(i64, Act)> {
    let limited = rules.max_requests.is_some() || rules.max_writes.is_some();
    if !dice.percent(if limited { 60 } else { 15 }) {
        return Vec::new();
    }
    let mut at = granted;
    let mut all = Vec::new();
    for _ in 0..dice.between(1, 4) {
        at += dice.between(1, 4 * DAY);
        let act = if dice.percent(20) {
            Act::Complete
        } else if dice.percent(50) {
            Act::Read
        } else {
            Act::Write
        };
        all.push((at, act));
    }
    all.retain(|(at, _)| *at < TICKS);
    all
}

/// What happens to a grant, in the order of time; in one tick what is due comes first, then events, then acts.
fn end_of(grant: &PlannedGrant, n: usize, events: &[ReportedEvent]) -> End {
    let rules = &grant.rules;
    let expires = grant.at + rules.lasts.min(LONGEST);
    let concerns = |event: &&ReportedEvent| {
        let concerned = match event.about {
            About::Person(person) => person == grant.person,
            About::Grant(which) => which == n,
            About::Everyone => true,
        };
        let listed = event.event == OFFBOARDED || event.event == CANCELLED || rules.on_events.contains(&event.event);
        concerned && listed && event.at > grant.at
    };
    let mut happening: Vec<(i64, u8, Option<&'static str>, Option<Act>)> =
        events.iter().filter(concerns).map(|event| (event.at, 0, Some(event.event), None)).collect();
    happening.extend(grant.acts.iter().map(|(at, act)| (*at, 1, None, Some(*act))));
    happening.sort_by_key(|(at, order, ..)| (*at, *order));

    let (mut last, mut requests, mut writes) = (grant.at, 0, 0);
    for (at, _, event, act) in happening {
        let due = due_end(expires, rules.idle.map(|idle| last + idle));
        if due.at <= at {
            return due;
        }
        if let Some(event) = event {
            return End { at, trigger: event, reason: "event_triggered" };
        }
        let used_up = rules.max_requests.is_some_and(|most| requests >= most)
            || rules.max_writes.is_some_and(|most| writes >= most);
        // Every act begins with a registration, which is refused when nothing is left.
        match act {
            _ if used_up => return End { at, trigger: "after_use", reason: "policy_expired" },
            Some(Act::Complete) if rules.on_task => {
                return End { at, trigger: "on_task_completion", reason: "task_complete" };
            }
            Some(Act::Read) => requests += 1,
            Some(Act::Write) => (requests, writes) = (requests + 1, writes + 1),
            _ => {}
        }
        last = at;
    }
    due_end(expires, rules.idle.map(|idle| last + idle))
}

fn due_end(expires: i64, idle: Option<i64>) -> End {
    match idle.filter(|idle| *idle < expires) {
        Some(at) => End { at, trigger: "inactivity_timeout", reason: "inactivity" },
        None => End { at: expires, trigger: "expires_at", reason: "policy_expired" },
    }
}

impl Rules {
    /// As the person sends them.
    pub(super) fn user_override(&self) -> Value {
        let hours = |ticks: i64| json!(format!("{}h", ticks * TICK_S / 3600));
        let mut said = json!({ "after_duration": hours(self.lasts) });
        if let Some(idle) = self.idle {
            said["after_inactivity"] = hours(idle);
        }
        if self.on_task {
            said["on_task_completion"] = json!(true);
        }
        if !self.on_events.is_empty() {
            said["on_events"] = json!(self.on_events);
        }
        let limits = [("max_requests", self.max_requests), ("max_writes", self.max_writes)];
        for (name, most) in limits.into_iter().filter_map(|(name, most)| Some((name, most?))) {
            said["after_use"][name] = json!(most);
        }
        said
    }
}

/// SplitMix64: the same seed gives the same year.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    /// Both included.
    fn between(&mut self, from: i64, to: i64) -> i64 {
        from + i64::try_from(self.next() % u64::try_from(to - from + 1).unwrap()).unwrap()
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}
