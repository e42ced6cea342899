//! Starts and checks all contenders.

use super::{
    Arguments, judge,
    messages::{ContenderReady, Database, Point, Prepared, Preparing, ServingConfig},
    nginx, node,
    processes::ContenderProcess,
    round::Contender,
    signing::{Keys, Signer},
    upstream,
};
use crate::StoreKind;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    rc::Rc,
};

pub(super) const LAYER: &str = "layer";
pub(super) const PROXY: &str = "proxy";
pub(super) const NGINX: &str = "nginx";
pub(super) const OIDC_PROVIDER: &str = "oidc-provider";
pub(super) const FASTIFY_JOSE: &str = "fastify + jose";

/// For ten minutes after a start only proofs with a nonce count. The benchmark measures a node that has been up
/// for longer, so its clock starts in the past and is then set right.
pub(super) const UP_FOR_S: i64 = 601;

/// The contenders of a block, and the resources that they need.
pub(super) struct Field {
    pub(super) contenders: Vec<Contender>,
    keys: Rc<Keys>,
    prepared: Prepared,
    processes: Vec<ContenderProcess>,
    folder: NodeFolder,
}

impl Field {
    /// Starts Countersign, and on the first block the others.
    pub(super) async fn set_up(store: StoreKind, arguments: &Arguments) -> anyhow::Result<Self> {
        let upstream = upstream::open().await?;
        let mut field = Self::prepare(store, upstream, super::signing::AGENTS)?;
        let others = store == StoreKind::Sqlite;
        if others && arguments.wants(NGINX) {
            field.nginx(upstream).await?;
        }
        for (name, point) in [(PROXY, Point::Proxy), (LAYER, Point::Layer)] {
            if arguments.wants(name) {
                field.ours(name, point)?;
            }
        }
        for (name, script) in [(OIDC_PROVIDER, "oidc_provider.mjs"), (FASTIFY_JOSE, "fastify_jose.mjs")] {
            if others && arguments.wants(name) {
                field.peer(name, script)?;
            }
        }
        for contender in &field.contenders {
            match contender.name {
                NGINX => judge::answers(contender).await?,
                _ => judge::judge(contender).await?,
            }
        }
        Ok(field)
    }

    /// A database with that many agents, without a serving process yet.
    pub(super) fn prepare(store: StoreKind, upstream: SocketAddr, agents: usize) -> anyhow::Result<Self> {
        let folder = NodeFolder::new()?;
        let keys = Keys::make(&folder.0, agents)?;
        let task = Preparing { store, folder: folder.0.clone(), upstream: format!("http://{upstream}") };
        let (preparing, prepared) = ContenderProcess::own::<Prepared>(&[], "prepare", &task)?;
        Ok(Self { contenders: Vec::new(), keys, prepared, processes: vec![preparing], folder })
    }

    /// Countersign in a process of its own.
    pub(super) fn ours(&mut self, name: &'static str, point: Point) -> anyhow::Result<f64> {
        self.ours_under(&[], name, point, UP_FOR_S)
    }

    /// The same after another start; returns its duration in ms.
    pub(super) fn started_again(&mut self, name: &'static str, point: Point) -> anyhow::Result<f64> {
        self.end_contenders();
        self.ours_under(&[], name, point, 0)
    }

    pub(super) fn ours_under(
        &mut self,
        under: &[&str],
        name: &'static str,
        point: Point,
        up_for_s: i64,
    ) -> anyhow::Result<f64> {
        let (place, nodes) = match &self.prepared.place {
            // One file, one node: each gets a copy.
            Database::File(file) => (Database::File(copy(file, name)?), 1),
            Database::Postgres(url) => (Database::Postgres(url.clone()), 2),
        };
        let (process, told) =
            ContenderProcess::own::<ContenderReady>(under, "serve", &ServingConfig { point, place, nodes, up_for_s })?;
        let started = told.start_ms;
        self.join(name, process, told)?;
        Ok(started)
    }

    async fn nginx(&mut self, upstream: SocketAddr) -> anyhow::Result<()> {
        let (process, told) = nginx::start(&self.folder.0, upstream).await?;
        self.join(NGINX, process, told)
    }

    fn peer(&mut self, name: &'static str, script: &str) -> anyhow::Result<()> {
        let (process, told) = node::start(name, script, &self.folder.0.join("agents.json"))?;
        self.join(name, process, told)
    }

    fn join(&mut self, name: &'static str, process: ContenderProcess, told: ContenderReady) -> anyhow::Result<()> {
        let signer = Signer::new(&self.keys, &told, &self.prepared)?;
        let mut contender = Contender::new(name, signer, vec![process.id()], told.addresses);
        contender.database.clone_from(&self.prepared.processes);
        self.contenders.push(contender);
        self.processes.push(process);
        Ok(())
    }

    /// Ends the contenders and keeps their files.
    pub(super) fn end_contenders(&mut self) {
        self.contenders.clear();
        self.processes.truncate(1);
    }
}

fn copy(file: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = file.with_file_name(name);
    let copy = folder.join("bench.db");
    if !copy.exists() {
        std::fs::create_dir_all(&folder)?;
        std::fs::copy(file, &copy)?;
        // Without its position a database counts as old.
        std::fs::copy(file.with_extension("db.position"), copy.with_extension("db.position"))?;
    }
    Ok(copy)
}

/// Removed on drop, with its content.
struct NodeFolder(PathBuf);

impl NodeFolder {
    fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("countersign-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for NodeFolder {
    fn drop(&mut self) {
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}
