//! Calls of the API behind the gateway: their admission, and the request that reaches the upstream.

mod challenge;
mod durable;
mod expiry;
mod forwarded;
mod held;
mod intent;
mod scopes;
mod tier;
mod users;
