//! A persistent subscription: handshake and stream, repeated after a lost connection.

use super::{
    backoff::{Backoff, Dice},
    error::SubscribeError,
    link::Link,
    received::Received,
    replier::Replier,
    sse::Decoder,
    trust::{Manifests, prove},
};
use crate::{
    agent::ServiceRefusal,
    secret::ClientSecret,
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

/// A producer silent for this long is lost: ours sends something every 10 s.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// The producer, the credential and the requested terms.
#[derive(Clone, Debug)]
pub struct SubscriberConfig {
    pub service: Origin,
    /// The project, if the service has several.
    pub project: Option<ProjectId>,
    /// This subscriber's own id; the same across restarts.
    pub subscriber_id: String,
    pub capabilities: Capabilities,
    pub manifests: Manifests,
    credential: ClientSecret,
}

impl SubscriberConfig {
    /// An answering subscriber, with a token issued by a person (`cst_…`).
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
            credential: ClientSecret::new(credential),
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

/// The results of a subscriber.
#[derive(Clone, Debug, PartialEq)]
pub enum SubscriberEvent {
    /// The stream is open. `anew` marks a new subscription: pending questions will be repeated.
    Connected {
        anew: bool,
    },
    Received(Box<Received>),
    /// A message that is no event.
    Unreadable,
    /// The connection is lost; the next attempt follows after that time.
    Lost {
        next: Duration,
    },
}

/// An active subscription.
pub struct SubscriberClient {
    config: SubscriberConfig,
    link: Arc<Link>,
    terms: HandshakeTerms,
    stream: Option<SubscriberStream>,
    last_event_id: Option<String>,
    heard: VecDeque<SubscriberEvent>,
    /// Whether the subscription has had no stream yet.
    fresh: bool,
    backoff: Backoff,
    dice: Dice,
    waiting: Option<Pin<Box<Sleep>>>,
}

/// The result of a handshake.
struct HandshakeTerms {
    accepted: SubscriptionAccepted,
    manifest: Option<Manifest>,
    /// The producer's clock at that moment.
    date: Option<UnixMillis>,
}

struct SubscriberStream {
    body: Box<dyn Chunks>,
    decoder: Decoder,
}

impl SubscriberClient {
    /// Negotiates terms with the producer. Its events come from [`Self::next`].
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

    /// The negotiated terms.
    pub fn accepted(&self) -> &SubscriptionAccepted {
        &self.terms.accepted
    }

    /// The producer's clock during the handshake: deadlines are by that clock.
    pub fn producer_date(&self) -> Option<UnixMillis> {
        self.terms.date
    }

    /// The verified manifest of the producer, if one was demanded.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.terms.manifest.as_ref()
    }

    /// Sends answers for this subscription, from anywhere.
    pub fn replier(&self) -> Replier {
        Replier::new(Arc::clone(&self.link))
    }

    /// The next result. Reconnects by itself as long as the producer accepts this subscriber; an error is final. Cancel
    /// safe.
    pub async fn next(&mut self) -> Result<SubscriberEvent, SubscribeError> {
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
                    self.process_chunk(chunk.unwrap_or(Err(FetchError::TimedOut.into())));
                }
                None => self.open().await?,
            }
        }
    }

    /// Processes a chunk, or the end of the stream.
    fn process_chunk(&mut self, chunk: Result<Option<bytes::Bytes>, Unreachable>) {
        let Some(stream) = &mut self.stream else { return };
        let messages = match chunk {
            Ok(Some(bytes)) => stream.decoder.push(&bytes).ok(),
            _ => None,
        };
        let Some(messages) = messages else { return self.schedule_reconnect(None) };
        for message in messages {
            let received = Received::read(&message.data);
            self.last_event_id = message.id.filter(|id| !id.is_empty()).or(self.last_event_id.take());
            self.backoff.reset();
            self.heard.push_back(
                received.map_or(SubscriberEvent::Unreadable, |received| SubscriberEvent::Received(Box::new(received))),
            );
        }
        // After a close, the next attempt requests a new subscription.
        let closed = |heard: &SubscriberEvent| matches!(heard, SubscriberEvent::Received(received) if matches!(**received, Received::Closed { .. }));
        if self.heard.iter().any(closed) {
            self.link.subscribed_as("");
            self.schedule_reconnect(None);
        }
    }

    fn schedule_reconnect(&mut self, retry_after: Option<u64>) {
        self.stream = None;
        let wait = self.backoff.next((self.dice)()).max(Duration::from_secs(retry_after.unwrap_or(0).min(600)));
        self.waiting = Some(Box::pin(tokio::time::sleep(wait)));
        self.heard.push_back(SubscriberEvent::Lost { next: wait });
    }

    /// Opens the stream, with a new handshake if the producer no longer knows the subscription.
    async fn open(&mut self) -> Result<(), SubscribeError> {
        if self.link.subscription_id().is_empty() {
            match handshake(&self.config, &self.link).await {
                Ok(terms) => self.terms = terms,
                Err(why) => return self.retry_if_transient(why),
            }
            (self.last_event_id, self.fresh) = (None, true);
        }
        let opened = match self.link.events(self.last_event_id.as_deref()).await {
            Ok(opened) => opened,
            Err(why) => return self.retry_if_transient(why.into()),
        };
        match opened.status {
            StatusCode::OK => {
                self.stream = Some(SubscriberStream { body: opened.body, decoder: Decoder::default() });
                self.heard.push_back(SubscriberEvent::Connected { anew: std::mem::take(&mut self.fresh) });
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                self.link.subscribed_as("");
                self.schedule_reconnect(None);
            }
            status => {
                let answer = crate::transport::Response { status, headers: opened.headers, body: bytes::Bytes::new() };
                return self.retry_if_transient(refusal(&answer));
            }
        }
        Ok(())
    }

    /// Retries after a transient error; a refusal is final.
    fn retry_if_transient(&mut self, why: SubscribeError) -> Result<(), SubscribeError> {
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
        self.schedule_reconnect(retry_after);
        Ok(())
    }
}

async fn handshake(config: &SubscriberConfig, link: &Link) -> Result<HandshakeTerms, SubscribeError> {
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
    Ok(HandshakeTerms { accepted, manifest, date: date(&answer.headers) })
}

fn date(headers: &HeaderMap) -> Option<UnixMillis> {
    let text = headers.get(header::DATE)?.to_str().ok()?;
    let parsed = jiff::fmt::rfc2822::parse(&text.replace("GMT", "+0000")).ok()?;
    Some(UnixMillis(parsed.timestamp().as_millisecond()))
}

fn refusal(answer: &crate::transport::Response) -> SubscribeError {
    match ServiceRefusal::of_endpoint(answer) {
        Some(refused) => SubscribeError::Refused(Box::new(refused)),
        None => SubscribeError::BadAnswer(format!("status {}", answer.status.as_u16())),
    }
}
