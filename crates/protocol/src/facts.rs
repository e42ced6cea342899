//! Verified facts: values that exist only because a signature was checked.
//!
//! `countersign-jose` is the only crate that may build one (`clippy.toml` bans the constructors elsewhere),
//! so a function that takes a fact cannot be handed something that nobody verified.
