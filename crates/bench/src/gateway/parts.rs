//! Countersign's processes: one fills a database, one serves it, one measures the unit.

use super::{
    messages::{AgentKeyFile, AgentSession, ContenderReady, Database, PATH, Point, Prepared, Preparing, ServingConfig},
    unit,
};
use crate::StoreKind;
use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use countersign_engine::{
    Address, Clock, Engine,
    store::{PostgresLocation, StoreLocation},
};
use countersign_gateway::CountersignLayer;
use countersign_jose::ProofKey;
use countersign_protocol::origin::Origin;
use countersign_testkit::{
    Connected, Plane, Setup, TestPerson,
    bank::{GATEWAY, GatewayListener, Holder, bank},
    postgres,
};
use http::Response;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use serde_json::json;
use std::{
    convert::Infallible,
    io::Write as _,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::net::TcpListener;
use tower::{Layer as _, service_fn, util::MapRequest};

mod arrived;

/// The database was filled before any serving process started.
const FILLED_S: i64 = super::start::UP_FOR_S + 59;

#[derive(clap::Args)]
pub(crate) struct MeasuredPart {
    part: String,
    task: String,
}

pub(crate) async fn run_part(part: MeasuredPart) -> anyhow::Result<()> {
    match part.part.as_str() {
        "unit" => announce(&unit::one_verification()?.as_nanos()),
        "verify" => announce(&unit::verifications(serde_json::from_str(&part.task)?)?.as_nanos()),
        "prepare" => prepare(serde_json::from_str(&part.task)?).await,
        "serve" => serve(serde_json::from_str(&part.task)?).await,
        other => anyhow::bail!("there is no part {other}"),
    }
}

fn announce(what: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::to_string(what)?)?;
    Ok(out.flush()?)
}

async fn until_input_ends() -> anyhow::Result<()> {
    tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin())).await??;
    Ok(())
}

/// Every agent has a delegation, a receipt with limits, and a token bound to its key.
async fn prepare(task: Preparing) -> anyhow::Result<()> {
    let agents: Vec<AgentKeyFile> = serde_json::from_slice(&std::fs::read(task.folder.join("agents.json"))?)?;
    let (database, place) = match task.store {
        StoreKind::Sqlite => {
            let file = task.folder.join("prepared.db");
            (Database::File(file.clone()), StoreLocation::File(file))
        }
        StoreKind::Postgres => {
            let url = postgres::fresh_durable_database().await;
            (Database::Postgres(url.clone()), StoreLocation::Postgres(PostgresLocation::new(url)))
        }
    };
    let plane = Plane::start(setup(&task.upstream, FILLED_S), place).await;
    let alice = plane.person("alice").await;
    let (mut tokens, mut sessions) = (Vec::new(), Vec::new());
    for (n, agent) in agents.iter().enumerate() {
        let key = ProofKey::from_pkcs8(&STANDARD.decode(&agent.pkcs8)?)?;
        let Holder { access_token, session_id, delegation_id, .. } = holder(&plane, &alice, n, key).await;
        tokens.push(access_token);
        sessions.push(AgentSession { session_id, delegation_id });
    }
    plane.engine.store().close().await;
    let processes = match &database {
        Database::Postgres(url) => vec![postmaster(url).await?],
        Database::File(_) => Vec::new(),
    };
    announce(&Prepared { place: database, tokens, sessions, processes })?;
    until_input_ends().await
}

async fn holder(plane: &Plane, alice: &TestPerson, n: usize, key: ProofKey) -> Holder {
    let connected = plane.connect(alice, plane.acme(), &["bank.read"]).await;
    let mut body = plane.register_body(plane.acme(), &connected);
    body["consent_receipt"] = json!(receipt(plane, &connected, n));
    plane.holder_with(&body, Some(key), &connected).await
}

/// All three limits are set, so that all are counted; none is ever reached.
fn receipt(plane: &Plane, connected: &Connected, n: usize) -> String {
    let acme = plane.acme();
    let mut claims = plane.receipt_claims(acme, "alice", connected, &["bank.read"]);
    claims["session_id"] = json!(format!("sess_{:032x}", (n as u128 + 1) << 64 | 0xbad_cafe));
    claims["intent_type"] = json!("READ_ACCOUNTS");
    claims["usage_limits"] = json!({
        "requests_per_hour": 1_000_000_000, "writes_per_session": 1_000_000_000, "max_data_egress_kb": 1_000_000_000,
    });
    acme.sign_receipt(&claims)
}

fn setup(upstream: &str, ago_s: i64) -> Setup {
    let mut document = bank("bank", upstream);
    document.credential_ttl = 86_400;
    let setup = Setup { projects: vec![document], gateway: Some(GATEWAY.into()), ..Setup::default() }.from_now();
    Setup { now: setup.now.plus_secs(-ago_s), ..setup }
}

/// The first process of the database's server, from the file that it leaves in its folder.
pub(crate) async fn postmaster(url: &str) -> anyhow::Result<u32> {
    let folder = postgres::run(url, "SHOW data_directory").await;
    let file = std::fs::read_to_string(std::path::Path::new(folder.trim()).join("postmaster.pid"))?;
    Ok(file.lines().next().context("an empty postmaster.pid")?.trim().parse()?)
}

/// Serves the database of `prepare`, in a fresh process.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
async fn serve(task: ServingConfig) -> anyhow::Result<()> {
    let begun = Instant::now();
    let place = match &task.place {
        Database::File(file) => StoreLocation::File(file.clone()),
        Database::Postgres(url) => StoreLocation::Postgres(PostgresLocation::new(url.clone())),
    };
    let plane = Plane::resume(setup("http://unused.test", task.up_for_s), place).await;
    let mut engines = vec![Arc::clone(&plane.engine)];
    for _ in 1..task.nodes {
        engines.push(plane.second_node().await.0);
    }
    put_right(&plane).await;
    let (mut addresses, mut kept) = (Vec::new(), Vec::new());
    for engine in &engines {
        addresses.push(match task.point {
            Point::Layer => layer(engine).await?,
            Point::Proxy => {
                let node = GatewayListener::open(engine, |_| {}).await;
                let address = node.address;
                kept.push(node);
                address
            }
        });
    }
    let start_ms = begun.elapsed().as_secs_f64() * 1e3;
    announce(&ContenderReady { addresses, origin: GATEWAY.into(), path: PATH.into(), tokens: Vec::new(), start_ms })?;
    until_input_ends().await?;
    std::process::exit(0)
}

/// Sets the clocks of the nodes and their database to the present.
async fn put_right(plane: &Plane) {
    const REAL: &str = "CREATE OR REPLACE FUNCTION countersign_now() RETURNS BIGINT LANGUAGE sql VOLATILE \
                        AS 'SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)'";
    let clock = plane.clock.clone();
    clock.set(Clock::System.now());
    if let StoreLocation::Postgres(place) = &plane.place {
        postgres::run(&place.url, REAL).await;
    }
    tokio::spawn(async move {
        loop {
            clock.set(Clock::System.now());
            // As seldom as a proof's lifetime allows: waking up is CPU time that would count for this contender.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
}

/// The decision alone: a trivial service behind the layer, on hyper.
async fn layer(engine: &Arc<Engine>) -> anyhow::Result<SocketAddr> {
    let layer = CountersignLayer::new(Arc::clone(engine), Address::Unscoped).with_origin(&Origin::parse(GATEWAY)?);
    let inside = service_fn(|_: http::Request<arrived::Arrived>| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(super::upstream::BODY.as_bytes()))))
    });
    let service = TowerToHyperService::new(MapRequest::new(
        layer.layer(inside),
        (|request: http::Request<hyper::body::Incoming>| request.map(arrived::Arrived::Incoming)) as fn(_) -> _,
    ));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _kept_small = stream.set_nodelay(true);
            let service = service.clone();
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10));
            tokio::spawn(async move { builder.serve_connection(TokioIo::new(stream), service).await });
        }
    });
    Ok(address)
}
