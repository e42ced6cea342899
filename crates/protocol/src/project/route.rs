//! The route table: what a method and path of the API behind the gateway mean.

use crate::aaep::event::{Reversibility, Risk};
use serde::{Deserialize, Serialize};

/// A method and path of the API behind the gateway, and what calling it means.
///
/// What it leaves out about deciding is taken from the entry of `actions` with the name of its action, and where there
/// is none, an action that must be confirmed counts as irreversible and of high risk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Route {
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub id: String,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub method: String,
    /// `/calendar/events/{event}`: a name in braces stands for one segment.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub path: String,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub action: String,
    /// The scope that must be granted; without it any granted scope that allows the action will do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Unless said otherwise, every method but GET, HEAD and OPTIONS writes (C-80).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// Whether a read is forwarded while its step is still being committed: its answer is held back until then, but
    /// a read that is refused at that moment has reached the upstream. Unless said otherwise GET and HEAD are, and
    /// everything else is forwarded only after its commit. A write always is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speculative: Option<bool>,
    /// The trust tier this route needs, if more than the project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_tier: Option<u8>,
    /// The service behind, by the id of its upstream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,

    // deciding
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    /// Held until a person has confirmed exactly this request, also where it could be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_confirmation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversibility: Option<Reversibility>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// `role:approver`, `role:admin` or `user:NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// The least assurance of an answer that counts: `token`, `session` or `fresh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assurance: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_seconds: Option<i64>,
    /// Statuses of the upstream that say that it did nothing, beside 4xx.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_effect_statuses: Vec<u16>,

    // reading the request
    /// What a person reads, rendered from the very bytes that would be forwarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub describe: Option<Described>,
    /// Amounts in the request: exact decimals with their unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueField>,
    /// `inbox:{path.inbox}`: what the call is about, for boundaries (C-49).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Of the scope's intent types, those that this route takes; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intent_types: Vec<String>,
    /// `refund:{body.payment_id}`: the same logical effect runs once, whatever request carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,

    // forwarding
    /// Request headers that reach the upstream, and are covered by what is approved. Content type, length and
    /// encoding always do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// The most bytes that a body may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_body_bytes: Option<u64>,
    /// How long the upstream may take until its answer begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_timeout_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
}

/// What a person reads. Names in braces stand for members of the request: `{path.NAME}`, `{query.NAME}`,
/// `{header.NAME}`, `{body.MEMBER.MEMBER}`; `{{` and `}}` for the braces themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Described {
    /// What is to be done.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub action: String,
    /// What it will bring about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terse: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detailed: Option<String>,
}

/// A member of the request that is an amount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ValueField {
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub name: String,
    /// Where it stands: `body.amount`.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub from: String,
    /// Its unit: a word such as `USD`, or where that stands, in braces: `{body.currency}`.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub unit: String,
}

/// A connection that stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Server-sent events, or any answer without an end.
    Events,
    Websocket,
}

impl Route {
    pub fn writes(&self) -> bool {
        self.writes.unwrap_or(!matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS"))
    }

    /// Whether a call may be forwarded before its step is durable. Nobody can say what a WebSocket will carry.
    pub fn is_speculative(&self) -> bool {
        let is_safe = matches!(self.method.as_str(), "GET" | "HEAD") && self.stream != Some(Stream::Websocket);
        !self.writes() && self.speculative.unwrap_or(is_safe)
    }
}
