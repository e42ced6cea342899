//! Security event tokens (RFC 8417), as transmitters of Shared Signals send them.

use super::{TokenKind, Unsigned, is_issued_in_future, signed};
use crate::key_set::KeySet;
use countersign_protocol::{
    aap::claims::{BadClaim, SKEW_SECS},
    facts::VerifiedSecurityEvent,
    time::UnixMillis,
};
use serde_json::{Map, Value};

const TYP: &str = "secevent+jwt";
/// Older tokens are refused: their ids may be forgotten.
const MAX_AGE_SECS: i64 = 7 * 86_400;
const MAX_EVENTS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecurityEventRefusal {
    #[error(transparent)]
    Unsigned(#[from] Unsigned),
    #[error("the token's typ is not secevent+jwt")]
    WrongKind,
    #[error(transparent)]
    Claims(#[from] BadClaim),
    #[error("the token was issued by another transmitter")]
    WrongIssuer,
    #[error("the token is for another receiver")]
    WrongAudience,
    #[error("the token must have iat, jti and events")]
    Incomplete,
    #[error("the token was issued in the future")]
    FromTheFuture,
    #[error("the token has expired, or is older than seven days")]
    Expired,
}

/// Verifies a token of the transmitter `issuer` for the receiver `audience`.
pub fn verify_security_event(
    jwt: &str,
    keys: &KeySet,
    (issuer, audience): (&str, &str),
    now: UnixMillis,
) -> Result<VerifiedSecurityEvent, SecurityEventRefusal> {
    let token = signed(jwt, keys)?;
    if token.stated_kind(TYP) != TokenKind::Stated {
        return Err(SecurityEventRefusal::WrongKind);
    }
    let payload = &token.payload;
    if payload.get("iss").and_then(Value::as_str) != Some(issuer) {
        return Err(SecurityEventRefusal::WrongIssuer);
    }
    if !is_for(payload, audience) {
        return Err(SecurityEventRefusal::WrongAudience);
    }
    check_time(payload, now)?;
    if token.is_too_early(now)? {
        return Err(SecurityEventRefusal::FromTheFuture);
    }
    let jti = payload.get("jti").and_then(Value::as_str).filter(|jti| (1..=256).contains(&jti.len()));
    let events = payload.get("events").and_then(Value::as_object);
    let events = events.filter(|events| (1..=MAX_EVENTS).contains(&events.len()));
    let (Some(jti), Some(events)) = (jti, events) else { return Err(SecurityEventRefusal::Incomplete) };
    #[expect(clippy::disallowed_methods, reason = "here everything about the token has just been checked")]
    let fact = VerifiedSecurityEvent::attest(
        issuer.to_owned(),
        jti.to_owned(),
        payload.get("sub_id").cloned(),
        events.clone(),
    );
    Ok(fact)
}

fn is_for(payload: &Map<String, Value>, audience: &str) -> bool {
    match payload.get("aud") {
        Some(Value::String(aud)) => aud == audience,
        Some(Value::Array(several)) => several.iter().any(|aud| aud == audience),
        _ => false,
    }
}

/// Such tokens usually have no `exp` (RFC 8417 2.2); one that has it is held to it.
fn check_time(payload: &Map<String, Value>, now: UnixMillis) -> Result<(), SecurityEventRefusal> {
    let iat = payload.get("iat").and_then(Value::as_i64).ok_or(SecurityEventRefusal::Incomplete)?;
    if is_issued_in_future(iat, now) {
        return Err(SecurityEventRefusal::FromTheFuture);
    }
    let exp = match payload.get("exp") {
        Some(exp) => exp.as_i64().ok_or(SecurityEventRefusal::Incomplete)?,
        None => i64::MAX,
    };
    let end = exp.min(iat.saturating_add(MAX_AGE_SECS)).saturating_add(SKEW_SECS);
    if now.secs() > end { Err(SecurityEventRefusal::Expired) } else { Ok(()) }
}
