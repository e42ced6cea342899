//! JSON documents in files, parsed as strictly as by a service, and ids of MPLP documents.

use crate::failure::Failure;
use countersign_protocol::{
    json,
    mplp::{MplpId, PlanSubmission},
};
use serde_json::{Map, Value};
use std::{
    io::{self, Read as _},
    path::Path,
};

pub(super) fn read(path: &Path) -> Result<Value, Failure> {
    json::value(&bytes(path)?).map_err(|why| Failure::new(format!("{}: is not strict JSON: {why}", path.display())))
}

/// A plan to clarify may have any members, as long as it is an object.
pub(super) fn plan_object(path: &Path) -> Result<Map<String, Value>, Failure> {
    match read(path)? {
        Value::Object(members) => Ok(members),
        _ => Err(Failure::new(format!("{}: is not a JSON object", path.display()))
            .hint("a plan is a JSON object in { braces }; examples/clarification/plan.json is one")),
    }
}

/// A plan to propose: a bare Plan, or `{"plan": …, "actions": …}`. Its problems are reported before anything is sent.
pub(super) fn plan_submission(path: &Path) -> Result<PlanSubmission, Failure> {
    PlanSubmission::read(&bytes(path)?).map_err(|why| {
        Failure::new(format!("{}: {why}", path.display()))
            .hint("nothing was sent; examples/plan.json shows a plan that works")
    })
}

/// `-` is standard input.
fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        false => std::fs::read(path),
    };
    read.map_err(|why| Failure::new(format!("{}: cannot be read: {why}", path.display())))
}

/// The id of a plan or of a clarification session.
pub(super) fn mplp_id(text: &str) -> Result<MplpId, String> {
    MplpId::parse(text).map_err(|why| why.to_string())
}
