//! Enforcement points: they turn a request into a call, ask the engine, and forward only with a permit.
//!
//! There are two: [`Gateway`], a reverse proxy with a listener of its own, and [`CountersignLayer`], a `tower` layer
//! for services written in Rust.

mod accept;
mod call;
mod complete;
mod dry_run;
mod headers;
mod layer;
mod network;
mod proxy;
mod queued;
mod refusal;
mod request_ids;
mod unread;

pub use accept::{Accepted, Acceptor, AddressPlace, ConnectionLimits, CountedConnection, sends_data};
pub use call::{LONGEST_WAIT_S, read_call, wait_s};
pub use layer::{BoxBody, ClientAddress, CountersignLayer, CountersignService, VerifiedCaller};
pub use network::{Network, client_address, source};
pub use proxy::{
    AtGateway, BadDestination, BadRoots, Destination, Endpoints, Gateway, GatewaySettings, UpstreamCredential,
};
pub use refusal::{SIGN_IN, envelope, presented_scheme};
pub use request_ids::RequestIds;
pub use unread::{Unread, Watched, watch};
