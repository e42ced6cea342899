//! Oracle for a plan and a standing approval, built on counters: legal commands and their results.

use countersign_protocol::{
    mplp::{PlanStatus, StepStatus},
    time::UnixMillis,
};

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done,
    /// Nothing to do.
    Nothing,
    /// The call was not approved.
    Unfit,
    /// The call was approved, but cannot be claimed any more, or not yet.
    Gone,
    Forbidden,
    Stale,
    OutOfTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yes {
    /// No approval was given, or the step has no action.
    None,
    Open,
    Spent,
    Over,
}

/// One plan step; the last lane is the standing approval.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) waits_for: Vec<usize>,
    pub(crate) uses: i64,
    pub(crate) used: i64,
    /// In cents, over all calls.
    pub(crate) limit: Option<i64>,
    pub(crate) spent: i64,
    pub(crate) until: UnixMillis,
    pub(crate) lease_s: i64,
    pub(crate) yes: Yes,
    pub(crate) status: StepStatus,
    pub(crate) under_way: i64,
    pub(crate) done: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Claimed(UnixMillis),
    Unknown,
    Committed,
    Failed,
}

#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) lane: usize,
    pub(crate) cents: i64,
    /// The exact content of the call.
    pub(crate) text: String,
    pub(crate) run: Run,
    /// The upstream itself refused the call, so it no longer counts.
    pub(crate) returned: bool,
    /// A person stated the outcome.
    pub(crate) reconciled: bool,
    /// A report contradicted that person, once.
    pub(crate) contradicted: bool,
}

/// The report about a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Running,
    Committed,
    Failed,
    Refused,
    Lost,
}

/// A use about to be claimed.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) lane: usize,
    pub(crate) cents: i64,
    pub(crate) text: String,
    pub(crate) fits: bool,
    /// Whether the approver is still entitled.
    pub(crate) stands: bool,
    pub(crate) same_rules: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) plan: PlanStatus,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) uses: Vec<Use>,
    /// Whether the AAEP sessions of the plan and of the standing approval are over.
    pub(crate) over: [bool; 2],
    pub(crate) revoked: bool,
}

impl Reference {
    fn last(&self) -> usize {
        self.lanes.len() - 1
    }

    fn runs(&self) -> bool {
        matches!(self.plan, PlanStatus::Approved | PlanStatus::InProgress)
    }

    fn session(&self, lane: usize) -> usize {
        usize::from(lane == self.last())
    }

    pub(crate) fn claim(&self, wanted: &Wanted, now: UnixMillis) -> Verdict {
        let lane = &self.lanes[wanted.lane];
        let room = lane.used < lane.uses && lane.limit.is_none_or(|limit| lane.spent + wanted.cents <= limit);
        let alike = |made: &Use| made.text == wanted.text && matches!(made.run, Run::Claimed(_) | Run::Unknown);
        let still = lane.yes == Yes::Open && now < lane.until && wanted.stands && wanted.same_rules;
        match (wanted.fits, still && room && self.its_turn(wanted.lane) && !self.uses.iter().any(alike)) {
            (false, _) => Verdict::Unfit,
            (true, false) => Verdict::Gone,
            (true, true) => Verdict::Done,
        }
    }

    fn its_turn(&self, lane: usize) -> bool {
        let ready = |before: &usize| self.lanes[*before].status == StepStatus::Completed;
        let of_plan = match self.lanes[lane].status {
            StepStatus::InProgress => self.runs(),
            StepStatus::Pending => self.runs() && self.lanes[lane].waits_for.iter().all(ready),
            _ => false,
        };
        !self.over[self.session(lane)] && (lane == self.last() || of_plan)
    }

    pub(crate) fn claimed(&mut self, wanted: Wanted, at: UnixMillis) {
        let of_plan = wanted.lane != self.last();
        let lane = &mut self.lanes[wanted.lane];
        lane.used += 1;
        lane.spent += wanted.cents;
        lane.under_way += 1;
        if lane.used == lane.uses {
            lane.yes = Yes::Spent;
        }
        let run = Run::Claimed(at.plus_secs(lane.lease_s));
        if of_plan {
            lane.status = StepStatus::InProgress;
            self.plan = PlanStatus::InProgress;
        }
        self.uses.push(Use {
            lane: wanted.lane,
            cents: wanted.cents,
            text: wanted.text,
            run,
            returned: false,
            reconciled: false,
            contradicted: false,
        });
    }

    pub(crate) fn report(&self, made: usize, told: Told, now: UnixMillis) -> Verdict {
        let used = &self.uses[made];
        match (used.run, told) {
            (Run::Claimed(lease), Told::Running) if now < lease => Verdict::Done,
            (Run::Claimed(_) | Run::Unknown, Told::Running) => Verdict::Gone,
            (Run::Claimed(_), _) => Verdict::Done,
            (Run::Unknown, Told::Lost) => Verdict::Nothing,
            (Run::Unknown, _) => Verdict::Done,
            (Run::Committed, Told::Committed) | (Run::Failed, Told::Failed | Told::Refused) => Verdict::Nothing,
            (Run::Committed, Told::Failed | Told::Refused) | (Run::Failed, Told::Committed) if used.reconciled => {
                if used.contradicted {
                    Verdict::Nothing
                } else {
                    Verdict::Done
                }
            }
            (Run::Committed | Run::Failed, _) => Verdict::Gone,
        }
    }

    pub(crate) fn reported(&mut self, made: usize, told: Told, at: UnixMillis) {
        if matches!(self.uses[made].run, Run::Committed | Run::Failed) {
            self.uses[made].contradicted = true;
            return;
        }
        let lane = self.uses[made].lane;
        match told {
            Told::Running => self.uses[made].run = Run::Claimed(at.plus_secs(self.lanes[lane].lease_s)),
            Told::Lost => self.uses[made].run = Run::Unknown,
            Told::Committed => self.uses[made].run = Run::Committed,
            Told::Failed | Told::Refused => self.uses[made].run = Run::Failed,
        }
        if told == Told::Refused {
            self.give_back(made, at);
        }
        if matches!(told, Told::Committed | Told::Failed | Told::Refused) {
            self.lanes[lane].under_way -= 1;
            self.lanes[lane].done += i64::from(told == Told::Committed);
            self.step_may_be_over(lane);
        }
        self.quiet(self.session(lane));
    }

    fn give_back(&mut self, made: usize, at: UnixMillis) {
        let (index, cents) = (self.uses[made].lane, self.uses[made].cents);
        let alive = !self.over[self.session(index)] && (index == self.last() || self.runs());
        self.uses[made].returned = true;
        let lane = &mut self.lanes[index];
        lane.used -= 1;
        lane.spent -= cents;
        if lane.yes == Yes::Spent && at < lane.until && alive {
            lane.yes = Yes::Open;
        }
    }

    fn step_may_be_over(&mut self, index: usize) {
        if index == self.last() {
            return;
        }
        let lane = &mut self.lanes[index];
        if lane.done >= lane.uses {
            lane.status = StepStatus::Completed;
        } else if lane.yes != Yes::Open && lane.under_way == 0 {
            lane.status = StepStatus::Failed;
        }
        self.plan_may_be_over();
    }

    fn plan_may_be_over(&mut self) {
        let steps = 0..self.last();
        let stuck = |lane: &Lane| matches!(lane.status, StepStatus::Failed | StepStatus::Blocked | StepStatus::Skipped);
        // Three passes: the longest dependency chain of the plan has three edges.
        for index in steps.clone().chain(steps.clone()).chain(steps.clone()) {
            let held_up = self.lanes[index].waits_for.iter().any(|before| stuck(&self.lanes[*before]));
            if held_up && self.lanes[index].status == StepStatus::Pending {
                self.lanes[index].status = StepStatus::Blocked;
            }
        }
        let all: Vec<StepStatus> = steps.map(|index| self.lanes[index].status).collect();
        let moves = all.iter().any(|status| matches!(status, StepStatus::Pending | StepStatus::InProgress));
        let well = all.iter().all(|status| matches!(status, StepStatus::Completed | StepStatus::Skipped));
        self.plan = match (self.plan, moves, well) {
            (PlanStatus::InProgress, false, true) => PlanStatus::Completed,
            (PlanStatus::Approved, false, true) => PlanStatus::Cancelled,
            (PlanStatus::Approved | PlanStatus::InProgress, false, false) => PlanStatus::Failed,
            (status, _, _) => status,
        };
    }

    /// A session ends with its plan or approval, but not while a call is running in it.
    fn quiet(&mut self, session: usize) {
        let calls = |made: &Use| matches!(made.run, Run::Claimed(_)) && self.session(made.lane) == session;
        let goes_on = if session == 0 { self.runs() } else { self.lanes[self.last()].yes == Yes::Open };
        self.over[session] |= !goes_on && !self.uses.iter().any(calls);
    }

    pub(crate) fn lease_due(&self, made: usize, now: UnixMillis) -> Verdict {
        match self.uses[made].run {
            Run::Claimed(lease) if now >= lease => Verdict::Done,
            _ => Verdict::Nothing,
        }
    }

    /// `may`: an approver or admin other than the person the agent acts for.
    pub(crate) fn reconcile(&self, made: usize, may: bool) -> Verdict {
        match (may, self.uses[made].run) {
            (false, _) => Verdict::Forbidden,
            (true, Run::Unknown) => Verdict::Done,
            (true, _) => Verdict::Gone,
        }
    }

    pub(crate) fn lapse(&self, lane: usize, now: UnixMillis) -> Verdict {
        let lane = &self.lanes[lane];
        if lane.yes == Yes::Open && now >= lane.until { Verdict::Done } else { Verdict::Nothing }
    }

    pub(crate) fn take_back(&self, lane: usize, may: bool) -> Verdict {
        match (may, self.lanes[lane].yes) {
            (false, _) => Verdict::Forbidden,
            (true, Yes::Open) => Verdict::Done,
            (true, _) => Verdict::Gone,
        }
    }

    /// An allowance ends with uses left: it expired or was revoked.
    pub(crate) fn ended(&mut self, index: usize, lapsed: bool) {
        self.lanes[index].yes = Yes::Over;
        if index != self.last() {
            let lane = &mut self.lanes[index];
            lane.status = match (lane.status, lapsed) {
                (StepStatus::Pending, true) => StepStatus::Blocked,
                (StepStatus::Pending, false) => StepStatus::Skipped,
                (StepStatus::InProgress, _) if lane.under_way == 0 => StepStatus::Failed,
                (status, _) => status,
            };
            self.plan_may_be_over();
        }
        self.quiet(self.session(index));
    }

    pub(crate) fn cancel(&self, by_person: Option<bool>) -> Verdict {
        match (by_person, self.plan) {
            (Some(true), _) | (None, _) if self.runs() => Verdict::Done,
            (Some(false), _) if self.runs() => Verdict::Forbidden,
            (None, PlanStatus::Draft) if self.revoked => Verdict::Stale,
            (None, PlanStatus::Draft) => Verdict::Done,
            _ => Verdict::Gone,
        }
    }

    pub(crate) fn cancelled(&mut self) {
        let last = self.last();
        self.lanes.iter_mut().take(last).filter(|lane| lane.yes == Yes::Open).for_each(|lane| lane.yes = Yes::Over);
        self.plan = PlanStatus::Cancelled;
        self.quiet(0);
    }

    pub(crate) fn revoked(&mut self) {
        self.lanes.iter_mut().filter(|lane| lane.yes == Yes::Open).for_each(|lane| lane.yes = Yes::Over);
        if self.runs() {
            self.plan = PlanStatus::Cancelled;
        }
        self.over = [true; 2];
        self.revoked = true;
    }

    /// The agent reports the status of its own step.
    pub(crate) fn step(&self, index: usize, to: StepStatus) -> Verdict {
        use StepStatus::{Blocked, Completed, Failed, InProgress, Pending, Skipped};
        let legal = match self.lanes[index].status {
            Pending => matches!(to, Blocked | Skipped) || (to == InProgress && self.its_turn(index)),
            InProgress => matches!(to, Completed | Failed),
            Blocked => to == Pending,
            Completed | Skipped | Failed => false,
        };
        if self.runs() && legal { Verdict::Done } else { Verdict::Gone }
    }

    pub(crate) fn stepped(&mut self, index: usize, to: StepStatus) {
        self.plan = PlanStatus::InProgress;
        self.lanes[index].status = to;
        self.plan_may_be_over();
        self.quiet(0);
    }
}
