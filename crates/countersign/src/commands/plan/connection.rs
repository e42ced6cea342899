//! The service and the agent's API key.

use crate::{
    context::Context,
    failure::Failure,
    service::{NOT_REACHED, Service, UNKNOWN_KEY, api_key, transport},
};
use countersign_client::{
    ServiceError,
    aaep::system_dice,
    decisions::Decisions,
    mcp::Mcp,
    mplp::{Mplp, PlanFollower},
    transport::WithLoopback,
};
use countersign_protocol::{ids::ProjectId, origin::Origin};
use std::{path::PathBuf, sync::Arc};

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Connection {
    #[command(flatten)]
    service: Service,

    /// Read the agent's API key from this file instead of the variable COUNTERSIGN_API_KEY.
    #[arg(long, global = true, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// The service as this agent sees it.
pub(in crate::commands) struct Connected {
    service: Origin,
    project: Option<ProjectId>,
    key: String,
    transport: Arc<WithLoopback>,
}

impl Connection {
    pub(in crate::commands) fn resolve(self, context: &Context) -> Result<Connected, Failure> {
        let key = api_key(self.key_file.as_deref(), context)?;
        let service = self.service.origin(context)?;
        Ok(Connected { service, project: self.service.project, key, transport: Arc::new(transport()?) })
    }
}

impl Connected {
    pub(super) fn mplp(&self) -> Mplp {
        Mplp::new(&self.service, self.project.as_ref(), &self.key, self.transport.clone())
    }

    pub(in crate::commands) fn mcp(&self) -> Mcp {
        Mcp::new(&self.service, self.project.as_ref(), &self.key, self.transport.clone())
    }

    pub(super) fn decisions(&self) -> Decisions {
        Decisions::new(&self.service, self.project.as_ref(), &self.key, self.transport.clone(), system_dice())
    }

    pub(super) fn follow(&self, after: Option<String>) -> PlanFollower {
        self.mplp().follow(self.transport.clone(), after, system_dice())
    }
}

pub(super) fn failed(why: ServiceError) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        ServiceError::Unreachable(_) => failure.hint(NOT_REACHED),
        ServiceError::Refused(refused) => match refused.status {
            401 => failure.hint(UNKNOWN_KEY),
            404 => failure.hint("an agent sees the plans that it wrote itself: is it this key's, and this project's?"),
            _ => failure,
        },
        _ => failure,
    }
}

pub(super) fn not_waited(why: ServiceError) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        ServiceError::Unreachable(_) => failure.hint(NOT_REACHED),
        ServiceError::Refused(refused) if refused.status == 401 => failure.hint(UNKNOWN_KEY),
        _ => failure,
    }
}
