//! A signed assertion of the caller's identity for the upstream, which then need not trust a forgeable header.

use super::HeldFacts;
use crate::services::Calls;
use countersign_core::{aap::access::CallFacts, refusal::Refusal};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use quick_cache::sync::Cache;
use serde::Serialize;

/// The `typ` of the assertion.
const TYP: &str = "countersign-identity+jwt";
const LIFE_S: i64 = 60;
/// A cached assertion is used while at least half of its lifetime is left.
const USED_FOR_S: i64 = 30;
const REMEMBERED: usize = 20_000;

/// Session, delegation (each mode of a session has its own), version of the document, route and audience.
type Of = (RowKey, Option<RowKey>, i64, String, String);

/// Cached assertions, each valid for any call of a session on a route. Signing costs half as much as verifying a proof.
pub(crate) struct Assertions(Cache<Of, (UnixMillis, String)>);

impl Default for Assertions {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

#[derive(Serialize)]
struct AssertionClaims<'a> {
    iss: &'a str,
    aud: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<&'a str>,
    iat: i64,
    exp: i64,
    project: &'a str,
    operator: &'a str,
    mode: &'a str,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    delegation_id: Option<&'a str>,
    route: &'a str,
    action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_sha256: Option<String>,
    /// Higher than that of every earlier claim of the same effect, or of the same action without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fence: Option<i64>,
    /// The upstream must not commit anything: nobody approved more than a preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
}

impl Calls<'_> {
    /// Cached for half a minute, unless a person confirmed exactly this call: then it names the decision.
    pub(super) fn identity_assertion(
        self,
        facts: &CallFacts,
        audience: &str,
        held: Option<&HeldFacts>,
    ) -> Result<String, Refusal> {
        if held.is_some() || facts.is_dry_run() {
            return self.sign_assertion(facts, audience, held);
        }
        let version = facts.project().version;
        let of = (facts.session(), facts.delegation(), version, facts.route().id.clone(), audience.to_owned());
        let now = self.now();
        if let Some((made, statement)) = self.assertions.0.get(&of)
            && now < made.plus_secs(USED_FOR_S)
        {
            return Ok(statement);
        }
        let statement = self.sign_assertion(facts, audience, None)?;
        self.assertions.0.insert(of, (now, statement.clone()));
        Ok(statement)
    }

    fn sign_assertion(self, facts: &CallFacts, audience: &str, held: Option<&HeldFacts>) -> Result<String, Refusal> {
        let iat = self.now().secs();
        let claims = AssertionClaims {
            iss: self.settings.origin.as_str(),
            aud: audience,
            sub: facts.subject(),
            iat,
            exp: iat + LIFE_S,
            project: facts.project().id.as_str(),
            operator: facts.operator(),
            mode: facts.mode().as_str(),
            session_id: facts.session_id(),
            delegation_id: facts.delegation_id(),
            route: &facts.route().id,
            action: facts.action(),
            decision_id: held.map(|held| held.decision_id.as_str()),
            action_sha256: held.map(|held| held.digest.hex()),
            fence: held.map(|held| held.fence),
            dry_run: facts.is_dry_run().then_some(true),
        };
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        keys.signing.sign(TYP, &claims).map_err(|_| Refusal::Internal)
    }
}
