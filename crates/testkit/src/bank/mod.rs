//! A bank behind the gateway: a project with routes of every kind, a real service that records its requests, and an
//! agent that holds a key.

mod fixture;
mod holder;
mod plans;
mod service;

pub use fixture::{BankFixture, GATEWAY, GatewayListener, OpenAnswer};
pub use holder::{GatewayRequest, Holder};
pub use plans::{PlanDraft, paying, paying_exactly, paying_within, payouts, transfers};
pub use service::{Bank, Got, Manner};

use countersign_protocol::{ids::ProjectId, project::ProjectDocument};
use serde_json::json;

/// | route | effect | held |
/// |---|---|---|
/// | `GET /accounts`, `GET /accounts/{account}` | read | |
/// | `GET /statements/{account}` | read, may be long | |
/// | `POST /notes` | a write that can be undone | |
/// | `POST /transfers` | irreversible, high, value, header `x-reference` covered | yes |
/// | `POST /refunds` | irreversible, effect key `refund:{body.payment_id}` | yes |
/// | `DELETE /payees/{payee}` | irreversible by its scope | yes |
/// | `POST /orders` | needs confirmation, reversible, low | yes |
/// | `POST /closures` | irreversible, by `role:approver`, fresh | yes |
/// | `POST /pings` | scope `bank.ping` takes the agent's own word | self-asserted |
/// | `GET /prices` | server-sent events | |
/// | `GET /ticker` | WebSocket | |
pub fn bank(id: &str, upstream: &str) -> ProjectDocument {
    let route = |id: &str, method: &str, path: &str, action: &str| json!({ "id": id, "method": method, "path": path, "action": action });
    let with = |mut route: serde_json::Value, more: serde_json::Value| {
        for (name, value) in more.as_object().expect("members") {
            route[name] = value.clone();
        }
        route
    };
    let document = json!({
        "id": ProjectId::parse(id).expect("an id"),
        "display_name": "Bank",
        "upstreams": [{ "id": "bank", "url": upstream, "credential": "bank", "idempotency_header": "idempotency-key" }],
        "scopes": [
            { "id": "bank.read", "description": "Read accounts", "allows": ["accounts.read", "prices.watch"],
              "intent_types": ["READ_ACCOUNTS"] },
            { "id": "bank.note", "description": "Write notes", "allows": ["notes.write"], "intent_types": ["NOTE"] },
            { "id": "bank.pay", "description": "Move money",
              "allows": ["transfers.send", "refunds.send", "orders.place", "closures.close"],
              "intent_types": ["PAY"] },
            { "id": "bank.payees", "description": "Remove payees", "allows": ["payees.remove"],
              "irreversible": true, "intent_types": ["TIDY"] },
            { "id": "bank.ping", "description": "Ping", "allows": ["pings.send"], "requires_confirmation": true,
              "confirmation": "self_asserted", "intent_types": ["PING"] },
        ],
        "routes": [
            route("accounts", "GET", "/accounts", "accounts.read"),
            route("account", "GET", "/accounts/{account}", "accounts.read"),
            route("statement", "GET", "/statements/{account}", "accounts.read"),
            route("notes", "POST", "/notes", "notes.write"),
            with(route("transfers", "POST", "/transfers", "transfers.send"), json!({
                "irreversible": true, "risk": "high", "headers": ["x-reference"],
                "describe": {
                    "action": "Transfer {body.amount} {body.currency} to {body.to}",
                    "consequence": "The money leaves the account at once and cannot be called back.",
                    "terse": "Transfer {body.amount} {body.currency}",
                    "normal": "Transfer {body.amount} {body.currency} to {body.to}",
                    "detailed": "Transfer {body.amount} {body.currency} from {body.from} to {body.to}",
                },
                "values": [{ "name": "amount", "from": "body.amount", "unit": "{body.currency}" }],
            })),
            with(route("refunds", "POST", "/refunds", "refunds.send"), json!({
                "irreversible": true, "effect": "refund:{body.payment_id}",
                "describe": { "action": "Refund payment {body.payment_id}" },
            })),
            route("payees", "DELETE", "/payees/{payee}", "payees.remove"),
            with(route("orders", "POST", "/orders", "orders.place"), json!({
                "requires_confirmation": true, "irreversible": false, "risk": "low",
            })),
            with(route("closures", "POST", "/closures", "closures.close"), json!({
                "irreversible": true, "approvers": ["role:approver"], "assurance": "fresh",
            })),
            route("pings", "POST", "/pings", "pings.send"),
            with(route("prices", "GET", "/prices", "prices.watch"), json!({ "stream": "events" })),
            with(route("ticker", "GET", "/ticker", "prices.watch"), json!({ "stream": "websocket" })),
        ],
    });
    serde_json::from_value(document).expect("a sound document")
}

/// Every scope of the bank.
pub const SCOPES: &[&str] = &["bank.read", "bank.note", "bank.pay", "bank.payees", "bank.ping"];
