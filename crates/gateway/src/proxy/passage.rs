//! A call that was let through, read or write, until it is settled.

use countersign_engine::{Became, Egress, Engine, Grant, HeldFacts, Permit, ReadPermit, Refusal, Watch};
use http::StatusCode;
use std::time::Duration;

pub(crate) enum Passage {
    Read(Box<ReadPermit>),
    Write(Box<Permit>),
}

impl Passage {
    pub(crate) fn grant(&self) -> &Grant {
        match self {
            Self::Read(permit) => permit.grant(),
            Self::Write(permit) => permit.grant(),
        }
    }

    pub(crate) fn held(&self) -> Option<&HeldFacts> {
        match self {
            Self::Read(_) => None,
            Self::Write(permit) => permit.held(),
        }
    }

    pub(crate) fn effect_key(&self) -> Option<&str> {
        match self {
            Self::Read(_) => None,
            Self::Write(permit) => permit.effect_key(),
        }
    }

    pub(crate) fn covers_head(&self, method: &str, target: &str) -> bool {
        match self {
            Self::Read(permit) => permit.covers_head(method, target),
            Self::Write(permit) => permit.covers_head(method, target),
        }
    }

    pub(crate) fn watch(&self) -> Watch {
        match self {
            Self::Read(permit) => permit.watch(),
            Self::Write(permit) => permit.watch(),
        }
    }

    pub(crate) fn handed_on(&mut self) {
        if let Self::Write(permit) = self {
            permit.handed_on();
        }
    }

    /// How often the lease behind it must be renewed, if there is one.
    pub(crate) fn renew_every(&self) -> Option<Duration> {
        match self {
            Self::Write(permit) if permit.is_held() => Some(permit.renew_every().max(Duration::from_secs(1))),
            _ => None,
        }
    }

    pub(crate) async fn renew(&mut self, engine: &Engine) {
        if let Self::Write(permit) = self {
            engine.renew(permit).await;
        }
    }

    /// Durable before the answer leaves.
    pub(crate) async fn settle(self, engine: &Engine, became: &Became) -> Result<Option<Egress>, Refusal> {
        match self {
            Self::Read(permit) => engine.settle_read(*permit, became).await,
            Self::Write(permit) => engine.settle_write(*permit, became).await,
        }
    }
}

/// The head of an answer is there.
pub(crate) fn answered(status: StatusCode, length: Option<u64>) -> Became {
    Became::Answered { status: status.as_u16(), reason: status.canonical_reason().unwrap_or_default(), length }
}
