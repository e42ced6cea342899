//! The principal behind an access token, cached between calls.

use crate::{
    credentials::PresentedCredential,
    projects::{Address, ProjectAt},
    services::Agents,
    store::{AccessTokenByHash, Outcome},
};
use countersign_core::{
    aap::access::{AccessView, Bearer, Call, check_bearer, key_is_stale},
    people::Actor,
    records::{Project, Record, Session},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::{hash::Digest, time::UnixMillis};
use std::sync::Arc;

impl Agents<'_> {
    /// The agent behind an access token as an actor. The token must still be valid.
    pub async fn agent_actor<'a>(
        self,
        at: &ProjectAt,
        token: impl Into<PresentedCredential<'a>>,
    ) -> Result<Actor, Refusal> {
        let bearer = self.authenticate_bearer(at, &token.into().hashed()).await?;
        check_bearer(&bearer, self.decision_time()?)?;
        Ok(Actor::Agent(Box::new(bearer.session)))
    }

    /// The same without a proof, for reading one's own record (AAP 18.2).
    pub async fn agent_without_proof(self, at: &ProjectAt, token: &str) -> Result<Actor, Refusal> {
        let bearer = self.bearer_by_hash(&at.project, &Digest::of(token.as_bytes())).await?;
        check_bearer(&bearer, self.decision_time()?)?;
        Ok(Actor::Agent(Box::new(bearer.session)))
    }

    /// Everything behind an access token of this project; the caller decides whether it is still valid.
    pub(crate) async fn bearer_by_hash(self, project: &Project, hash: &Digest) -> Result<Bearer, Refusal> {
        let bearer = self.load_bearer(project, hash).await?;
        self.recheck_operator_key(project, bearer.ok_or(Refusal::AccessTokenInvalid)?).await
    }

    pub(crate) async fn access_view(self, address: &Address, call: &Call) -> Result<Arc<AccessView>, Refusal> {
        self.check_clock()?;
        let name = cache_name(address);
        if let Some((hash, _)) = call.token()
            && let Some(view) = self.credential_cache.get(&name, hash)
            && !view.bearer.as_ref().is_some_and(|b| needs_reload(b, self.now()))
        {
            return Ok(view);
        }
        let project = self.project(address).await?.project;
        let bearer = match call.token() {
            Some((hash, _)) => self.load_bearer(&project, hash).await?,
            None => None,
        };
        let bearer = match bearer {
            Some(bearer) => Some(self.recheck_operator_key(&project, bearer).await?),
            None => None,
        };
        let project = self.project_cache.intern(project);
        self.project_cache.set_address(address, &project);
        let view = Arc::new(AccessView { project, bearer });
        if let (Some((hash, _)), Some(_)) = (call.token(), &view.bearer) {
            self.credential_cache.insert(&name, *hash, &view);
        }
        Ok(view)
    }

    async fn load_bearer(self, project: &Project, hash: &Digest) -> Result<Option<Bearer>, Refusal> {
        let token = self.find_one(AccessTokenByHash(*hash)).await?;
        let Some(token) = token.filter(|token| token.project == project.key) else { return Ok(None) };
        let Some(session) = self.get::<Session>(token.session).await? else { return Ok(None) };
        let delegation = self.settle_inactivity(self.get_some(session.delegation).await?).await?;
        Ok(Some(Bearer { token, session, delegation }))
    }

    /// A live session's operator key is looked up again when its key set is an hour old; a withdrawn key ends the session
    /// (C-88).
    async fn recheck_operator_key(self, project: &Project, bearer: Bearer) -> Result<Bearer, Refusal> {
        let now = self.now();
        let open = bearer.session.state == countersign_core::records::SessionState::Open;
        if !open || !key_is_stale(&bearer.session, now) || now >= bearer.token.expires_at {
            return Ok(bearer);
        }
        let session = &bearer.session;
        match self.operators.last_published(&session.operator, &session.operator_kid, now).await {
            Ok(Some(key_seen_at)) => {
                let seen = Session { key_seen_at, version: session.version + 1, ..session.clone() };
                let effects = Effects { puts: vec![Record::Session(seen)], ..Effects::default() };
                if let Outcome::Unavailable(_) = self.commit(effects).await {
                    return Err(Refusal::Unavailable);
                }
            }
            Ok(None) => self.end_for_withdrawn_key(project, session).await?,
            // The core refuses it in the order of R-28: a key that cannot be looked up is no longer trusted.
            Err(trouble) => {
                tracing::warn!(?trouble, operator = %session.operator, "an operator's key could not be looked up again");
                return Ok(bearer);
            }
        }
        let session = self.get(session.key).await?.unwrap_or(bearer.session);
        Ok(Bearer { session, ..bearer })
    }

    pub(crate) fn forget_credential(self, address: &Address, call: &Call) {
        if let Some((hash, _)) = call.token() {
            self.credential_cache.remove(&cache_name(address), hash);
        }
    }
}

/// Every cache begins with the project.
fn cache_name(address: &Address) -> String {
    match address {
        Address::Unscoped => String::new(),
        Address::Scoped(id) | Address::Subdomain(id) => id.clone(),
    }
}

/// Whether a cached bearer must be loaded again before the call is decided.
fn needs_reload(bearer: &Bearer, now: UnixMillis) -> bool {
    key_is_stale(&bearer.session, now) || bearer.delegation.as_ref().is_some_and(|d| d.needs_idle_check(now))
}
