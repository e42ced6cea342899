//! A route's cancel endpoint, or the one of its undo window: its rules, and the meaning of its responses.

use crate::{
    decision::probe::{ProbeResponse, matches_response},
    records::CancelCall,
};
use countersign_protocol::{
    hash::Digest,
    project::{ProjectDocument, RouteCancel, RouteUndo, Upstream},
};

/// What is known after a request to undo a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelResult {
    Undone,
    /// The upstream itself says that it undid nothing.
    Refused {
        status: u16,
    },
    NotSent {
        why: &'static str,
    },
    Unknown,
}

/// Why it is unknown whether a call was undone.
pub const LOST: &str = "the service was asked to undo it, and its answer was lost";

impl CancelResult {
    /// Why the call remains; none if it was undone, or if nobody knows.
    pub fn why_it_remains(&self) -> Option<String> {
        match self {
            Self::Refused { status } => Some(format!("the service refused to undo it: {status}")),
            Self::NotSent { why } => Some((*why).to_owned()),
            Self::Undone | Self::Unknown => None,
        }
    }

    /// Of a request that was sent. Only a clear response counts: a 4xx other than 408 and 425 undid nothing.
    pub fn of(cancel: &RouteCancel, response: Option<&ProbeResponse>) -> Self {
        let Some(response) = response else { return Self::Unknown };
        let undone = match &cancel.undone {
            Some(answer) => matches_response(answer, response),
            None => (200..300).contains(&response.status) && response.status != 202,
        };
        match response.status {
            _ if undone => Self::Undone,
            408 | 425 => Self::Unknown,
            status @ 400..500 => Self::Refused { status },
            _ => Self::Unknown,
        }
    }
}

/// Digest of a cancel endpoint and of its upstream.
pub fn cancel_rules(cancel: &RouteCancel, upstream: &Upstream) -> Digest {
    let said = serde_json::json!({ "cancel": cancel, "upstream": upstream.id, "url": upstream.url });
    Digest::of(said.to_string().as_bytes())
}

impl CancelCall {
    /// The endpoint and its upstream, if unchanged since the write began.
    pub fn unchanged_in<'a>(&self, document: &'a ProjectDocument) -> Option<(&'a RouteCancel, &'a Upstream)> {
        let route = document.routes.iter().find(|route| route.id == self.route)?;
        let upstream = document.upstream_of(route)?;
        let endpoints = [route.cancel.as_ref(), route.undo.as_ref().and_then(RouteUndo::endpoint)];
        let unchanged = |endpoint: &&RouteCancel| cancel_rules(endpoint, upstream) == self.rules;
        Some((endpoints.into_iter().flatten().find(unchanged)?, upstream))
    }
}
