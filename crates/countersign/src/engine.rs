//! Threads and logs of a command or a node, and the error messages of a failed start.

use crate::failure::Failure;
use countersign_server::{
    GatewayTrouble, LogTo, SocketError, StartTrouble,
    admin::{KeysError, StartError, StoreError},
    config::key_encryption_key::KeyUnreadable,
    logs_to,
};
use std::io::ErrorKind;
use tokio::runtime::Runtime;

/// A prompt may block a command's thread, so the store's background work gets threads of its own.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Runtime::new().map_err(|why| Failure::new(format!("cannot start the threads that do the work: {why}")))
}

/// Sends log lines to standard error from here on.
pub(crate) fn log(json: bool, level: &str) {
    // Fails only if a subscriber is set already, and that one does the same.
    let _first = tracing::subscriber::set_global_default(logs_to(LogTo::StandardError, json, level));
}

pub(crate) fn store(why: StoreError) -> Failure {
    let hint = "`countersign config check` shows the store in use, and where it is configured";
    match why {
        StoreError::Newer { .. } => Failure::new(why.to_string()),
        StoreError::Held { .. } => Failure::new(why.to_string()).hint(HELD),
        StoreError::Missing(_) => Failure::new(why.to_string()).hint(MISSING),
        StoreError::Old(_) => Failure::new(why.to_string()).hint(OLD),
        StoreError::NoDatabase(_) | StoreError::Damaged(_) => Failure::new(why.to_string()).hint(DAMAGED),
        why => Failure::new(why.to_string()).hint(hint),
    }
}

const HELD: &str = "one SQLite file has one node: stop that process first, or give this node a database of its own \
     (store.path); several nodes share a PostgreSQL database";

const MISSING: &str = "if this is the first start, make it with `countersign init` or `countersign serve --create`; if \
    there was one, find it, or restore a backup with `countersign restore FILE`";
const OLD: &str = "restore the newest database; if there is none, `countersign restore --adopt` continues with this \
    one and ends everything that may have been used or revoked since (docs/OPERATIONS.md)";
const DAMAGED: &str = "keep a copy of the file as it is, then restore a backup with `countersign restore FILE` \
    (docs/OPERATIONS.md)";

const CLOCK: &str = "`countersign clock show` prints every clock; docs/OPERATIONS.md, Clocks, has the next steps";

/// The reason why a command or a node could not start, with a hint.
pub(crate) fn not_started(why: StartTrouble) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        StartTrouble::Key(KeyUnreadable::Exposed { path }) => {
            failure.hint(format!("chmod 600 {path}; if others may have read it, make a new key and a new database"))
        }
        StartTrouble::Key(why) => failure.hint(key_hint(&why)),
        StartTrouble::Store(why) | StartTrouble::Engine(StartError::Store(why)) => store(why),
        StartTrouble::Engine(StartError::Keys(KeysError::WrongKey)) => {
            failure.hint("`countersign config check` shows where this node takes its key from ([keys])")
        }
        StartTrouble::Engine(StartError::UnrecordedOutcomes(_)) => {
            failure.hint("let its owner read it: it holds outcomes of calls that are not in the record yet")
        }
        StartTrouble::Engine(StartError::Clock(_)) => failure.hint(CLOCK),
        // A log says itself what to do.
        StartTrouble::Engine(StartError::Keys(_) | StartError::Log(_)) => failure,
        StartTrouble::Project(_) => failure.hint("correct [project] in the configuration"),
        StartTrouble::Listen { why, .. } if why.kind() == ErrorKind::AddrInUse => {
            failure.hint("another process has it, perhaps a node that runs already: stop it, or change [listen]")
        }
        StartTrouble::Listen { .. } => failure.hint("name an address of this machine under [listen]"),
        StartTrouble::Gateway(GatewayTrouble::Listen { .. }) => {
            failure.hint("name a free address of this machine as gateway.listen, or leave it empty")
        }
        StartTrouble::Gateway(_) => failure.hint("correct [gateway] in the configuration"),
        StartTrouble::Socket(why) => socket(&why),
        StartTrouble::Roots(_) => failure.hint("outbound.extra_roots lists PEM files with certificates"),
    }
}

/// The error of the operations socket, with a hint.
pub(crate) fn socket(why: &SocketError) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        SocketError::Unusable { .. } => {
            failure.hint("name another path, of at most 100 characters, as listen.operations_socket")
        }
        SocketError::Unsafe { .. } => {
            failure.hint("give it to the user that runs the node, and take the right to write from others (chmod 700)")
        }
        SocketError::NotASocket(_) => failure.hint("move it away, or name another path as listen.operations_socket"),
        SocketError::InUse(..) => failure.hint("stop that node, or name another path as listen.operations_socket"),
        SocketError::Forbidden(_) => failure.hint("run this as the user that runs the node, or as root"),
        SocketError::Silent(_) => {
            failure.hint("it may be stopped (kill -CONT) or overloaded: look at its log, or end it and run this again")
        }
        SocketError::NoAnswer(_) => {
            failure.hint("its log has the details; check the current state before you try again")
        }
        SocketError::OtherVersion { .. } => {
            failure.hint("restart the node with this version, or use the one that it runs")
        }
    }
}

fn key_hint(why: &KeyUnreadable) -> &'static str {
    match why {
        KeyUnreadable::File { source, .. } if source.kind() == ErrorKind::NotFound => {
            "`countersign init` makes it; if there is a database already, restore the copy of the key that it was made with"
        }
        KeyUnreadable::File { .. } | KeyUnreadable::Exposed { .. } => {
            "the user that runs countersign must be able to read it"
        }
        KeyUnreadable::Variable(_) => "set it to 64 hex digits, or name another source of the key under [keys]",
        KeyUnreadable::NotRun { .. } | KeyUnreadable::Failed { .. } => {
            "run it by hand: it must print 64 hex digits and end with 0 (keys.command)"
        }
        KeyUnreadable::NotAKey => "restore the key as `countersign init` wrote it, from your copy",
    }
}
