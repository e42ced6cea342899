//! Random command sequences against the reference; everything is verified offline after each step.

use super::{
    reference::{Draft, Is, Reference, Told},
    rules::KNOWN,
    world::{World, helper},
};
use countersign_core::{
    clarification::resolve::{AnswerVerdict, Resolve},
    refusal::Refusal,
    step::{Effects, Operation as _},
};
use countersign_jose::clarification::{ChainSeal, check_against, check_audit, check_message};
use countersign_protocol::{clarification::Stamp, mplp::MplpId};
use proptest::{option, prelude::*, sample};
use serde_json::{Value, json};

const ANSWERS: [&str; 13] = [
    "Staging",
    "production",
    " Production",
    "eu",
    "US ",
    "accept",
    " Accept",
    "7",
    "12.5",
    "true",
    "",
    "the usual",
    "at night",
];
const DAY: i64 = 86_400_000;

#[derive(Clone, Debug)]
enum Command {
    Submit(Draft),
    Resolve {
        gap: sample::Index,
        said: &'static str,
        signed: Option<i64>,
    },
    Person {
        gap: sample::Index,
        said: &'static str,
    },
    Confirm,
    Rotate,
    Later(i64),
    /// The second command is decided before the first is committed.
    AtOnce(Box<Command>, Box<Command>),
}

fn commands() -> impl Strategy<Value = Vec<Command>> {
    let one = one();
    let at_once = (steps(), steps()).prop_map(|(first, late)| Command::AtOnce(Box::new(first), Box::new(late)));
    proptest::collection::vec(prop_oneof![12 => one, 2 => at_once], 1..16)
}

fn one() -> impl Strategy<Value = Command> {
    prop_oneof![
        12 => steps(),
        4 => (any::<sample::Index>(), said()).prop_map(|(gap, said)| Command::Person { gap, said }),
        1 => Just(Command::Rotate),
        2 => prop_oneof![Just(0), Just(1), Just(999), Just(61_000), Just(2 * DAY)].prop_map(Command::Later),
    ]
}

/// Commands that change a session.
fn steps() -> impl Strategy<Value = Command> {
    let signed = option::weighted(0.2, prop_oneof![Just(0_i64), Just(1), Just(50_000)]);
    prop_oneof![
        2 => drafts().prop_map(Command::Submit),
        8 => (any::<sample::Index>(), said(), signed)
            .prop_map(|(gap, said, signed)| Command::Resolve { gap, said, signed }),
        1 => Just(Command::Confirm),
    ]
}

fn said() -> impl Strategy<Value = &'static str> {
    sample::select(&ANSWERS[..])
}

fn drafts() -> impl Strategy<Value = Draft> {
    let missing = sample::subsequence(vec!["target", "region", "amount", "urgent", "owner"], 0..=5);
    let runs = prop_oneof![3 => Just(None), 1 => Just(Some("lamp.dim")), 1 => Just(Some("money.pay"))];
    (missing, any::<bool>(), any::<bool>(), runs).prop_map(|(missing, vague, production, runs)| Draft {
        missing,
        vague,
        production,
        runs,
    })
}

struct Runner {
    world: World,
    id: MplpId,
    reference: Reference,
    /// The chain seal after the last signature.
    kept: ChainSeal,
}

impl Runner {
    fn begin(draft: Draft) -> Self {
        let mut world = World::with(|document| document.clarification.session_seconds = 60 * 86_400);
        let id = world.submit(draft.plan()).id;
        let kept = ChainSeal::of_record(&world.record(&id), &world.registry()).unwrap();
        Self { world, id, reference: Reference::new(draft), kept }
    }

    fn run(&mut self, command: Command) {
        match command {
            Command::Submit(draft) => self.submit(draft),
            Command::Resolve { gap, said, signed } => self.resolve(gap, said, signed),
            Command::Person { gap, said } => self.person(gap, said),
            Command::Confirm => self.confirm(),
            Command::Rotate => self.world.rotate(),
            Command::Later(millis) => self.world.later(millis),
            Command::AtOnce(first, late) => self.at_once(*first, *late),
        }
        self.check();
    }

    fn submit(&mut self, draft: Draft) {
        let same = draft.plan() == self.reference.draft.plan();
        let told = self.world.resubmit(&self.id, draft.plan());
        match self.reference.confirmed && !same {
            true => assert!(matches!(told, Err(Refusal::Conflict(_))), "{told:?}"),
            false => {
                told.unwrap();
                self.reference.submit(draft);
            }
        }
    }

    fn resolve(&mut self, gap: sample::Index, said: &str, signed: Option<i64>) {
        if self.reference.gaps.is_empty() {
            return;
        }
        let at = gap.index(self.reference.gaps.len());
        let gap_id = format!("gap-{:03}", at + 1);
        let signed = signed.map(|ahead| {
            self.world.bring_up(&self.id);
            self.world.signs(&self.id, &gap_id, said, &self.dated(ahead), (KNOWN, &helper()))
        });
        let asked = self.world.question(&self.id, &gap_id).is_some();
        let told = self.world.resolve_by(0, &self.id, &gap_id, said, signed).map(|told| told.verdict);
        if self.reference.confirmed {
            assert!(matches!(told, Err(Refusal::Conflict(_))), "{told:?}");
            return;
        }
        if !asked {
            // The question to a person expired: a person is asked again in a new round.
            self.reference.gaps[at].refused = None;
        }
        let expected = self.reference.resolve(at, said);
        let as_expected = match (&expected, &told) {
            (Told::Resolved(wanted), Ok(AnswerVerdict::Resolved { accepted })) => wanted == accepted,
            (Told::Escalated, Ok(AnswerVerdict::Escalated { .. }))
            | (Told::AlreadyResolved, Err(Refusal::AlreadyResolved(_)))
            | (Told::Gone, Err(Refusal::Conflict(_))) => true,
            _ => false,
        };
        assert!(as_expected, "{said:?} to {gap_id}: {told:?} instead of {expected:?}");
    }

    /// Not before the question, slightly ahead of our clock, and with finer precision.
    fn dated(&self, ahead: i64) -> String {
        let at = self.world.now().plus_millis(ahead).max(self.world.session(&self.id).last_at);
        let whole = at.to_rfc3339();
        format!("{}.{:03}{}Z", whole.get(..19).unwrap(), at.0.rem_euclid(1000), if ahead == 1 { "000007" } else { "" })
    }

    fn person(&mut self, gap: sample::Index, said: &str) {
        if self.reference.gaps.is_empty() {
            return;
        }
        let at = gap.index(self.reference.gaps.len());
        let Some(question) = self.world.question(&self.id, &format!("gap-{:03}", at + 1)) else { return };
        let before = self.world.session(&self.id);
        let told = self.world.person(question.key, said).map(drop);
        let changes = self.reference.person(at, said);
        assert_eq!(self.world.session(&self.id) != before, changes, "{said:?} at {at}: {told:?}");
        assert!(told.is_ok() || !changes);
    }

    fn confirm(&mut self) {
        let told = self.world.confirm(&self.id).unwrap();
        self.reference.confirm();
        assert_eq!(told.is_confirmed(), self.reference.confirmed);
    }

    fn at_once(&mut self, first: Command, late: Command) {
        let late = self.decided(&late);
        let before = self.world.session(&self.id).version;
        self.run(first);
        let Some(late) = late.filter(|_| self.world.session(&self.id).version != before) else { return };
        let chain = self.world.chain(&self.id);
        assert!(self.world.plane.store.commit(&late) != crate::decision_store::Outcome::Committed);
        assert_eq!(self.world.chain(&self.id), chain);
    }

    /// The effects of a command on the current session; nothing if it is refused or changes nothing.
    fn decided(&self, command: &Command) -> Option<Effects> {
        let (world, id) = (&self.world, &self.id);
        let effects = match command {
            Command::Submit(draft) => world.submitting(0, Some(id), draft.plan()).ok()?.effects,
            Command::Confirm => world.confirming(0, id).ok()?.effects,
            Command::Resolve { gap, said, .. } if !self.reference.gaps.is_empty() => {
                let gap_id = format!("gap-{:03}", gap.index(self.reference.gaps.len()) + 1);
                let by = world.plane.raiser(0);
                let resolve = Resolve { by, gap_id, answer: (*said).into(), signed: None, asked: None };
                resolve.decide(&world.view(id, 0), &world.plane.env(world.now())).ok()?.effects
            }
            _ => return None,
        };
        (!effects.is_empty()).then_some(effects)
    }

    fn check(&mut self) {
        let (session, record) = (self.world.session(&self.id), self.world.record(&self.id));
        let registry = self.world.registry();
        check_audit(&self.world.audit(&self.id), &registry).unwrap();
        check_message(&session.message, &registry).unwrap();
        if self.kept.chain_signature.as_str() != session.chain_signature {
            check_against(&record, &self.kept, &registry).unwrap();
            self.kept = ChainSeal::of_record(&record, &registry).unwrap();
        }
        self.check_gaps();
        self.check_chain(&record);
        assert_eq!(record["all_resolved"], self.reference.open().next().is_none());
        assert_eq!(record["total_rounds"], self.reference.rounds);
        assert_eq!((session.rounds, session.plans.len()), (self.reference.rounds as i64, self.reference.plans));
        assert_eq!(session.is_confirmed(), self.reference.confirmed);
        let accepted = self.reference.confirmed.then(|| self.reference.plan());
        assert_eq!(self.world.audit(&self.id).get("accepted_plan"), accepted.as_ref());
    }

    /// The gaps equal those of the reference, numbered in order of appearance.
    fn check_gaps(&self) {
        let session = self.world.session(&self.id);
        assert_eq!(session.gaps.len(), self.reference.gaps.len());
        for (at, (asked, expected)) in session.gaps.iter().zip(&self.reference.gaps).enumerate() {
            assert_eq!(
                (asked.gap.id.as_str(), asked.gap.field.as_str()),
                (&*format!("gap-{:03}", at + 1), expected.field)
            );
            assert_eq!(asked.gap.person_must_answer, expected.owed);
            let applies = matches!(expected.is, Is::Answered { applies: true, .. });
            let answered = matches!(expected.is, Is::Answered { .. });
            assert_eq!((asked.is_open(), asked.is_resolved()), (expected.is == Is::Open, answered));
            assert_eq!(asked.is_current(), applies || expected.is == Is::Open, "{expected:?}");
        }
        let counted = ["accepted_gaps", "blocking_gaps", "warning_gaps"].map(|name| session.message[name].clone());
        assert_eq!(counted, self.reference.counts().map(|count| json!(count)));
        let status = if self.reference.open().next().is_some() { "needs_clarification" } else { "ready_to_proceed" };
        assert_eq!(session.message["status"], status);
    }

    /// Rounds count from 1 without holes, and timestamps never decrease.
    fn check_chain(&self, record: &Value) {
        let chain = record["chain"].as_array().unwrap();
        let rounds: Vec<&Value> = chain.iter().filter_map(|entry| entry.get("round")).collect();
        assert_eq!(
            rounds,
            (1..=self.reference.rounds).map(|n| json!(n)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
        );
        let changes = chain.iter().filter(|entry| entry["event"] == "plan_changed").count();
        assert_eq!(changes, self.reference.plans - 1);
        let times = chain
            .iter()
            .flat_map(|entry| ["timestamp", "ask_timestamp", "answer_timestamp"].map(|name| entry.get(name)));
        let times =
            times.flatten().chain([&record["signed_at"]]).map(|at| at.as_str().unwrap().parse::<Stamp>().unwrap());
        let times: Vec<Stamp> = times.collect();
        assert!(times.windows(2).all(|pair| !pair[1].is_before(&pair[0])), "{times:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// WWA-1-04, WWA-2-04, WWA-3-08, WWA-4-07, WWA-4-08, WWA-4-15, WWA-4-16, WWA-4-17, WWA-5-04, WWA-6.2-03, WWA-7-01,
    /// WWA-7-03, WWA-7-06, WWA-7-10, WWA-7-11, WWA-7-12, WWA-7-17
    #[test]
    fn after_any_operations_the_session_equals_the_reference_and_its_chain_proves(
        draft in drafts(),
        commands in commands(),
    ) {
        let mut runner = Runner::begin(draft);
        runner.check();
        for command in commands {
            runner.run(command);
        }
    }
}
