//! Plans, Confirms and their events, against a scripted service.

mod calls;
mod follow;

use serde_json::{Value, json};

pub(super) const SERVICE: &str = "https://plane.example";
pub(super) const KEY: &str = "csk_0123456789";
pub(super) const PLAN: &str = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
pub(super) const STEP: &str = "1a6f3c58-0d92-4b7e-a4c1-5e8b29d70f36";
pub(super) const CONFIRM: &str = "0123456789ab4def8123456789abcdef";

pub(super) fn plan(status: &str) -> Value {
    json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "plan_id": PLAN, "context_id": STEP, "title": "Pay", "objective": "Paid", "status": status,
        "steps": [{ "step_id": STEP, "description": "Pay", "status": "pending" }],
    })
}

pub(super) fn confirm(status: &str) -> Value {
    json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "confirm_id": "01234567-89ab-4def-8123-456789abcdef", "target_type": "plan", "target_id": PLAN,
        "status": status, "requested_by_role": "agent", "requested_at": "2026-09-21T14:13:20Z",
    })
}
