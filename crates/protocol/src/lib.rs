//! Every document on the wire, without any behaviour.
//!
//! No clock, no network, no keys: documents are parsed, checked for shape, made canonical and hashed here. Whether a
//! document is trusted is decided elsewhere: `countersign-jose` verifies, `countersign-core` decides.

pub mod aaep;
pub mod aap;
pub mod action;
pub mod audit;
pub mod bounds;
pub mod canonical;
pub mod clarification;
pub mod decisions;
pub mod domain;
pub mod duration;
pub mod evidence;
pub mod facts;
pub mod hash;
pub mod ids;
pub mod json;
pub mod mplp;
pub mod origin;
pub mod project;
pub mod question;
pub mod request;
pub mod time;
pub mod visible;
