//! A subscriber's WebSocket, over a real connection.

use super::Subscriber;
use crate::{Answer, Plane, aaep_judge, deadline::within_deadline};
use axum::body::Body;
use countersign_server::{Limits, ServedListener, serve};
use futures_util::{SinkExt as _, StreamExt as _};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Error, Message, client::IntoClientRequest as _},
};

/// A plane that listens on a port of loopback.
pub struct ListeningPlane {
    pub serving: ServedListener,
    pub address: SocketAddr,
}

impl Plane {
    pub async fn on_a_port(&self) -> ListeningPlane {
        self.on_a_port_with(Limits::default()).await
    }

    pub async fn on_a_port_with(&self, limits: Limits) -> ListeningPlane {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let serving = serve(listener, self.public.clone(), limits).expect("a listener");
        ListeningPlane { address: serving.address(), serving }
    }
}

impl ListeningPlane {
    #[expect(clippy::disallowed_methods, reason = "a test's client connects to the test's own server")]
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// A socket with these headers, or the status of the refusal.
    pub async fn socket(&self, headers: &[(&str, &str)]) -> Result<Socket, StatusCode> {
        self.socket_at("/aaep/v1/ws", headers).await
    }

    pub async fn socket_at(&self, path: &str, headers: &[(&str, &str)]) -> Result<Socket, StatusCode> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().expect("a request");
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            request.headers_mut().append(name, HeaderValue::from_str(value).expect("a value"));
        }
        match within_deadline("a socket", tokio_tungstenite::client_async(request, self.connect().await)).await {
            Ok((stream, response)) => Ok(Socket { stream, headers: response.headers().clone() }),
            Err(Error::Http(response)) => Err(response.status()),
            Err(other) => panic!("no socket: {other}"),
        }
    }

    /// A socket of a subscriber that speaks AAEP.
    pub async fn socket_of(&self, subscriber: &Subscriber) -> Socket {
        let bearer = format!("Bearer {}", subscriber.token);
        let headers = [("authorization", bearer.as_str()), ("sec-websocket-protocol", "aaep.v1")];
        self.socket(&headers).await.expect("a socket")
    }

    /// One request over a connection of its own.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let io = hyper_util::rt::TokioIo::new(self.connect().await);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.expect("a handshake");
        tokio::spawn(connection);
        let response = within_deadline("an answer", sender.send_request(request)).await.expect("an answer");
        Answer::read(response.map(Body::new)).await
    }
}

pub struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// Headers of the response that opened it.
    pub headers: HeaderMap,
}

/// An item received from a socket.
#[derive(Clone, Debug, PartialEq)]
pub enum SocketMessage {
    Message(Value),
    /// The close code, if there was one.
    Closed(Option<u16>),
}

impl Socket {
    pub async fn send(&mut self, message: &Value) {
        self.send_frame(Message::Text(message.to_string().into())).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.send_frame(Message::Text(text.into())).await;
    }

    pub async fn send_bytes(&mut self, bytes: &'static [u8]) {
        self.send_frame(Message::Binary(bytes.into())).await;
    }

    async fn send_frame(&mut self, frame: Message) {
        within_deadline("a frame to be sent", self.stream.send(frame)).await.expect("a frame that is sent");
    }

    pub async fn next(&mut self) -> SocketMessage {
        within_deadline("a message of the socket", self.read()).await
    }

    async fn read(&mut self) -> SocketMessage {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => {
                    return SocketMessage::Message(serde_json::from_str(&text).expect("JSON"));
                }
                Some(Ok(Message::Close(frame))) => return SocketMessage::Closed(frame.map(|frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return SocketMessage::Closed(None),
            }
        }
    }

    pub async fn message(&mut self) -> Value {
        match self.next().await {
            SocketMessage::Message(message) => message,
            SocketMessage::Closed(code) => panic!("the socket was closed: {code:?}"),
        }
    }

    /// The next event, checked.
    pub async fn event(&mut self) -> Value {
        let event = self.message().await;
        aaep_judge::judge_event(&event);
        event
    }

    pub async fn next_of(&mut self, name: &str) -> Value {
        let found = async {
            loop {
                let SocketMessage::Message(event) = self.read().await else { panic!("the socket was closed") };
                aaep_judge::judge_event(&event);
                if event["type"] == format!("aaep:agent.{name}") {
                    return event;
                }
            }
        };
        within_deadline(name, found).await
    }

    /// The close code; messages before it are skipped.
    pub async fn code(&mut self) -> Option<u16> {
        let closed = async {
            loop {
                if let SocketMessage::Closed(code) = self.read().await {
                    return code;
                }
            }
        };
        within_deadline("the end of the socket", closed).await
    }
}
