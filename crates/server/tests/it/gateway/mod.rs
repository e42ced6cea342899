//! The gateway in front of a bank: hold it, run exactly that, once.

mod audit;
mod bound_keys;
mod confirm;
mod consent;
mod dpop;
mod dpop_algs;
mod dpop_nonce;
mod dpop_register;
mod dpop_replay;
mod durable;
mod effects;
mod egress;
mod flood;
mod held;
mod limits;
mod matrix;
mod order;
mod proofs;
mod redeem;
mod replay;
mod revoked;
mod spending;
mod story;
mod swap;
mod tiers;
mod waiting;
