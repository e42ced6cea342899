//! Calls through an enforcement point: decided in the order of R-28, held where a person must approve, forwarded with a
//! permit, and recorded before the response. [`Calls::carry_out`](crate::Calls::carry_out) owns the whole
//! flow; an enforcement point only reads, connects, sends and responds.

mod approve;
mod assertion;
mod decide;
mod decided;
mod egress;
mod flow;
mod outcome;
mod permit;
mod preview;
mod queue;
mod queued_attempts;
mod redeem;
mod refuse;
mod repeats;
mod reversible;
mod settle;
mod streams;
mod undo;
mod unrecorded;

pub(crate) use approve::call_of_request;
pub(crate) use assertion::Assertions;
pub use decided::DecidedCall;
pub use egress::Egress;
pub use flow::{CarriedOut, Connect, Settled, UpstreamExchange};
pub use outcome::{UpstreamError, UpstreamOutcome};
pub use permit::{HeldFacts, Permit};
pub(crate) use queued_attempts::QueuedAttempts;
pub use repeats::BodyDigest;
pub use streams::Watch;
pub use undo::{UndoOffer, Undoable, UndoableCalls};
pub(crate) use unrecorded::UnrecordedOutcomes;
