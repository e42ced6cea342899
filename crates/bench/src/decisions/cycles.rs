//! The load generator: agents that ask and wait, and workers that answer for the one subscriber.

use super::subscriber::{CycleConnection, SubscribedServer, send};
use crate::{gateway::RoundResult, load::connect, rounds::Load};
use anyhow::{Context as _, ensure};
use http::Method;
use serde_json::json;
use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{Mutex, mpsc},
    task::JoinSet,
};

/// Cycles on one server, a fixed number at a time.
pub(super) struct CycleLoad {
    name: &'static str,
    server: Rc<SubscribedServer>,
    in_flight: usize,
}

impl CycleLoad {
    pub(super) fn new(name: &'static str, server: &Rc<SubscribedServer>, in_flight: usize) -> Self {
        Self { name, server: Rc::clone(server), in_flight }
    }

    /// Runs so many cycles, without a time limit.
    pub(super) async fn exactly(&mut self, cycles: u64) -> anyhow::Result<RoundResult> {
        self.run(Pace { until: None, left: AtomicU64::new(cycles) }).await
    }

    async fn run(&mut self, pace: Pace) -> anyhow::Result<RoundResult> {
        let (process, pace) = (&self.server.process, Arc::new(pace));
        let mut answering = self.answering().await?;
        let mut agents = Vec::new();
        for n in 0..self.in_flight {
            let agent = process.told.agents.get(n % process.told.agents.len()).context("no agent")?;
            agents.push((connect(&process.address).await?, agent.clone()));
        }
        let meter = process.meter();
        let mut asking = JoinSet::new();
        for (connection, agent) in agents {
            asking.spawn(ask(connection, process.address.clone(), agent, Arc::clone(&pace)));
        }
        let mut latencies = Vec::new();
        loop {
            tokio::select! {
                Some(failed) = answering.join_next() => failed??,
                asked = asking.join_next() => match asked {
                    Some(asked) => latencies.extend(asked??),
                    None => break,
                },
            }
        }
        Ok(meter.stop(latencies))
    }

    /// As many workers as there are agents: a reply never waits for another.
    async fn answering(&self) -> anyhow::Result<JoinSet<anyhow::Result<()>>> {
        let SubscribedServer { process, subscription, questions, .. } = &*self.server;
        let mut answering = JoinSet::new();
        for _ in 0..self.in_flight {
            let (connection, token) = (connect(&process.address).await?, process.told.subscriber.clone());
            let (subscription, questions) = (subscription.clone(), Arc::clone(questions));
            answering.spawn(answer(connection, token, subscription, questions, process.address.clone()));
        }
        Ok(answering)
    }
}

impl Load for CycleLoad {
    fn name(&self) -> &'static str {
        self.name
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    async fn turn(&mut self, length: Duration) -> anyhow::Result<RoundResult> {
        self.run(Pace { until: Some(Instant::now() + length), left: AtomicU64::new(u64::MAX) }).await
    }
}

/// When the agents of a turn stop.
struct Pace {
    until: Option<Instant>,
    /// Cycles that were not begun yet.
    left: AtomicU64,
}

impl Pace {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    fn begins_another(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        self.until.is_none_or(|until| Instant::now() < until)
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }
}

/// One agent: asks, waits until it is woken, and starts again.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
async fn ask(
    mut connection: CycleConnection,
    address: String,
    agent: String,
    pace: Arc<Pace>,
) -> anyhow::Result<Vec<Duration>> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut took = Vec::new();
    while pace.begins_another() {
        let began = Instant::now();
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let body = json!({
            "action": "Transfer USD 82,000.00 to account 3344",
            "consequence": "The money leaves the account and cannot be called back",
            "tool": "payments.send",
            "arguments": { "to": "acct-3344", "amount": "82000.00", "n": format!("{n}-{agent}") },
        });
        let raised = send(&mut connection, &address, Method::POST, "/v1/confirmations", &agent, Some(&body)).await?;
        ensure!(raised.0 == 201, "raise: {} {}", raised.0, raised.1);
        let id = raised.1["decision_id"].as_str().context("no decision")?;
        let path = format!("/v1/decisions/{id}?wait=30");
        let settled = send(&mut connection, &address, Method::GET, &path, &agent, None).await?;
        ensure!(settled.1["state"] == "accepted", "wait: {} {}", settled.0, settled.1);
        took.push(began.elapsed());
    }
    Ok(took)
}

/// One worker of the person's subscriber: approves one question after the other.
async fn answer(
    mut connection: CycleConnection,
    token: String,
    subscription: String,
    questions: Arc<Mutex<mpsc::Receiver<String>>>,
    address: String,
) -> anyhow::Result<()> {
    loop {
        let next = questions.lock().await.recv().await;
        let reply_token = next.context("the event stream ended")?;
        let body = json!({
            "type": "confirmation.reply",
            "reply_token": reply_token,
            "decision": "accept",
            "subscription_id": subscription,
            "timestamp": now(),
        });
        let (status, _) =
            send(&mut connection, &address, Method::POST, "/aaep/v1/replies", &token, Some(&body)).await?;
        ensure!(status == 204, "reply: {status}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the server goes by the clock on the wall, and so does the generator")]
fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let millis = i64::try_from(since.as_millis()).unwrap_or(0);
    countersign_protocol::aaep::envelope::timestamp(countersign_protocol::time::UnixMillis(millis))
}
