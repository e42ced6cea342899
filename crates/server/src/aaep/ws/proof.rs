//! The credential of a socket, verified again for every message: a subscription's id proves nothing, and a revoked
//! token must stop working at once (AAEP 10.2).

use crate::{
    App,
    aaep::listener::{NoListener, by_token},
    http::{
        caller::{bearer, is_ours},
        cookie,
    },
};
use countersign_engine::{Listener, ProjectAt, Refusal};
use http::{HeaderMap, header};

pub(super) enum SocketProof {
    Token(String),
    Cookie(String),
}

impl SocketProof {
    /// Browsers send cookies with cross-site requests, and WebSockets have no preflight: the origin must be
    /// Countersign's own.
    pub(super) fn of(app: &App, headers: &HeaderMap) -> Result<Self, NoListener> {
        if let Some(token) = bearer(headers) {
            return Ok(Self::Token(token));
        }
        let secret = cookie::read(headers).ok_or(NoListener::Unproven)?;
        let origin = headers.get(header::ORIGIN).and_then(|v| v.to_str().ok());
        match origin.is_some_and(|origin| is_ours(app, origin)) {
            true => Ok(Self::Cookie(secret)),
            false => Err(Refusal::CsrfRejected.into()),
        }
    }

    pub(super) async fn listener(&self, app: &App, at: &ProjectAt) -> Result<Listener, NoListener> {
        match self {
            Self::Token(token) => by_token(app, at, token).await,
            Self::Cookie(secret) => {
                let who = app.engine.people().signed_in(secret).await?.ok_or(NoListener::Unproven)?;
                Ok(app.engine.events().subscriber_by_sign_in(at, &who).await?)
            }
        }
    }
}
