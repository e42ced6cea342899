//! Calls of the API behind the gateway: who is let through, and what the upstream sees.

mod challenge;
mod consent;
mod durable;
mod expiry;
mod forwarded;
mod held;
mod intent;
mod order;
mod paths;
mod scopes;
mod tier;
mod users;
