//! A JSON document in a file, parsed as strictly as by a service.

use crate::failure::Failure;
use countersign_protocol::{json, mplp::MplpId};
use serde_json::{Map, Value};
use std::{io::Read as _, path::Path};

/// `-` is standard input.
pub(super) fn read(path: &Path) -> Result<Value, Failure> {
    let name = path.display();
    let bytes = bytes(path).map_err(|why| Failure::new(format!("{name}: cannot be read: {why}")))?;
    json::value(&bytes).map_err(|why| Failure::new(format!("{name}: is not strict JSON: {why}")))
}

/// A plan may have any members, as long as it is an object.
pub(super) fn plan(path: &Path) -> Result<Map<String, Value>, Failure> {
    match read(path)? {
        Value::Object(members) => Ok(members),
        _ => Err(Failure::new(format!("{}: is not a JSON object", path.display()))
            .hint("a plan is a JSON object in { braces }; examples/clarification/plan.json is one")),
    }
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
}

pub(super) fn session_id(text: &str) -> Result<MplpId, String> {
    MplpId::parse(text).map_err(|why| why.to_string())
}
