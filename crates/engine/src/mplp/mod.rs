//! MPLP: plans, Confirms, and their events.

mod callers;
mod confirms;
mod feed;
mod plans;

pub use callers::{ProjectReader, Speaker};
pub use confirms::{ConfirmShown, Decider};
pub(crate) use feed::FEED;
pub use feed::{BusPage, Cursor, EventsAfter, SamplePage};
pub use plans::{PlanShown, Proposal};
