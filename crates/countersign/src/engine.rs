//! The engine for one command: opened on the configured store, and closed again.
//!
//! Commands speak to the store and not to a running node: they work before the first start and beside one.

use crate::{context::Context, failure::Failure};
use countersign_server::{
    GatewayTrouble, LogTo, StartTrouble,
    admin::{Engine, KeysError, Project, StartError, StoreError},
    config::key_encryption_key::KeyUnreadable,
    logs_to, open_engine,
};
use std::io::ErrorKind;
use tokio::runtime::Runtime;

/// Opens the engine, runs `work` with it, and gives the store back whatever came of it.
pub(crate) fn run<T>(context: &Context, work: impl AsyncFnOnce(&Engine) -> Result<T, Failure>) -> Result<T, Failure> {
    let loaded = context.load_for_command()?;
    log(false, "warn");
    runtime()?.block_on(async {
        let (engine, _) = open_engine(&loaded.config, &context.environment).await.map_err(not_started)?;
        let done = work(&engine).await;
        engine.store().close().await;
        done
    })
}

/// A prompt may block the thread that runs a command: what the store does by itself has threads of its own.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Runtime::new().map_err(|why| Failure::new(format!("cannot start the threads that do the work: {why}")))
}

/// Log lines to standard error, from here on.
pub(crate) fn log(json: bool, level: &str) {
    // Refused only if there is one already, which then does the same.
    let _first = tracing::subscriber::set_global_default(logs_to(LogTo::StandardError, json, level));
}

/// The project of that id, or the only one.
pub(crate) async fn project(engine: &Engine, id: Option<&str>) -> Result<Project, Failure> {
    let mut all = engine.projects().await.map_err(store)?;
    let ids: Vec<&str> = all.iter().map(|project| project.id.as_str()).collect();
    let position = match id {
        _ if all.is_empty() => {
            return Err(Failure::new("there is no project yet").hint("make one with `countersign project apply FILE`"));
        }
        Some(id) => ids.iter().position(|known| *known == id),
        None if all.len() > 1 => {
            return Err(Failure::new("there are several projects").hint(format!("name one of: {}", ids.join(", "))));
        }
        None => Some(0),
    };
    match position {
        Some(position) => Ok(all.swap_remove(position)),
        None => Err(Failure::new("there is no such project").hint(format!("known are: {}", ids.join(", ")))),
    }
}

pub(crate) fn store(why: StoreError) -> Failure {
    let hint = "`countersign config check` shows which store is used, and where that is said";
    match why {
        StoreError::Newer { .. } => Failure::new(why.to_string()),
        why => Failure::new(why.to_string()).hint(hint),
    }
}

/// Why neither a command nor a node could begin, and what to do about it.
pub(crate) fn not_started(why: StartTrouble) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        StartTrouble::Key(why) => failure.hint(key_hint(&why)),
        StartTrouble::Store(why) | StartTrouble::Engine(StartError::Store(why)) => store(why),
        StartTrouble::Engine(StartError::Keys(KeysError::WrongKey)) => {
            failure.hint("`countersign config check` shows where this node takes its key from ([keys])")
        }
        StartTrouble::Engine(StartError::Keys(_) | StartError::Clock { .. }) => failure,
        StartTrouble::Project(_) => failure.hint("correct [project] in the configuration"),
        StartTrouble::Listen { why, .. } if why.kind() == ErrorKind::AddrInUse => {
            failure.hint("another process has it, perhaps a node that runs already: stop it, or change [listen]")
        }
        StartTrouble::Listen { .. } => failure.hint("name an address of this machine under [listen]"),
        StartTrouble::Gateway(GatewayTrouble::Listen { .. }) => {
            failure.hint("name a free address of this machine as gateway.listen, or leave it empty")
        }
        StartTrouble::Gateway(_) => failure.hint("correct [gateway] in the configuration"),
        StartTrouble::Roots(_) => failure.hint("outbound.extra_roots lists PEM files with certificates"),
    }
}

fn key_hint(why: &KeyUnreadable) -> &'static str {
    match why {
        KeyUnreadable::File { source, .. } if source.kind() == ErrorKind::NotFound => {
            "`countersign init` makes it; if there is a database already, restore the copy of the key that it was made with"
        }
        KeyUnreadable::File { .. } => "the user that runs countersign must be able to read it",
        KeyUnreadable::Variable(_) => "set it to 64 hex digits, or say elsewhere under [keys] where the key comes from",
        KeyUnreadable::NotRun { .. } | KeyUnreadable::Failed { .. } => {
            "run it by hand: it must print 64 hex digits and end with 0 (keys.command)"
        }
        KeyUnreadable::NotAKey => "restore the key as `countersign init` wrote it, from your copy",
    }
}
