//! The node of the bank's gateway: a folder with a configuration, a project and a database, like any installation.

use super::{
    super::plane::{DemoPlane, OPERATOR, PASSWORD, PERSON, free_port, fresh_key, trouble},
    ProofDemand,
    process::NodeProcess,
    service::{Bank, CREDENTIAL},
};
use crate::DemoFailure;
use countersign_protocol::{origin::Origin, project::ProjectDocument};
use countersign_server::{
    FirstStart, Node,
    admin::{Engine, Role},
    config, start,
};
use std::{fs, path::PathBuf, sync::Arc};

const PROJECT: &str = include_str!("../../../../examples/bank.toml");
/// The rules for plans about the bank.
const RULES: &str = include_str!("../../../../examples/clarification/bank.toml");
/// Short, so that the lease of a dead node's claim lapses soon.
const LEASE_S: i64 = 2;

pub(super) struct BankNode {
    /// The origin for people's answers and agents' registration.
    pub(super) origin: Origin,
    /// The origin for agents' calls to the bank.
    pub(super) gateway: Origin,
    pub(super) folder: PathBuf,
    node: Option<Node>,
}

impl BankNode {
    pub(super) async fn prepare(plane: &DemoPlane, bank: &Bank, proof: ProofDemand) -> Result<Self, DemoFailure> {
        let folder = plane.folder.join("bank");
        fs::create_dir_all(&folder).map_err(trouble)?;
        fs::write(folder.join("operator.pem"), &plane.site.root_pem).map_err(trouble)?;
        config::key_encryption_key::create(&folder.join("countersign.key"), &fresh_key()?).map_err(trouble)?;
        let (public, gateway) = (free_port()?, free_port()?);
        let text = configuration(plane, bank, public, gateway)?;
        fs::write(folder.join("countersign.toml"), text).map_err(trouble)?;
        let origin = Origin::parse(&format!("http://localhost:{public}")).map_err(trouble)?;
        let gateway = Origin::parse(&format!("http://127.0.0.1:{gateway}")).map_err(trouble)?;
        let mut bank_node = Self { origin, gateway, folder, node: None };
        bank_node.start().await?;
        bank_node.furnish(document(bank, proof)?).await?;
        Ok(bank_node)
    }

    /// Starts a node in this process, on the existing database.
    pub(super) async fn start(&mut self) -> Result<(), DemoFailure> {
        let environment = config::Environment::new();
        let loaded = config::load(Some(&self.configuration()), &environment)?;
        self.node = Some(start(&loaded, &environment, FirstStart::Allowed).await.map_err(trouble)?);
        Ok(())
    }

    pub(super) async fn stop(&mut self) {
        if let Some(node) = self.node.take() {
            node.stop().await;
        }
    }

    /// The same node as a separate process, which can be killed.
    pub(super) async fn start_process(&self) -> Result<NodeProcess, DemoFailure> {
        NodeProcess::serve(&self.configuration(), &self.folder.join("process.log")).await
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("countersign.toml")
    }

    pub(super) fn engine(&self) -> Result<&Arc<Engine>, DemoFailure> {
        let node = self.node.as_ref().ok_or_else(|| DemoFailure::new("the bank's node does not run"))?;
        Ok(&node.engine)
    }

    async fn furnish(&self, document: ProjectDocument) -> Result<(), DemoFailure> {
        let engine = self.engine()?;
        let applied = engine.apply_project(document, "demo").await.map_err(trouble)?;
        engine.people().add_person(PERSON, "Robin Demo", PASSWORD, false).await.map_err(trouble)?;
        engine.people().set_roles(applied.project.key, PERSON, vec![Role::User]).await.map(drop).map_err(trouble)
    }
}

/// The example project of the repository, in front of this bank.
fn document(bank: &Bank, proof: ProofDemand) -> Result<ProjectDocument, DemoFailure> {
    let mut document: ProjectDocument = toml::from_str(PROJECT).map_err(trouble)?;
    for upstream in &mut document.upstreams {
        upstream.url = bank.url();
    }
    document.clarification = toml::from_str(RULES).map_err(trouble)?;
    document.dpop.required = proof == ProofDemand::Demanded;
    document.decisions.lease_seconds = LEASE_S;
    // Less than a lease, as everywhere.
    document.upstreams.iter_mut().for_each(|upstream| upstream.connect_timeout_seconds = Some(1));
    Ok(document)
}

fn configuration(plane: &DemoPlane, bank: &Bank, public: u16, gateway: u16) -> Result<String, DemoFailure> {
    Ok(format!(
        "[listen]\npublic = \"127.0.0.1:{public}\"\noperations = \"127.0.0.1:{operations}\"\n\n\
         [public]\norigin = \"http://localhost:{public}\"\n\n\
         [gateway]\nlisten = \"127.0.0.1:{gateway}\"\nupstreams = [\"{upstream}\"]\n\n\
         [gateway.credentials.bank]\nvalue = \"{CREDENTIAL}\"\n\n\
         [outbound]\nextra_roots = [\"operator.pem\"]\nstatic = {{ \"{OPERATOR}\" = \"{operator}\" }}\n",
        operations = free_port()?,
        upstream = bank.url(),
        operator = plane.site.address,
    ))
}
