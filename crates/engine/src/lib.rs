//! The shell round the core: its only caller, and the only writer.
//!
//! An operation loads its view, lets `core` decide, and makes the step durable. If rows changed in between, it loads and
//! decides again; no answer leaves before its step is written.

mod aaep;
mod aap;
mod bearers;
mod calls;
mod chance;
mod clarification;
mod clock;
mod clock_acceptance;
mod decisions;
mod dpop;
mod ended;
mod engine;
mod epoch;
mod inflight_writes;
mod keys;
mod mplp;
mod news;
mod node_clock;
mod pace;
mod people;
mod ports;
mod presented;
mod projects;
mod readiness;
mod remembered;
mod runner;
pub mod store;
mod tallies;
mod timekeeping;
mod turns;
mod waits;

pub use aaep::{Delivered, EventStream, Listener, Spoke};
pub use aap::{audit::AuditAsked, delegate::Connectable, register::RegisterProof};
pub use calls::{
    BodyDigest, Connect, DecidedCall, Egress, Exchange, HeldFacts, Permit, Settled, UpstreamError, UpstreamOutcome,
    Watch,
};
pub use chance::Chance;
pub use clarification::{Abandoning, Attested, ChainReader, Confirmed, Gathered, Scaffolded};
pub use clock::{Clock, ManualClock};
pub use clock_acceptance::ClockShown;
pub use decisions::{
    Agent, Answered, ByPerson, InboxItem, OpenAllowance, RaisedDecision, UnknownOutcome, allowance_id,
};
pub use engine::{Engine, Settings, StartError, Tenancy};
pub use inflight_writes::SendRight;
pub use keys::{KeyInUse, KeysError, Published};
pub use mplp::{BusPage, ConfirmShown, Cursor, Decider, PlanShown, Proposal, Reader, SamplePage, Speaker, Told};
pub use node_clock::NodeClock;
pub use people::{AccountTrouble, NewKey, PasswordCost, SignedIn};
pub use ports::{KnownOperator, OperatorTrouble, Operators, UpstreamProbes};
pub use presented::Presented;
pub use projects::{Address, ApplyTrouble, ListenerKind, ProjectAt};
pub use timekeeping::ClockTrouble;

/// The core's types in the engine's interface.
pub use countersign_core::{
    aaep::subscribers::{AddedSubscriberToken, NewSubscriberToken},
    aap::{
        access::{BEGINNING_BYTES, Call, CallFacts, Confirmation, Credential, Limit, ReadWrite, Scheme},
        manifest::Addressed,
        revoke::Reason,
    },
    bounded,
    clarification::{rules as clarification_rules, words as clarified_words},
    clock::ClockAccepted,
    decision::{
        answer::{Answerer, Counted, Extra, Given, NotCounted, counts},
        audience,
        document::Whole,
        grant::AskedFor,
        probe::ProbeResponse,
        reconcile::may_reconcile,
        runs::what_runs,
    },
    epoch::EpochStarted,
    held,
    held::HttpRequest,
    mplp as mplp_views,
    people::{Actor, Member, accounts::AccountRefusal, api_keys::AddedKey, disable::Disabled, sign_in::Throttle},
    project::{Applied, ApplyRefusal, Problem, check as check_project},
    records::{
        Allowance, AllowanceState, ApiKey, ApiKeyKind, AskedGap, Assurance, Ballot, CancelledFor, Clarification,
        ConnectProgress, ConnectRequest, Decision, DecisionState, Defaulted, Delegation, DelegationState, Execution,
        ExecutionState, GapState, Membership, Person, Plan, Planned, Point, Project, Question, Reporter, RevokeReason,
        Role, SubscriberToken, Terms, TokenState, UnsettledWrite, Via, Words, WriteState,
    },
    refusal::{Awaited, Awaiting, Refusal, SentWrite, Unclear},
};
