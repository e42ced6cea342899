//! Commands for the model: few agents, people and actions, so that commands conflict.

use crate::{
    decision_reference::{Answering, Raising, Saying},
    decision_world::{ADMIN, ALICE, BOB, CAROL, DAN},
};
use countersign_core::{
    aaep::event_writer::{DECIDING, THINKING},
    records::{AaepSessionState, Assurance},
};
use countersign_protocol::{
    aaep::event::{
        CancelledBy, ErrorCategory, OutputStreaming, Payload, ProgressUpdated, Risk, SessionCancelled,
        SessionCompleted, SessionErrored, StateChanged, Summaries, ToolCompleted, ToolInvoked, ToolStatus, YesNo,
    },
    ids::RowKey,
    time::UnixMillis,
};
use proptest::{collection, option, prelude::*, sample::select};
use serde_json::json;

/// A command, the clock skew of the deciding node, and whether its step is committed later.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) command: Command,
    pub(crate) skew: i64,
    pub(crate) held: bool,
}

/// Stands for a person entitled to decide.
pub(crate) const ENTITLED: RowKey = 0;

/// `which` indexes the existing questions, newest first, modulo their number; mostly only those the command applies to.
/// `PassTo` leads to, or close to, the next deadline of a question, approval or lease.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Pass { millis: i64 },
    PassTo { which: u8, millis: i64 },
    Restart,
    Open { agent: usize },
    Raise { agent: usize, session: Option<u8>, asked: Raising },
    Answer { which: u8, by: Answering, claimed_s: i64 },
    Extend { which: u8, person: RowKey, seconds: i64 },
    Due { which: u8, nobody_there: bool },
    Withdraw { which: u8 },
    Claim { which: u8, digest: bool, point: bool, stands: bool },
    Report { which: u8, ran: Option<bool> },
    LeaseDue { which: u8 },
    AllowanceDue { which: u8 },
    LoseApprover { which: u8 },
    Reconcile { which: u8, person: RowKey, ran: bool },
    Revoke { agent: usize },
    Say { which: u8, speech: Speech },
    Flush { which: u8 },
}

/// Statements of an agent about itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Speech {
    Think,
    Decide,
    Write,
    FromNowhere,
    Invoke(u8),
    Done(u8),
    Output { position: u8, complete: bool },
    Progress,
    Complete,
    Fail,
    Cancel,
}

pub(crate) fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    collection::vec(deed(), 1..90)
}

fn deed() -> impl Strategy<Value = Deed> {
    let skew = prop_oneof![2 => Just(0_i64), 1 => select(vec![-900_i64, 900, -8_000, 8_000])];
    (command(), skew, proptest::bool::weighted(0.15)).prop_map(|(command, skew, held)| Deed { command, skew, held })
}

fn command() -> impl Strategy<Value = Command> {
    let which = || prop_oneof![1 => Just(1_u8), 1 => any::<u8>()];
    let agent = || 0..2_usize;
    let mostly = || proptest::bool::weighted(0.9);
    let millis = select(vec![1_i64, 999, 1_000, 5_000, 15_000, 20_000, 30_000, 44_999, 45_000, 60_000, 300_000]);
    let edge = select(vec![-7_000_i64, -900, -1, 0, 0, 1, 900, 4_000, 5_001, 8_000]);
    let seconds = select(vec![-5_i64, 0, 1, 30, 500]);
    prop_oneof![
        4 => millis.prop_map(|millis| Command::Pass { millis }),
        7 => (which(), edge).prop_map(|(which, millis)| Command::PassTo { which, millis }),
        1 => Just(Command::Restart),
        2 => agent().prop_map(|agent| Command::Open { agent }),
        16 => (agent(), option::of(which()), raising())
            .prop_map(|(agent, session, asked)| Command::Raise { agent, session, asked }),
        12 => (which(), answering(), claimed()).prop_map(|(which, by, claimed_s)| Command::Answer { which, by, claimed_s }),
        2 => (which(), person(), seconds).prop_map(|(which, person, seconds)| Command::Extend { which, person, seconds }),
        5 => (which(), proptest::bool::weighted(0.1))
            .prop_map(|(which, nobody_there)| Command::Due { which, nobody_there }),
        1 => which().prop_map(|which| Command::Withdraw { which }),
        9 => (which(), mostly(), mostly(), mostly())
            .prop_map(|(which, digest, point, stands)| Command::Claim { which, digest, point, stands }),
        5 => (which(), any::<Option<bool>>()).prop_map(|(which, ran)| Command::Report { which, ran }),
        4 => which().prop_map(|which| Command::LeaseDue { which }),
        4 => which().prop_map(|which| Command::AllowanceDue { which }),
        1 => which().prop_map(|which| Command::LoseApprover { which }),
        3 => (which(), prop_oneof![person(), Just(ADMIN)], any::<bool>())
            .prop_map(|(which, person, ran)| Command::Reconcile { which, person, ran }),
        1 => agent().prop_map(|agent| Command::Revoke { agent }),
        4 => (which(), speech()).prop_map(|(which, speech)| Command::Say { which, speech }),
        4 => which().prop_map(|which| Command::Flush { which }),
    ]
}

fn person() -> impl Strategy<Value = RowKey> {
    prop_oneof![4 => Just(ENTITLED), 1 => select(vec![ALICE, BOB, CAROL, DAN, ADMIN])]
}

/// A person's claimed decision time, in seconds relative to now.
fn claimed() -> impl Strategy<Value = i64> {
    prop_oneof![6 => Just(0_i64), 1 => select(vec![-301_i64, -300, -200, 60, 400])]
}

fn raising() -> impl Strategy<Value = Raising> {
    let clarifies = prop_oneof![5 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let timeout = prop_oneof![4 => Just(None), 2 => select(vec![20_i64, 29, 30, 40, 90, 250]).prop_map(Some)];
    let default = prop_oneof![3 => Just(None), 1 => Just(Some(YesNo::Accept)), 1 => Just(Some(YesNo::Reject))];
    let risk = prop_oneof![5 => Just(None), 1 => Just(Some(Risk::High)), 1 => Just(Some(Risk::Low))];
    let rare = || proptest::bool::weighted(0.1);
    (0..4_usize, 0..2_u8, clarifies, timeout, default, risk, rare(), rare()).prop_map(
        |(action, number, clarifies, timeout, default, risk, only_reject, nobody)| Raising {
            principal: String::new(),
            action,
            number,
            clarifies,
            session: None,
            timeout,
            default,
            risk,
            only_reject,
            somebody: !nobody,
        },
    )
}

fn answering() -> impl Strategy<Value = Answering> {
    let assurance = prop_oneof![
        1 => select(vec![Assurance::Local, Assurance::Token]),
        2 => select(vec![Assurance::Session, Assurance::Fresh]),
    ];
    let saying = prop_oneof![
        4 => Just(Saying::Accept),
        2 => Just(Saying::Reject),
        3 => select(vec![Saying::Modified, Saying::Text, Saying::Number]),
    ];
    (person(), assurance, saying, proptest::bool::weighted(0.05), proptest::bool::weighted(0.95)).prop_map(
        |(person, assurance, saying, by_software, may_answer)| Answering {
            person,
            assurance,
            saying,
            claimed_at: UnixMillis(0),
            by_software,
            may_answer,
        },
    )
}

fn speech() -> impl Strategy<Value = Speech> {
    prop_oneof![
        Just(Speech::Think),
        Just(Speech::Decide),
        Just(Speech::Write),
        Just(Speech::FromNowhere),
        (0..4_u8).prop_map(Speech::Invoke),
        (0..4_u8).prop_map(Speech::Done),
        (0..3_u8, proptest::bool::weighted(0.2)).prop_map(|(position, complete)| Speech::Output { position, complete }),
        Just(Speech::Progress),
        Just(Speech::Complete),
        Just(Speech::Fail),
        Just(Speech::Cancel),
    ]
}

impl Speech {
    /// An event that is legal in the session's current state, if there is one.
    pub(crate) fn payload(self, session: &AaepSessionState) -> Option<Payload> {
        let at = match session {
            AaepSessionState::Open { at, .. } => at.clone(),
            AaepSessionState::Over { .. } => "thinking".into(),
        };
        let state = |from_state: String, to: &str| {
            let summaries = Summaries::normal("going on");
            let changed = StateChanged { from_state, to_state: to.into(), summaries, expected_duration_ms: None };
            (changed.from_state != changed.to_state).then_some(Payload::StateChanged(changed))
        };
        let summaries = Summaries::normal("so it is");
        Some(match self {
            Self::Think => return state(at, THINKING),
            Self::Decide => return state(at, DECIDING),
            Self::Write => return state(at, "writing_output"),
            Self::FromNowhere => return state("nowhere".into(), THINKING),
            Self::Invoke(n) => Payload::ToolInvoked(ToolInvoked {
                tool: if n == 3 { "money.pay".into() } else { "look.up".into() },
                summaries,
                tool_call_id: (n > 0).then(|| format!("call_{n}")),
                ..ToolInvoked::default()
            }),
            Self::Done(n) => Payload::ToolCompleted(ToolCompleted {
                tool: if n == 3 { "money.pay".into() } else { "look.up".into() },
                status: ToolStatus::Success,
                summaries,
                tool_call_id: (n > 0).then(|| format!("call_{n}")),
                duration_ms: None,
                error_message: None,
            }),
            Self::Output { position, complete } => Payload::OutputStreaming(OutputStreaming {
                chunk: "é".into(),
                position: position.into(),
                complete,
                output_id: Some("out_1".into()),
                ..OutputStreaming::default()
            }),
            Self::Progress => {
                let progress = serde_json::from_value(json!({ "percent": 3 })).unwrap();
                Payload::ProgressUpdated(ProgressUpdated { progress, summaries, eta_ms: None })
            }
            Self::Complete => Payload::SessionCompleted(SessionCompleted { summaries, ..SessionCompleted::default() }),
            Self::Fail => Payload::SessionErrored(SessionErrored {
                summaries,
                error_category: ErrorCategory::Unknown,
                error_code: None,
                error_uri: None,
                recoverable: None,
                remediation_hint: None,
            }),
            Self::Cancel => Payload::SessionCancelled(SessionCancelled {
                summaries,
                cancelled_by: CancelledBy::User,
                cancellation_reason: None,
                partial_result: None,
            }),
        })
    }
}
