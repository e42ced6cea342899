//! The command line grammar. Each command's own arguments are in its file.

use crate::{
    commands::{
        audit, backup, bench, call, clarify, clock, config, db, delegation, demo, generate, inbox, init, key, keys,
        mcp, person, plan, project, routes, serve, service_account, token, user, webhooks, witness,
    },
    terminal::Terminal,
};
use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::path::PathBuf;

/// The consent plane for AI agents: agents sign, humans countersign, anyone can verify it afterwards.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, propagate_version = true)]
pub(crate) struct Cli {
    /// The configuration of the node. Default: the file in COUNTERSIGN_CONFIG, or countersign.toml here.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::Arguments),
    #[command(subcommand)]
    Config(config::Command),
    Demo(demo::Arguments),
    Serve(serve::Arguments),
    Backup(backup::BackupArguments),
    Restore(backup::RestoreArguments),
    #[command(subcommand)]
    Db(db::Command),
    Inbox(inbox::Arguments),
    Plan(plan::Arguments),
    Clarify(clarify::Arguments),
    Mcp(mcp::Arguments),
    #[command(subcommand)]
    Project(project::Command),
    #[command(subcommand)]
    Routes(routes::Command),
    #[command(subcommand)]
    User(user::Command),
    #[command(subcommand)]
    Person(person::Command),
    #[command(subcommand)]
    Delegation(delegation::Command),
    #[command(subcommand)]
    ServiceAccount(service_account::Command),
    #[command(subcommand)]
    Call(call::Command),
    #[command(subcommand)]
    Audit(audit::Command),
    #[command(subcommand)]
    Key(key::Command),
    #[command(subcommand)]
    Token(token::Command),
    #[command(subcommand)]
    Keys(keys::Command),
    #[command(subcommand)]
    Webhooks(webhooks::Command),
    #[command(subcommand)]
    Witness(witness::Command),
    #[command(subcommand)]
    Clock(clock::Command),
    Bench(bench::BenchArguments),
    Soak(bench::SoakArguments),
    Completions(generate::CompletionsArguments),
    Openapi(generate::OpenapiArguments),
    Man(generate::ManArguments),
}

/// Arguments of every command that reads.
#[derive(Debug, clap::Args)]
pub(crate) struct Reading {
    /// Print JSON for programs instead of text for people.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Exits with 2 if the command line is invalid, and with 0 after `--help` and `--version`.
pub(crate) fn parse(terminal: &Terminal) -> Cli {
    let colour = if terminal.colour_allowed { ColorChoice::Auto } else { ColorChoice::Never };
    let matches = Cli::command().color(colour).get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit())
}
