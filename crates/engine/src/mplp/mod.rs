//! MPLP: plans, Confirms, and their events.

mod confirms;
mod feed;
mod plans;
mod speakers;

pub use confirms::{ConfirmShown, Decider};
pub(crate) use feed::FEED;
pub use feed::{BusPage, Cursor, EventsAfter, SamplePage};
pub use plans::{PlanReader, PlanShown, Proposal};
pub use speakers::Speaker;
