//! `countersign serve`: runs a node until it is stopped.

use crate::{context::Context, engine, failure::Failure, stop::Stop};
use countersign_server::{
    FirstStart, Node,
    config::{
        Loaded,
        node::{LogFormat, Store, Tenancy},
    },
    start,
};

/// Run a node until Ctrl-C or SIGTERM
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Create a new database if there is none. Without this flag a missing database is an error, since it may be an
    /// accident.
    #[arg(long)]
    create: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let loaded = context.load()?;
    let log = &loaded.config.log;
    engine::log(log.format == LogFormat::Json, log.level.as_str());
    let first = if arguments.create { FirstStart::Allowed } else { FirstStart::Refused };
    engine::runtime()?.block_on(serve(&loaded, first, context))
}

async fn serve(loaded: &Loaded, first: FirstStart, context: &Context) -> Result<(), Failure> {
    // From here on signals are queued, so that stopping a node during startup ends it cleanly, too.
    let mut stop = Stop::listen()?;
    let node = start(loaded, &context.environment, first).await.map_err(engine::not_started)?;
    context.say(&announcement(loaded, &node).await?)?;
    tracing::info!(public = %node.public.address(), operations = %node.operations.address(), "serving");
    if let Some(gateway) = &node.gateway {
        tracing::info!(gateway = %gateway.address(), "the gateway is serving");
    }
    if loaded.config.test_mode {
        tracing::warn!("TEST MODE IS ON");
    }
    stop.asked().await;
    tracing::info!("stopping: requests in progress may finish");
    tokio::select! {
        () = node.stop() => Ok(()),
        () = stop.asked() => Err(Failure::new("stopped at the second signal, before requests in progress had \
                                               finished")),
    }
}

/// The startup announcement.
async fn announcement(loaded: &Loaded, node: &Node) -> Result<String, Failure> {
    let config = &loaded.config;
    let warnings = loaded.warnings.iter().filter(|warning| warning.key != "test_mode");
    let warnings: String = warnings.map(|warning| format!("warning: {}: {}\n", warning.key, warning.what)).collect();
    let test_mode = if config.test_mode { TEST_MODE } else { "" };
    Ok(format!(
        "{test_mode}countersign {version} serves {origin}\n\
         public listener: {public}\n\
         operations listener: {operations}\n\
         {socket}{gateway}store: {store}\n\
         tenancy: {tenancy}\n\
         {projects}{warnings}stop it with Ctrl-C or SIGTERM\n",
        version = env!("CARGO_PKG_VERSION"),
        origin = config.public.origin,
        public = node.public.address(),
        operations = node.operations.address(),
        socket = socket(node),
        gateway = gateway(node),
        store = store(loaded),
        tenancy = if config.tenancy == Tenancy::Single { "single" } else { "multi" },
        projects = projects(config.tenancy, node).await?,
    ))
}

const TEST_MODE: &str = "TEST MODE IS ON: published keys are accepted here, so no identity is proven.\n\
                         TEST MODE IS ON: never with real people, never with real data.\n";

async fn projects(tenancy: Tenancy, node: &Node) -> Result<String, Failure> {
    let projects = node.engine.projects().await.map_err(engine::store)?;
    Ok(match (tenancy, projects.as_slice()) {
        (_, []) => {
            "project: none yet, so discovery answers 404 project_not_found; apply one with `countersign project \
                    apply FILE`, this node need not be restarted\n"
                .into()
        }
        (Tenancy::Single, [project, ..]) => format!("project: {}, version {}\n", project.id, project.version),
        (Tenancy::Multi, projects) => format!("projects: {}\n", projects.len()),
    })
}

/// The operations socket for commands, if there is one.
fn socket(node: &Node) -> String {
    let path = node.socket.as_ref().map(|socket| socket.path().display());
    path.map_or_else(String::new, |path| format!("operations socket: {path}\n"))
}

/// The gateway's listener and public origin, if this node runs a gateway.
fn gateway(node: &Node) -> String {
    let origin = node.engine.settings().gateway.as_ref();
    let known = node.gateway.as_ref().zip(origin);
    known.map_or_else(String::new, |(at, origin)| format!("gateway listener: {}, for {origin}\n", at.address()))
}

/// The store's location, without the password.
fn store(loaded: &Loaded) -> String {
    match &loaded.config.store {
        Store::Sqlite { path, .. } => format!("sqlite, {}", path.display()),
        Store::Postgres { .. } => {
            let url = loaded.sources.iter().find(|source| source.key == "store.url");
            format!("postgres, {}", url.map_or_else(String::new, |source| source.shown()))
        }
    }
}
