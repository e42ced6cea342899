//! Texts made from the program itself: shell completions, manual pages and the description of the HTTP API.

use crate::{cli::Cli, context::Context, failure::Failure};
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArguments {
    /// The shell that will read the script.
    shell: Shell,
}

pub(crate) fn completions(arguments: &CompletionsArguments, context: &Context) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "countersign", &mut script);
    context.say(&String::from_utf8_lossy(&script))
}

/// Write a manual page for each command into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct ManArguments {
    /// The folder to write into, created if missing.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn man(arguments: &ManArguments, context: &Context) -> Result<(), Failure> {
    let dir = &arguments.dir;
    let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::command(), dir));
    written.map_err(|why| {
        let failure = Failure::new(format!("cannot write into {}: {why}", dir.display()));
        failure.hint("name a folder that you may write to")
    })?;
    context.say(&format!("wrote the pages into {0}; read one with: man {0}/countersign.1\n", dir.display()))
}

/// Print the OpenAPI 3.1 description of the HTTP API, as served at /openapi.json.
#[derive(Debug, clap::Args)]
pub(crate) struct OpenapiArguments {}

pub(crate) fn openapi(context: &Context) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&countersign_server::openapi_description());
    let text = text.map_err(|why| Failure::new(format!("the description could not be written: {why}")))?;
    context.say(&format!("{text}\n"))
}
