//! `POST /agent/register` over HTTP.

mod claims;
mod delegations;
mod form;
mod kinds;
mod malformed;
mod precedence;
mod receipts;
mod restart;
mod sessions;
mod stored;
pub(crate) mod support;
mod tiers;
