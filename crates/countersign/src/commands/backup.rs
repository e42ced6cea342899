//! `countersign backup` copies the database, also of a running node; `countersign restore` continues with a backup, in a
//! new epoch.

use crate::{context::Context, engine, failure::Failure};
use anstyle::AnsiColor;
use countersign_server::{EpochStarted, RestoreError, adopt_database, back_up_database, restore_database};
use std::{io::IsTerminal as _, path::PathBuf};

/// Copy the SQLite database into a new file; a node may be running. PostgreSQL: use pg_dump
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArguments {
    /// The file to create. It must not exist yet; only its owner will be able to read it.
    file: PathBuf,
}

pub(crate) fn back_up(arguments: BackupArguments, context: &Context) -> Result<(), Failure> {
    let loaded = context.load_for_command()?;
    engine::log(false, "warn");
    let shown = arguments.file.display().to_string();
    let watched = std::io::stderr().is_terminal();
    let progress = |bytes: u64, of: u64| {
        if watched {
            context.terminal.note("copying", AnsiColor::Cyan, &format!("{} of about {} MiB", bytes >> 20, of >> 20));
        }
    };
    let copied = engine::runtime()?.block_on(back_up_database(&loaded.config, arguments.file, progress));
    let bytes = copied.map_err(failure)?;
    context.say(&format!(
        "wrote {shown}: {bytes} bytes, checked\n\
         keep it apart from the key that seals its contents ([keys]), and keep a copy of that key too\n"
    ))
}

/// Continue with a backup: everything that may have been used or revoked since then is ended or suspended
///
/// A new epoch begins. Open questions and approvals, access tokens, sign-ins and subscriber tokens are ended;
/// delegations and API keys are suspended until they are lifted; proofs need new nonces. All nodes must be stopped.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArguments {
    /// The backup of a SQLite database to restore. The existing database is kept under another name.
    #[arg(required_unless_present = "adopt", conflicts_with = "adopt")]
    file: Option<PathBuf>,

    /// Continue with the existing database: one restored by PostgreSQL's tools, or a file copied by hand.
    #[arg(long)]
    adopt: bool,
}

pub(crate) fn restore(arguments: &RestoreArguments, context: &Context) -> Result<(), Failure> {
    let loaded = context.load_for_command()?;
    engine::log(false, "warn");
    let runtime = engine::runtime()?;
    let (started, kept) = match &arguments.file {
        Some(file) => {
            let restored = runtime.block_on(restore_database(&loaded, &context.environment, file));
            let (started, aside) = restored.map_err(failure)?;
            (started, format!("the previous database, if any, is kept as {aside}\n"))
        }
        None => {
            let adopted = runtime.block_on(adopt_database(&loaded, &context.environment));
            (adopted.map_err(failure)?, String::new())
        }
    };
    context.say(&format!("{}{kept}{NEXT}", ended(&started)))
}

fn ended(started: &EpochStarted) -> String {
    let EpochStarted { number, people, access_tokens, delegations, keys, questions, approvals } = started;
    format!(
        "epoch {number} has begun\n\
         suspended: {delegations} delegations, {keys} API keys\n\
         ended: {questions} open questions, {approvals} unused approvals, {access_tokens} access tokens, \
         the sign-ins and subscriber tokens of {people} people\n"
    )
}

const NEXT: &str = "next:\n  \
     repeat the changes made since the backup, which are lost: disable people, change passwords, revoke\n  \
     start the nodes: countersign serve\n  \
     lift the suspensions of what was not revoked: countersign delegation lift ID (or --all), countersign key lift ID \
     (or --all); people can lift their own on their page of agents\n";

pub(crate) fn failure(why: RestoreError) -> Failure {
    match why {
        RestoreError::Start(why) => engine::not_started(why),
        why @ RestoreError::Epoch(_) => Failure::new(why.to_string()).hint("nothing was changed; try it again"),
        why @ RestoreError::Postgres => Failure::new(why.to_string()).hint(
            "back it up with `pg_dump --format=custom --file FILE DATABASE`; restore it with `pg_restore`, or by \
             point-in-time recovery, then run `countersign restore --adopt` (docs/OPERATIONS.md)",
        ),
    }
}
