//! One file per command, with its subcommands: the arguments, and a `run` that resolves them, calls the crates below and
//! prints.
//!
//! A command with long subcommands (`clarify`) is a folder. A command is registered in
//! [`crate::cli::Command`] only once it works, so that the help makes no promises.

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod call;
pub(crate) mod clarify;
pub(crate) mod clock;
pub(crate) mod config;
pub(crate) mod db;
pub(crate) mod delegation;
pub(crate) mod demo;
mod documents;
pub(crate) mod generate;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod person;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod routes;
pub(crate) mod serve;
pub(crate) mod service_account;
pub(crate) mod token;
pub(crate) mod user;
pub(crate) mod webhooks;
pub(crate) mod witness;

use crate::{cli::Command, context::Context, failure::Failure};

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Init(arguments) => init::run(arguments, context),
        Command::Config(command) => config::run(command, context),
        Command::Demo(arguments) => demo::run(&arguments, context),
        Command::Serve(arguments) => serve::run(&arguments, context),
        Command::Backup(arguments) => backup::back_up(arguments, context),
        Command::Restore(arguments) => backup::restore(&arguments, context),
        Command::Db(command) => db::run(command, context),
        Command::Inbox(arguments) => inbox::run(arguments, context),
        Command::Plan(arguments) => plan::run(arguments, context),
        Command::Clarify(arguments) => clarify::run(arguments, context),
        Command::Mcp(arguments) => mcp::run(arguments, context),
        Command::Project(command) => project::run(command, context),
        Command::Routes(command) => routes::run(command, context),
        Command::User(command) => user::run(command, context),
        Command::Person(command) => person::run(command, context),
        Command::Delegation(command) => delegation::run(command, context),
        Command::ServiceAccount(command) => service_account::run(command, context),
        Command::Call(command) => call::run(command, context),
        Command::Audit(command) => audit::run(command, context),
        Command::Key(command) => key::run(command, context),
        Command::Token(command) => token::run(command, context),
        Command::Keys(command) => keys::run(command, context),
        Command::Webhooks(command) => webhooks::run(command, context),
        Command::Witness(command) => witness::run(command, context),
        Command::Clock(command) => clock::run(command, context),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Soak(arguments) => bench::soak(&arguments, context),
        Command::Completions(arguments) => generate::completions(&arguments, context),
        Command::Openapi(_) => generate::openapi(context),
        Command::Man(arguments) => generate::man(&arguments, context),
    }
}
