//! Runs a command in the running node, or in this process while there is none.
//!
//! A change that bypassed a running node would bypass its caches, streams and waiters too. A SQLite file has one
//! node, so without its node it is opened here, exclusively. A PostgreSQL database has any number of nodes, which
//! learn of each other's changes by its feed, so a command may open it beside them.

use crate::{
    context::Context,
    engine::{self, log, runtime},
    failure::Failure,
};
use countersign_server::{
    AdminClient, AdminError, StartTrouble,
    admin::{AdminRequest, Engine, StoreError},
    config::{Environment, node::NodeConfig},
    open_engine, open_engine_to_set_clock,
};
use std::{sync::Arc, time::Duration};

/// How long a command waits until another command, or a node that is starting or stopping, releases the file.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// The executor of a command.
enum Operations {
    /// The running node.
    Node(AdminClient),
    /// This process, with the database open.
    Offline(Arc<Engine>),
}

/// Whether a command needs a correct clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockNeeded {
    InOrder,
    Any,
}

/// Sends one request to the node, or runs it here.
pub(crate) fn ask<R: AdminRequest>(context: &Context, request: R) -> Result<R::Answer, Failure> {
    ask_with(context, request, ClockNeeded::InOrder)
}

/// Sends requests one after another, on one connection, as long as an answer yields another one.
pub(crate) fn ask_on<R: AdminRequest>(
    context: &Context,
    first: R,
    mut next: impl FnMut(R::Answer) -> Result<Option<R>, Failure>,
) -> Result<(), Failure> {
    let loaded = context.load_for_command()?;
    log(false, "warn");
    runtime()?.block_on(async {
        let operations = Operations::open(&loaded.config, &context.environment, ClockNeeded::InOrder).await?;
        let mut request = Some(first);
        while let Some(asked) = request.take() {
            request = match operations.answer(asked).await.and_then(&mut next) {
                Ok(following) => following,
                Err(why) => {
                    operations.close().await;
                    return Err(why);
                }
            };
        }
        operations.close().await;
        Ok(())
    })
}

/// The same for requests about the clock, which may be wrong.
pub(crate) fn ask_about_clock<R: AdminRequest>(context: &Context, request: R) -> Result<R::Answer, Failure> {
    ask_with(context, request, ClockNeeded::Any)
}

fn ask_with<R: AdminRequest>(context: &Context, request: R, clock: ClockNeeded) -> Result<R::Answer, Failure> {
    let loaded = context.load_for_command()?;
    log(false, "warn");
    runtime()?.block_on(async {
        let operations = Operations::open(&loaded.config, &context.environment, clock).await?;
        operations.run(request).await
    })
}

impl Operations {
    /// Tries the node and the database in turn until one is available or the time is up.
    async fn open(config: &NodeConfig, environment: &Environment, clock: ClockNeeded) -> Result<Self, Failure> {
        let mut tries = PATIENCE.as_millis() / PAUSE.as_millis();
        loop {
            if let Some(node) = node(config).await? {
                return Ok(Self::Node(node));
            }
            let opened = match clock {
                ClockNeeded::InOrder => open_engine(config, environment).await,
                ClockNeeded::Any => open_engine_to_set_clock(config, environment).await,
            };
            match opened {
                Ok((engine, _)) => return Ok(Self::Offline(engine)),
                Err(StartTrouble::Store(StoreError::Held { .. })) if tries > 0 => tries -= 1,
                Err(StartTrouble::Store(why @ StoreError::Held { .. })) => return Err(held_elsewhere(&why)),
                Err(why) => return Err(engine::not_started(why)),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn run<R: AdminRequest>(self, request: R) -> Result<R::Answer, Failure> {
        let answer = self.answer(request).await;
        self.close().await;
        answer
    }

    async fn answer<R: AdminRequest>(&self, request: R) -> Result<R::Answer, Failure> {
        match self {
            Self::Node(node) => node.ask(&request).await.map_err(not_asked),
            Self::Offline(engine) => Ok(request.run(engine).await?),
        }
    }

    async fn close(&self) {
        if let Self::Offline(engine) = self {
            engine.store().close().await;
        }
    }
}

async fn node(config: &NodeConfig) -> Result<Option<AdminClient>, Failure> {
    match &config.listen.operations_socket {
        Some(path) => AdminClient::connect(path).await.map_err(|why| engine::socket(&why)),
        None => Ok(None),
    }
}

fn held_elsewhere(why: &StoreError) -> Failure {
    Failure::new(format!("{why}, which does not listen at the operations socket")).hint(
        "if it is a node, `countersign config check` must name the same listen.operations_socket for both; else wait until \
         it has ended, or stop it",
    )
}

fn not_asked(why: AdminError) -> Failure {
    match why {
        AdminError::Refused(refusal) => refusal.into(),
        AdminError::Socket(why) => engine::socket(&why),
    }
}
