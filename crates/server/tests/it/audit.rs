//! `GET /agent/audit` and the evidence behind it (AAP 7.1, 17.4, R-25).

mod altered;
mod auditor;
mod callers;
mod check;
mod erasure;
mod evidence;
mod filter;
mod members;
mod page;
mod paging;

use serde_json::Value;

/// The identifying hash of each entry of a page.
fn hashes(page: &Value) -> Vec<String> {
    let entries = page["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["leaf_hash"].as_str().unwrap().to_owned()).collect()
}
