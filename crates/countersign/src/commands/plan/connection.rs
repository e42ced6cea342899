//! The service and the agent's API key.

use crate::{
    context::Context,
    failure::Failure,
    service::{NOT_REACHED, Service, secret, transport},
};
use countersign_client::{
    ServiceError,
    aaep::system_dice,
    decisions::Decisions,
    mcp::Mcp,
    mplp::{Mplp, PlanFollower},
    transport::WithLoopback,
};
use countersign_protocol::{ids::ProjectId, mplp::MplpId, origin::Origin};
use std::{path::PathBuf, sync::Arc};

const KEY_VARIABLE: &str = "COUNTERSIGN_API_KEY";

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
        let key = secret(self.key_file.as_deref(), KEY_VARIABLE, context)?.ok_or_else(|| {
            let hint = format!("set {KEY_VARIABLE} or use --key-file; `countersign key add --kind agent` makes a key");
            Failure::new("there is no API key").hint(hint)
        })?;
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

const UNKNOWN_KEY: &str = "the key may have been revoked: `countersign key list` shows it";

pub(super) fn plan_id(text: &str) -> Result<MplpId, String> {
    MplpId::parse(text).map_err(|why| why.to_string())
}
