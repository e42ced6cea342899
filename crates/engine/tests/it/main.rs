#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

// The file, not the crate: the testkit depends on the whole plane, and the store is tested without it.
#[path = "../../../testkit/src/faulty_store.rs"]
#[allow(unreachable_pub, dead_code, reason = "it is public in its crate, and others use more of it")]
mod faulty_store;
#[path = "../../../testkit/src/postgres.rs"]
#[allow(unreachable_pub, dead_code, reason = "it is public in its crate, and others use more of it")]
mod postgres;

mod hub;
mod hub_load;
mod hub_standing;
mod hub_streams;
mod sealing;
mod store;
mod store_allowances;
mod store_batch;
mod store_decisions;
mod store_evidence;
mod store_feed;
mod store_model;
mod store_news;
mod store_nodes;
mod store_open;
mod store_outbox;
mod store_plans;
mod store_position;
mod store_proofs;
mod store_record_cache;
mod store_retention;
mod store_retention_nodes;
mod store_retention_plans;
mod store_stats;
mod store_tables;
mod store_time;
