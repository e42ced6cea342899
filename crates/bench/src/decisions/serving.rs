//! The server: a whole plane on a loopback port, with its scenario prepared.

use crate::{
    StoreKind,
    child::{database, serve_until_closed},
    cpu,
};
use countersign_engine::{Address, EventStream, ProjectAt};
use countersign_protocol::{aaep::handshake::SubscriptionRequest, decisions::ConfirmationRequest};
use countersign_testkit::{Plane, Setup, TestAgent, TestPerson, decisions::payments};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// The state prepared before the measurement.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scenario {
    /// Idle subscriptions of other people.
    pub(crate) others: usize,
    /// Subscriptions of the one person asked.
    pub(crate) listeners: usize,
    /// Questions that are pending already.
    pub(crate) pending: usize,
}

/// The agents and the subscriber of the cycles, and the cost of the scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CycleParticipants {
    /// API keys of agents, one for each concurrent cycle.
    pub(super) agents: Vec<String>,
    /// The token of the answering subscriber.
    pub(super) subscriber: String,
    /// Resident memory taken by the scenario.
    pub(super) grown_kib: f64,
    pub(super) delivery_us: f64,
}

const AGENTS: usize = 128;
const TOOL: &str = "payments.send";
/// Number of questions with a timed delivery.
const ROUNDS: usize = 20;

pub(crate) async fn serve(store: StoreKind, scenario: Scenario) -> anyhow::Result<()> {
    let (place, folder) = database(store).await?;
    let mut document = payments("calendar");
    let policy = &mut document.decisions;
    (policy.max_open_per_agent, policy.max_open_per_person) = (1_000_000, 1_000_000);
    policy.max_raised_per_hour = 1_000_000;
    document.decisions.max_timeout_seconds = 86_400;
    let plane = Plane::start(Setup { projects: vec![document], ..Setup::default() }.from_now(), place).await;
    let _time = plane.follow_system_clock();
    let alice = plane.person("alice").await;
    let mut agents = Vec::new();
    for _ in 0..AGENTS {
        agents.push(plane.agent_key("alice", &[TOOL]).await);
    }
    let subscriber = alice.subscriber(&plane).await.token;
    let before = resident_kib()?;
    let (delivery_us, _kept) = prepare(&plane, scenario, &alice, &agents).await?;
    let grown_kib = resident_kib()? - before;
    let agents = agents.into_iter().map(|agent| agent.token).collect();
    let told = CycleParticipants { agents, subscriber, grown_kib, delivery_us };
    serve_until_closed(plane.public.clone(), (&plane.place, folder), told).await
}

async fn prepare(
    plane: &Plane,
    scenario: Scenario,
    alice: &TestPerson,
    agents: &[TestAgent],
) -> anyhow::Result<(f64, Vec<EventStream>)> {
    let at = plane.engine.project(&Address::Unscoped).await?;
    let bob = plane.person("bob").await;
    // A new subscriber receives all pending questions of its person, so these are for another person.
    let unheard = plane.agent_key("bob", &[TOOL]).await;
    pending(plane, &at, scenario.pending, &unheard).await?;
    let mut kept = listening(plane, &at, &bob, scenario.others).await?;
    let mut own = listening(plane, &at, alice, scenario.listeners).await?;
    let delivery_us = match agents.first() {
        Some(heard) if !own.is_empty() => deliveries(plane, &at, (heard, &unheard), &mut own).await?,
        _ => 0.0,
    };
    kept.extend(own);
    Ok((delivery_us, kept))
}

/// Raises questions concurrently, so that they share commits.
async fn pending(plane: &Plane, at: &ProjectAt, count: usize, agent: &TestAgent) -> anyhow::Result<()> {
    let agent = plane.engine.decisions().authenticate_agent(at, &agent.token).await?;
    for start in (0..count).step_by(512) {
        let raised = (start..count.min(start + 512)).map(|n| {
            let (engine, at, agent) = (plane.engine.clone(), at.clone(), agent.clone());
            tokio::spawn(async move {
                engine.decisions().raise_confirmation(&at, &agent, &question(n, 86_400)).await.map(drop)
            })
        });
        for one in raised.collect::<Vec<_>>() {
            one.await??;
        }
    }
    Ok(())
}

/// Opens idle subscriptions of a person.
async fn listening(
    plane: &Plane,
    at: &ProjectAt,
    person: &TestPerson,
    count: usize,
) -> anyhow::Result<Vec<EventStream>> {
    let token = person.subscriber(plane).await.token;
    let listener = plane.engine.events().subscriber_by_token(at, &token).await?;
    let request = SubscriptionRequest::parse(&json!({
        "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "bench",
        "capabilities": { "supports_confirmation_reply": true, "coalesce_boundaries": ["none"] },
    }));
    let request = request.map_err(|why| anyhow::anyhow!(why))?;
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        let accepted = plane.engine.events().subscribe(at, &listener, &request).await;
        let accepted = accepted.map_err(|rejected| anyhow::anyhow!("{rejected:?}"))?;
        streams.push(plane.engine.events().stream(at, &listener, &accepted.subscription_id, None).await?);
    }
    Ok(streams)
}

/// The CPU time of this process from a question on until every subscription has it, without that of a question that nobody
/// hears, per delivered event: also on a busy machine the cost of a delivery, and not of waiting for a core.
async fn deliveries(
    plane: &Plane,
    at: &ProjectAt,
    (heard, unheard): (&TestAgent, &TestAgent),
    streams: &mut [EventStream],
) -> anyhow::Result<f64> {
    let (mut with, mut without, mut delivered) = (Vec::new(), Vec::new(), 0_usize);
    for n in 0..ROUNDS {
        let before = cpu::of_process("self")?;
        raise(plane, at, unheard, 1_000_000 + n).await?;
        let between = cpu::of_process("self")?;
        raise(plane, at, heard, 2_000_000 + n).await?;
        delivered = read_question(streams).await?;
        with.push(cpu::of_process("self")?.saturating_sub(between));
        without.push(between.saturating_sub(before));
    }
    with.sort();
    without.sort();
    let median = |all: &[Duration]| all.get(ROUNDS / 2).copied().unwrap_or_default();
    Ok(median(&with).saturating_sub(median(&without)).as_secs_f64() * 1e6 / delivered.max(1) as f64)
}

async fn raise(plane: &Plane, at: &ProjectAt, agent: &TestAgent, n: usize) -> anyhow::Result<()> {
    let agent = plane.engine.decisions().authenticate_agent(at, &agent.token).await?;
    plane.engine.decisions().raise_confirmation(at, &agent, &question(n, 3600)).await?;
    Ok(())
}

/// Reads the events of one question from every stream, and returns their number.
async fn read_question(streams: &mut [EventStream]) -> anyhow::Result<usize> {
    let mut delivered = 0;
    // A question in its own session is three events.
    for stream in streams {
        for _ in 0..3 {
            let event = tokio::time::timeout(Duration::from_secs(10), stream.next()).await?;
            anyhow::ensure!(event.is_some(), "a stream ended");
            delivered += 1;
        }
    }
    Ok(delivered)
}

fn question(n: usize, timeout_seconds: i64) -> ConfirmationRequest {
    ConfirmationRequest {
        action: "Transfer USD 82,000.00 to account 3344".into(),
        consequence: "The money leaves the account and cannot be called back".into(),
        tool: Some(TOOL.into()),
        arguments: json!({ "to": "acct-3344", "amount": "82000.00", "n": n }).as_object().cloned(),
        timeout_seconds: Some(timeout_seconds),
        ..ConfirmationRequest::default()
    }
}

fn resident_kib() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
