//! Calls through an enforcement point: decided in the order of R-28, held where a person must say yes, forwarded with a
//! permit, and recorded before anything is told.

mod assertion;
mod decide;
mod egress;
mod hold;
mod permit;
mod redeem;
mod settle;
mod streams;

pub(crate) use assertion::Assertions;
pub use decide::{Decided, Held, Undertaking};
pub use egress::Egress;
pub(crate) use hold::call_of_request;
pub use permit::{HeldFacts, Permit, ReadPermit};
pub use settle::Became;
pub use streams::Watch;
