//! The action digest: SHA-256 over the canonical form of exactly the call to run.
//!
//! Versioned and tagged by kind, so that an approval at one kind of enforcement point is invalid at another.

use crate::{
    canonical::{self, NotCanonical},
    hash::Digest,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const VERSION: u8 = 1;

/// The call to run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    Http(HttpAction),
    Tool(ToolAction),
    Agent(AgentAction),
}

/// A request as the gateway would forward it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HttpAction {
    pub project: String,
    pub principal: String,
    pub route: String,
    pub method: String,
    pub origin: String,
    /// Raw path and query.
    pub target: String,
    pub content_type: String,
    pub content_encoding: String,
    pub body_sha256: String,
    /// The headers that the route lists, names in lower case, values as forwarded.
    pub headers: BTreeMap<String, String>,
}

/// A tool call as the MCP proxy would send it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolAction {
    pub project: String,
    pub principal: String,
    pub server: String,
    pub tool: String,
    /// Over the canonical form of the tool as its server lists it, without `_meta`.
    pub definition_sha256: String,
    pub arguments: Map<String, Value>,
}

/// An action announced and claimed by an agent itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentAction {
    pub project: String,
    pub principal: String,
    /// Empty if the agent names no tool; the arguments are then the texts shown to the person.
    pub tool: String,
    pub arguments: Map<String, Value>,
}

#[derive(Serialize)]
struct Versioned<'a> {
    v: u8,
    #[serde(flatten)]
    action: &'a Action,
}

impl Action {
    pub fn canonical(&self) -> Result<Vec<u8>, NotCanonical> {
        canonical::to_vec(&Versioned { v: VERSION, action: self })
    }

    pub fn digest(&self) -> Result<Digest, NotCanonical> {
        self.canonical().map(|bytes| Digest::of(&bytes))
    }
}

impl AgentAction {
    /// The arguments for an action without a tool.
    pub fn text_arguments(
        action: &str,
        consequence: &str,
        extra_context: Option<&Map<String, Value>>,
    ) -> Map<String, Value> {
        let mut arguments = Map::new();
        arguments.insert("action".into(), action.into());
        arguments.insert("consequence".into(), consequence.into());
        arguments.insert("extra_context".into(), Value::Object(extra_context.cloned().unwrap_or_default()));
        arguments
    }
}

#[cfg(test)]
mod tests;
