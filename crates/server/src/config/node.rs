//! The configuration of a node as the rest of the program sees it: plain values, fully resolved.

use super::secret::ConfigSecret;
use countersign_engine::{Witness, store::Retention};
use countersign_gateway::Network;
use countersign_protocol::{domain::Domain, origin::Origin, project::ProjectDocument};
use serde::Deserialize;
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

#[derive(Clone, Debug, PartialEq)]
pub struct NodeConfig {
    pub tenancy: Tenancy,
    /// Whether published test keys and short session ids are accepted.
    pub test_mode: bool,
    pub listen: Listen,
    pub public: Public,
    /// `None`: this node is not a gateway.
    pub gateway: Option<Gateway>,
    pub store: Store,
    pub retention: Retention,
    pub evidence: EvidenceAnchors,
    pub keys: KeySource,
    pub outbound: Outbound,
    pub sign_in: SignIn,
    pub aaep: Aaep,
    pub mcp: Mcp,
    pub log: Log,
    /// Applied at start.
    pub project: Option<ProjectDocument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tenancy {
    Single,
    Multi,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    pub public: SocketAddr,
    pub operations: SocketAddr,
    /// The socket by which commands reach the running node. `None`: they open the database themselves.
    pub operations_socket: Option<PathBuf>,
    pub first_byte: Duration,
    pub header_read: Duration,
    pub idle: Duration,
    pub request: Duration,
    pub max_body_bytes: usize,
    pub max_connections: usize,
    pub max_connections_per_address: usize,
    pub max_streams: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    pub origin: Origin,
    /// Whether projects also answer on `PROJECT.host`. Only with [`Tenancy::Multi`].
    pub subdomains: bool,
    pub trusted_proxies: Vec<Network>,
    /// Per operator and project.
    pub connect_requests_per_minute: u32,
}

/// The listener of the reverse proxy, and the settings for its upstreams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    pub listen: SocketAddr,
    /// `None`: the origin of the listener, which is on loopback.
    pub public_origin: Option<Origin>,
    /// The only permitted upstreams. `None`: any.
    pub upstreams: Option<Vec<String>>,
    /// A PEM file, in addition to the system's certificate authorities.
    pub upstream_ca_file: Option<PathBuf>,
    pub credentials: BTreeMap<String, CredentialConfig>,
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    pub max_header_bytes: usize,
    pub drain: Duration,
}

impl Gateway {
    /// The origin at which agents reach a gateway that listens on `bound`.
    pub fn origin_at(&self, bound: SocketAddr) -> Option<Origin> {
        self.public_origin.clone().or_else(|| Origin::parse(&format!("http://{bound}")).ok())
    }
}

/// A credential of the gateway for an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialConfig {
    pub header: String,
    pub value: SecretSource,
    /// The projects that may use it. Without a list: the only project, or none where there are several.
    pub projects: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    Value(ConfigSecret),
    File(PathBuf),
    /// The name of the variable.
    Environment(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    Sqlite {
        path: PathBuf,
        readers: usize,
    },
    Postgres {
        /// Includes the password.
        url: ConfigSecret,
        /// Replaces the system's certificate authorities.
        root_certificates: Option<PathBuf>,
        pool: usize,
        /// The folder in which this node stores its last acknowledged position.
        state: PathBuf,
    },
}

/// What stands for the evidence beside the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceAnchors {
    /// The append-only folder for checkpoints.
    pub checkpoint_files: Option<PathBuf>,
    pub witnesses: Vec<Witness>,
}

/// The source of the key-encryption key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    File(PathBuf),
    /// The name of the variable.
    Environment(String),
    /// The program and its arguments; never empty.
    Command(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    pub static_hosts: BTreeMap<Domain, SocketAddr>,
    /// PEM files, in addition to the system's certificate authorities.
    pub extra_roots: Vec<PathBuf>,
    pub timeout: Duration,
    pub alert_after_failures: u32,
    pub new_operators_per_minute: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    pub session: Duration,
    pub fresh: Duration,
    pub attempts_per_account_and_network: u32,
    pub attempts_per_account: u32,
    pub attempts_per_address: u32,
    pub attempts_per_session: u32,
}

/// Origins and hosts allowed on URLs that contain a subscriber token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aaep {
    pub legacy_origins: Vec<Origin>,
    pub legacy_hosts: Vec<String>,
}

/// Origins and hosts allowed on `/mcp` in addition to the public origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mcp {
    pub origins: Vec<Origin>,
    pub hosts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub format: LogFormat,
    pub level: LogLevel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}
