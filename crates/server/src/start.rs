//! From a configuration to a running node.

use crate::{
    App, Limits, Metrics, OperationsSocket, OperatorsPort, ServedListener, SocketError,
    config::{self, Loaded, node},
    database::{self, FirstStart},
    descriptors::{OPERATIONS, Openers, fitted},
    gateway::{Bound, GatewayTrouble, gateway_endpoints},
    operations_router, router, router_in_front_of, serve_behind,
};
use countersign_engine::{
    Clock, Engine, Entropy, EvidenceSettings, NodeClock, PasswordCost, Refusal, Settings, StartError, Tenancy,
    Throttle,
    store::{Opening, StoreError},
};
use countersign_gateway::Network;
use countersign_jose::KeyPolicy;
use countersign_outbound::{Fetcher, FetcherConfig, operators};
use countersign_protocol::origin::Origin;
use std::{sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
    time::MissedTickBehavior,
};

/// A running node.
pub struct Node {
    pub engine: Arc<Engine>,
    pub public: ServedListener,
    pub operations: ServedListener,
    /// The reverse proxy, where one is configured.
    pub gateway: Option<ServedListener>,
    /// The socket for commands, where one is configured.
    pub socket: Option<OperationsSocket>,
    chores: [JoinHandle<()>; CHORES],
}

#[derive(Debug, thiserror::Error)]
pub enum StartTrouble {
    #[error(transparent)]
    Key(#[from] config::key_encryption_key::KeyUnreadable),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] StartError),
    #[error("the project in the configuration cannot be applied: {0}")]
    Project(String),
    #[error("cannot listen on {address}: {why}")]
    Listen { address: std::net::SocketAddr, why: std::io::Error },
    #[error("extra_roots: {0}")]
    Roots(String),
    #[error(transparent)]
    Socket(#[from] SocketError),
    #[error(transparent)]
    Gateway(#[from] GatewayTrouble),
}

impl Node {
    /// Lets open requests finish, then releases everything.
    pub async fn stop(self) {
        for chore in self.chores {
            chore.abort();
            let _ended = chore.await;
        }
        let gateway = async {
            if let Some(gateway) = self.gateway {
                gateway.stop().await;
            }
        };
        tokio::join!(self.public.stop(), gateway);
        self.operations.stop().await;
        if let Some(socket) = self.socket {
            socket.stop().await;
        }
        self.engine.store().close().await;
    }
}

/// Opens the store and the keys, applies the configured project, and listens.
pub async fn start(
    loaded: &Loaded,
    environment: &config::Environment,
    first: FirstStart,
) -> Result<Node, StartTrouble> {
    start_with(loaded, environment, first, router).await
}

/// The same in front of an API of this process.
pub async fn start_in_front_of(
    api: axum::Router,
    loaded: &Loaded,
    environment: &config::Environment,
    first: FirstStart,
) -> Result<Node, StartTrouble> {
    start_with(loaded, environment, first, |app| router_in_front_of(api, app)).await
}

async fn start_with(
    loaded: &Loaded,
    environment: &config::Environment,
    first: FirstStart,
    router: impl FnOnce(App) -> axum::Router,
) -> Result<Node, StartTrouble> {
    let config = &loaded.config;
    // The gateway's listener comes first: its bound address may be its origin, which the engine publishes to agents.
    let gateway = match &config.gateway {
        Some(gateway) => Some(Bound::bind(gateway).await?),
        None => None,
    };
    let origin = gateway.as_ref().map(|bound| bound.origin.clone());
    let (engine, directory) =
        open_engine_with(database::for_node(config, first), config, environment, origin, AnyClock::Refused).await?;
    apply_configured_project(&engine, config).await?;
    let socket = match &config.listen.operations_socket {
        Some(path) => Some(OperationsSocket::serve(path, Arc::clone(&engine)).await?),
        None => None,
    };
    let listen = &config.listen;
    let openers = Openers { gateway: gateway.is_some(), store: store_files(&config.store) };
    let limits = fitted(limits(listen), openers);
    let proxies = &config.public.trusted_proxies;
    let run = engine.now().0.unsigned_abs();
    let app = App::new(Arc::clone(&engine), limits, proxies.clone(), Metrics::default(), run);
    let app = app.with_legacy(config.aaep.clone()).with_mcp(config.mcp.clone());
    let public = listening(listen.public, router(app.clone()), limits, proxies).await?;
    let own = gateway_endpoints(app.clone());
    let few = Limits { max_connections: limits.max_connections.min(OPERATIONS), ..limits };
    let operations = listening(listen.operations, operations_router(app, Some(directory)), few, proxies).await?;
    let serve = |bound: Bound<'_>| bound.serve(Arc::clone(&engine), own, config, limits, environment);
    let gateway = gateway.map(serve).transpose()?;
    let chores = start_chores(&engine);
    Ok(Node { engine, public, operations, gateway, socket, chores })
}

/// The engine alone, for commands without a listener. A SQLite file has no other user meanwhile.
pub async fn open_engine(
    config: &node::NodeConfig,
    environment: &config::Environment,
) -> Result<(Arc<Engine>, OperatorsPort), StartTrouble> {
    let gateway = config.gateway.as_ref().and_then(|gateway| gateway.origin_at(gateway.listen));
    let alone = matches!(config.store, node::Store::Sqlite { .. });
    open_engine_with(Opening { alone, ..database::beside(config) }, config, environment, gateway, AnyClock::Refused)
        .await
}

/// The same with any clock, for commands that correct it.
pub async fn open_engine_to_set_clock(
    config: &node::NodeConfig,
    environment: &config::Environment,
) -> Result<(Arc<Engine>, OperatorsPort), StartTrouble> {
    let alone = matches!(config.store, node::Store::Sqlite { .. });
    open_engine_with(Opening { alone, ..database::beside(config) }, config, environment, None, AnyClock::Taken).await
}

/// The same with other requirements on its database.
pub(crate) async fn open_engine_as(
    opening: Opening,
    config: &node::NodeConfig,
    environment: &config::Environment,
) -> Result<Arc<Engine>, StartTrouble> {
    open_engine_with(opening, config, environment, None, AnyClock::Taken).await.map(|(engine, _)| engine)
}

/// Whether an engine opens with a clock that is unfit for decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnyClock {
    Refused,
    Taken,
}

async fn open_engine_with(
    opening: Opening,
    config: &node::NodeConfig,
    environment: &config::Environment,
    gateway: Option<Origin>,
    any: AnyClock,
) -> Result<(Arc<Engine>, OperatorsPort), StartTrouble> {
    let key = config::key_encryption_key::read(&config.keys, environment)?;
    let clock = NodeClock::from(Clock::System);
    let store = database::open(config, opening, &clock).await?;
    let directory = directory(config)?;
    let settings = Settings { gateway, ..settings(config) };
    let (chance, operators) = (Entropy::System, Arc::new(directory.clone()));
    let engine = match any {
        AnyClock::Refused => Engine::start(settings, store, clock, chance, &key, operators).await?,
        AnyClock::Taken => Engine::start_to_set_clock(settings, store, clock, chance, &key, operators).await?,
    };
    Ok((engine, directory))
}

/// Only a start applies it: a command beside a running node must not undo later changes.
async fn apply_configured_project(engine: &Arc<Engine>, config: &node::NodeConfig) -> Result<(), StartTrouble> {
    let Some(document) = &config.project else { return Ok(()) };
    let applied = engine.apply_project(document.clone(), "node").await;
    applied.map(drop).map_err(|why| StartTrouble::Project(explained(&why)))
}

async fn listening(
    address: std::net::SocketAddr,
    router: axum::Router,
    limits: Limits,
    trusted_proxies: &[Network],
) -> Result<ServedListener, StartTrouble> {
    let trouble = |why| StartTrouble::Listen { address, why };
    let listener = TcpListener::bind(address).await.map_err(trouble)?;
    serve_behind(listener, router, limits, trusted_proxies.to_vec()).map_err(trouble)
}

fn limits(listen: &node::Listen) -> Limits {
    Limits {
        first_byte: listen.first_byte,
        header_read: listen.header_read,
        idle: listen.idle,
        request: listen.request,
        max_body_bytes: listen.max_body_bytes,
        max_connections: listen.max_connections,
        max_connections_per_address: listen.max_connections_per_address,
        max_streams: listen.max_streams,
    }
}

const CHORES: usize = 8;

/// Each is a task of its own, so that none waits for another's upstreams.
fn start_chores(engine: &Arc<Engine>) -> [JoinHandle<()>; CHORES] {
    [
        tokio::spawn(tidy(Arc::clone(engine))),
        tokio::spawn(settle_due(Arc::clone(engine))),
        tokio::spawn(probe_due(Arc::clone(engine))),
        tokio::spawn(roll_back_due(Arc::clone(engine))),
        tokio::spawn(undo_due(Arc::clone(engine))),
        tokio::spawn(send_queued(Arc::clone(engine))),
        tokio::spawn(deliver_webhooks(Arc::clone(engine))),
        tokio::spawn(show_witnesses(Arc::clone(engine))),
    ]
}

/// Indexes the evidence and removes expired records.
async fn tidy(engine: Arc<Engine>) {
    let mut every = tokio::time::interval(Duration::from_secs(2));
    loop {
        every.tick().await;
        if let Err(why) = engine.run_maintenance().await {
            tracing::warn!(%why, "maintenance of the store failed");
        }
    }
}

/// Settles due deadlines, unused approvals and lapsed leases. A lasting error is logged once.
async fn settle_due(engine: Arc<Engine>) {
    let mut every = tokio::time::interval(Duration::from_millis(100));
    every.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut well = true;
    loop {
        every.tick().await;
        let settled = engine.decisions().settle_due().await;
        if let (true, Err(why)) = (well, &settled) {
            tracing::warn!(%why, "due questions and leases could not be settled");
        }
        well = settled.is_ok();
    }
}

/// Probes upstreams for the outcome of calls after a lost response. Apart from `settle_due`: an upstream may be slow.
async fn probe_due(engine: Arc<Engine>) {
    let mut every = tokio::time::interval(Duration::from_millis(500));
    every.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut well = true;
    loop {
        every.tick().await;
        let probed = engine.decisions().probe_due().await;
        if let (true, Err(why)) = (well, &probed) {
            tracing::warn!(%why, "upstreams could not be probed for the outcomes of calls");
        }
        well = probed.is_ok();
    }
}

/// Continues the rollbacks of cancelled sessions (AAP 17.7). Apart from `undo_due`: a rollback may take minutes.
async fn roll_back_due(engine: Arc<Engine>) {
    let mut every = tokio::time::interval(Duration::from_millis(500));
    every.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut well = true;
    loop {
        every.tick().await;
        let rolled = engine.agents().roll_back_due().await;
        if let (true, Err(why)) = (well, &rolled) {
            tracing::warn!(%why, "sessions could not be rolled back");
        }
        well = rolled.is_ok();
    }
}

/// Continues the calls that their upstream is to undo (AAP 14.1). Apart from `settle_due`: an upstream may be slow.
async fn undo_due(engine: Arc<Engine>) {
    let mut every = tokio::time::interval(Duration::from_millis(500));
    every.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut well = true;
    loop {
        every.tick().await;
        let undone = engine.calls().undo_due().await;
        if let (true, Err(why)) = (well, &undone) {
            tracing::warn!(%why, "calls could not be undone");
        }
        well = undone.is_ok();
    }
}

/// Sends held calls when their undo window has closed (AAP 14.1), without waiting for the upstreams.
async fn send_queued(engine: Arc<Engine>) {
    let mut every = tokio::time::interval(Duration::from_millis(250));
    every.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut well = true;
    loop {
        every.tick().await;
        let sent = engine.calls().begin_queued().await;
        if let (true, Err(why)) = (well, &sent) {
            tracing::warn!(%why, "held calls could not be sent");
        }
        well = sent.is_ok();
    }
}

/// Shows new checkpoints to the witnesses of the evidence. Apart from the others: a witness may be slow.
async fn show_witnesses(engine: Arc<Engine>) {
    let mut every = tokio::time::interval(Duration::from_secs(2));
    every.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut well = true;
    loop {
        every.tick().await;
        let shown = engine.evidence().show_witnesses().await;
        if let (true, Err(why)) = (well, &shown) {
            tracing::warn!(%why, "checkpoints could not be shown to witnesses");
        }
        well = shown.is_ok();
    }
}

/// More rounds than an attempt can last.
const WEBHOOK_ROUNDS: usize = 64;

/// Sends messages to operators' webhooks (AAP 17.8). A slow operator does not hold up the next round.
async fn deliver_webhooks(engine: Arc<Engine>) {
    let round = || {
        let engine = Arc::clone(&engine);
        async move { engine.agents().deliver_webhooks().await }
    };
    deliver_in_rounds(round).await;
}

/// Begins a round every half second, whatever becomes of the others.
async fn deliver_in_rounds<R>(round: impl Fn() -> R)
where
    R: Future<Output = Result<usize, Refusal>> + Send + 'static,
{
    let mut every = tokio::time::interval(Duration::from_millis(500));
    every.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut rounds, mut well) = (JoinSet::new(), true);
    loop {
        let ended = tokio::select! {
            _ = every.tick(), if rounds.len() < WEBHOOK_ROUNDS => {
                rounds.spawn(round());
                continue;
            }
            Some(ended) = rounds.join_next() => ended,
        };
        let trouble = match ended {
            Ok(delivered) => delivered.err().map(|why| why.to_string()),
            Err(panic) => Some(panic.to_string()),
        };
        if let (true, Some(why)) = (well, &trouble) {
            tracing::warn!(why, "messages to webhooks could not be sent");
        }
        well = trouble.is_none();
    }
}

fn settings(config: &node::NodeConfig) -> Settings {
    Settings {
        origin: config.public.origin.clone(),
        tenancy: match config.tenancy {
            node::Tenancy::Single => Tenancy::Single,
            node::Tenancy::Multi => Tenancy::Multi,
        },
        gateway: None,
        subdomains: config.public.subdomains,
        test_mode: config.test_mode,
        throttle: Throttle {
            per_account_and_network: i64::from(config.sign_in.attempts_per_account_and_network),
            per_account: i64::from(config.sign_in.attempts_per_account),
            per_address: i64::from(config.sign_in.attempts_per_address),
            per_session: i64::from(config.sign_in.attempts_per_session),
        },
        connect_requests_per_minute: i64::from(config.public.connect_requests_per_minute),
        sign_in_lifetime_s: i64::try_from(config.sign_in.session.as_secs()).unwrap_or(i64::MAX),
        fresh_s: i64::try_from(config.sign_in.fresh.as_secs()).unwrap_or(0),
        password_cost: PasswordCost::default(),
        unrecorded_outcomes: match &config.store {
            node::Store::Sqlite { path, .. } => Some(path.with_extension("outcomes")),
            node::Store::Postgres { state, .. } => Some(state.join("outcomes")),
        },
        retention: config.retention,
        evidence: evidence(config),
    }
}

/// The newest checkpoints are kept where the last position is.
fn evidence(config: &node::NodeConfig) -> EvidenceSettings {
    let node::EvidenceAnchors { checkpoint_files, witnesses } = config.evidence.clone();
    let newest = match &config.store {
        node::Store::Sqlite { path, .. } => path.with_extension("checkpoints"),
        node::Store::Postgres { state, .. } => state.join("checkpoints"),
    };
    EvidenceSettings { newest: Some(newest), files: checkpoint_files, witnesses }
}

/// SQLite opens three files for each reader and for the writer: the database, its log and the log's index.
fn store_files(store: &node::Store) -> usize {
    match store {
        node::Store::Sqlite { readers, .. } => 3 * (readers + 1),
        node::Store::Postgres { pool, .. } => *pool,
    }
}

fn directory(config: &node::NodeConfig) -> Result<OperatorsPort, StartTrouble> {
    let outbound = &config.outbound;
    let mut extra_roots_pem = Vec::new();
    for path in &outbound.extra_roots {
        let pem = std::fs::read(path).map_err(|why| StartTrouble::Roots(format!("{}: {why}", path.display())))?;
        extra_roots_pem.extend(pem);
    }
    let fetcher = Fetcher::new(FetcherConfig {
        static_hosts: outbound.static_hosts.iter().map(|(domain, at)| (domain.to_string(), *at)).collect(),
        extra_roots_pem,
        native_roots: true,
        time_limit: outbound.timeout,
    });
    let fetcher = fetcher.map_err(|why| StartTrouble::Roots(why.to_string()))?;
    let config = operators::DirectoryConfig {
        key_policy: KeyPolicy { allow_published_test_keys: config.test_mode },
        dark_after: outbound.alert_after_failures,
        new_hosts_a_minute: outbound.new_operators_per_minute,
        ..operators::DirectoryConfig::default()
    };
    Ok(OperatorsPort(operators::Directory::new(fetcher, config)))
}

/// Every problem of a document, one a line.
fn explained(why: &countersign_engine::ApplyError) -> String {
    use countersign_engine::{ApplyError, ApplyRefusal};
    match why {
        ApplyError::Refused(ApplyRefusal::Problems(problems)) => {
            problems.iter().map(|problem| format!("\n  {problem}")).collect()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
