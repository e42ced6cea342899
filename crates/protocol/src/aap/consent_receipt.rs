//! The consent receipt: an operator's record of a person's consent to one task (AAP 12, 19.3).

use super::claims::{BadClaim, ClaimReader, wrong};
use crate::{domain::Domain, hash::Digest, time::UnixMillis, time::rfc3339};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// The `typ` that we write (C-66).
pub const TYP: &str = "aap-consent+jwt";

/// The claims kept of a receipt. There is no member for `intent`, so its text cannot be stored or logged (C-14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiptClaims {
    pub iss: Domain,
    pub aud: String,
    /// The person's subject at the service.
    pub sub: String,
    pub delegation_id: String,
    pub session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_type: Option<String>,
    pub scopes: Vec<String>,
    pub consent_method: ConsentMethod,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_limits: Option<UsageLimits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_window: Option<ExecutionWindow>,
    pub iat: i64,
    pub exp: i64,
    /// The longest time between two heartbeats of the task, in seconds (AAP 12.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat_interval: Option<i64>,
}

/// The intervals of heartbeats that can be watched.
pub const HEARTBEAT_SECONDS: std::ops::RangeInclusive<i64> = 60..=86_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentMethod {
    ExplicitUi,
    AdminBootstrap,
}

/// Limits that the person set for the task (AAP 14.2). Each is at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_hour: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes_per_session: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_data_egress_kb: Option<i64>,
}

/// When the task may run, both ends included (C-83).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionWindow {
    #[serde(with = "rfc3339")]
    pub earliest: UnixMillis,
    #[serde(with = "rfc3339")]
    pub latest: UnixMillis,
}

impl ReceiptClaims {
    /// Checks every member that AAP 19.3 knows and ignores the others (AAP 22.4).
    pub fn parse(payload: &Map<String, Value>) -> Result<Self, BadClaim> {
        let claims = ClaimReader(payload);
        check_intent(claims)?;
        Ok(Self {
            iss: claims.domain("iss")?,
            aud: claims.text("aud")?.to_owned(),
            sub: claims.text("sub")?.to_owned(),
            delegation_id: claims.text("delegation_id")?.to_owned(),
            session_id: session_id(claims)?,
            intent_type: claims.optional_text("intent_type")?.map(str::to_owned),
            scopes: claims.at_least_one_text("scopes")?,
            consent_method: consent_method(claims)?,
            usage_limits: claims.optional_object("usage_limits")?.map(UsageLimits::parse).transpose()?,
            execution_window: claims.optional_object("execution_window")?.map(ExecutionWindow::parse).transpose()?,
            iat: claims.integer("iat")?,
            exp: claims.integer("exp")?,
            heartbeat_interval: heartbeat_interval(claims)?,
        })
    }
}

/// Checks the length of the text and drops it (C-14).
fn check_intent(claims: ClaimReader<'_>) -> Result<(), BadClaim> {
    let short = claims.text("intent")?.chars().count() <= 500;
    if short { Ok(()) } else { Err(wrong("intent", "is longer than 500 characters")) }
}

/// 8 to 128 characters (C-51). The service's policy decides whether it is random enough.
fn session_id(claims: ClaimReader<'_>) -> Result<String, BadClaim> {
    let id = claims.text("session_id")?;
    let bad = wrong("session_id", "must have 8 to 128 characters");
    if (8..=128).contains(&id.chars().count()) { Ok(id.to_owned()) } else { Err(bad) }
}

fn heartbeat_interval(claims: ClaimReader<'_>) -> Result<Option<i64>, BadClaim> {
    if !claims.0.contains_key("heartbeat_interval") {
        return Ok(None);
    }
    let seconds = claims.integer("heartbeat_interval")?;
    let bad = wrong("heartbeat_interval", "must be 60 to 86400 seconds");
    if HEARTBEAT_SECONDS.contains(&seconds) { Ok(Some(seconds)) } else { Err(bad) }
}

fn consent_method(claims: ClaimReader<'_>) -> Result<ConsentMethod, BadClaim> {
    match claims.text("consent_method")? {
        "explicit_ui" => Ok(ConsentMethod::ExplicitUi),
        "admin_bootstrap" => Ok(ConsentMethod::AdminBootstrap),
        _ => Err(wrong("consent_method", "must be explicit_ui or admin_bootstrap")),
    }
}

impl UsageLimits {
    /// The limits proposed for a service account's grant; the error names the wrong member.
    pub fn proposed(value: &Value) -> Result<Self, String> {
        let members = value.as_object().ok_or("usage_limits must be an object")?;
        let known = ["requests_per_hour", "writes_per_session", "max_data_egress_kb"];
        if let Some(other) = members.keys().find(|name| !known.contains(&name.as_str())) {
            let other: String = other.chars().take(40).collect();
            return Err(format!("usage_limits has the unknown member {other:?}"));
        }
        Self::parse(ClaimReader(members)).map_err(|why| format!("usage_limits: {why}"))
    }

    /// The stricter limit of each kind.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let least = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
        Self {
            requests_per_hour: least(self.requests_per_hour, other.requests_per_hour),
            writes_per_session: least(self.writes_per_session, other.writes_per_session),
            max_data_egress_kb: least(self.max_data_egress_kb, other.max_data_egress_kb),
        }
    }

    fn parse(members: ClaimReader<'_>) -> Result<Self, BadClaim> {
        Ok(Self {
            requests_per_hour: limit(members, "requests_per_hour")?,
            writes_per_session: limit(members, "writes_per_session")?,
            max_data_egress_kb: limit(members, "max_data_egress_kb")?,
        })
    }
}

fn limit(members: ClaimReader<'_>, claim: &'static str) -> Result<Option<i64>, BadClaim> {
    if !members.0.contains_key(claim) {
        return Ok(None);
    }
    let value = members.integer(claim)?;
    if value >= 1 { Ok(Some(value)) } else { Err(wrong(claim, "must be at least 1")) }
}

impl ExecutionWindow {
    fn parse(members: ClaimReader<'_>) -> Result<Self, BadClaim> {
        Ok(Self { earliest: members.date_time("earliest")?, latest: members.date_time("latest")? })
    }
}

/// A receipt to be issued by an operator: the claims, and an `intent` that discloses nothing to the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewReceipt {
    #[serde(flatten)]
    pub claims: ReceiptClaims,
    pub intent: Intent,
}

/// The value of a receipt's required `intent`: never the person's words (AAP 12.4, C-14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// A constant.
    Withheld,
    /// A salted hash, with which the operator can later prove the text.
    Sha256(Digest),
}

impl Intent {
    /// The operator keeps the salt beside the text. Without it, a guess at the text cannot be tested.
    pub fn salted(salt: &[u8; 16], text: &str) -> Self {
        Self::Sha256(Digest::of_parts(&[b"countersign:intent:1\0", salt, text.as_bytes()]))
    }
}

impl std::fmt::Display for Intent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Withheld => f.write_str("withheld"),
            Self::Sha256(digest) => write!(f, "sha256:{}", digest.hex()),
        }
    }
}

impl Serialize for Intent {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}
