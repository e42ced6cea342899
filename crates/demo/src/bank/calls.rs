//! The agent's requests to the bank.

use countersign_client::agent::AgentCall;
use serde_json::{Value, json};

/// The intent of the whole task: the agent reads, notes and pays for it.
const INTENT: &str = "PAY_INVOICE";

pub(super) fn account() -> AgentCall {
    AgentCall::get("/accounts/main").intent_type(INTENT)
}

pub(super) fn note() -> AgentCall {
    posts("/notes", &json!({ "text": "Invoice 7 is checked" }))
}

/// The body of a transfer, as the agent writes it.
pub(super) fn transfer_body(reference: &str, amount: &str) -> String {
    json!({ "reference": reference, "to": "Acme Supplies", "amount": amount, "currency": "USD" }).to_string()
}

pub(super) fn transfer(reference: &str, amount: &str) -> AgentCall {
    AgentCall::post("/transfers").body("application/json", transfer_body(reference, amount)).intent_type(INTENT)
}

pub(super) fn payout(reference: &str, to: &str, amount: &str) -> AgentCall {
    posts("/payouts", &json!({ "reference": reference, "to": to, "amount": amount, "currency": "USD" }))
}

pub(super) fn refund(payment: &str, note: &str) -> AgentCall {
    posts("/refunds", &json!({ "payment_id": payment, "note": note }))
}

/// Runs the request that the gateway kept, without sending it again.
pub(super) fn redeem(decision_id: &str) -> AgentCall {
    AgentCall::post(format!("/.countersign/decisions/{decision_id}/redeem")).intent_type(INTENT)
}

fn posts(path: &str, body: &Value) -> AgentCall {
    AgentCall::post(path).json(body).intent_type(INTENT)
}
