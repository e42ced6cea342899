//! The route table: the meaning of methods and paths of the upstream API.

use super::{DataSubjectSource, RouteCancel, RouteDryRun, RouteProbe, RouteUndo};
use crate::aaep::event::{Reversibility, Risk};
use serde::{Deserialize, Serialize};

/// A method and path of the upstream API, and the meaning of calling it.
///
/// Approval settings that it leaves out are taken from the entry of `actions` for its action; without an entry, an
/// action that needs approval counts as irreversible and of high risk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Route {
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub id: String,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub method: String,
    /// `/calendar/events/{event}`: a name in braces matches one segment.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub path: String,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub action: String,
    /// The scope that must be granted; without it any granted scope that allows the action suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// By default, every method but GET, HEAD and OPTIONS writes (C-80).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// Whether a read is forwarded while its step is still being committed: its response is held until then, but
    /// a read refused at that moment has reached the upstream. By default GET and HEAD are, and everything else is
    /// forwarded only after its commit. A write is always forwarded after its commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speculative: Option<bool>,
    /// The trust tier this route needs, if more than the project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_tier: Option<u8>,
    /// The id of the upstream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,

    // approval settings
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
    /// Needs a person's approval of exactly this request, even if it is reversible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_confirmation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversibility: Option<Reversibility>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// `role:approver`, `role:admin` or `user:NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// The least assurance of a valid answer: `token`, `session` or `fresh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assurance: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_seconds: Option<i64>,
    /// Upstream statuses beside 4xx that mean no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_effect_statuses: Vec<u16>,
    /// How its upstream is asked whether a call was carried out whose answer was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<RouteProbe>,
    /// How an approved call is undone within the window of its scope (AAP 14.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<RouteUndo>,
    /// Who answers a dry run: the gateway (by default), the upstream, or nobody (AAP 14.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<RouteDryRun>,
    /// How its upstream undoes a committed call when the session is cancelled (AAP 17.7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<RouteCancel>,
    /// Whether the upstream itself makes repeats of this write harmless. Only then is a repeat let through while the
    /// outcome of an earlier call is not known. Calls that a person approves are not touched by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,

    // reading the request
    /// The text for the approver, rendered from the same bytes that would be forwarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub describe: Option<RouteTexts>,
    /// Amounts in the request: exact decimals with their unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueField>,
    /// `inbox:{path.inbox}`: the resource of the call, from its path and query. A service account needs it in its grant
    /// (C-49). `none` states that the call has none: a service account is then bounded by its scopes alone, and its admin
    /// reads so before the grant. Without this member a service account cannot call the route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Where the response names the people whose data it touched. A service account that crosses users can call only
    /// routes that have it (AAP 11.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_subjects: Option<DataSubjectSource>,
    /// The scope's intent types that this route accepts; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intent_types: Vec<String>,
    /// `refund:{body.payment_id}`: the same logical effect runs once, across all requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,

    // forwarding
    /// Request headers that are forwarded and covered by the approval. Content type, length and encoding always
    /// are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// The largest body in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_body_bytes: Option<u64>,
    /// How long the upstream may take until its response begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_timeout_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<RouteStream>,
}

/// The text for the approver. Names in braces are replaced by members of the request: `{path.NAME}`, `{query.NAME}`,
/// `{header.NAME}`, `{body.MEMBER.MEMBER}`; `{{` and `}}` by the braces themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RouteTexts {
    /// The action.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub action: String,
    /// Its consequence.
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
    /// Its location: `body.amount`.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub from: String,
    /// Its unit: a word such as `USD`, or its location in braces: `{body.currency}`.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub unit: String,
}

/// A connection that stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RouteStream {
    /// Server-sent events, or any endless response.
    Events,
    Websocket,
}

/// The word for [`Route::resource`] of a route without one. No template: those have a name in braces.
const NO_RESOURCE: &str = "none";

impl Route {
    /// The template of the resource, if the route has one.
    pub fn resource_template(&self) -> Option<&str> {
        self.resource.as_deref().filter(|text| *text != NO_RESOURCE)
    }

    /// Whether it says that its calls concern no resource.
    pub fn is_without_resource(&self) -> bool {
        self.resource.as_deref() == Some(NO_RESOURCE)
    }

    pub fn writes(&self) -> bool {
        self.writes.unwrap_or(!matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS"))
    }

    /// Whether the owner vouches for repeats of it.
    pub fn is_idempotent(&self) -> bool {
        self.idempotent.unwrap_or(false)
    }

    /// Whether a call may be forwarded before its step is durable. The content of a WebSocket cannot be known.
    pub fn is_speculative(&self) -> bool {
        let is_safe = matches!(self.method.as_str(), "GET" | "HEAD") && self.stream != Some(RouteStream::Websocket);
        !self.writes() && self.speculative.unwrap_or(is_safe)
    }
}
