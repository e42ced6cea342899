//! The HTTP service a command connects to, and its credential.

use crate::{context::Context, failure::Failure};
use countersign_client::transport::WithLoopback;
use countersign_protocol::{ids::ProjectId, origin::Origin};
use std::path::Path;

const VARIABLE: &str = "COUNTERSIGN_SERVICE";
const KEY_VARIABLE: &str = "COUNTERSIGN_API_KEY";
const DEFAULT: &str = "http://localhost:8420";

/// The hint for an unreachable service.
pub(crate) const NOT_REACHED: &str = "is the service running, and is --service its address?";

/// The hint for a key that the service does not know.
pub(crate) const UNKNOWN_KEY: &str = "the key may have been revoked: `countersign key list` shows it";

#[derive(Debug, clap::Args)]
pub(crate) struct Service {
    /// The service to connect to. Default: the variable COUNTERSIGN_SERVICE, or http://localhost:8420.
    #[arg(long, global = true, value_name = "URL", value_parser = origin)]
    service: Option<Origin>,

    /// The project there. May be omitted if there is only one.
    #[arg(long, global = true, value_name = "ID", value_parser = project)]
    pub(crate) project: Option<ProjectId>,
}

impl Service {
    pub(crate) fn origin(&self, context: &Context) -> Result<Origin, Failure> {
        match (&self.service, context.environment.get(VARIABLE)) {
            (Some(service), _) => Ok(service.clone()),
            (None, named) => {
                origin(named.map_or(DEFAULT, String::as_str)).map_err(|why| Failure::new(format!("{VARIABLE}: {why}")))
            }
        }
    }
}

/// A secret from a file or a variable; never from an argument, which every process of the machine can read.
pub(crate) fn secret(file: Option<&Path>, variable: &str, context: &Context) -> Result<Option<String>, Failure> {
    let text = match file {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|why| Failure::new(format!("{}: cannot be read: {why}", file.display())))?,
        None => context.environment.get(variable).cloned().unwrap_or_default(),
    };
    Ok(Some(text.trim().to_owned()).filter(|secret| !secret.is_empty()))
}

/// The API key of an agent or admin, which the command needs.
pub(crate) fn api_key(file: Option<&Path>, context: &Context) -> Result<String, Failure> {
    secret(file, KEY_VARIABLE, context)?.ok_or_else(|| {
        let hint = format!("set {KEY_VARIABLE} or use --key-file; `countersign key add --kind agent` makes a key");
        Failure::new("there is no API key").hint(hint)
    })
}

pub(crate) fn transport() -> Result<WithLoopback, Failure> {
    WithLoopback::for_this_machine().map_err(|why| Failure::new(why.to_string()))
}

fn origin(text: &str) -> Result<Origin, String> {
    Origin::parse(text.trim_end_matches('/')).map_err(|why| why.to_string())
}

fn project(text: &str) -> Result<ProjectId, String> {
    ProjectId::parse(text).map_err(|why| why.to_string())
}
