//! A call that was let through, read or write, until it is settled.

use super::{
    Shared,
    bodies::FromUpstream,
    exchange::{Mishap, Sealed, Way},
};
use countersign_engine::{Became, Egress, Engine, Grant, HeldFacts, Permit, ReadPermit, Refusal, Undertaking, Watch};
use http::{Response, StatusCode};
use std::{sync::Arc, time::Duration};
use tracing::Instrument as _;

pub(crate) enum Passage {
    Read(Box<ReadPermit>),
    Write(Box<Permit>),
}

impl Passage {
    /// Makes the intent of a call durable that is not speculative.
    pub(crate) async fn begin(engine: &Engine, undertaking: Undertaking) -> Result<Self, Refusal> {
        Ok(match undertaking.grant().writes() {
            true => Self::Write(Box::new(engine.begin_write(undertaking).await?)),
            false => Self::Read(Box::new(engine.begin_read(undertaking).await?)),
        })
    }

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
        match self {
            Self::Read(permit) => permit.handed_on(),
            Self::Write(permit) => permit.handed_on(),
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

/// A passage while the service behind works. A caller that leaves does not wait for the answer any more, but what was
/// sent counts and stands in the audit.
pub(super) struct OnItsWay<'a> {
    shared: &'a Arc<Shared>,
    passage: Option<Passage>,
}

impl<'a> OnItsWay<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, passage: Passage) -> Self {
        Self { shared, passage: Some(passage) }
    }

    pub(super) async fn exchange(&mut self, way: &Way, sealed: Sealed) -> Result<Response<FromUpstream>, Mishap> {
        match &mut self.passage {
            Some(passage) => self.shared.exchange(passage, way, sealed).await,
            None => Err(Mishap::NotSent("it has arrived already")),
        }
    }

    /// The answer is there, or will not come.
    pub(super) fn arrived(mut self) -> Option<Passage> {
        self.passage.take()
    }
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        // Writes have a task of their own, which outlasts their callers.
        let Some(passage @ Passage::Read(_)) = self.passage.take() else { return };
        let shared = Arc::clone(self.shared);
        let settling = async move {
            let left = Became::Lost("the caller left before the answer came");
            if passage.settle(&shared.engine, &left).await.is_err() {
                tracing::warn!("a call whose caller left could not be recorded");
            }
        };
        self.shared.under_way.spawn(settling.in_current_span());
    }
}

/// The head of an answer is there.
pub(crate) fn answered(status: StatusCode, length: Option<u64>) -> Became {
    Became::Answered { status: status.as_u16(), reason: status.canonical_reason().unwrap_or_default(), length }
}
