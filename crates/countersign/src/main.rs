//! The command line: parse, resolve, run, exit code. What a command does lives in the crates below.
//!
//! Exit codes: 0 done, 1 it failed, 2 the command line was not understood. Where 1 is an answer, as of `clarify`, 2 is
//! every other trouble too.

mod cli;
mod clock;
mod commands;
mod context;
mod engine;
mod failure;
mod operations;
mod password;
mod service;
mod span;
mod stop;
mod table;
mod terminal;

use context::Context;
use countersign_server::config::environment;
use std::process::ExitCode;
use terminal::Terminal;

fn main() -> ExitCode {
    let environment = environment::of_this_process();
    let terminal = Terminal::resolve(&environment);
    let cli = cli::parse(&terminal);
    let context = Context { environment, terminal, config: cli.config };
    match commands::run(cli.command, &context) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&context.terminal),
    }
}
