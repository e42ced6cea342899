//! Letting calls through: a write only after its intent is durable, no answer before its record is.

use crate::{
    engine::{Engine, TRIES, unavailable},
    forwards::UnderWay,
    projects::{Address, ProjectAt},
    store::{self, Lookup, Outcome, StoreError},
};
use countersign_core::{
    aap::access::{AccessView, Bearer, Call, Credential, Grant, Refused, bearer_holds, decide, key_is_stale},
    people::Actor,
    records::{AccessToken, Project, Record, Session},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::hash::Digest;
use std::sync::Arc;

/// What a call got.
pub enum Admitted {
    Write(Box<Permit>),
    Read(Box<ReadPermit>),
}

/// A write that is let through once. Its intent is durable.
pub struct Permit {
    grant: Grant,
    /// None once the write was handed on.
    under_way: Option<UnderWay>,
}

/// A read that may run; its answer stays sealed until [`Engine::settle_read`] has made its record durable.
pub struct ReadPermit {
    grant: Grant,
    call: Call,
    address: Address,
}

impl Admitted {
    fn read(grant: Grant, call: Call, address: &Address) -> Self {
        Self::Read(Box::new(ReadPermit { grant, call, address: address.clone() }))
    }
}

impl Engine {
    /// Decides a call in the order of R-28.
    pub async fn admit(&self, address: &Address, call: Call) -> Result<Admitted, Refusal> {
        for _ in 0..TRIES {
            let grant = self.decide_call(address, &call).await?;
            let under_way = grant.delegation().filter(|_| grant.writes()).map(|key| self.forwards.begin(key));
            let effects = match grant.writes() {
                true => grant.intent(&self.env()?)?,
                false if self.store.is_sound() => return Ok(Admitted::read(grant, call, address)),
                // A read runs ahead of its record only as long as records can be written.
                false => grant.recheck(),
            };
            match self.commit(effects).await {
                Outcome::Committed if grant.writes() => {
                    return Ok(Admitted::Write(Box::new(Permit { grant, under_way })));
                }
                Outcome::Committed => return Ok(Admitted::read(grant, call, address)),
                Outcome::Stale => self.forget_bearer(address, &call),
                _ => return Err(Refusal::Unavailable),
            }
        }
        Err(Refusal::Unavailable)
    }

    /// Records what became of a write; only then may its answer leave.
    pub async fn settle_write(&self, permit: Permit, outcome: &str) -> Result<(), Refusal> {
        let effects = permit.grant.outcome(outcome, &self.env()?)?;
        match self.commit(effects).await {
            Outcome::Committed => Ok(()),
            _ => Err(Refusal::OutcomeUnrecorded),
        }
    }

    /// Records a read and judges it once more: if it was cut off meanwhile, the answer must be dropped.
    pub async fn settle_read(&self, permit: ReadPermit, outcome: &str) -> Result<(), Refusal> {
        let ReadPermit { mut grant, call, address } = permit;
        for _ in 0..TRIES {
            match self.commit(grant.outcome(outcome, &self.env()?)?).await {
                Outcome::Committed => return Ok(()),
                Outcome::Stale => self.forget_bearer(&address, &call),
                _ => return Err(Refusal::Unavailable),
            }
            grant = self.decide_call(&address, &call).await?;
        }
        Err(Refusal::Unavailable)
    }

    /// The agent behind an access token, as one who asks for something. The token must still hold.
    pub async fn agent_actor(&self, at: &ProjectAt, token: &str) -> Result<Actor, Refusal> {
        let bearer = self.live_bearer(at, token).await?;
        bearer_holds(&bearer, self.now())?;
        Ok(Actor::Agent(Box::new(bearer.session)))
    }

    /// Everything behind an access token of this project; whether it still holds is for the caller to decide.
    pub(crate) async fn live_bearer(&self, at: &ProjectAt, token: &str) -> Result<Bearer, Refusal> {
        let hash = Digest::of(token.as_bytes());
        let bearer = self.load_bearer(&at.project, &hash).await.map_err(unavailable)?;
        let bearer = bearer.filter(|b| b.token.project == at.project.key).ok_or(Refusal::AccessTokenInvalid)?;
        self.with_live_key(&at.project, bearer).await
    }

    async fn decide_call(&self, address: &Address, call: &Call) -> Result<Grant, Refusal> {
        let view = self.access_view(address, call).await?;
        let now = self.now();
        match decide(call, &view, now) {
            Ok(grant) => Ok(grant),
            Err(refused) if self.may_be_outdated(&view, &refused) => self.decide_afresh(address, call).await,
            Err(refused) => self.refuse(call, refused).await,
        }
    }

    /// A refusal from memory is only believed once the store says the same.
    async fn decide_afresh(&self, address: &Address, call: &Call) -> Result<Grant, Refusal> {
        self.forget_bearer(address, call);
        let view = self.access_view(address, call).await?;
        match decide(call, &view, self.now()) {
            Ok(grant) => Ok(grant),
            Err(refused) => self.refuse(call, refused).await,
        }
    }

    fn may_be_outdated(&self, view: &AccessView, refused: &Refused) -> bool {
        view.bearer.is_some() && !matches!(refused.refusal, Refusal::NoCredentials)
    }

    async fn refuse(&self, call: &Call, refused: Refused) -> Result<Grant, Refusal> {
        if let Some(effects) = refused.record(call, &self.env()?)
            && self.commit(effects).await != Outcome::Committed
        {
            return Err(Refusal::Unavailable);
        }
        Err(refused.refusal)
    }

    async fn access_view(&self, address: &Address, call: &Call) -> Result<Arc<AccessView>, Refusal> {
        let name = cache_name(address);
        if let Credential::Token(hash) = &call.credential
            && let Some(view) = self.bearers.recall(&name, hash)
            && !view.bearer.as_ref().is_some_and(|b| key_is_stale(&b.session, self.now()))
        {
            return Ok(view);
        }
        let project = self.project(address).await?.project;
        let bearer = match &call.credential {
            Credential::Token(hash) => self.load_bearer(&project, hash).await.map_err(unavailable)?,
            _ => None,
        };
        let bearer = match bearer {
            Some(bearer) => Some(self.with_live_key(&project, bearer).await?),
            None => None,
        };
        let view = Arc::new(AccessView { project, bearer });
        if let (Credential::Token(hash), Some(_)) = (&call.credential, &view.bearer) {
            self.bearers.remember(&name, *hash, &view);
        }
        Ok(view)
    }

    async fn load_bearer(&self, project: &Project, hash: &Digest) -> Result<Option<Bearer>, StoreError> {
        let store = &*self.store;
        let token: Option<AccessToken> = store::find_one(store, Lookup::AccessTokenByHash(*hash)).await?;
        let Some(token) = token.filter(|token| token.project == project.key) else { return Ok(None) };
        let Some(session) = store::get::<Session>(store, token.session).await? else { return Ok(None) };
        let delegation = match session.delegation {
            Some(key) => store::get(store, key).await?,
            None => None,
        };
        Ok(Some(Bearer { token, session, delegation }))
    }

    /// A live session's operator key is looked up again when the key set in which it stood is an hour old; a
    /// withdrawn one ends the session (C-88).
    async fn with_live_key(&self, project: &Project, bearer: Bearer) -> Result<Bearer, Refusal> {
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
            Ok(None) => self.close_for_withdrawn_key(project, session).await?,
            // Refused in its turn: a key that nobody could look up is not believed any longer.
            Err(trouble) => {
                tracing::warn!(?trouble, operator = %session.operator, "an operator's key could not be looked up again");
                return Ok(bearer);
            }
        }
        let session = store::get(&*self.store, session.key).await.map_err(unavailable)?.unwrap_or(bearer.session);
        Ok(Bearer { session, ..bearer })
    }

    fn forget_bearer(&self, address: &Address, call: &Call) {
        if let Credential::Token(hash) = &call.credential {
            self.bearers.forget(&cache_name(address), hash);
        }
    }
}

impl Permit {
    /// To be called when the write has been handed to the service behind: whoever revokes waits for it.
    pub fn handed_on(&mut self) {
        self.under_way = None;
    }

    pub fn grant(&self) -> &Grant {
        &self.grant
    }
}

impl ReadPermit {
    pub fn grant(&self) -> &Grant {
        &self.grant
    }
}

/// Every cache begins with the project.
fn cache_name(address: &Address) -> String {
    match address {
        Address::Unscoped => String::new(),
        Address::Scoped(id) | Address::Subdomain(id) => id.clone(),
    }
}
