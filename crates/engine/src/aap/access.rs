//! The principal behind an access token, cached between calls.

use crate::{
    credentials::PresentedCredential,
    projects::{Address, ProjectAt},
    services::Agents,
    store::{AccessTokenByHash, Outcome},
};
use countersign_core::{
    aap::{
        access::{AccessView, Bearer, Call, check_bearer, key_is_stale},
        registry::{REGISTRY_TIER, call_needs_standing, standing_is_stale},
    },
    people::Actor,
    records::{AccessToken, Decision, Mode, Project, Record, Session},
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
        check_bearer(&bearer, &at.project.document, self.decision_time()?)?;
        Ok(Actor::Agent(Box::new(bearer.session.in_mode(bearer.token.mode))))
    }

    /// The same without a proof, for reading one's own record (AAP 18.2).
    pub async fn agent_without_proof(self, at: &ProjectAt, token: &str) -> Result<Actor, Refusal> {
        let bearer = self.bearer_by_hash(&at.project, &Digest::of(token.as_bytes())).await?;
        check_bearer(&bearer, &at.project.document, self.decision_time()?)?;
        Ok(Actor::Agent(Box::new(bearer.session.in_mode(bearer.token.mode))))
    }

    /// Everything behind an access token of this project; the caller decides whether it is still valid.
    pub(crate) async fn bearer_by_hash(self, project: &Project, hash: &Digest) -> Result<Bearer, Refusal> {
        self.bearer_at_tier(project, hash, project.document.minimum_tier).await
    }

    /// The same where this trust tier is needed.
    pub(crate) async fn bearer_at_tier(self, project: &Project, hash: &Digest, tier: u8) -> Result<Bearer, Refusal> {
        let bearer = self.load_bearer(project, hash).await?;
        let bearer = self.recheck_operator_key(project, bearer.ok_or(Refusal::AccessTokenInvalid)?).await?;
        if tier >= REGISTRY_TIER { self.recheck_standing(project, bearer).await } else { Ok(bearer) }
    }

    pub(crate) async fn access_view(self, address: &Address, call: &Call) -> Result<Arc<AccessView>, Refusal> {
        self.check_clock()?;
        let name = cache_name(address);
        if let Some((hash, _)) = call.token()
            && let Some(view) = self.credential_cache.get(&name, hash)
            && !view.bearer.as_ref().is_some_and(|b| needs_reload(b, call, &view.project, self.now()))
        {
            return Ok(view);
        }
        // Seldom, so that no other call moves its large future about.
        Box::pin(self.load_access_view(address, &name, call)).await
    }

    async fn load_access_view(self, address: &Address, name: &str, call: &Call) -> Result<Arc<AccessView>, Refusal> {
        let loaded_in = self.ended_holders.generation();
        let project = self.project(address).await?.project;
        let bearer = match call.token() {
            Some((hash, _)) => self.load_bearer(&project, hash).await?,
            None => None,
        };
        let bearer = match bearer {
            Some(bearer) => {
                let bearer = self.recheck_operator_key(&project, bearer).await?;
                let needed = call_needs_standing(&project.document, &call.method, &call.path);
                Some(if needed { self.recheck_standing(&project, bearer).await? } else { bearer })
            }
            None => None,
        };
        let project = self.project_cache.intern(project);
        self.project_cache.set_address(address, &project);
        let view = Arc::new(AccessView { project, bearer });
        if let (Some((hash, _)), Some(_)) = (call.token(), &view.bearer) {
            self.credential_cache.insert(name, *hash, &view, loaded_in);
        }
        Ok(view)
    }

    async fn load_bearer(self, project: &Project, hash: &Digest) -> Result<Option<Bearer>, Refusal> {
        let token = self.find_one(AccessTokenByHash(*hash)).await?;
        let Some(token) = token.filter(|token| token.project == project.key) else { return Ok(None) };
        let Some(session) = self.get::<Session>(token.session).await? else { return Ok(None) };
        let delegation = self.settle_inactivity(self.get_some(session.delegation_in(token.mode)).await?).await?;
        Ok(Some(Bearer { token, session, delegation }))
    }

    /// The rows behind a held call, as the store has them now. Its access token was valid when it was sent, and need not
    /// outlast the undo window.
    pub(crate) async fn queued_view(self, decision: &Decision, call: &Call) -> Result<AccessView, Refusal> {
        let project: Project = self.load(decision.project).await?;
        let session: Option<Session> = self.get_some(decision.raised_by.session).await?;
        let bearer = match session {
            Some(session) => {
                let own = |mode: &Mode| session.delegation_in(*mode) == decision.raised_by.delegation;
                let mode = Some(Mode::ServiceAccount).filter(own).unwrap_or_default();
                let delegation = self.settle_inactivity(self.get_some(session.delegation_in(mode)).await?).await?;
                let token = AccessToken {
                    key: 0,
                    version: 0,
                    project: project.key,
                    hash: Digest::of(&[]),
                    session: session.key,
                    mode,
                    expires_at: UnixMillis(i64::MAX),
                    jkt: None,
                };
                let bearer = self.recheck_operator_key(&project, Bearer { token, session, delegation }).await?;
                let needed = call_needs_standing(&project.document, &call.method, &call.path);
                Some(if needed { self.recheck_standing(&project, bearer).await? } else { bearer })
            }
            None => None,
        };
        Ok(AccessView { project: self.project_cache.intern(project), bearer })
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

    /// A live session's operator is looked up in the registries again, so that one that a provider drops is refused within
    /// the cache time (AAP 8.2). What cannot be looked up stays as old as it is, and the core refuses it.
    async fn recheck_standing(self, project: &Project, bearer: Bearer) -> Result<Bearer, Refusal> {
        let (now, session) = (self.now(), &bearer.session);
        if !standing_is_stale(session, &project.document, now) || now >= bearer.token.expires_at {
            return Ok(bearer);
        }
        let standing = self.operator_standing(project, &session.operator).await;
        if standing.is_none() || standing == session.standing {
            return Ok(bearer);
        }
        let seen = Session { standing, version: session.version + 1, ..session.clone() };
        let effects = Effects { puts: vec![Record::Session(seen)], ..Effects::default() };
        if let Outcome::Unavailable(_) = self.commit(effects).await {
            return Err(Refusal::Unavailable);
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
fn needs_reload(bearer: &Bearer, call: &Call, project: &Project, now: UnixMillis) -> bool {
    let needs_standing = || call_needs_standing(&project.document, &call.method, &call.path);
    key_is_stale(&bearer.session, now)
        || bearer.delegation.as_ref().is_some_and(|d| d.needs_idle_check(now))
        || standing_is_stale(&bearer.session, &project.document, now) && needs_standing()
}
