//! The shell round the core: its only caller, and the only writer.
//!
//! An operation loads its view, lets `core` decide, and makes the step durable. If rows changed in between, it loads and
//! decides again; no answer leaves before its step is written.

mod aaep;
mod aap;
mod audit;
mod calls;
mod clarification;
mod clock;
mod clock_acceptance;
mod completion;
mod concurrent_use;
mod credential_cache;
mod credentials;
mod decisions;
mod dpop;
mod ended;
mod ended_holders;
mod engine;
mod entropy;
mod epoch;
mod evidence;
mod evidence_bundle;
mod evidence_check;
mod evidence_health;
mod inflight_writes;
mod jwt_cache;
mod keys;
mod limit_cache;
mod mplp;
mod node_clock;
mod people;
mod ports;
mod projects;
mod records;
mod runner;
mod sealing;
mod services;
mod session_locks;
mod signals;
pub mod store;
mod timekeeping;
mod waiters;

pub use aaep::{Delivered, EventStream, Listener, Spoke};
pub use aap::{
    delegate::Connectable, heartbeat::OpenTask, register::RegisterProof, service_account::ReviewedAccount,
    shared_signals::SignalRefusal, webhook_secrets::NewWebhookSecret,
};
pub use audit::AuditSearch;
pub use calls::{
    BodyDigest, CarriedOut, Connect, DecidedCall, Egress, HeldFacts, Permit, Settled, UndoOffer, Undoable,
    UndoableCalls, UpstreamError, UpstreamExchange, UpstreamOutcome, Watch,
};
pub use clarification::{Abandoning, Attested, Confirmed, Gathered, Scaffolded};
pub use clock::{Clock, ManualClock};
pub use clock_acceptance::ClockShown;
pub use credentials::PresentedCredential;
pub use decisions::{AgentPrincipal, Answered, InboxItem, OpenAllowance, RaisedDecision, UnknownOutcome};
pub use ended_holders::SendingPiece;
pub use engine::{Engine, Settings, StartError, Tenancy};
pub use entropy::Entropy;
pub use evidence::AuditAsked;
pub use evidence_check::{EvidenceCheck, EvidenceFault};
pub use evidence_health::CheckResult;
pub use inflight_writes::SendRight;
pub use keys::{KeyInUse, KeysError, KeysInForce};
pub use mplp::{
    BusPage, ConfirmShown, Cursor, Decider, EventsAfter, PlanShown, ProjectReader, Proposal, SamplePage, Speaker,
};
pub use node_clock::NodeClock;
pub use people::{AccountFailure, NewKey, PasswordCost, SignedIn, UserPage};
pub use ports::{KnownOperator, OperatorError, Operators, QueuedSender, SignedMessage, UpstreamRequests};
pub use projects::{Address, ApplyError, ListenerKind, ProjectAt};
pub use sealing::{EvidenceError, EvidenceSettings, InclusionProof, LogMismatch, SealError, SignedCheckpoint, Witness};
pub use services::{Agents, Calls, Clarifications, Decisions, Events, Evidence, People, Plans};
pub use timekeeping::ClockFault;

/// The core's types in the engine's interface.
pub use countersign_core::{
    aaep::subscribers::{AddedSubscriberToken, NewSubscriberToken},
    aap::{
        access::{BEGINNING_BYTES, Call, CallCredential, CallFacts, Confirmation, DryRun, Limit, ReadWrite, Scheme},
        data_subjects::{of_body as data_subjects_of_body, of_header as data_subjects_of_header},
        manifest::Addressed,
        revoke::Reason,
        service_account::is_proposed as is_service_account_proposed,
    },
    audit::AuditOutcome,
    clock::ClockAccepted,
    decision::{
        answer::{Answer, AnswerContent, CountedAnswer, Extra, NotCounted, ProvenPerson},
        audience,
        document::Whole,
        grant::AskedFor,
        offers::{MORE_TIME_S, offers},
        probe::ProbeResponse,
        reconcile::may_reconcile,
        revoke::check_entitlement as check_revoke_entitlement,
        runs::what_runs,
    },
    epoch::EpochStarted,
    held::HttpRequest,
    people::{
        Actor, ProjectMember, accounts::AccountRefusal, api_keys::AddedKey, disable::Disabled, sign_in::Throttle,
    },
    project::{Applied, ApplyRefusal, DocumentProblem, check as check_project},
    records::{
        Allowance, AllowanceState, ApiKey, ApiKeyKind, AskedGap, Assurance, Ballot, CancelledFor, Clarification,
        ConnectProgress, ConnectRequest, Decision, DecisionState, DecisionTerms, Defaulted, Delegation,
        DelegationState, Erasure, ErasureState, Execution, ExecutionState, GapState, LogKey, Membership, Mode,
        OutboxMessage, OutboxState, Person, Plan, PlannedAction, Point, Project, Question, QueuedCall, Reporter,
        RevokeReason, Role, SeenStanding, SubscriberToken, SuspendReason, TextAuthor, TokenState, UndoableCall,
        UndoableState, UnsettledWrite, Via, WebhookEnrolment, WebhookSecret, WriteState,
    },
    refusal::{Awaiting, PendingApproval, Refusal, SentWrite, Unclear},
};

/// The patterns and sums of standing approvals.
pub mod bounded {
    pub use countersign_core::bounded::{ActionTarget, Arguments, Book, Pattern, Sum, Units};
}

/// The rules that find gaps in a plan.
pub mod clarification_rules {
    pub use countersign_core::clarification::rules::{CaseFailed, Finding, Rules, in_force};
}

/// Held requests: their members, and the routes that hold them.
pub mod held {
    pub use countersign_core::{
        held::{Explanation, HoldTerms, JsonMember, NoRoute, explain, must_be_confirmed},
        project::undo::{route_window_s, scope_window_s},
    };
}

/// Users provisioned by an identity provider.
pub mod scim {
    pub use countersign_core::scim::{
        ProvisionedUser, ScimRefusal,
        change::UserChange,
        filter::parse as parse_filter,
        patch::PatchRequest,
        selection::Selection,
        users::{USER_SCHEMA, document},
    };
}

/// MPLP documents rendered from decisions and plans.
pub mod mplp_views {
    pub use countersign_core::mplp::{progress::is_running, tool_in_words};

    pub mod allowance {
        pub use countersign_core::mplp::allowance::{id, left};
    }
    pub mod confirm {
        pub use countersign_core::mplp::confirm::{confirm_id, decision_id, document};
    }
    pub mod deviation {
        pub use countersign_core::mplp::deviation::lines;
    }
    pub mod roles {
        pub use countersign_core::mplp::roles::documents;
    }
    pub mod trace {
        pub use countersign_core::mplp::trace::document;
    }
}
