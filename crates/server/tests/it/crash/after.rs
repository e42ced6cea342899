//! Invariants after a restart, and the retries of the callers without a response.

use super::{
    cast::{Cast, Known, Questions, Script, next_question},
    evidence,
    story::{Act, LEFT_OPEN, LOST, PAID, QUESTIONS, STORY, Standing, Step, TIDIED, became, stands},
    teller::{BEGINS_S, Line, Told},
};
use countersign_testkit::{aaep::ReceivedEvents, faulty_store::CrashPoint};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Long enough for a default to fall due and a lease to lapse, and no longer.
const DOWN_S: i64 = 120;

pub(super) struct Aftermath {
    script: Script,
    doom: CrashPoint,
    /// Everything acknowledged.
    known: Questions,
    acknowledged: BTreeMap<String, Standing>,
    /// Begun, and never acknowledged.
    in_doubt: usize,
}

impl Aftermath {
    pub(super) fn of(script: &Script, doom: CrashPoint, told: &Told) -> Self {
        let (mut known, mut acknowledged, mut in_doubt) = (Questions::new(), BTreeMap::new(), 0);
        for line in &told.lines {
            match line {
                Line::Begins(number) => in_doubt = *number,
                Line::Done(number, question) => {
                    known.insert(STORY[*number].1.to_owned(), question.clone());
                    acknowledged.extend(became(STORY[*number]));
                }
            }
        }
        let script = Script { doom: None, ..script.clone() };
        Self { script, doom, known, acknowledged, in_doubt }
    }

    pub(super) async fn is_sound(&self) {
        println!("{:?}: killed in {:?}", self.doom, STORY[self.in_doubt]);
        let waited = STORY[..=self.in_doubt].iter().any(|step| step.0 == Act::Minute);
        let killed_at = BEGINS_S + if waited { 61 } else { 0 };
        let found = self.restarted_at_once(killed_at).await;
        self.restarted_later(killed_at + DOWN_S, found).await;
    }

    /// Nothing acknowledged is lost; open questions keep their token and their deadline.
    async fn restarted_at_once(&self, at_s: i64) -> Found {
        let cast = self.script.cast(at_s, 3).await;
        let mut stood = BTreeMap::new();
        for (name, known) in &self.known {
            let decision = cast.looks(&known.decision).await;
            self.is_where_it_may_be(name, &decision);
            for member in ["decision_id", "digest", "session_id", "asked_at"] {
                assert_eq!(decision[member], known.decision[member], "{name}: {member}");
            }
            let more_time = STORY[self.in_doubt].0 == Act::MoreTime;
            assert!(
                decision["deadline"] == known.decision["deadline"] || more_time || stands(&decision).0 != "pending"
            );
            stood.insert(name.clone(), decision);
        }
        let open = cast.open_questions().await;
        self.keep_their_tokens(&stood, &open);
        cast.plane.engine.store().close().await;
        Found { stood, open }
    }

    fn is_where_it_may_be(&self, name: &str, decision: &Value) {
        let here = stands(decision);
        let last = &self.acknowledged[name];
        let next = became(STORY[self.in_doubt]).into_iter().filter(|(of, _)| of == name);
        let mut possible = next.map(|(_, standing)| standing).chain([last.clone()]);
        assert!(possible.any(|standing| standing == here), "{name} was acknowledged as {last:?} and is {here:?}");
    }

    fn keep_their_tokens(&self, stood: &BTreeMap<String, Value>, open: &[Known]) {
        let tokens: BTreeSet<String> = open.iter().map(|known| known.event["reply_token"].to_string()).collect();
        assert_eq!(tokens.len(), open.len(), "no token is used twice");
        for (name, known) in &self.known {
            let again = open.iter().find(|again| again.decision["decision_id"] == known.decision["decision_id"]);
            assert_eq!(again.is_some(), stands(&stood[name]).0 == "pending", "{name}");
            let Some(again) = again else { continue };
            for member in ["reply_token", "event_id", "timestamp"] {
                assert_eq!(again.event[member], known.event[member], "{name}: {member}");
            }
            assert_eq!(again.decision["deadline"], stood[name]["deadline"], "{name}");
        }
        let unknown = open.len() - stood.values().filter(|decision| stands(decision).0 == "pending").count();
        let asked = usize::from(STORY[self.in_doubt].0 == Act::Raise);
        assert!(unknown <= asked, "only what was being asked can be open without an acknowledgement");
    }

    /// After some downtime: overdue questions are settled without an approval, and the story goes on.
    async fn restarted_later(&self, at_s: i64, found: Found) {
        let cast = self.script.cast(at_s, 4).await;
        cast.plane.engine.decisions().settle_due().await.expect("everything due");
        self.fell_due(&cast, &found).await;
        let mut heard = cast.alice.opens_stream(&cast.plane).await;
        for _ in &cast.open_questions_listed().await {
            next_question(&mut heard).await;
        }
        let mut known = self.known.clone();
        for step in &STORY[self.in_doubt..] {
            self.goes_on(&cast, *step, &mut known, &found, &mut heard).await;
        }
        self.old_token_counts_once(&cast, &known).await;
        nothing_can_be_spent_again(&cast, &known).await;
        self.ran_once_at_most(&cast, &found);
        evidence::is_whole(&cast.plane).await;
        cast.plane.engine.store().close().await;
    }

    async fn fell_due(&self, cast: &Cast, found: &Found) {
        for (name, before) in &found.stood {
            let now = cast.looks(before).await;
            match (name.as_str(), stands(before)) {
                (TIDIED, before) if before.0 == "pending" => {
                    let came_to = (&now["state"], &now["expired_as"], &now["allowance"]);
                    assert_eq!(came_to, (&json!("expired"), &json!("reject"), &Value::Null));
                    assert_eq!((cast.claims(name, &now).await.status, cast.effects(name)), (409, 0));
                }
                (_, before) if before.1 == "claimed" => {
                    assert_eq!(now["execution"]["state"], "unknown", "{name}");
                    assert_eq!(cast.claims(name, &now).await.status, 409, "{name} is not for anybody to run again");
                    let again = cast.raises(name).await.expect(409);
                    assert!(again.text().contains(now["decision_id"].as_str().unwrap()), "{}", again.text());
                }
                (_, before) => assert_eq!(stands(&now), before, "{name} has not changed by itself"),
            }
        }
    }

    /// A caller without a response repeats its request: asks, answers, claims or reports once more.
    async fn goes_on(&self, cast: &Cast, step: Step, known: &mut Questions, found: &Found, heard: &mut ReceivedEvents) {
        let Step(act, name) = step;
        if act == Act::Raise {
            let again = self.raised_again(cast, name, found, heard).await;
            known.insert(name.to_owned(), again);
            return;
        }
        let before = cast.looks(&known[name].decision).await;
        let answer = cast.does(step, known).await;
        let now = cast.looks(&known[name].decision).await;
        let granted = match act {
            // An approval by default exists only if a node settled it in time, and no approval is claimed twice.
            Act::Claim => before["allowance"]["state"] == "open",
            Act::StillRuns => stands(&before).1 == "claimed",
            Act::Committed | Act::Failed => stands(&before).1 != "none",
            Act::Withdraw => stands(&before).0 == "pending",
            _ => true,
        };
        assert_eq!(answer.is_success(), granted, "{step:?}: {}", answer.text());
        if !granted {
            assert_eq!((answer.status, &now), (409, &before), "{step:?}");
        }
        if matches!(act, Act::Accept | Act::Reject | Act::Respond | Act::Withdraw) {
            assert_eq!(vec![(name.to_owned(), stands(&now))], became(step));
        }
    }

    /// Either the same question is still open, or it is raised now; never both.
    async fn raised_again(&self, cast: &Cast, name: &str, found: &Found, heard: &mut ReceivedEvents) -> Known {
        let known =
            |known: &&Known| self.known.values().any(|k| k.decision["decision_id"] == known.decision["decision_id"]);
        let left = found.open.iter().find(|open| !known(open)).filter(|_| STORY[self.in_doubt].1 == name);
        let answer = cast.raises(name).await;
        let decision = answer.json();
        match left {
            Some(left) if name != TIDIED => {
                assert_eq!((answer.status, &decision["decision_id"]), (200, &left.decision["decision_id"]), "{name}");
                Known { decision, event: left.event.clone() }
            }
            _ => {
                assert_eq!(answer.status, 201, "{name}: {}", answer.text());
                Known { decision, event: next_question(heard).await }
            }
        }
    }

    /// The unanswered question is settled by its original token, once.
    async fn old_token_counts_once(&self, cast: &Cast, known: &Questions) {
        let open = &known[LEFT_OPEN];
        cast.alice.rejects(&cast.plane, &open.event).await.expect(204);
        cast.alice.accepts(&cast.plane, &open.event).await.expect(204);
        assert_eq!(stands(&cast.looks(&open.decision).await), ("rejected".into(), "none".into()));
        assert_eq!(cast.open_questions_listed().await.len(), 0, "everything is settled");
    }

    fn ran_once_at_most(&self, cast: &Cast, found: &Found) {
        for name in QUESTIONS {
            let effects = cast.effects(name);
            let claimed_unheard = STORY[self.in_doubt] == Step(Act::Claim, name)
                && found.stood.get(name).is_some_and(|before| stands(before).1 != "none");
            match name {
                PAID | LOST => assert_eq!(effects, usize::from(!claimed_unheard), "{name}"),
                TIDIED => assert!(effects <= 1, "{name}"),
                _ => assert_eq!(effects, 0, "{name}"),
            }
        }
    }
}

/// No question yields a second claim, in any state.
async fn nothing_can_be_spent_again(cast: &Cast, known: &Questions) {
    for (name, question) in known {
        assert!(!cast.claims(name, &question.decision).await.is_success(), "{name}");
    }
}

/// The findings of the first restart.
struct Found {
    stood: BTreeMap<String, Value>,
    open: Vec<Known>,
}
