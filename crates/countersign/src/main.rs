//! The command line: parse, resolve, run, exit code. The work itself is done in the crates below.
//!
//! Exit codes: 0 success, 1 failure, 2 invalid command line. For commands with 1 as a regular result, such as
//! `clarify`, 2 also means any other error.

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

/// A call allocates and frees hundreds of small pieces: this takes less than half of the C library's instructions.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
