//! Registration and its repetition (AAP 17.1): operator JWT, delegation and receipt for an access token.

use super::{Agent, Lost, MODE, Notice, RegisterError, ServiceRefusal, WireError, refusal::Fate};
use crate::{entropy, operator::Receipt, possession::Possession, secret::ClientSecret};
use countersign_jose::{ProofKey, SigningFailed};
use countersign_protocol::{
    aap::{
        dpop,
        register::{RegisterRequest, RegisterResponse},
    },
    time::UnixMillis,
};
use http::HeaderValue;

/// An access token, and everything for the next one of the same session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: String,
    /// The session's own key (AAP 18.1). None if tokens are not to be bound.
    pub(super) key: Option<ProofKey>,
    pub(super) delegation_id: Option<String>,
    delegation_token: Option<ClientSecret>,
    receipt: Option<ClientSecret>,
    pub(super) access: Option<Access>,
}

#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) token: ClientSecret,
    pub(super) is_bound: bool,
    pub(super) authorization: HeaderValue,
    pub(super) expires_at: UnixMillis,
}

impl Agent {
    /// Opens a session: with a receipt that of the approved task, otherwise a new one. Returns the session's id.
    pub async fn register(&mut self, receipt: Option<&Receipt>, now: UnixMillis) -> Result<&str, RegisterError> {
        self.ready().await?;
        let Some(delegation) = &self.delegation else { return Err(self.not_connected().into()) };
        if !self.is_own_delegation(delegation) {
            return Err(RegisterError::ForeignDelegation);
        }
        let fits = |receipt: &&Receipt| {
            receipt.claims().aud == delegation.service() && receipt.claims().delegation_id == delegation.id()
        };
        if !receipt.as_ref().is_none_or(fits) {
            return Err(RegisterError::ForeignReceipt);
        }
        self.tier_met(receipt.is_some())?;
        let id = receipt.map_or_else(entropy::session_id, |receipt| Ok(receipt.session_id().to_owned()))?;
        let (delegation_id, delegation_token) = (delegation.id().to_owned(), ClientSecret::new(delegation.token()));
        let session = Session {
            key: self.key_for(&id)?,
            id,
            delegation_id: Some(delegation_id),
            delegation_token: Some(delegation_token),
            receipt: receipt.map(|receipt| receipt.jwt.clone()),
            access: None,
        };
        self.open(session, now).await
    }

    /// Opens a session without a person, if the service lets operators read by themselves (tier 1, C-24).
    pub async fn register_without_user(&mut self, now: UnixMillis) -> Result<&str, RegisterError> {
        self.ready().await?;
        let needed = self.manifest().map_or(u8::MAX, |manifest| manifest.minimum_tier);
        if needed > 1 {
            return Err(self.not_connected().into());
        }
        let id = entropy::session_id()?;
        let key = self.key_for(&id)?;
        let session = Session { id, key, delegation_id: None, delegation_token: None, receipt: None, access: None };
        self.open(session, now).await
    }

    /// The same delegation, receipt and session id with a fresh operator JWT, for another access token.
    pub(super) async fn register_again(&mut self, now: UnixMillis) -> Result<(), RegisterError> {
        let Some(session) = self.session.clone() else { return Err(self.not_connected().into()) };
        self.open(session, now).await.map(drop)
    }

    async fn open(&mut self, session: Session, now: UnixMillis) -> Result<&str, RegisterError> {
        let body = RegisterRequest {
            mode: Some(MODE.to_owned()),
            operator_jwt: Some(self.operator_jwt(now)?),
            delegation_token: session.delegation_token.as_ref().map(|token| token.reveal().to_owned()),
            consent_receipt: session.receipt.as_ref().map(|receipt| receipt.reveal().to_owned()),
            acting_for: None,
            delegation_id: None,
            session_id: Some(session.id.clone()),
            ..RegisterRequest::default()
        };
        let bad = WireError::BadAnswer { endpoint: "register" };
        let url = self.known.as_ref().and_then(|known| known.endpoint("register")).ok_or(bad.clone())?;
        let possession = session.key.clone().map(|key| Possession { key, token: None, now });
        let answer: RegisterResponse = match self.post("register", url, &body, possession.as_ref()).await {
            Ok(answer) => answer,
            Err(WireError::Refused(refused)) => return Err(self.registration_refused(refused)),
            Err(error) => return Err(error.into()),
        };
        let access = self.access(&answer, &session, now).ok_or(bad)?;
        Ok(&self.session.insert(Session { access: Some(access), ..session }).id)
    }

    /// Rejects a session that was not requested, and a bound token without a key of ours. If the service demands bound
    /// tokens, an unbound one is not accepted.
    fn access(&self, answer: &RegisterResponse, session: &Session, now: UnixMillis) -> Option<Access> {
        let is = |scheme: &str| answer.token_type.eq_ignore_ascii_case(scheme);
        let demanded = self.manifest().is_some_and(|manifest| manifest.dpop_required == Some(true));
        let scheme = match &session.key {
            Some(_) if is(dpop::SCHEME) => dpop::SCHEME,
            _ if is("bearer") && !demanded => "Bearer",
            _ => return None,
        };
        let authorization = HeaderValue::try_from(format!("{scheme} {}", answer.access_token)).ok();
        let mut authorization = authorization.filter(|_| answer.session_id == session.id)?;
        authorization.set_sensitive(true);
        Some(Access {
            token: ClientSecret::new(answer.access_token.as_str()),
            is_bound: scheme == dpop::SCHEME,
            authorization,
            expires_at: now.plus_secs(answer.expires_in),
        })
    }

    /// One key per session, the same each time that the session is registered (AAP 18.1).
    fn key_for(&mut self, session_id: &str) -> Result<Option<ProofKey>, WireError> {
        let key = self.key_of(session_id)?;
        self.key = key.clone().map(|key| (session_id.to_owned(), key));
        Ok(key)
    }

    /// The session's key, or a new one for an unknown session.
    fn key_of(&self, session_id: &str) -> Result<Option<ProofKey>, WireError> {
        match &self.key {
            _ if !self.config.dpop => Ok(None),
            Some((id, key)) if id == session_id => Ok(Some(key.clone())),
            _ => Ok(Some(ProofKey::generate().map_err(|_| SigningFailed)?)),
        }
    }

    /// For requests about a session without its token.
    pub(super) fn possession(&self, session_id: &str, now: UnixMillis) -> Result<Option<Possession>, WireError> {
        Ok(self.key_of(session_id)?.map(|key| Possession { key, token: None, now }))
    }

    fn registration_refused(&mut self, refused: Box<ServiceRefusal>) -> RegisterError {
        match self.apply_refusal(&refused) {
            Some(lost) => lost.into(),
            None => WireError::Refused(refused).into(),
        }
    }

    /// Sends no request below the service's tier, and notifies the person of the missing tier (AAP 2).
    fn tier_met(&self, receipt: bool) -> Result<(), RegisterError> {
        let needed = self.manifest().map_or(u8::MAX, |manifest| manifest.minimum_tier);
        let has = self.tier(receipt);
        if has >= needed {
            return Ok(());
        }
        self.notify(Notice::ManualAuthorization { service: self.service(), needed, has });
        Err(RegisterError::TierNotMet { needed, has })
    }

    /// Notifies the person that they are needed. Nothing is sent instead (AAP 5.1).
    pub(super) fn not_connected(&self) -> Lost {
        let operator = self.operator_domain().clone();
        self.notify(Notice::ConnectNeeded { service: self.service(), operator });
        Lost::NotConnected
    }

    /// Applies a refusal: drops invalid credentials and notifies the person.
    pub(super) fn apply_refusal(&mut self, refused: &ServiceRefusal) -> Option<Lost> {
        let (service, code) = (self.service(), refused.code.clone());
        match refused.fate() {
            Fate::CutOff => {
                (self.delegation, self.session) = (None, None);
                let reason = refused.known_reason();
                self.notify(Notice::AccessCutOff { service, reason: reason.clone() });
                Some(Lost::CutOff { reason })
            }
            Fate::Reconnect => {
                (self.delegation, self.session) = (None, None);
                self.not_connected();
                Some(Lost::Delegation { code })
            }
            Fate::Unknown => {
                self.session = None;
                Some(self.not_connected())
            }
            Fate::ConsentOver => {
                self.session = None;
                self.notify(Notice::LostCapability { service, code: code.clone(), why: refused.description.clone() });
                Some(Lost::Consent { code })
            }
            Fate::Forbidden => {
                self.notify(Notice::LostCapability { service, code, why: refused.description.clone() });
                None
            }
            Fate::RegisterAgain | Fate::Other => None,
        }
    }

    /// Addressed to the service exactly as its manifest spells it (C-13).
    pub(super) fn operator_jwt(&self, now: UnixMillis) -> Result<String, WireError> {
        let manifest = self.manifest().ok_or(SigningFailed)?;
        Ok(self.operator.operator_jwt(&manifest.service, now)?)
    }
}

impl Session {
    /// The proof material of its calls, if its token is bound.
    pub(super) fn possession_of_session(&self, now: UnixMillis) -> Option<Possession> {
        let access = self.access.as_ref().filter(|access| access.is_bound)?;
        Some(Possession { key: self.key.clone()?, token: Some(access.token.clone()), now })
    }
}
