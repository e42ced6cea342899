//! Oracle for the decision engine, as small as possible: no rows, no events, only the legal transitions.
//!
//! `node` is the clock of the deciding node, `store` the clock of the writing store.

use crate::decision_world::{ALICE, BOB, CAROL};
use countersign_core::records::Assurance;
use countersign_protocol::{
    aaep::event::{Risk, YesNo},
    ids::RowKey,
    time::UnixMillis,
};
use std::collections::BTreeMap;

const PAY: usize = 2;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) node: UnixMillis,
    pub(crate) store: UnixMillis,
}

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done,
    /// Nothing to do.
    Nothing,
    Refused(&'static str),
    OutOfTime,
    Stale,
    Limit(usize),
}
use Verdict::{Done, Limit, Nothing, OutOfTime, Refused, Stale};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Open,
    Accepted,
    Rejected,
    Answered,
    ExpiredAccept,
    ExpiredReject,
    ExpiredResponse,
    ExpiredUnavailable,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yes {
    Open,
    Spent,
    Lapsed,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Claimed(UnixMillis),
    Committed,
    Failed,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saying {
    Accept,
    Reject,
    Modified,
    Text,
    Number,
}

#[derive(Clone, Debug)]
pub(crate) struct Raising {
    pub(crate) principal: String,
    pub(crate) action: usize,
    pub(crate) number: u8,
    /// A clarification request, with or without a default answer.
    pub(crate) clarifies: Option<bool>,
    pub(crate) session: Option<RowKey>,
    pub(crate) timeout: Option<i64>,
    pub(crate) default: Option<YesNo>,
    pub(crate) risk: Option<Risk>,
    pub(crate) only_reject: bool,
    pub(crate) somebody: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Answering {
    pub(crate) person: RowKey,
    pub(crate) assurance: Assurance,
    pub(crate) saying: Saying,
    pub(crate) claimed_at: UnixMillis,
    pub(crate) by_software: bool,
    pub(crate) may_answer: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) asked: Raising,
    pub(crate) session: RowKey,
    pub(crate) asked_at: UnixMillis,
    pub(crate) deadline: UnixMillis,
    latest: UnixMillis,
    pub(crate) due: UnixMillis,
    default: YesNo,
    pub(crate) fate: Fate,
    pub(crate) yes: Option<(Yes, UnixMillis)>,
    pub(crate) run: Option<Run>,
    /// A person stated the outcome; true if a report contradicted it.
    pub(crate) reconciled: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) principal: String,
    pub(crate) implicit: bool,
    pub(crate) over: bool,
}

#[derive(Default)]
pub(crate) struct Reference {
    pub(crate) early_reject: bool,
    pub(crate) serving_since: UnixMillis,
    pub(crate) questions: Vec<Question>,
    pub(crate) sessions: BTreeMap<RowKey, Session>,
    pub(crate) revoked: Vec<String>,
    pub(crate) raised: BTreeMap<(String, i64), i64>,
    pub(crate) rejected: BTreeMap<(String, usize), (i64, UnixMillis)>,
}

impl Raising {
    /// The policy lets people other than the person the agent acts for approve this action.
    pub(crate) fn is_payment(&self) -> bool {
        self.clarifies.is_none() && self.action == PAY
    }

    fn is_same(&self, other: &Self) -> bool {
        let what = |r: &Self| (r.principal.clone(), r.clarifies.is_some(), r.action, r.number);
        what(self) == what(other)
    }

    /// Timeout and default, if policy allows the requested ones.
    fn terms(&self) -> Option<(i64, YesNo)> {
        if self.clarifies.is_some() {
            return Some((self.timeout.unwrap_or(180), YesNo::Reject));
        }
        let risk = [Risk::Low, Risk::Medium, Risk::High, Risk::High][self.action].max(self.risk.unwrap_or(Risk::Low));
        let usual = [60, 120, 300][risk as usize];
        let (least, most) = if self.action == 1 { (20, 200) } else { (1, 86_400) };
        let timeout = self.timeout.unwrap_or(usual.min(most));
        let can_accept = self.action == 0 && risk < Risk::High;
        let by_policy = if can_accept { YesNo::Accept } else { YesNo::Reject };
        let default = self.default.unwrap_or(by_policy);
        let accepts = default == YesNo::Accept;
        let legal = !accepts || (can_accept && timeout >= 30 && !self.only_reject);
        (legal && (least..=most).contains(&timeout)).then_some((timeout, default))
    }
}

impl Reference {
    pub(crate) fn open_of(&self, principal: Option<&str>) -> i64 {
        let open = self.questions.iter().filter(|q| q.fate == Fate::Open);
        open.filter(|q| principal.is_none_or(|p| q.asked.principal == p)).count().try_into().unwrap()
    }

    pub(crate) fn waiting_in(&self, session: RowKey) -> Vec<usize> {
        let waits = |q: &Question| q.session == session && q.fate == Fate::Open;
        (0..self.questions.len()).filter(|index| waits(&self.questions[*index])).collect()
    }

    pub(crate) fn raise(&self, asked: &Raising, times: Times) -> Verdict {
        let mut same = self.questions.iter().filter(|q| q.asked.is_same(asked));
        let under_way = |q: &Question| matches!(q.run, Some(Run::Claimed(_) | Run::Unknown));
        if same.clone().any(|q| q.fate == Fate::Open) {
            return Nothing;
        }
        if asked.clarifies.is_none() && same.any(under_way) {
            return Refused("conflict");
        }
        self.raise_late(asked, times)
    }

    /// Raises a question decided earlier, when no equal question was pending or running. The store enforces that only
    /// one is pending; an equal execution that began since is detected when this one is claimed.
    pub(crate) fn raise_late(&self, asked: &Raising, times: Times) -> Verdict {
        let mut same = self.questions.iter().filter(|q| q.asked.is_same(asked));
        if (asked.somebody || !self.early_reject) && same.any(|q| q.fate == Fate::Open) {
            return Nothing;
        }
        if asked.session.is_some_and(|key| self.sessions[&key].over || self.sessions[&key].implicit) {
            return Refused("conflict");
        }
        if asked.terms().is_none() {
            return Refused("invalid");
        }
        let hour = (asked.principal.clone(), times.node.secs() / 3600);
        let rejected = self.rejected.get(&(asked.principal.clone(), asked.action));
        let paused = rejected.is_some_and(|(n, until)| *n >= 3 && *until >= times.store && asked.clarifies.is_none());
        let raised = self.raised.get(&hour).copied().unwrap_or_default();
        let full = [self.open_of(Some(&asked.principal)) >= 3, self.open_of(None) >= 5, raised >= 5, paused];
        full.iter().position(|full| *full).map_or(Done, Limit)
    }

    /// Records the question as asked in a session.
    pub(crate) fn raised(&mut self, asked: &Raising, session: RowKey, asked_at: UnixMillis, times: Times) {
        let (timeout, default) = asked.terms().expect("only what is legal is asked");
        let deadline = asked_at.plus_secs(timeout);
        let at_once = self.early_reject && !asked.somebody;
        *self.raised.entry((asked.principal.clone(), times.node.secs() / 3600)).or_default() += 1;
        let implicit = asked.session.is_none();
        self.sessions.entry(session).or_insert(Session { principal: asked.principal.clone(), implicit, over: false });
        self.questions.push(Question {
            asked: asked.clone(),
            session,
            asked_at,
            deadline,
            latest: times.node.plus_secs(timeout + 100),
            due: due(asked_at, deadline, asked_at),
            default,
            fate: Fate::Open,
            yes: None,
            run: None,
            reconciled: None,
        });
        if at_once {
            self.settle(self.questions.len() - 1, by_default(asked, false), times);
        }
    }

    pub(crate) fn answer(&self, index: usize, by: &Answering, times: Times) -> Verdict {
        let q = &self.questions[index];
        let confirms = q.asked.clarifies.is_none();
        let is_yes = matches!(by.saying, Saying::Accept | Saying::Text | Saying::Number);
        let pay = q.asked.is_payment();
        let counts = if by.person == ALICE { !is_yes || !pay } else { pay && [BOB, CAROL].contains(&by.person) };
        // An unknown action is irreversible and of high risk, which requires a signed-in person.
        let unknown = confirms && q.asked.action == 3;
        // A rejection by the person the agent acts for always counts.
        let own_no = by.person == ALICE && !is_yes;
        let floor = if (pay || unknown) && !own_no { Assurance::Session } else { Assurance::Token };
        let fits = match by.saying {
            Saying::Accept | Saying::Modified => confirms && !q.asked.only_reject,
            Saying::Reject => confirms,
            Saying::Text => !confirms,
            Saying::Number => false,
        };
        first(&[
            (q.fate != Fate::Open, Refused("settled")),
            (times.node >= q.deadline || by.claimed_at >= q.deadline, Refused("too late")),
            (by.claimed_at < q.asked_at.plus_secs(-300), Refused("too early")),
            (by.by_software, Refused("by software")),
            (!by.may_answer || !counts, Refused("not entitled")),
            (by.assurance < floor, Refused("too weak")),
            (!fits, Refused("not allowed")),
            (times.store >= q.deadline, OutOfTime),
        ])
    }

    pub(crate) fn answered(&mut self, index: usize, saying: Saying, times: Times) {
        let fate = match saying {
            Saying::Accept => Fate::Accepted,
            Saying::Reject | Saying::Modified => Fate::Rejected,
            Saying::Text | Saying::Number => Fate::Answered,
        };
        if fate == Fate::Rejected {
            let asked = &self.questions[index].asked;
            let count = self.rejected.entry((asked.principal.clone(), asked.action)).or_insert((0, times.store));
            let kept = if count.1 >= times.store { count.0 } else { 0 };
            *count = (kept + 1, count.1.max(times.node.plus_secs(600)));
        }
        self.settle(index, fate, times);
    }

    pub(crate) fn extend(&self, index: usize, person: RowKey, seconds: i64, times: Times) -> Verdict {
        let q = &self.questions[index];
        let pay = q.asked.is_payment();
        let concerned = person == ALICE || (pay && [BOB, CAROL].contains(&person));
        first(&[
            (q.fate != Fate::Open, Refused("settled")),
            (times.node >= q.deadline, Refused("too late")),
            (!concerned, Refused("not entitled")),
            (q.later(seconds) <= q.deadline, Nothing),
            (times.store >= q.deadline, OutOfTime),
        ])
    }

    pub(crate) fn extended(&mut self, index: usize, seconds: i64, times: Times) {
        let q = &mut self.questions[index];
        q.deadline = q.later(seconds);
        q.due = due(q.asked_at, q.deadline, times.node);
    }

    pub(crate) fn due(&self, index: usize, nobody_there: bool, times: Times) -> Verdict {
        let q = &self.questions[index];
        let expires = nobody_there || times.node >= q.deadline;
        let accepts = self.comes_to(index, nobody_there, times) == Fate::ExpiredAccept;
        first(&[
            (q.fate != Fate::Open, Nothing),
            (!expires && times.node < q.due, Nothing),
            (expires && !nobody_there && times.store < q.deadline, OutOfTime),
            (expires && accepts && times.store > q.deadline.plus_secs(5), OutOfTime),
        ])
    }

    pub(crate) fn fell_due(&mut self, index: usize, nobody_there: bool, times: Times) {
        let q = &self.questions[index];
        if nobody_there || times.node >= q.deadline {
            let fate = self.comes_to(index, nobody_there, times);
            return self.settle(index, fate, times);
        }
        let next = due(q.asked_at, q.deadline, times.node);
        self.questions[index].due = next;
    }

    /// A default approval is given on time or not at all.
    fn comes_to(&self, index: usize, nobody_there: bool, times: Times) -> Fate {
        let q = &self.questions[index];
        let on_time = q.deadline >= self.serving_since && times.node <= q.deadline.plus_secs(5);
        by_default(&q.asked, q.default == YesNo::Accept && on_time && !nobody_there)
    }

    pub(crate) fn withdraw(&self, index: usize) -> Verdict {
        first(&[(self.questions[index].fate != Fate::Open, Refused("conflict"))])
    }

    pub(crate) fn claim(&self, index: usize, right: bool, stands: bool, times: Times) -> Verdict {
        let q = &self.questions[index];
        let until = q.yes.map_or(UnixMillis(0), |(_, until)| until);
        let open = matches!(q.yes, Some((Yes::Open, _)));
        let runs = |other: &Question| matches!(other.run, Some(Run::Claimed(_) | Run::Unknown));
        let same_runs = self.questions.iter().any(|other| other.asked.is_same(&q.asked) && runs(other));
        first(&[
            (!right, Refused("elsewhere")),
            (!open || times.node >= until || !stands, Refused("conflict")),
            (self.sessions[&q.session].over, Refused("conflict")),
            (self.revoked.contains(&q.asked.principal), Stale),
            (times.store >= until, OutOfTime),
            (same_runs, Stale),
        ])
    }

    pub(crate) fn claimed(&mut self, index: usize, times: Times) {
        let q = &mut self.questions[index];
        let lease_s = if q.asked.action == 1 { 30 } else { 20 };
        q.yes = q.yes.map(|(_, until)| (Yes::Spent, until));
        q.run = Some(Run::Claimed(times.node.plus_secs(lease_s)));
    }

    /// `ran` is the reported outcome: committed, failed, or `None` while the call is still running.
    pub(crate) fn report(&self, index: usize, ran: Option<bool>, times: Times) -> Verdict {
        match (self.questions[index].run.expect("something was claimed"), ran) {
            (Run::Claimed(lease), None) if times.node < lease => first(&[(times.store >= lease, OutOfTime)]),
            (_, None) => Refused("conflict"),
            (Run::Claimed(_) | Run::Unknown, Some(_)) => Done,
            (Run::Committed, Some(true)) | (Run::Failed, Some(false)) => Nothing,
            (Run::Committed | Run::Failed, Some(_)) => match self.questions[index].reconciled {
                Some(true) => Nothing,
                Some(false) => Done,
                None => Refused("conflict"),
            },
        }
    }

    pub(crate) fn reported(&mut self, index: usize, ran: Option<bool>, times: Times) {
        if matches!(self.questions[index].run, Some(Run::Committed | Run::Failed)) {
            self.questions[index].reconciled = Some(true);
            return;
        }
        let lease_s = if self.questions[index].asked.action == 1 { 30 } else { 20 };
        let run = match ran {
            None => Run::Claimed(times.node.plus_secs(lease_s)),
            Some(true) => Run::Committed,
            Some(false) => Run::Failed,
        };
        self.runs(index, run);
    }

    pub(crate) fn lease_due(&self, index: usize, times: Times) -> Verdict {
        match self.questions[index].run {
            Some(Run::Claimed(lease)) => first(&[(times.node < lease, Nothing), (times.store < lease, OutOfTime)]),
            _ => Nothing,
        }
    }

    pub(crate) fn reconcile(&self, index: usize, person: RowKey) -> Verdict {
        let q = &self.questions[index];
        let entitled = match person {
            BOB | CAROL => q.asked.action == PAY,
            crate::decision_world::ADMIN => true,
            _ => false,
        };
        first(&[(!entitled, Refused("not authorized")), (q.run != Some(Run::Unknown), Refused("conflict"))])
    }

    pub(crate) fn runs(&mut self, index: usize, run: Run) {
        self.questions[index].run = Some(run);
        if !matches!(run, Run::Claimed(_)) {
            self.close_own_session(index);
        }
    }

    pub(crate) fn allowance_due(&self, index: usize, times: Times) -> Verdict {
        match self.questions[index].yes {
            Some((Yes::Open, until)) => first(&[(times.node < until, Nothing), (times.store < until, OutOfTime)]),
            _ => Nothing,
        }
    }

    pub(crate) fn ends_yes(&mut self, index: usize, how: Yes) {
        let q = &mut self.questions[index];
        q.yes = q.yes.map(|(_, until)| (how, until));
        self.close_own_session(index);
    }

    /// Cancels all records of a principal that were open when the view was loaded.
    pub(crate) fn revoke(&mut self, principal: &str, open: &[usize], sessions: &[RowKey]) {
        self.revoked.push(principal.to_owned());
        for index in open {
            let q = &mut self.questions[*index];
            if q.fate == Fate::Open {
                q.fate = Fate::Cancelled;
            }
            q.yes = q.yes.map(|(yes, until)| (if yes == Yes::Open { Yes::Cancelled } else { yes }, until));
        }
        for key in sessions {
            self.end_session(*key);
        }
    }

    pub(crate) fn end_session(&mut self, key: RowKey) {
        self.sessions.get_mut(&key).unwrap().over = true;
    }

    pub(crate) fn settle(&mut self, index: usize, fate: Fate, times: Times) {
        let q = &mut self.questions[index];
        q.fate = fate;
        if matches!(fate, Fate::Accepted | Fate::ExpiredAccept) {
            let allowance_s = if q.asked.action == PAY { 45 } else { 60 };
            q.yes = Some((Yes::Open, times.node.plus_secs(allowance_s)));
        } else {
            self.close_own_session(index);
        }
    }

    fn close_own_session(&mut self, index: usize) {
        let session = self.sessions.get_mut(&self.questions[index].session).unwrap();
        session.over |= session.implicit;
    }
}

impl Question {
    /// The upcoming deadlines of this question.
    pub(crate) fn moments(&self) -> impl Iterator<Item = UnixMillis> {
        let deadline = (self.fate == Fate::Open).then_some([self.deadline, self.due]);
        let until = self.yes.filter(|(yes, _)| *yes == Yes::Open).map(|(_, until)| until);
        let lease = self.run.and_then(|run| match run {
            Run::Claimed(lease) => Some(lease),
            _ => None,
        });
        deadline.into_iter().flatten().chain(until).chain(lease)
    }

    fn later(&self, seconds: i64) -> UnixMillis {
        self.deadline.plus_secs(seconds).min(self.latest)
    }
}

/// The result of a question without an answer.
fn by_default(asked: &Raising, accept: bool) -> Fate {
    match asked.clarifies {
        Some(true) => Fate::ExpiredResponse,
        Some(false) => Fate::ExpiredUnavailable,
        None if accept => Fate::ExpiredAccept,
        None => Fate::ExpiredReject,
    }
}

/// Long questions send reminders: at half of the time, at a tenth, at the end.
fn due(asked_at: UnixMillis, deadline: UnixMillis, after: UnixMillis) -> UnixMillis {
    let whole = deadline.0 - asked_at.0;
    let moments = [deadline.0 - whole / 2, deadline.0 - whole / 10];
    let next = moments.into_iter().find(|moment| *moment > after.0 && whole > 60_000);
    next.map_or(deadline, UnixMillis)
}

/// The verdict of the first rule that applies.
fn first(rules: &[(bool, Verdict)]) -> Verdict {
    rules.iter().find(|(holds, _)| *holds).map_or(Done, |(_, verdict)| *verdict)
}
