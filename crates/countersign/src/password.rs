//! Reads a password from standard input, the environment or the terminal; never from an argument, which every process
//! of the machine can read.

use crate::{context::Context, failure::Failure};
use std::io::IsTerminal as _;

const VARIABLE: &str = "COUNTERSIGN_PASSWORD";

#[derive(Debug, clap::Args)]
pub(crate) struct PasswordSource {
    /// Read the password from standard input, up to the end of its first line. Default: the variable
    /// COUNTERSIGN_PASSWORD, or a prompt at the terminal.
    #[arg(long)]
    password_stdin: bool,
}

/// The new password of `name`. The engine checks its length.
pub(crate) fn read(source: &PasswordSource, name: &str, context: &Context) -> Result<String, Failure> {
    read_or(source, context, || prompt_twice(name))
}

/// The current password of `name`.
pub(crate) fn read_current(source: &PasswordSource, name: &str, context: &Context) -> Result<String, Failure> {
    read_or(source, context, || prompt(format!("password of {name}: ")))
}

fn read_or(
    source: &PasswordSource,
    context: &Context,
    asked: impl FnOnce() -> Result<String, Failure>,
) -> Result<String, Failure> {
    if source.password_stdin {
        return first_line();
    }
    if let Some(password) = context.environment.get(VARIABLE) {
        return Ok(password.clone());
    }
    if std::io::stdin().is_terminal() {
        return asked();
    }
    let hint = format!("give it with --password-stdin or in the variable {VARIABLE}");
    Err(Failure::new("there is no terminal to ask for the password at").hint(hint))
}

fn first_line() -> Result<String, Failure> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|why| Failure::new(format!("cannot read the password: {why}")))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn prompt_twice(name: &str) -> Result<String, Failure> {
    let password = prompt(format!("new password of {name}: "))?;
    if password == prompt("the same again: ".into())? { Ok(password) } else { Err(Failure::new("the two differ")) }
}

fn prompt(text: String) -> Result<String, Failure> {
    rpassword::prompt_password(text).map_err(|why| Failure::new(format!("cannot ask for the password: {why}")))
}
