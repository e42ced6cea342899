//! The agent's script for each request of the suite.

use countersign_engine::{AgentPrincipal, Engine, ProjectAt};
use countersign_protocol::{
    aaep::ingest::{IngestedEvent, published},
    decisions::{
        ClaimRequest, ClarificationRequest, ConfirmationRequest, DecisionDocument, OutcomeRequest, OutcomeStatus, State,
    },
};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;

/// Long enough that a question ignored by the suite does not expire while other tests run.
const TIMEOUT_S: i64 = 600;

pub(super) struct Voice {
    engine: Arc<Engine>,
    at: ProjectAt,
    token: String,
    under_way: Mutex<Option<(Speaker, JoinHandle<()>)>>,
}

impl Voice {
    pub(super) fn new(engine: Arc<Engine>, at: ProjectAt, token: String) -> Self {
        Self { engine, at, token, under_way: Mutex::default() }
    }

    /// Opens a session for a request; returns its id. An earlier session that is still open is cancelled: a new request
    /// replaces the old one.
    pub(super) async fn begin(&self, text: &str) -> String {
        let earlier = self.under_way.lock().unwrap().take();
        if let Some((speaker, script)) = earlier.filter(|(_, script)| !script.is_finished()) {
            script.abort();
            speaker.cancel().await;
        }
        let speaker = self.starts(text).await;
        let script = tokio::spawn(play(speaker.clone(), text.to_owned()));
        let session = speaker.session.clone();
        *self.under_way.lock().unwrap() = Some((speaker, script));
        session
    }

    async fn starts(&self, text: &str) -> Speaker {
        let agent = self.engine.decisions().authenticate_agent(&self.at, &self.token).await.expect("an agent");
        let started = event("session.started", "On it.", json!({ "requested_by": "the suite" }));
        let session = self.engine.events().open_aaep_session(&self.at, &agent, sound(&started)).await;
        let session = session.unwrap_or_else(|why| panic!("no session for {text:?}: {why}")).id;
        let (engine, at, token) = (Arc::clone(&self.engine), self.at.clone(), self.token.clone());
        Speaker { engine, at, token, agent, session }
    }
}

/// The agent in one session.
#[derive(Clone)]
struct Speaker {
    engine: Arc<Engine>,
    at: ProjectAt,
    token: String,
    agent: AgentPrincipal,
    session: String,
}

async fn play(agent: Speaker, text: String) {
    let asked_for = |what: &str| text.contains(what);
    match () {
        () if asked_for("use a tool to fetch") => agent.fetches().await,
        () if asked_for("api_key=") => agent.keeps_a_secret().await,
        () if asked_for("three-sentence") => agent.writes().await,
        () if asked_for("does not exist") || asked_for("deliberate error") => agent.fails().await,
        () if asked_for("book a meeting room") => agent.asks_and_does("rooms.book", "Book the small room").await,
        () if asked_for("send an email") => agent.asks_and_does("mail.send", "Send the e-mail").await,
        () if asked_for("delete record") => agent.asks_and_does("records.delete", "Delete record 12345").await,
        () if asked_for("confirmation for any action") => agent.asks_and_does("rooms.book", "Book the big room").await,
        () if asked_for("via clarification") => agent.asks_where().await,
        () if asked_for("via handoff") => agent.hands_over().await,
        () if asked_for("rainbows") => agent.explains_at_length().await,
        () => agent.is_brief().await,
    }
}

impl Speaker {
    /// Four events including the first of the session: the suite reads five at most.
    async fn is_brief(&self) {
        self.change_state("idle", "writing_output").await;
        self.writes_all(&["The moon has no air."]).await;
        self.is_done().await;
    }

    async fn writes(&self) {
        self.change_state("idle", "writing_output").await;
        self.writes_all(&["It rained. ", "Then it stopped. ", "The street was wet."]).await;
        self.is_done().await;
    }

    async fn fetches(&self) {
        self.change_state("idle", "calling_tool").await;
        self.calls("data.fetch", "the table of today").await;
        self.change_state("calling_tool", "writing_output").await;
        self.writes_all(&["Three rows."]).await;
        self.is_done().await;
    }

    /// The credential appears in none of its texts.
    async fn keeps_a_secret(&self) {
        self.change_state("idle", "calling_tool").await;
        self.calls("web.get", "an address, and a credential that is not shown").await;
        self.is_done().await;
    }

    async fn fails(&self) {
        self.change_state("idle", "thinking").await;
        let why = json!({ "error_category": "permanent", "error_code": "NO_SUCH_TOOL", "recoverable": false,
            "urgency": "critical" });
        self.publish("session.errored", "There is no such tool.", why).await;
    }

    async fn hands_over(&self) {
        self.change_state("idle", "handing_off").await;
        let handoff = json!({ "reason": "a person was asked for", "target_kind": "human", "urgency": "critical" });
        self.publish("handoff.requested", "A person takes over.", handoff).await;
        self.is_done().await;
    }

    /// Far more events than a subscriber with one event a second receives while the suite counts, and all of them
    /// progress: they are coalesced into one event, so that nothing is pending when the next handshake begins.
    async fn explains_at_length(&self) {
        for step in 1..=20 {
            let progress = json!({ "progress": { "step": step, "total_steps": 20 } });
            self.publish("progress.updated", "One step further.", progress).await;
        }
        self.is_done().await;
    }

    /// Asks, and acts after an approval. After a rejection it cancels the session.
    async fn asks_and_does(&self, tool: &str, action: &str) {
        self.change_state("idle", "thinking").await;
        let decision = self.confirms(tool, action).await;
        if decision.state != State::Accepted {
            let by = json!({ "cancelled_by": "user", "cancellation_reason": "not_wanted" });
            return self.publish("session.cancelled", "Nothing was done.", by).await;
        }
        let claim = ClaimRequest { tool: None, arguments: None, digest: Some(decision.digest.clone()) };
        self.engine.decisions().claim(&self.at, &self.agent, &decision.decision_id, &claim).await.expect("a claim");
        let done = OutcomeRequest { status: OutcomeStatus::Committed, execution_id: None, error_message: None };
        self.engine.decisions().report(&self.at, &self.agent, &decision.decision_id, &done).await.expect("an outcome");
        self.is_done().await;
    }

    async fn confirms(&self, tool: &str, action: &str) -> DecisionDocument {
        let body = ConfirmationRequest {
            action: action.into(),
            consequence: "It is done at once.".into(),
            tool: Some(tool.into()),
            summary_normal: Some(format!("May I? {action}.")),
            timeout_seconds: Some(TIMEOUT_S),
            session_id: Some(self.session.clone()),
            ..ConfirmationRequest::default()
        };
        let raised =
            self.engine.decisions().raise_confirmation(&self.at, &self.agent, &body).await.expect("a question");
        self.settled(&raised.document.decision_id).await
    }

    async fn asks_where(&self) {
        self.change_state("idle", "thinking").await;
        let body = ClarificationRequest {
            question: "Where are you?".into(),
            timeout_seconds: Some(TIMEOUT_S),
            session_id: Some(self.session.clone()),
            ..ClarificationRequest::default()
        };
        let raised =
            self.engine.decisions().raise_clarification(&self.at, &self.agent, &body).await.expect("a question");
        let decision = self.settled(&raised.document.decision_id).await;
        let place = decision.response.unwrap_or_default();
        let completed = json!({ "output_summary": format!("The weather in {place}: warm.") });
        self.publish("session.completed", "It is warm there.", completed).await;
    }

    async fn settled(&self, decision: &str) -> DecisionDocument {
        loop {
            let wait = Duration::from_secs(50);
            let seen = self
                .engine
                .decisions()
                .await_decision(&self.at, &self.token, decision, wait)
                .await
                .expect("a decision");
            if seen.state != State::Pending {
                return seen;
            }
        }
    }

    async fn change_state(&self, from: &str, to: &str) {
        self.publish("state.changed", &format!("Now {to}."), json!({ "from_state": from, "to_state": to })).await;
    }

    async fn calls(&self, tool: &str, with: &str) {
        let invoked = json!({ "tool": tool, "tool_call_id": "call_1", "args_summary": with });
        self.publish("tool.invoked", "A tool runs.", invoked).await;
        let completed = json!({ "tool": tool, "tool_call_id": "call_1", "status": "success" });
        self.publish("tool.completed", "The tool is done.", completed).await;
    }

    async fn writes_all(&self, chunks: &[&str]) {
        let mut position = 0;
        for (place, chunk) in chunks.iter().enumerate() {
            let complete = place + 1 == chunks.len();
            let hint = if complete { "completion" } else { "sentence" };
            let output = json!({ "chunk": chunk, "position": position, "complete": complete, "coalesce_hint": hint,
                "output_id": "out_1" });
            self.publish("output.streaming", "", output).await;
            position += chunk.chars().count();
        }
    }

    async fn is_done(&self) {
        self.publish("session.completed", "Done.", json!({})).await;
    }

    async fn publish(&self, name: &str, summary: &str, members: Value) {
        let said = event(name, summary, members);
        let spoke = self.engine.events().publish(&self.at, &self.agent, &self.session, sound(&said)).await;
        spoke.unwrap_or_else(|why| panic!("{why}: {said}"));
    }

    /// The session may have just ended.
    async fn cancel(&self) {
        let cancelled = event("session.cancelled", "Something else was asked for.", json!({ "cancelled_by": "user" }));
        let _over = self.engine.events().publish(&self.at, &self.agent, &self.session, sound(&cancelled)).await;
    }
}

fn event(name: &str, summary: &str, members: Value) -> Value {
    let mut event = json!({ "type": format!("aaep:agent.{name}") });
    let all = event.as_object_mut().expect("an object");
    if !summary.is_empty() {
        all.insert("summary_normal".into(), json!(summary));
    }
    all.extend(members.as_object().expect("members").clone());
    event
}

fn sound(event: &Value) -> IngestedEvent {
    published(event).unwrap_or_else(|problems| panic!("{problems:?}: {event}"))
}
