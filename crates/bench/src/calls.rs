//! A read through the tower layer with a Bearer token: token check, usage count, durable audit entry.

use crate::{
    StoreKind,
    child::{ServerProcess, ServerTask, database, serve_until_closed},
    load::{HttpRequest, RequestLoad, RequestSource},
    report::BenchmarkReport,
    rounds::{RoundArguments, take_turns},
};
use countersign_testkit::{Plane, Setup};
use http::Request;
use http_body_util::Full;
use serde::{Deserialize, Serialize};

const AGENTS: usize = 500;
const CALLS: &str = "a read through the layer";

#[derive(Clone, Serialize, Deserialize)]
struct CallingAgent {
    token: String,
    session_id: String,
    delegation_id: String,
}

struct Calls {
    address: String,
    agents: Vec<CallingAgent>,
    next: usize,
}

pub(crate) async fn run(arguments: &RoundArguments) -> anyhow::Result<()> {
    let server: ServerProcess<Vec<CallingAgent>> = ServerProcess::start(arguments.store, ServerTask::Calls)?;
    let source = Calls { address: server.address.clone(), agents: server.told.clone(), next: 0 };
    let mut loads = [RequestLoad::new(CALLS, server, source, arguments.in_flight())];
    let loads = take_turns(&mut loads, arguments.rounds()).await?;
    let report = BenchmarkReport {
        benchmark: "calls",
        title: "Reads through the layer with a Bearer token",
        counted: "request",
        store: arguments.store,
        rounds: arguments.rounds(),
        in_flight: arguments.in_flight(),
        ratios: vec![("cpu_in_v", loads.first().map(|load| load.cpu_in_v.median))],
        loads,
        members: serde_json::Map::new(),
        lines: Vec::new(),
        notes: &[],
    };
    report.print(arguments)
}

impl RequestSource for Calls {
    fn ahead(&mut self, count: usize) -> anyhow::Result<Vec<HttpRequest>> {
        let requests = (self.next..self.next + count).map(|n| self.request(&self.agents[n % self.agents.len()]));
        let requests = requests.collect();
        self.next += count;
        requests
    }
}

impl Calls {
    fn request(&self, agent: &CallingAgent) -> anyhow::Result<HttpRequest> {
        let request = Request::get("/calendar/events")
            .header("host", &self.address)
            .header("aap-version", "2.0")
            .header("authorization", format!("Bearer {}", agent.token))
            .header("x-agent-mode", "user_delegated")
            .header("x-agent-session", &agent.session_id)
            .header("x-agent-delegation", &agent.delegation_id)
            .header("x-agent-intent-type", "READ_CALENDAR");
        Ok(request.body(Full::default())?)
    }
}

/// The server: a plane with registered agents.
pub(crate) async fn serve(store: StoreKind) -> anyhow::Result<()> {
    let (place, folder) = database(store).await?;
    let plane = Plane::start(Setup::default(), place).await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read", "calendar.write"]).await;
    let mut agents = Vec::new();
    for _ in 0..AGENTS {
        let agent = plane.register(plane.acme(), &connected).await;
        let (token, session_id) = (agent.access_token, agent.session_id);
        agents.push(CallingAgent { token, session_id, delegation_id: connected.delegation_id.clone() });
    }
    serve_until_closed(plane.api(), (&plane.place, folder), agents).await
}
