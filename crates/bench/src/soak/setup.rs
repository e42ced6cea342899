//! The initial state of a run: a folder for each node, a project in front of the upstream, an operator, a person.

use super::{
    http::Listener,
    node::{Faketime, SoakNode},
    program,
    upstream::TIMEOUT_S,
};
use anyhow::Context as _;
use countersign_testkit::{TestOperator, operator_host::TestCa, postgres};
use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::Arc,
};

pub(super) const PERSON: &str = "alice";
pub(super) const SCOPE: &str = "soak.all";
pub(super) const INTENT: &str = "SOAK";
/// The lease of a claim, in seconds: it outlives a dead node for that long.
pub(super) const LEASE_S: u64 = 4;
/// How long a question stays pending, in seconds.
pub(super) const QUESTION_S: u64 = 120;

pub(super) struct Setup {
    pub(super) nodes: Vec<Arc<SoakNode>>,
    pub(super) operator: TestOperator,
    /// The origin known to agents, operators and people.
    pub(super) origin: String,
    pub(super) folder: SoakFolder,
}

/// Removed at the end, unless it is to be kept.
pub(super) struct SoakFolder {
    pub(super) path: PathBuf,
    pub(super) is_kept: bool,
}

impl Drop for SoakFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            let _removed = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl Setup {
    pub(super) async fn prepare(upstream: SocketAddr, on_postgres: bool, steps_clock: bool) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("countersign-soak-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        let folder = SoakFolder { path, is_kept: false };
        let ca = TestCa::new();
        let operator = TestOperator::start(&ca, "acme.test").await;
        let database = match on_postgres {
            true => Some(postgres::fresh_durable_database().await),
            false => None,
        };
        let mut nodes = Vec::new();
        let ports: Vec<[SocketAddr; 3]> =
            (0..if on_postgres { 2 } else { 1 }).map(|_| free_ports()).collect::<Result<_, _>>()?;
        let [first_public, first_gateway, _] = *ports.first().context("no node")?;
        let origin = format!("http://localhost:{}", first_public.port());
        for (n, listens) in ports.iter().enumerate() {
            let name = format!("node-{}", n + 1);
            let home = folder.path.join(&name);
            std::fs::create_dir_all(&home)?;
            std::fs::write(home.join("ca.pem"), ca.pem())?;
            let config = Config {
                listens,
                origin: &origin,
                gateway: first_gateway,
                upstream,
                operator: &operator,
                database: database.as_deref(),
            };
            std::fs::write(home.join("countersign.toml"), config.text())?;
            let hosts =
                [format!("localhost:{}", first_public.port()), first_gateway.to_string(), listens[2].to_string()];
            let mut hosts = hosts.into_iter();
            let listeners = listens.map(|address| Listener { address, host: hosts.next().unwrap_or_default() });
            let clock = match steps_clock {
                true => Some(Faketime { library: program::faketime()?, file: home.join("clock") }),
                false => None,
            };
            nodes.push(Arc::new(SoakNode::new(name, home, listeners, clock)));
        }
        furnish(&nodes, upstream)?;
        Ok(Self { nodes, operator, origin, folder })
    }
}

/// Creates key, database, project and person; further nodes share the key.
fn furnish(nodes: &[Arc<SoakNode>], upstream: SocketAddr) -> anyhow::Result<()> {
    let first = nodes.first().context("no node")?;
    std::fs::write(first.folder.join("soak.toml"), project(upstream))?;
    program::run(&first.folder, &["init"])?;
    program::run(&first.folder, &["project", "apply", "soak.toml"])?;
    program::run(&first.folder, &["user", "add", PERSON, "--role", "user"])?;
    for other in nodes.iter().skip(1) {
        copy_key(&first.folder, &other.folder)?;
    }
    Ok(())
}

/// With its permissions: a key readable by others is refused.
fn copy_key(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::copy(from.join("countersign.key"), to.join("countersign.key"))?;
    Ok(())
}

struct Config<'a> {
    listens: &'a [SocketAddr; 3],
    origin: &'a str,
    gateway: SocketAddr,
    upstream: SocketAddr,
    operator: &'a TestOperator,
    database: Option<&'a str>,
}

impl Config<'_> {
    fn text(&self) -> String {
        let Self { listens: [public, gateway, operations], origin, gateway: first, upstream, operator, database } =
            self;
        let store =
            database.map(|url| format!("[store]\nkind = \"postgres\"\nurl = \"{url}\"\n\n")).unwrap_or_default();
        format!(
            "[listen]\npublic = \"{public}\"\noperations = \"{operations}\"\nmax_connections_per_address = 4096\n\n\
             [public]\norigin = \"{origin}\"\nconnect_requests_per_minute = 100000\n\n\
             [gateway]\nlisten = \"{gateway}\"\npublic_origin = \"http://{first}\"\nupstreams = [\"http://{upstream}\"]\n\
             drain_seconds = 2\n\n\
             {store}[sign_in]\nattempts_per_account_and_network = 1000\nattempts_per_account = 100000\n\
             attempts_per_address = 100000\n\n\
             [outbound]\nextra_roots = [\"ca.pem\"]\nstatic = {{ \"{domain}\" = \"{operator}\" }}\n\n\
             [log]\nlevel = \"warn\"\n",
            domain = operator.domain(),
            operator = operator.host.addr(),
        )
    }
}

fn project(upstream: SocketAddr) -> String {
    format!(
        r#"id = "soak"
display_name = "Soak"
minimum_tier = 2
credential_ttl = 86400

[decisions]
max_open_per_agent = 1000000
max_open_per_person = 1000000
max_raised_per_hour = 1000000
pause_seconds = 0
lease_seconds = {LEASE_S}

[[upstreams]]
id = "unreliable"
url = "http://{upstream}"
connect_timeout_seconds = 2
timeout_seconds = {TIMEOUT_S}

[[scopes]]
id = "{SCOPE}"
description = "Everything that the soak does"
allows = ["accounts.read", "notes.write", "orders.place"]
intent_types = ["{INTENT}"]

[[routes]]
id = "accounts"
method = "GET"
path = "/accounts/{{account}}"
action = "accounts.read"

[[routes]]
id = "notes"
method = "POST"
path = "/notes/{{note}}"
action = "notes.write"

[[routes]]
id = "orders"
method = "POST"
path = "/orders/{{order}}"
action = "orders.place"
irreversible = true
risk = "medium"
timeout_seconds = {QUESTION_S}
describe = {{ action = "Place order {{body.marker}}" }}
"#
    )
}

/// Three at a time, so that none is assigned twice.
fn free_ports() -> anyhow::Result<[SocketAddr; 3]> {
    let held = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut addresses = Vec::new();
    for listener in held {
        addresses.push(listener?.local_addr()?);
    }
    addresses.try_into().map_err(|_| anyhow::anyhow!("no free ports on 127.0.0.1"))
}
