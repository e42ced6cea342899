//! Why a message got no response of the service, and the error for its client.

use super::McpMessage;
use crate::{agent::ServiceRefusal, transport::Unreachable};
use countersign_jose::SigningFailed;
use serde_json::{Value, json};

/// JSON-RPC 2.0 reserves codes from -32000 on for implementations.
const NOT_ASKED: i64 = -32000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    #[error(
        "the service could not be reached ({0}): the effect is unknown; check the current state before you try again"
    )]
    Unreachable(#[from] Unreachable),
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
    #[error("the answer is no MCP message: is this the address of a Countersign service?")]
    BadAnswer,
    #[error(transparent)]
    Unsigned(#[from] SigningFailed),
}

impl McpError {
    /// The error response to an undelivered message; none for one that expects none.
    pub fn answer_to(&self, message: &McpMessage) -> Option<Value> {
        let id = message.id()?;
        let (code, message) = (NOT_ASKED, self.to_string());
        let error = match self {
            Self::Refused(refused) => {
                let data = json!({ "status": refused.status, "error": refused.code, "hint": refused.hint });
                json!({ "code": code, "message": message, "data": data })
            }
            _ => json!({ "code": code, "message": message }),
        };
        Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }
}
