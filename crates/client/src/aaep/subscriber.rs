//! One subscription that stays: handshake, stream, and both again when the connection is lost.

use super::{
    backoff::{Backoff, Dice},
    error::SubscribeError,
    link::Link,
    received::Received,
    replier::Replier,
    sse::Decoder,
    verify::{Manifests, prove},
};
use crate::{
    agent::Refused,
    secret::Secret,
    transport::{Chunks, FetchError, Streaming, Unreachable},
};
use countersign_protocol::{
    aaep::{
        envelope::VERSION,
        handshake::{Capabilities, SubscriptionAccepted, SubscriptionRejected, SubscriptionRequest},
        manifest::Manifest,
    },
    ids::ProjectId,
    origin::Origin,
    time::UnixMillis,
};
use http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};
use tokio::time::Sleep;

/// A producer that is silent for so long is gone: ours says something every 10 s.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Which producer, as whom, and on what terms.
#[derive(Clone, Debug)]
pub struct SubscriberConfig {
    pub service: Origin,
    /// Its project there, if the service has several.
    pub project: Option<ProjectId>,
    /// What this subscriber calls itself; the same over restarts.
    pub subscriber_id: String,
    pub capabilities: Capabilities,
    pub manifests: Manifests,
    credential: Secret,
}

impl SubscriberConfig {
    /// A subscriber that answers, with a token that a person made for it (`cst_…`).
    pub fn new(service: Origin, credential: &str) -> Self {
        let capabilities = Capabilities {
            supports_confirmation_reply: Some(true),
            supports_clarification_reply: Some(true),
            supported_conformance_levels: Some(vec![1, 2, 3]),
            supported_extensions: Some(vec![countersign_protocol::aaep::extension::CONTEXT.to_owned()]),
            ..Capabilities::default()
        };
        Self {
            service,
            project: None,
            subscriber_id: "countersign-client".to_owned(),
            capabilities,
            manifests: Manifests::Any,
            credential: Secret::new(credential),
        }
    }

    pub(super) fn link(&self, transport: Arc<dyn Streaming>) -> Link {
        Link::new(transport, &self.service, self.project.as_ref(), self.credential.clone())
    }

    fn request(&self) -> SubscriptionRequest {
        let signed_only = matches!(self.manifests, Manifests::SignedOnly(_));
        let accept_signed_manifests_only = signed_only.then_some(true);
        SubscriptionRequest {
            aaep_version: VERSION.to_owned(),
            subscriber_id: self.subscriber_id.clone(),
            subscriber_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            capabilities: Capabilities { accept_signed_manifests_only, ..self.capabilities.clone() },
            ..SubscriptionRequest::default()
        }
    }
}

/// What the subscriber has to tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// The stream is open. `anew` if it is a new subscription: what is open will be told again.
    Connected {
        anew: bool,
    },
    Received(Box<Received>),
    /// Something came that is no event.
    Unreadable,
    /// The connection is lost; the next attempt is after that time.
    Lost {
        next: Duration,
    },
}

/// A listening subscription.
pub struct Subscriber {
    config: SubscriberConfig,
    link: Arc<Link>,
    terms: Terms,
    stream: Option<Stream>,
    last_event_id: Option<String>,
    heard: VecDeque<Heard>,
    /// Whether the subscription has had no stream yet.
    fresh: bool,
    backoff: Backoff,
    dice: Dice,
    waiting: Option<Pin<Box<Sleep>>>,
}

/// What a handshake came to.
struct Terms {
    accepted: SubscriptionAccepted,
    manifest: Option<Manifest>,
    /// The producer's clock at that moment.
    date: Option<UnixMillis>,
}

struct Stream {
    body: Box<dyn Chunks>,
    decoder: Decoder,
}

impl Subscriber {
    /// Agrees on terms with the producer. Its events come from [`Self::next`].
    pub async fn connect(
        config: SubscriberConfig,
        transport: Arc<dyn Streaming>,
        dice: Dice,
    ) -> Result<Self, SubscribeError> {
        let link = config.link(transport);
        let terms = handshake(&config, &link).await?;
        Ok(Self {
            config,
            link: Arc::new(link),
            terms,
            stream: None,
            last_event_id: None,
            heard: VecDeque::new(),
            fresh: true,
            backoff: Backoff::default(),
            dice,
            waiting: None,
        })
    }

    /// What was agreed.
    pub fn accepted(&self) -> &SubscriptionAccepted {
        &self.terms.accepted
    }

    /// What the producer's clock said when the terms were agreed: deadlines are by that clock.
    pub fn producer_date(&self) -> Option<UnixMillis> {
        self.terms.date
    }

    /// What the producer proved about itself, if that was demanded.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.terms.manifest.as_ref()
    }

    /// Sends answers for this subscription, from anywhere.
    pub fn replier(&self) -> Replier {
        Replier::new(Arc::clone(&self.link))
    }

    /// The next thing to know. Comes back by itself when the connection is lost, for as long as the producer wants
    /// this subscriber; an error is the end. To stop waiting for it loses nothing.
    pub async fn next(&mut self) -> Result<Heard, SubscribeError> {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return Ok(heard);
            }
            if let Some(waiting) = &mut self.waiting {
                waiting.await;
                self.waiting = None;
            }
            match &mut self.stream {
                Some(stream) => {
                    let chunk = tokio::time::timeout(HEARTBEAT, stream.body.chunk()).await;
                    self.take(chunk.unwrap_or(Err(FetchError::TimedOut.into())));
                }
                None => self.open().await?,
            }
        }
    }

    /// What came, or that nothing more will.
    fn take(&mut self, chunk: Result<Option<bytes::Bytes>, Unreachable>) {
        let Some(stream) = &mut self.stream else { return };
        let messages = match chunk {
            Ok(Some(bytes)) => stream.decoder.push(&bytes).ok(),
            _ => None,
        };
        let Some(messages) = messages else { return self.lost(None) };
        for message in messages {
            let received = Received::read(&message.data);
            self.last_event_id = message.id.filter(|id| !id.is_empty()).or(self.last_event_id.take());
            self.backoff.reset();
            self.heard.push_back(received.map_or(Heard::Unreadable, |received| Heard::Received(Box::new(received))));
        }
        // Closed is closed; the next attempt asks for a subscription of its own.
        let closed =
            |heard: &Heard| matches!(heard, Heard::Received(received) if matches!(**received, Received::Closed { .. }));
        if self.heard.iter().any(closed) {
            self.link.subscribed_as("");
            self.lost(None);
        }
    }

    fn lost(&mut self, retry_after: Option<u64>) {
        self.stream = None;
        let wait = self.backoff.next((self.dice)()).max(Duration::from_secs(retry_after.unwrap_or(0).min(600)));
        self.waiting = Some(Box::pin(tokio::time::sleep(wait)));
        self.heard.push_back(Heard::Lost { next: wait });
    }

    /// Opens the stream, with a new handshake where the producer no longer knows the subscription.
    async fn open(&mut self) -> Result<(), SubscribeError> {
        if self.link.subscription_id().is_empty() {
            match handshake(&self.config, &self.link).await {
                Ok(terms) => self.terms = terms,
                Err(why) => return self.unless_passing(why),
            }
            (self.last_event_id, self.fresh) = (None, true);
        }
        let opened = match self.link.events(self.last_event_id.as_deref()).await {
            Ok(opened) => opened,
            Err(why) => return self.unless_passing(why.into()),
        };
        match opened.status {
            StatusCode::OK => {
                self.stream = Some(Stream { body: opened.body, decoder: Decoder::default() });
                self.heard.push_back(Heard::Connected { anew: std::mem::take(&mut self.fresh) });
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                self.link.subscribed_as("");
                self.lost(None);
            }
            status => {
                let answer = crate::transport::Response { status, headers: opened.headers, body: bytes::Bytes::new() };
                return self.unless_passing(refusal(&answer));
            }
        }
        Ok(())
    }

    /// Trouble that may pass is waited out; a no is the end.
    fn unless_passing(&mut self, why: SubscribeError) -> Result<(), SubscribeError> {
        let retry_after = match &why {
            SubscribeError::Unreachable(Unreachable::Fetch(FetchError::Url(_)) | Unreachable::NotLoopback) => {
                return Err(why);
            }
            SubscribeError::Unreachable(_) => None,
            SubscribeError::Refused(refused) if refused.status == 429 || refused.status >= 500 => refused.retry_after,
            SubscribeError::Rejected(rejected) if rejected.retry_after_seconds.is_some() => {
                rejected.retry_after_seconds.and_then(|seconds| u64::try_from(seconds).ok())
            }
            _ => return Err(why),
        };
        self.lost(retry_after);
        Ok(())
    }
}

async fn handshake(config: &SubscriberConfig, link: &Link) -> Result<Terms, SubscribeError> {
    let request = serde_json::to_value(config.request());
    let request = request.map_err(|_| SubscribeError::BadAnswer("the request could not be written".into()))?;
    let answer = link.post("/subscriptions", &request).await?;
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if let Ok(rejected) = SubscriptionRejected::parse(&body) {
        return Err(SubscribeError::Rejected(rejected));
    }
    if !answer.status.is_success() {
        return Err(refusal(&answer));
    }
    let accepted = SubscriptionAccepted::parse(&body).map_err(SubscribeError::BadAnswer)?;
    if !accepted.aaep_version.starts_with("1.") {
        return Err(SubscribeError::OtherVersion(accepted.aaep_version));
    }
    let manifest = prove(&config.manifests, &accepted, link).await?;
    link.subscribed_as(&accepted.subscription_id);
    Ok(Terms { accepted, manifest, date: date(&answer.headers) })
}

fn date(headers: &HeaderMap) -> Option<UnixMillis> {
    let text = headers.get(header::DATE)?.to_str().ok()?;
    let parsed = jiff::fmt::rfc2822::parse(&text.replace("GMT", "+0000")).ok()?;
    Some(UnixMillis(parsed.timestamp().as_millisecond()))
}

fn refusal(answer: &crate::transport::Response) -> SubscribeError {
    match Refused::of_endpoint(answer) {
        Some(refused) => SubscribeError::Refused(Box::new(refused)),
        None => SubscribeError::BadAnswer(format!("status {}", answer.status.as_u16())),
    }
}
