//! Everything the demo needs, in this process: a node in front of a calendar, an operator with a web site, an agent.

use super::{
    api,
    notices::Notices,
    operator_site::{OperatorSite, WEBHOOK_PATH},
};

use crate::DemoFailure;
use countersign_client::{
    agent::{Agent, AgentConfig},
    operator::{KeyRing, OperatorIdentity, OperatorKeys},
    transport::WithLoopback,
};
use countersign_protocol::{domain::Domain, origin::Origin, time::UnixMillis};
use countersign_server::{
    FirstStart, Node,
    admin::{Project, Role},
    config, start_in_front_of,
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(super) const OPERATOR: &str = "acme-agents.example";
pub(super) const PERSON: &str = "robin";
/// A published password: the demo listens on loopback only and deletes everything at its end.
pub(super) const PASSWORD: &str = "demo-password";

const PROJECT: &str = include_str!("../../../examples/calendar.toml");
/// Actions outside of the calendar that an agent may ask approval for.
const ACTIONS: &str = "[[actions]]\nname = \"payments.send\"\ntimeout_seconds = 300\n";

pub(super) struct DemoPlane {
    pub(super) node: Node,
    pub(super) origin: Origin,
    pub(super) operator: OperatorKeys,
    pub(super) site: OperatorSite,
    pub(super) folder: PathBuf,
}

impl DemoPlane {
    pub(super) async fn start(port: u16, folder: &Path) -> Result<Self, DemoFailure> {
        let now = system_now();
        let operator = operator()?;
        let site = OperatorSite::start(&operator, now).await?;
        let port = if port == 0 { free_port()? } else { port };
        let origin = Origin::parse(&format!("http://localhost:{port}")).map_err(trouble)?;
        let text = configuration(folder, &origin, port, &site)?;
        let environment = config::Environment::new();
        let loaded = config::from_text(Some((&folder.join("countersign.toml"), &text)), &environment)?;
        let node = start_in_front_of(api::calendar(), &loaded, &environment, FirstStart::Allowed).await;
        let node = node.map_err(|why| DemoFailure::new(why.to_string()).hint("is the port free? try --port"))?;
        node.engine.people().add_person(PERSON, "Robin Demo", PASSWORD, false).await.map_err(trouble)?;
        let plane = Self { node, origin, operator, site, folder: folder.to_owned() };
        let project = plane.project().await?.key;
        plane.node.engine.people().set_roles(project, PERSON, vec![Role::User]).await.map_err(trouble)?;
        Ok(plane)
    }

    /// The calendar's project.
    pub(super) async fn project(&self) -> Result<Project, DemoFailure> {
        let projects = self.node.engine.projects().await.map_err(trouble)?;
        projects.into_iter().next().ok_or_else(|| DemoFailure::new("the demo's project is missing"))
    }

    /// An agent of the operator that talks to the person through the terminal.
    pub(super) fn agent(&self, notices: &Arc<Notices>) -> Result<Agent, DemoFailure> {
        let config = AgentConfig::new(self.origin.clone());
        let transport = Arc::new(transport()?);
        Ok(Agent::new(config, self.operator.clone(), transport, Arc::clone(notices) as _, Arc::clone(notices) as _))
    }

    /// Closes the listeners and the database.
    pub(super) async fn stop(self) {
        self.site.stop();
        self.node.stop().await;
    }
}

pub(super) fn transport() -> Result<WithLoopback, DemoFailure> {
    WithLoopback::for_this_machine().map_err(trouble)
}

fn operator() -> Result<OperatorKeys, DemoFailure> {
    let domain = Domain::parse(OPERATOR).map_err(trouble)?;
    let mut identity = OperatorIdentity::new("Acme Agents", domain, format!("security@{OPERATOR}"));
    identity.webhook_url = Some(format!("https://{OPERATOR}{WEBHOOK_PATH}"));
    OperatorKeys::new(&identity, KeyRing::generate().map_err(trouble)?).map_err(trouble)
}

/// An ordinary configuration of a node.
fn configuration(folder: &Path, origin: &Origin, port: u16, site: &OperatorSite) -> Result<String, DemoFailure> {
    std::fs::write(folder.join("operator.pem"), &site.root_pem).map_err(trouble)?;
    config::key_encryption_key::create(&folder.join("countersign.key"), &fresh_key()?).map_err(trouble)?;
    let operations = free_port()?;
    let mut text = format!(
        "[listen]\npublic = \"127.0.0.1:{port}\"\noperations = \"127.0.0.1:{operations}\"\n\n\
         [public]\norigin = \"{origin}\"\n\n[outbound]\nextra_roots = [\"operator.pem\"]\n\
         static = {{ \"{OPERATOR}\" = \"{}\" }}\n\n",
        site.address
    );
    let mut project: BTreeMap<String, toml::Value> = toml::from_str(PROJECT).map_err(trouble)?;
    project.extend(toml::from_str::<BTreeMap<String, toml::Value>>(ACTIONS).map_err(trouble)?);
    let project = toml::to_string(&BTreeMap::from([("project", project)])).map_err(trouble)?;
    write!(text, "{project}").map_err(trouble)?;
    Ok(text)
}

pub(super) fn free_port() -> Result<u16, DemoFailure> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(trouble)?;
    Ok(listener.local_addr().map_err(trouble)?.port())
}

pub(super) fn trouble(why: impl std::fmt::Display) -> DemoFailure {
    DemoFailure::new(why.to_string())
}

#[expect(clippy::disallowed_methods, reason = "a key for a database that is gone when the demo ends")]
pub(super) fn fresh_key() -> Result<[u8; 32], DemoFailure> {
    let mut key = [0; 32];
    aws_lc_rs::rand::fill(&mut key).map_err(|_| DemoFailure::new("the system gives no randomness"))?;
    Ok(key)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the demo's agent and person are other programs than a node, with a clock"
)]
pub(super) fn system_now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
