//! A reader of server-sent events.

use crate::{aaep_judge, deadline::within_deadline};
use axum::{
    Router,
    body::{Body, BodyDataStream},
};
use futures_util::StreamExt as _;
use http::{HeaderMap, Request};
use serde_json::Value;
use tower::ServiceExt as _;

pub struct ReceivedEvents {
    pub headers: HeaderMap,
    body: BodyDataStream,
    buffer: String,
}

/// One event of the stream, as on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamLine {
    pub event: Option<String>,
    pub id: Option<String>,
    pub data: Option<String>,
    pub retry: Option<String>,
    pub is_comment: bool,
}

impl ReceivedEvents {
    pub async fn open(node: &Router, request: Request<Body>) -> Self {
        let response = within_deadline("a stream", node.clone().oneshot(request)).await.expect("a router never fails");
        let (parts, body) = response.into_parts();
        if parts.status != 200 {
            let answer = crate::Answer::read(http::Response::from_parts(parts, body)).await;
            panic!("no stream: {} {}", answer.status, answer.text());
        }
        Self { headers: parts.headers, body: body.into_data_stream(), buffer: String::new() }
    }

    /// The next block of lines, or `None` at the end of the stream.
    pub async fn line(&mut self) -> Option<StreamLine> {
        within_deadline("a line of the stream", self.read()).await
    }

    async fn read(&mut self) -> Option<StreamLine> {
        loop {
            if let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let line = lines_of(block);
                self.buffer = rest.to_owned();
                return Some(line);
            }
            let chunk = self.body.next().await?.expect("a body in memory");
            self.buffer.push_str(std::str::from_utf8(&chunk).expect("text"));
            assert!(!self.buffer.contains('\r'), "lines end in LF alone");
        }
    }

    /// The next event, checked. Comments are skipped.
    pub async fn event(&mut self) -> Value {
        let event = self.message().await;
        aaep_judge::judge_event(&event);
        event
    }

    /// The next document of any type.
    pub async fn message(&mut self) -> Value {
        within_deadline("a message on the stream", self.read_message()).await
    }

    async fn read_message(&mut self) -> Value {
        loop {
            let line = self.read().await.expect("the stream goes on");
            if let Some(data) = line.data {
                return serde_json::from_str(&data).expect("a line of JSON");
            }
        }
    }

    /// Checks and skips events until one of this type, given by its name below `aaep:agent.`.
    pub async fn next_of(&mut self, name: &str) -> Value {
        let found = async {
            loop {
                let event = self.read_message().await;
                aaep_judge::judge_event(&event);
                if event["type"] == format!("aaep:agent.{name}") {
                    return event;
                }
            }
        };
        within_deadline(name, found).await
    }

    /// Reads to the end; returns the remaining events.
    pub async fn rest(&mut self) -> Vec<StreamLine> {
        let rest = async {
            let mut lines = Vec::new();
            while let Some(line) = self.read().await {
                lines.push(line);
            }
            lines
        };
        within_deadline("the end of the stream", rest).await
    }
}

fn lines_of(block: &str) -> StreamLine {
    let mut line = StreamLine::default();
    for text in block.split('\n') {
        match text.split_once(':').map(|(name, value)| (name, value.trim_start())) {
            Some(("", _)) => line.is_comment = true,
            Some(("event", value)) => line.event = Some(value.to_owned()),
            Some(("id", value)) => line.id = Some(value.to_owned()),
            Some(("data", value)) => line.data = Some(value.to_owned()),
            Some(("retry", value)) => line.retry = Some(value.to_owned()),
            other => panic!("no line of a stream: {other:?} in {text:?}"),
        }
    }
    line
}
