//! State shared by the two endpoints of one token on this node: open streams, pending responses and offered choices.

use super::choices::{self, Offered};
use crate::config::node::Aaep;
use countersign_engine::Refusal;
use countersign_protocol::hash::Digest;
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::mpsc;

/// Every token in use, by its digest: the tokens themselves are not kept.
#[derive(Default)]
pub(crate) struct LegacyDoor {
    allowed: Aaep,
    tokens: Arc<Mutex<HashMap<Digest, Token>>>,
}

#[derive(Default)]
struct Token {
    /// The open streams, the latest last.
    streams: Vec<OpenLegacyStream>,
    /// Responses sent while no stream was open, oldest first.
    waiting: Vec<Handover>,
    offered: Offered,
    next: u64,
}

struct OpenLegacyStream {
    number: u64,
    tell: mpsc::UnboundedSender<Handover>,
    subscription: Option<String>,
}

/// Maximum number of responses kept for the next stream.
const MOST_WAITING: usize = 16;

/// A response for the stream, and for an accepted handshake the subscription that continues there.
#[derive(Clone, Debug)]
pub(super) struct Handover {
    pub(super) answer: String,
    pub(super) subscription_id: Option<String>,
    is_handshake: bool,
}

impl Handover {
    pub(super) fn handshake(answer: &impl serde::Serialize, subscription_id: Option<String>) -> Result<Self, Refusal> {
        let answer = serde_json::to_string(answer).map_err(|_| Refusal::Internal)?;
        Ok(Self { answer, subscription_id, is_handshake: true })
    }

    pub(super) fn message(message: &Value) -> Self {
        Self { answer: message.to_string(), subscription_id: None, is_handshake: false }
    }
}

impl LegacyDoor {
    pub(crate) fn new(allowed: Aaep) -> Self {
        Self { allowed, tokens: Arc::default() }
    }

    pub(super) fn allowed(&self) -> &Aaep {
        &self.allowed
    }

    /// Registers a stream and takes its pending responses.
    pub(super) fn enter(&self, name: Digest) -> (StreamSlot, Vec<Handover>) {
        let mut tokens = lock(&self.tokens);
        let token = tokens.entry(name).or_default();
        let (tell, told) = mpsc::unbounded_channel();
        token.next += 1;
        token.streams.push(OpenLegacyStream { number: token.next, tell, subscription: None });
        let place = StreamSlot { tokens: Arc::clone(&self.tokens), name, number: token.next, told };
        (place, std::mem::take(&mut token.waiting))
    }

    /// Sends a response to the latest stream, or keeps it for the next one. Returns the response it displaced: a new
    /// handshake replaces the previous one, and of the others only the latest are kept.
    pub(super) fn hand_over(&self, name: Digest, handover: Handover) -> Option<Handover> {
        let mut tokens = lock(&self.tokens);
        let token = tokens.entry(name).or_default();
        if let Some(open) = token.streams.last() {
            return open.tell.send(handover).err().map(|unsent| unsent.0);
        }
        let replaced = match handover.is_handshake {
            true => token.waiting.iter().position(|waiting| waiting.is_handshake),
            false => None,
        };
        let full = token.waiting.len() >= MOST_WAITING;
        let replaced = replaced.or_else(|| token.waiting.iter().position(|waiting| full && !waiting.is_handshake));
        let replaced = replaced.map(|at| token.waiting.remove(at));
        token.waiting.push(handover);
        replaced
    }

    /// The subscriptions on the streams of a token.
    pub(super) fn heard_by(&self, name: Digest) -> Vec<String> {
        let tokens = lock(&self.tokens);
        let streams = tokens.get(&name).map(|token| token.streams.iter());
        streams.into_iter().flatten().filter_map(|open| open.subscription.clone()).collect()
    }

    /// Replaces a label in a reply with its value.
    pub(super) fn say_value_for_label(&self, name: Digest, reply: &mut Value) {
        if let Some(token) = lock(&self.tokens).get(&name) {
            token.offered.say_value_for_label(reply);
        }
    }
}

/// The registration of one open stream.
pub(super) struct StreamSlot {
    tokens: Arc<Mutex<HashMap<Digest, Token>>>,
    name: Digest,
    number: u64,
    told: mpsc::UnboundedReceiver<Handover>,
}

impl StreamSlot {
    /// Waits for the next response for the stream.
    pub(super) async fn handed_over(&mut self) -> Handover {
        match self.told.recv().await {
            Some(handover) => handover,
            None => std::future::pending().await,
        }
    }

    /// Assigns a subscription to this stream and returns the previous one.
    pub(super) fn hears(&mut self, subscription: String) -> Option<String> {
        let mut tokens = lock(&self.tokens);
        let open = tokens.get_mut(&self.name)?.streams.iter_mut().find(|open| open.number == self.number)?;
        open.subscription.replace(subscription)
    }

    /// The event with the labels of its choices as `options`, for clients that only know those.
    pub(super) fn with_options(&self, json: &Arc<str>) -> Arc<str> {
        let Some((with, offer)) = choices::with_options(json) else { return Arc::clone(json) };
        if let Some(token) = lock(&self.tokens).get_mut(&self.name) {
            token.offered.remember(offer);
        }
        with.into()
    }

    /// Removes the stream and returns its subscription.
    pub(super) fn leaves(&mut self) -> Option<String> {
        let mut tokens = lock(&self.tokens);
        let token = tokens.get_mut(&self.name)?;
        let at = token.streams.iter().position(|open| open.number == self.number)?;
        let left = token.streams.remove(at);
        if token.streams.is_empty() && token.waiting.is_empty() {
            tokens.remove(&self.name);
        }
        left.subscription
    }
}

/// A stream that failed to start is removed as well.
impl Drop for StreamSlot {
    fn drop(&mut self) {
        let _left = self.leaves();
    }
}

fn lock(tokens: &Mutex<HashMap<Digest, Token>>) -> MutexGuard<'_, HashMap<Digest, Token>> {
    tokens.lock().unwrap_or_else(PoisonError::into_inner)
}
