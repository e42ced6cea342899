//! Live events. The position in the log survives lost connections and restarts of the service.

use super::{BASE, Mplp};
use crate::{
    aaep::{Backoff, Dice, sse::Decoder},
    service_client::{ServiceError, TIME_LIMIT},
    transport::{Chunks, FetchError, Request, Response, Streaming, StreamingResponse, Unreachable},
};
use bytes::Bytes;
use countersign_protocol::mplp::{BusEvent, MplpId};
use http::{HeaderValue, StatusCode, header};
use std::{collections::VecDeque, sync::Arc, time::Duration};

/// A service silent for this long is lost: ours sends something more often.
const HEARTBEAT: Duration = Duration::from_secs(45);
/// The largest refusal body.
const REFUSAL_CAP: usize = 64 * 1024;

/// A stream of events that reconnects by itself.
pub struct PlanFollower {
    mplp: Mplp,
    streaming: Arc<dyn Streaming>,
    after: Option<String>,
    /// Events returned since that position: they are repeated after a lost connection, and returned once.
    since: Vec<MplpId>,
    stream: Option<PlanEventStream>,
    heard: VecDeque<BusEvent>,
    backoff: Backoff,
    dice: Dice,
}

struct PlanEventStream {
    body: Box<dyn Chunks>,
    decoder: Decoder,
}

impl Mplp {
    /// Follows the events after a position in the log.
    pub fn follow(self, streaming: Arc<dyn Streaming>, after: Option<String>, dice: Dice) -> PlanFollower {
        let (since, stream, heard, backoff) = (Vec::new(), None, VecDeque::new(), Backoff::default());
        PlanFollower { mplp: self, streaming, after, since, stream, heard, backoff, dice }
    }
}

impl PlanFollower {
    /// The next event. Transient errors are retried; any other error is final, such as a revoked credential.
    pub async fn next(&mut self) -> Result<BusEvent, ServiceError> {
        loop {
            if let Some(event) = self.heard.pop_front() {
                return Ok(event);
            }
            match &mut self.stream {
                Some(stream) => {
                    let chunk = tokio::time::timeout(HEARTBEAT, stream.body.chunk()).await;
                    let chunk = chunk.unwrap_or(Err(FetchError::TimedOut.into()));
                    if !self.process_chunk(chunk)? {
                        self.wait_to_reconnect(None).await;
                    }
                }
                None => self.open().await?,
            }
        }
    }

    /// Whether the stream continues.
    fn process_chunk(&mut self, chunk: Result<Option<Bytes>, Unreachable>) -> Result<bool, ServiceError> {
        let (Ok(Some(bytes)), Some(stream)) = (chunk, &mut self.stream) else { return Ok(false) };
        let Ok(messages) = stream.decoder.push(&bytes) else { return Ok(false) };
        for message in messages {
            let event: BusEvent = serde_json::from_str(&message.data).map_err(|_| ServiceError::BadAnswer)?;
            self.backoff.reset();
            let known = self.since.contains(&event.event_id);
            match message.id.filter(|id| !id.is_empty() && Some(id) != self.after.as_ref()) {
                Some(place) => {
                    self.after = Some(place);
                    self.since.clear();
                }
                None if !known => self.since.push(event.event_id.clone()),
                None => {}
            }
            if !known {
                self.heard.push_back(event);
            }
        }
        Ok(true)
    }

    async fn open(&mut self) -> Result<(), ServiceError> {
        let opened = self.mplp.client.open(self.streaming.as_ref(), self.request(), TIME_LIMIT).await;
        let refused = match opened {
            Ok(StreamingResponse { status: StatusCode::OK, body, .. }) => {
                self.stream = Some(PlanEventStream { body, decoder: Decoder::default() });
                return Ok(());
            }
            Ok(other) => refusal(other).await,
            Err(why) => why,
        };
        if !refused.may_pass() {
            return Err(refused);
        }
        let retry_after = if let ServiceError::Refused(why) = &refused { why.retry_after } else { None };
        self.wait_to_reconnect(retry_after).await;
        Ok(())
    }

    fn request(&self) -> Request {
        let mut request = Request::get(self.mplp.client.url(&format!("{BASE}/events")));
        request.headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        request.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Some(place) = self.after.as_deref().and_then(|place| HeaderValue::from_str(place).ok()) {
            request.headers.insert("last-event-id", place);
        }
        request
    }

    async fn wait_to_reconnect(&mut self, retry_after: Option<u64>) {
        self.stream = None;
        let wait = self.backoff.next((self.dice)()).max(Duration::from_secs(retry_after.unwrap_or(0).min(600)));
        tokio::time::sleep(wait).await;
    }
}

/// The service's refusal instead of a stream.
async fn refusal(opened: StreamingResponse) -> ServiceError {
    let StreamingResponse { status, headers, mut body } = opened;
    let mut said = Vec::new();
    while let Ok(Some(bytes)) = body.chunk().await {
        said.extend_from_slice(&bytes);
        if said.len() > REFUSAL_CAP {
            break;
        }
    }
    ServiceError::refused(&Response { status, headers, body: said.into() }).unwrap_or(ServiceError::BadAnswer)
}
