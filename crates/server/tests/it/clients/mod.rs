//! Third-party programs as published, against a plane on a real socket: AAEP's subscribers over the legacy pair
//! of paths, and the conformance suite of its authors.

mod child;
mod cli_debug;
mod narrator;
mod react;
mod stage;
mod suite;
mod together;
