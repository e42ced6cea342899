//! `countersign openapi`: the description of the HTTP API.

use crate::{context::Context, failure::Failure};

/// Print the OpenAPI 3.1 description of the HTTP API, as served at /openapi.json.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&countersign_server::openapi_description());
    let text = text.map_err(|why| Failure::new(format!("the description could not be written: {why}")))?;
    context.say(&format!("{text}\n"))
}
