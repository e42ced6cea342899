//! The service and the agent's API key.

use crate::{
    context::Context,
    failure::Failure,
    service::{NOT_REACHED, Service, UNKNOWN_KEY, api_key, transport},
};
use countersign_client::{
    ServiceError,
    clarification::{ClarificationError, Clarifications, published_keys},
};
use countersign_protocol::clarification::PublishedKeys;
use std::{path::PathBuf, sync::Arc};

#[derive(Debug, clap::Args)]
pub(super) struct ClarifyClient {
    #[command(flatten)]
    service: Service,

    /// Read the API key from this file instead of the variable COUNTERSIGN_API_KEY.
    #[arg(long, global = true, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl ClarifyClient {
    /// The service client for the agent with this key.
    pub(super) fn resolve(&self, context: &Context) -> Result<Clarifications, Failure> {
        let key = api_key(self.key_file.as_deref(), context)?;
        let service = self.service.origin(context)?;
        Ok(Clarifications::new(&service, self.service.project.as_ref(), &key, Arc::new(transport()?)))
    }

    /// The public keys; needs no API key.
    pub(super) async fn published_keys(&self, context: &Context) -> Result<PublishedKeys, Failure> {
        let (service, transport) = (self.service.origin(context)?, transport()?);
        published_keys(&service, self.service.project.as_ref(), &transport).await.map_err(failed)
    }
}

pub(super) fn failed(why: ClarificationError) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        ClarificationError::Service(ServiceError::Unreachable(_)) => failure.hint(NOT_REACHED),
        ClarificationError::Service(ServiceError::Refused(refused)) => match refused.status {
            401 => failure.hint(UNKNOWN_KEY),
            403 => failure.hint("this takes a key of another kind: `countersign key add` makes one"),
            404 => {
                failure.hint("an agent sees the sessions that it opened itself: is it this key's, and this project's?")
            }
            _ => failure,
        },
        ClarificationError::NotProven(_) => failure.hint("is --service the service that you mean?"),
        _ => failure,
    }
}
