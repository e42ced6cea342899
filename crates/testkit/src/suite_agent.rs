//! The agent driven by the conformance suite of AAEP's authors, behind the endpoints `GET /events`, `POST /messages`
//! and the socket `/ws` that the suite knows. Sessions, questions and subscriptions are the plane's own; the few
//! messages made up for the suite are marked as such.

mod connection;
mod script;

use crate::{Plane, Setup, TestPerson, calendar};
use axum::{
    Json, Router,
    body::Body,
    extract::{
        State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use connection::SuiteConnection;
use countersign_engine::{Engine, Listener, ProjectAt};
use countersign_protocol::aaep::reply;
use futures_util::{SinkExt as _, StreamExt as _, stream};
use http::{StatusCode, header};
use script::Voice;
use serde_json::{Value, json};
use std::{convert::Infallible, sync::Arc};
use tokio::sync::{Mutex, mpsc};

impl Setup {
    /// A project in which the suite's agent may do everything the suite asks for, each with approval.
    pub fn suite() -> Self {
        let mut document = calendar("calendar");
        let actions = json!([
            { "name": "rooms.book", "irreversible": false, "risk": "low" },
            { "name": "mail.send", "risk": "low" },
            { "name": "records.delete", "risk": "high" },
        ]);
        document.actions = serde_json::from_value(actions).expect("policies");
        Self { projects: vec![document], ..Self::default() }
    }
}

/// The agent and its subscriber, which is the suite.
#[derive(Clone)]
pub struct SuiteAgent(Arc<SuiteState>);

struct SuiteState {
    engine: Arc<Engine>,
    at: ProjectAt,
    listener: Listener,
    voice: Voice,
    tell: mpsc::UnboundedSender<StreamItem>,
    /// Locked by the open stream. Messages sent before there is one wait here.
    told: Arc<Mutex<mpsc::UnboundedReceiver<StreamItem>>>,
}

/// Messages for the stream, in the order in which they were sent.
enum StreamItem {
    UserInput(String),
    SubscriptionRequest(Value),
}

impl SuiteAgent {
    /// Subscribes with a token of the person responsible for the agent.
    pub async fn start(plane: &Plane, person: &TestPerson) -> Self {
        let at = plane.at().await;
        let token = person.subscriber(plane).await.token;
        let listener = plane.engine.events().subscriber_by_token(&at, &token).await.expect("a listener");
        let agent = plane.agent_key(&person.name, &["rooms.book", "mail.send", "records.delete"]).await;
        let voice = Voice::new(Arc::clone(&plane.engine), at.clone(), agent.token);
        let (tell, told) = mpsc::unbounded_channel();
        let told = Arc::new(Mutex::new(told));
        Self(Arc::new(SuiteState { engine: Arc::clone(&plane.engine), at, listener, voice, tell, told }))
    }

    /// The endpoints and the socket, to be mounted under a base path.
    pub fn router(&self) -> Router {
        let paths = Router::new().route("/events", get(events)).route("/messages", post(messages));
        paths.route("/ws", get(socket)).with_state(self.clone())
    }
}

async fn events(State(suite): State<SuiteAgent>) -> Response {
    let connection = SuiteConnection::open(suite).await;
    let frames = stream::unfold(connection, |mut connection| async move {
        let frame = connection.next().await?;
        Some((Ok::<_, Infallible>(frame), connection))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response()
}

async fn messages(State(SuiteAgent(suite)): State<SuiteAgent>, Json(message): Json<Value>) -> StatusCode {
    suite.handle_message(message).await
}

async fn socket(State(suite): State<SuiteAgent>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|socket| serve_socket(suite, socket))
}

/// Receives and sends concurrently, so that neither direction blocks the other.
async fn serve_socket(suite: SuiteAgent, socket: WebSocket) {
    let (mut tells, mut hears) = socket.split();
    let taking = Arc::clone(&suite.0);
    let taken = tokio::spawn(async move {
        while let Some(Ok(frame)) = hears.next().await {
            if let Message::Text(text) = frame {
                taking.handle_message(serde_json::from_str(&text).expect("a message of the suite")).await;
            }
        }
    });
    let mut connection = SuiteConnection::open(suite).await;
    while !taken.is_finished() {
        let Some(message) = connection.message().await else { break };
        let frame = message.map_or_else(|| Message::Ping(Vec::new().into()), |json| Message::Text(json.into()));
        if tells.send(frame).await.is_err() {
            break;
        }
    }
    taken.abort();
}

impl SuiteState {
    /// Every reply is accepted, as always: the suite names subscriptions that never existed.
    async fn handle_message(&self, message: Value) -> StatusCode {
        let told = match message {
            Value::Object(ref asked) if asked.get("kind").is_some_and(|kind| kind == "user_input") => {
                StreamItem::UserInput(message["text"].as_str().unwrap_or_default().to_owned())
            }
            Value::Object(ref asked) if asked.get("type").is_some_and(|kind| kind == "subscription.request") => {
                StreamItem::SubscriptionRequest(message)
            }
            message => return self.handle_reply(&message).await,
        };
        match self.tell.send(told) {
            Ok(()) => StatusCode::ACCEPTED,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    async fn handle_reply(&self, message: &Value) -> StatusCode {
        let Ok(reply) = reply::parse(message, true) else { return StatusCode::BAD_REQUEST };
        match self.engine.events().reply(&self.at, &self.listener, &reply, true).await {
            Ok(()) => StatusCode::NO_CONTENT,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
