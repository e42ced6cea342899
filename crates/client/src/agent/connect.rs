//! Bootstrap (AAP 5.1, R-13): the operator asks, the person decides on the service's own page.

use super::{Agent, ConnectError, MODE, Notice};
use crate::{delegation::Delegation, entropy, secret::ClientSecret};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_jose::pkce;
use countersign_protocol::{
    aap::delegate::{ConnectRequestBody, ConnectRequestResponse, ExchangeRequest, ExchangeResponse},
    time::UnixMillis,
};
use std::collections::BTreeMap;
use url::Url;

/// A connect request pending the person's decision.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    verifier: ClientSecret,
    state: String,
    callback: Option<String>,
    expires_at: UnixMillis,
}

impl Agent {
    /// Requests a delegation with these scopes, notifies the person, and opens the service's page in their own browser.
    ///
    /// With a callback the result comes as a redirect, for [`Agent::finish_redirect`]; without one the page shows a
    /// code, for [`Agent::finish_connect`]. Returns the page's address.
    pub async fn connect(
        &mut self,
        scopes: &[&str],
        callback: Option<&str>,
        now: UnixMillis,
    ) -> Result<String, ConnectError> {
        self.ready().await?;
        self.check_request(scopes, callback)?;
        let verifier = pkce::verifier(entropy::random()?);
        let state = URL_SAFE_NO_PAD.encode(entropy::random::<32>()?);
        let body = self.request_body(scopes, callback, &verifier, &state, now)?;
        let url = self.bootstrap_endpoint("connect", "requests")?;
        let asked: ConnectRequestResponse = self.post("connect", url, &body, None).await?;
        // The person enters their password on this page: it must be the service's own (AAP 13.2).
        let page = self.known.as_ref().and_then(|known| known.on_origin(&asked.connect_url));
        let page = String::from(page.ok_or(ConnectError::ForeignConnectUrl)?);
        self.pending = Some(Pending {
            verifier: ClientSecret::new(verifier),
            state,
            callback: callback.map(str::to_owned),
            expires_at: asked.expires_at,
        });
        let operator = self.operator_domain().clone();
        self.notify(Notice::PleaseConnect { service: self.service(), operator, url: page.clone() });
        self.browser.open(&page);
        Ok(page)
    }

    /// Finishes with the code that the person copied from the page.
    pub async fn finish_connect(&mut self, code: &str, now: UnixMillis) -> Result<&Delegation, ConnectError> {
        let pending = self.pending(now)?;
        let body = ExchangeRequest {
            operator_jwt: Some(self.operator_jwt(now)?),
            code: Some(code.trim().to_owned()),
            code_verifier: Some(pending.verifier.reveal().to_owned()),
        };
        let url = self.bootstrap_endpoint("exchange", "token")?;
        let granted: ExchangeResponse = self.post("exchange", url, &body, None).await?;
        let delegation = Delegation::from_token(&granted.delegation_token)?;
        if !self.is_own_delegation(&delegation) || delegation.id() != granted.delegation_id {
            return Err(ConnectError::ForeignDelegation);
        }
        (self.pending, self.session) = (None, None);
        Ok(self.delegation.insert(delegation))
    }

    /// Finishes with the redirect address of the person's browser.
    ///
    /// Its `state` proves that it belongs to this agent's request, its `iss` that it comes from this service (RFC
    /// 9207).
    pub async fn finish_redirect(&mut self, address: &str, now: UnixMillis) -> Result<&Delegation, ConnectError> {
        let pending = self.pending(now)?;
        let service = self.manifest().map(|manifest| manifest.service.clone()).unwrap_or_default();
        match pending.answer(address, &service)? {
            Answer::Code(code) => self.finish_connect(&code, now).await,
            Answer::Denied => {
                self.pending = None;
                Err(ConnectError::Denied)
            }
        }
    }

    fn check_request(&self, scopes: &[&str], callback: Option<&str>) -> Result<(), ConnectError> {
        let offered = |scope: &str| self.manifest().is_some_and(|manifest| manifest.scope(scope).is_some());
        if let Some(unknown) = scopes.iter().find(|scope| !offered(scope)) {
            return Err(ConnectError::UnknownScope((*unknown).to_owned()));
        }
        let listed = &self.operator.identity().countersign.callbacks;
        if callback.is_some_and(|callback| !listed.iter().any(|uri| uri.as_str() == callback)) {
            return Err(ConnectError::CallbackNotListed);
        }
        Ok(())
    }

    fn request_body(
        &self,
        scopes: &[&str],
        callback: Option<&str>,
        verifier: &str,
        state: &str,
        now: UnixMillis,
    ) -> Result<ConnectRequestBody, ConnectError> {
        Ok(ConnectRequestBody {
            operator_jwt: Some(self.operator_jwt(now)?),
            mode: Some(MODE.to_owned()),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            code_challenge: Some(pkce::challenge_s256(verifier)),
            code_challenge_method: Some("S256".to_owned()),
            state: Some(state.to_owned()),
            callback: callback.map(str::to_owned),
            max_agent_ttl: None,
            policy: None,
        })
    }

    /// Named in the manifest, or below `delegate` as in R-13.
    fn bootstrap_endpoint(&self, name: &'static str, below: &str) -> Result<Url, ConnectError> {
        let known = self.known.as_ref().ok_or(ConnectError::NothingPending)?;
        let below_delegate = || {
            let delegate = known.endpoint("delegate")?;
            known.on_origin(&format!("{}/{below}", delegate.path().trim_end_matches('/')))
        };
        known.endpoint(name).or_else(below_delegate).ok_or(ConnectError::ForeignConnectUrl)
    }

    fn pending(&mut self, now: UnixMillis) -> Result<Pending, ConnectError> {
        let pending = self.pending.clone().ok_or(ConnectError::NothingPending)?;
        if now >= pending.expires_at {
            self.pending = None;
            return Err(ConnectError::Expired);
        }
        Ok(pending)
    }

    pub(super) fn is_own_delegation(&self, delegation: &Delegation) -> bool {
        let service = self.manifest().map(|manifest| manifest.service.as_str());
        Some(delegation.service()) == service && delegation.operator() == self.operator.domain()
    }
}

enum Answer {
    Code(String),
    Denied,
}

impl Pending {
    fn answer(&self, address: &str, service: &str) -> Result<Answer, ConnectError> {
        let foreign = ConnectError::ForeignRedirect;
        let callback = self.callback.as_deref().and_then(|callback| Url::parse(callback).ok());
        let callback = callback.ok_or(foreign("no callback was given"))?;
        let url = Url::parse(address).map_err(|_| foreign("it is not a URL"))?;
        if (url.origin(), url.path()) != (callback.origin(), callback.path()) {
            return Err(foreign("it is not the callback"));
        }
        let mut told = parameters(&url)?;
        if told.get("state") != Some(&self.state) {
            return Err(foreign("its state is another"));
        }
        // A refusal without `iss` does no harm; one with a wrong `iss` comes from elsewhere.
        let issuer = told.remove("iss");
        let denied = told.contains_key("error");
        if issuer.as_deref() != Some(service) && !(denied && issuer.is_none()) {
            return Err(foreign("its issuer is another"));
        }
        match told.remove("code") {
            _ if denied => Ok(Answer::Denied),
            Some(code) => Ok(Answer::Code(code)),
            None => Err(foreign("it has no code")),
        }
    }
}

/// A repeated parameter would be ambiguous.
fn parameters(url: &Url) -> Result<BTreeMap<String, String>, ConnectError> {
    let mut told = BTreeMap::new();
    for (name, value) in url.query_pairs() {
        if told.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err(ConnectError::ForeignRedirect("a parameter occurs twice"));
        }
    }
    Ok(told)
}
