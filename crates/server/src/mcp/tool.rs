//! The trait of a tool: name, arguments, answer, and the one engine function that it calls.

use super::schema;
use crate::{App, http::request_id::RequestId, serve::ClientConnection, v1::AgentCaller};
use countersign_engine::{Engine, Refusal};
use countersign_protocol::mplp::read;
use futures_util::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{future::Future, sync::Arc};
use utoipa::ToSchema;

/// One tool. It makes no decisions: it parses its arguments, calls the engine as the endpoints do, and returns the
/// answer.
pub(super) trait Tool: 'static {
    /// Parsed strictly: an unknown member is refused by name.
    type Arguments: DeserializeOwned + ToSchema + Send;
    /// An object. It contains the agent's next step in words.
    type Answer: Serialize + ToSchema;

    const NAME: &'static str;
    const TITLE: &'static str;
    /// For the model that chooses: its effect, when to call it, and the next call.
    const DESCRIPTION: &'static str;
    const HINTS: Hints;
    /// Whether it makes a plan or an attestation (W-26).
    const GENERATES: bool = false;

    fn call(call: &ToolCall, arguments: Self::Arguments) -> impl Future<Output = Result<Self::Answer, Refusal>> + Send;
}

/// The caller and the request.
pub(super) struct ToolCall {
    pub(super) app: App,
    pub(super) caller: AgentCaller,
    pub(super) connection: ClientConnection,
    pub(super) id: RequestId,
}

impl ToolCall {
    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.app.engine
    }
}

/// Hints for clients; the server does not rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hints {
    /// Changes nothing.
    Reads,
    /// Idempotent.
    Repeatable,
    /// Each call has an effect.
    Counts,
}

/// A tool's entry in the list.
pub(super) struct ListedTool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) hints: Hints,
    pub(super) generates: bool,
    pub(super) input: fn() -> Map<String, Value>,
    pub(super) output: fn() -> Map<String, Value>,
    pub(super) call: fn(&ToolCall, Map<String, Value>) -> Called<'_>,
}

/// A running call.
pub(super) type Called<'a> = BoxFuture<'a, Result<Value, Refusal>>;

pub(super) const fn listed<T: Tool>() -> ListedTool {
    ListedTool {
        name: T::NAME,
        title: T::TITLE,
        description: T::DESCRIPTION,
        hints: T::HINTS,
        generates: T::GENERATES,
        input: schema::of_arguments::<T::Arguments>,
        output: schema::of_answer::<T::Answer>,
        call: called::<T>,
    }
}

fn called<T: Tool>(call: &ToolCall, arguments: Map<String, Value>) -> Called<'_> {
    Box::pin(async move {
        let arguments = read::value(&Value::Object(arguments)).map_err(|why| Refusal::invalid(why.to_string()))?;
        let answer = T::call(call, arguments).await?;
        serde_json::to_value(answer).map_err(|_| Refusal::Internal)
    })
}
