//! A plan in a file: a bare Plan, or `{"plan": …, "actions": …}`.

use crate::failure::Failure;
use countersign_protocol::mplp::PlanSubmission;
use std::{io::Read as _, path::Path};

/// Parses a plan as strictly as the service does, so that problems are reported before anything is sent.
pub(super) fn read(path: &Path) -> Result<PlanSubmission, Failure> {
    let name = path.display();
    let bytes = bytes(path).map_err(|why| Failure::new(format!("{name}: cannot be read: {why}")))?;
    PlanSubmission::read(&bytes).map_err(|why| {
        Failure::new(format!("{name}: {why}")).hint("nothing was sent; examples/plan.json shows a plan that works")
    })
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
}
