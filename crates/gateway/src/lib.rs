//! Enforcement points: they turn a request into a call, ask the engine, and forward only with a permit.
//!
//! Today there is one, a `tower` layer for services written in Rust.

mod call;
mod layer;
mod refusal;
mod request_ids;

pub use call::read_call;
pub use layer::{Caller, CountersignLayer, CountersignService};
pub use refusal::envelope;
pub use request_ids::RequestIds;
