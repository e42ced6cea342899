//! The agent's side: discover, connect, register, call; and notify the person as the protocol requires.

mod ask;
mod browser;
mod call;
mod connect;
mod discover;
mod error;
mod notice;
mod refusal;
mod register;
mod versions;
mod wire;

pub use ask::AuditQuery;
pub use browser::{Browser, SystemBrowser};
pub use call::AgentCall;
pub use error::{AskError, CallError, ConnectError, DiscoverError, Lost, RegisterError, WireError};
pub use notice::{Notice, UserFacing};
pub use refusal::ServiceRefusal;

use crate::{
    aaep::Dice,
    clarification::Clarifications,
    decisions::{ClientClock, Decisions},
    delegation::Delegation,
    mplp::Mplp,
    operator::OperatorKeys,
    possession::Nonces,
    transport::Transport,
};
use connect::Pending;
use countersign_jose::ProofKey;
use countersign_protocol::{aap::manifest::Manifest, aap::version, domain::Domain, ids::ProjectId, origin::Origin};
use discover::CheckedManifest;
use register::Session;
use std::sync::Arc;
use versions::Versions;

/// The only mode of this build: the agent acts for one person.
const MODE: &str = "user_delegated";

/// The service that an agent works with.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    pub service: Origin,
    /// The project, if the service has several and this one is known (AAP 3.1).
    pub project: Option<ProjectId>,
    /// The origin of its API, if not the service's own: the gateway's.
    pub api: Option<Origin>,
    /// The allowed protocol versions, oldest first.
    pub versions: &'static [&'static str],
    /// Whether access tokens are bound to a key of the session (AAP 13.1). Without it a stolen token can be used, and
    /// services that demand it are out of reach.
    pub dpop: bool,
}

impl AgentConfig {
    pub fn new(service: Origin) -> Self {
        Self { service, project: None, api: None, versions: version::ACCEPTED, dpop: true }
    }
}

/// One operator's agent at one service, for one person.
pub struct Agent {
    config: AgentConfig,
    operator: OperatorKeys,
    transport: Arc<dyn Transport>,
    user: Arc<dyn UserFacing>,
    browser: Arc<dyn Browser>,
    versions: Versions,
    nonces: Nonces,
    known: Option<CheckedManifest>,
    /// The disclosure that the person has seen.
    disclosed: Option<String>,
    pending: Option<Pending>,
    delegation: Option<Delegation>,
    session: Option<Session>,
    /// The key of the last attempted session: a response may be lost after the service has bound it.
    key: Option<(String, ProofKey)>,
}

impl Agent {
    pub fn new(
        config: AgentConfig,
        operator: OperatorKeys,
        transport: Arc<dyn Transport>,
        user: Arc<dyn UserFacing>,
        browser: Arc<dyn Browser>,
    ) -> Self {
        let versions = Versions::new(config.versions);
        Self {
            config,
            operator,
            transport,
            user,
            browser,
            versions,
            nonces: Nonces::default(),
            known: None,
            disclosed: None,
            pending: None,
            delegation: None,
            session: None,
            key: None,
        }
    }

    /// Restores a delegation from an earlier run.
    pub fn restore(&mut self, delegation: Delegation) {
        (self.delegation, self.session) = (Some(delegation), None);
    }

    /// The agent's operator, for disclosure on request (AAP 13.2).
    pub fn operator_domain(&self) -> &Domain {
        self.operator.domain()
    }

    /// The service's manifest, after discovery.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.known.as_ref().map(|known| &known.manifest)
    }

    /// The person's delegation, as long as it is not known to have ended.
    pub fn delegation(&self) -> Option<&Delegation> {
        self.delegation.as_ref()
    }

    pub fn session_id(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.id.as_str())
    }

    /// A client for decisions, with this session's access token, for as long as that is valid.
    pub fn decisions(&self, dice: Dice, clock: ClientClock) -> Option<Decisions> {
        let (token, key) = self.credential()?;
        let (service, project) = (&self.config.service, self.config.project.as_ref());
        let decisions = Decisions::new(service, project, token, Arc::clone(&self.transport), dice);
        Some(match key {
            Some(key) => decisions.bound_to(key, clock),
            None => decisions,
        })
    }

    /// A client for plans with the same token: an approval is valid in this session only.
    pub fn plans(&self, clock: ClientClock) -> Option<Mplp> {
        let (token, key) = self.credential()?;
        let (service, project) = (&self.config.service, self.config.project.as_ref());
        let plans = Mplp::new(service, project, token, Arc::clone(&self.transport));
        Some(match key {
            Some(key) => plans.bound_to(key, clock),
            None => plans,
        })
    }

    /// A client for clarifications with the same token: open gaps block this session's calls.
    pub fn clarifications(&self, clock: ClientClock) -> Option<Clarifications> {
        let (token, key) = self.credential()?;
        let (service, project) = (&self.config.service, self.config.project.as_ref());
        let clarifications = Clarifications::new(service, project, token, Arc::clone(&self.transport));
        Some(match key {
            Some(key) => clarifications.bound_to(key, clock),
            None => clarifications,
        })
    }

    /// The session's access token, and the key that it is bound to, if any.
    fn credential(&self) -> Option<(&str, Option<ProofKey>)> {
        let session = self.session.as_ref()?;
        let access = session.access.as_ref()?;
        Some((access.token.reveal(), session.key.clone().filter(|_| access.is_bound)))
    }

    fn notify(&self, notice: Notice) {
        self.user.notice(notice);
    }

    /// The service by its origin: its self-chosen name is no identity (AAP 13.2).
    fn service(&self) -> String {
        self.config.service.to_string()
    }
}
