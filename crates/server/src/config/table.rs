//! Every key of the node's configuration: name, type, default and description.
//!
//! The order is that of the written file: keys without a section first, then section by section.

use super::{document, kind::ConfigKind};
use serde_json::Value;

pub(super) struct Key {
    pub(super) path: &'static str,
    pub(super) kind: ConfigKind,
    /// In TOML syntax.
    pub(super) default: &'static str,
    pub(super) about: &'static str,
}

pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
}

impl Key {
    pub(super) fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    pub(super) fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// `listen.public` is `COUNTERSIGN_LISTEN__PUBLIC`.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.path.replace('.', "__").to_uppercase())
    }

    pub(super) fn default_value(&self) -> Value {
        document::value(self.default).unwrap_or(Value::Null)
    }
}

pub(super) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

pub(super) const PREFIX: &str = "COUNTERSIGN_";

/// The section of a project document. Its keys are those of the document, not of this table.
pub(super) const PROJECT: &str = "project";

pub(super) const SECTIONS: &[Section] = &[
    Section { name: "listen", about: "Listeners of this node, and limits of one connection." },
    Section { name: "public", about: "The public address of the node." },
    Section {
        name: "gateway",
        about: "The reverse proxy in front of an API: its own listener. Upstreams, and the requirements of calls, are \
                in the project's document.",
    },
    Section { name: "store", about: "The database." },
    Section {
        name: "retention",
        about: "For how many days records are kept after their end; then they are removed, a few at a time. Evidence \
                leaves, and records that are pending, unknown or in force, are never removed.",
    },
    Section {
        name: "evidence",
        about: "What stands for the evidence beside the database. Who may read the log is in the project's document.",
    },
    Section {
        name: "keys",
        about: "The source of the key that seals all other keys in the database: a file, a variable of the environment \
                or a command. Name one of the three. Without it the database cannot be opened: keep a copy.",
    },
    Section { name: "outbound", about: "Connections that this node opens to operators." },
    Section { name: "sign_in", about: "How people sign in." },
    Section {
        name: "aaep",
        about: "Subscribers without credentials of their own, with the token in the address. A project has to switch \
                them on (decisions.legacy_subscribers).",
    },
    Section {
        name: "mcp",
        about: "Agents with the Model Context Protocol, at /mcp, by their API key or access token.",
    },
    Section { name: "log", about: "The log on standard error." },
];

const fn key(path: &'static str, kind: ConfigKind, default: &'static str, about: &'static str) -> Key {
    Key { path, kind, default, about }
}

const fn whole(path: &'static str, (least, most): (u64, u64), default: &'static str, about: &'static str) -> Key {
    key(path, ConfigKind::Whole { least, most }, default, about)
}

pub(super) const KEYS: &[Key] = &[
    key(
        "tenancy",
        ConfigKind::Choice(&["single", "multi"]),
        r#""single""#,
        "\"single\": this node serves one project. \"multi\": it serves many, each under /projects/NAME or its own host name.",
    ),
    key(
        "test_mode",
        ConfigKind::Flag,
        "false",
        "Accepts published test keys and short session ids. Refused unless the public origin is on loopback or \
         its host is listed in outbound.static.",
    ),
    key(
        "listen.public",
        ConfigKind::Address,
        r#""127.0.0.1:8420""#,
        "Address and port for agents, operators and people.",
    ),
    key(
        "listen.operations",
        ConfigKind::Address,
        r#""127.0.0.1:8421""#,
        "Address and port for health and metrics. It asks for no credentials: keep it away from the public network.",
    ),
    key(
        "listen.operations_socket",
        ConfigKind::Path,
        r#""""#,
        "The Unix socket by which commands such as `countersign token revoke` reach this node while it runs; only the \
         user that runs it, and root, can use it. Empty: with SQLite, `socket` in a folder beside the database \
         (countersign.db-operations); with PostgreSQL, none.",
    ),
    whole(
        "listen.first_byte_seconds",
        (1, 60),
        "10",
        "How long a connection may be silent before it is closed, also at the gateway.",
    ),
    whole("listen.header_read_seconds", (1, 60), "15", "How long a client may take to send the head of a request."),
    whole(
        "listen.idle_seconds",
        (1, 3600),
        "60",
        "How long an HTTP/2 connection may be without a request, and a response without progress in being read. At the \
         gateway: how long any connection may be without a request. Event streams and WebSockets go on.",
    ),
    whole(
        "listen.request_seconds",
        (1, 600),
        "30",
        "How long a response may take. Long polls and event streams have bounds of their own.",
    ),
    whole(
        "listen.max_body_bytes",
        (1024, 16_777_216),
        "65536",
        "The largest body of a request to the protocol's own endpoints.",
    ),
    whole(
        "listen.max_connections",
        (1, 1_000_000),
        "4096",
        "How many connections each listener holds open at a time. Lowered at start where the process may not open so \
         many files (LimitNOFILE, ulimit -n); the log says so.",
    ),
    whole(
        "listen.max_connections_per_address",
        (1, 1_000_000),
        "256",
        "How many of them one address may hold, an IPv6 /64 being one address. Proxies in public.trusted_proxies may \
         hold any number.",
    ),
    whole("listen.max_streams", (1, 1000), "64", "How many requests one HTTP/2 connection may have in progress."),
    key(
        "public.origin",
        ConfigKind::Origin,
        r#""http://localhost:8420""#,
        "The address under which agents know this service, exactly as they must spell it: https://host, or http \
         on localhost and loopback only. Delegations are bound to it, so changing it ends them.",
    ),
    key(
        "public.subdomains",
        ConfigKind::Flag,
        "false",
        "Whether each project also answers on PROJECT.host. Needs tenancy = \"multi\" and a host name, not an IP address.",
    ),
    key(
        "public.trusted_proxies",
        ConfigKind::Networks,
        "[]",
        "Addresses or ranges of proxies: their X-Forwarded-For is trusted, for throttling only, and \
         listen.max_connections_per_address does not count for them.",
    ),
    whole(
        "public.connect_requests_per_minute",
        (1, 100_000),
        "60",
        "How often one operator may ask in a minute to be connected to people of one project.",
    ),
    key(
        "gateway.listen",
        ConfigKind::MaybeAddress,
        r#""""#,
        "Address and port for agents' calls of the API, such as 127.0.0.1:8422. Empty: this node is no gateway.",
    ),
    key(
        "gateway.public_origin",
        ConfigKind::MaybeOrigin,
        r#""""#,
        "The public origin of the gateway, like public.origin: proofs and approvals are bound to it. Empty: http:// \
         and gateway.listen, if that is on loopback.",
    ),
    key(
        "gateway.upstreams",
        ConfigKind::Upstreams,
        "[]",
        "The only upstreams that the gateway may use, regardless of the project's document, such as \
         http://127.0.0.1:9000. Empty: any, with tenancy = \"single\"; none, with tenancy = \"multi\".",
    ),
    key(
        "gateway.upstream_ca_file",
        ConfigKind::Path,
        r#""""#,
        "A PEM file with authorities to trust for upstreams, besides those of the system.",
    ),
    key(
        "gateway.credentials",
        ConfigKind::Credentials,
        "{}",
        "The gateway's credentials at upstreams, under the names that projects use. In place of this line: \
         [gateway.credentials.NAME] with header (\"authorization\" by default) and one of value, file (a path) and env \
         (the name of a variable of the environment); with several tenants also projects, the list of those that may \
         use it.",
    ),
    whole("gateway.header_timeout_seconds", (1, 60), "10", "How long a client may take to send the head of a request."),
    whole(
        "gateway.body_timeout_seconds",
        (1, 600),
        "30",
        "How long the next piece of a body may take, from clients and from upstreams.",
    ),
    whole("gateway.max_header_bytes", (1024, 1_048_576), "32768", "The largest head of a request."),
    whole(
        "gateway.drain_seconds",
        (0, 600),
        "10",
        "How long calls in progress may take to finish when the node stops.",
    ),
    key(
        "store.kind",
        ConfigKind::Choice(&["sqlite", "postgres"]),
        r#""sqlite""#,
        "\"sqlite\": one file, nothing to install. \"postgres\": any number of nodes over one database.",
    ),
    key(
        "store.path",
        ConfigKind::Path,
        r#""countersign.db""#,
        "The SQLite file. Like every path here it counts from the folder of this file.",
    ),
    whole("store.readers", (1, 64), "4", "How many SQLite connections read at a time."),
    key("store.url", ConfigKind::PostgresUrl, r#""""#, "The PostgreSQL database: postgres://user@host/database."),
    key(
        "store.password",
        ConfigKind::Secret,
        r#""""#,
        "The password for store.url, better given as COUNTERSIGN_STORE__PASSWORD than written here.",
    ),
    key(
        "store.root_certificates",
        ConfigKind::Path,
        r#""""#,
        "A PEM file with the authorities that may sign the database's certificate. Empty: those of the system.",
    ),
    whole("store.pool", (1, 256), "8", "How many PostgreSQL connections this node opens."),
    key(
        "store.state",
        ConfigKind::Path,
        r#""""#,
        "The folder in which a node on PostgreSQL keeps its last acknowledged position, to recognise a database \
         restored from a backup. Each node has its own, and it must outlive restarts. Empty: the folder of this file. \
         SQLite keeps it beside the database.",
    ),
    // AAP-G-07: the audit persists for at least 90 days after the end of the delegation.
    whole(
        "retention.audit_days",
        (90, 36_500),
        "90",
        "Audit entries, after the end of their delegation: the openings of the evidence, and its index. At least 90.",
    ),
    whole(
        "retention.decisions_days",
        (1, 36_500),
        "90",
        "Decisions with their approvals and executions, after the last of these is settled. A question says when \
         exactly the same last ran for as long.",
    ),
    whole("retention.plans_days", (1, 36_500), "90", "Plans, after they were completed, failed or were cancelled."),
    whole(
        "retention.clarifications_days",
        (1, 36_500),
        "90",
        "Clarification sessions and their chains, after they were confirmed, given up or expired.",
    ),
    whole("retention.feed_days", (1, 36_500), "90", "Bus events and learning samples (MPLP), after they happened."),
    key(
        "evidence.checkpoint_files",
        ConfigKind::Path,
        r#""""#,
        "A folder for signed checkpoints, at most one a minute of each project; empty for none. Files are only added, so it \
         can be append-only, and on another disk: a start compares the newest with the database.",
    ),
    key(
        "evidence.witnesses",
        ConfigKind::Witnesses,
        "[]",
        "Witnesses that cosign the checkpoints (C2SP tlog-witness): the address, a space and the verifier key of each. One \
         that is not on the public network needs an entry in outbound.static.",
    ),
    key(
        "keys.file",
        ConfigKind::Path,
        r#""countersign.key""#,
        "A file with 64 hex digits, readable by this program only. `countersign init` makes it.",
    ),
    key(
        "keys.environment",
        ConfigKind::Text,
        r#""""#,
        "The name of a variable of the environment that holds the 64 hex digits.",
    ),
    key(
        "keys.command",
        ConfigKind::TextList,
        "[]",
        "A program and its arguments that prints the 64 hex digits. It is started without a shell.",
    ),
    key(
        "outbound.static",
        ConfigKind::Hosts,
        "{}",
        "Hosts whose address is fixed here instead of being looked up and checked for being public, such as \
         {\"operator.example\"=\"127.0.0.1:9443\"}.",
    ),
    key(
        "outbound.extra_roots",
        ConfigKind::PathList,
        "[]",
        "PEM files with authorities to trust besides those of the system.",
    ),
    whole("outbound.timeout_seconds", (1, 60), "5", "How long fetching an operator's document may take."),
    whole(
        "outbound.alert_after_failures",
        (1, 1000),
        "3",
        "After how many failures in a row to fetch one operator's keys an alert is written.",
    ),
    whole(
        "outbound.new_operators_per_minute",
        (1, 100_000),
        "30",
        "How many unknown operators one source may make this node look up in a minute.",
    ),
    whole("sign_in.session_hours", (1, 720), "12", "How long a person stays signed in."),
    // R-4: authentication older than five minutes is not fresh, so no higher value is allowed.
    whole("sign_in.fresh_minutes", (1, 5), "5", "How long an entered password counts as fresh authentication."),
    whole(
        "sign_in.attempts_per_account_and_network",
        (1, 1000),
        "10",
        "How many passwords one network (an IPv4 address or an IPv6 /64) may try for one account in 15 minutes.",
    ),
    whole(
        "sign_in.attempts_per_account",
        (1, 100_000),
        "100",
        "How many passwords may be tried for one account in an hour, from all networks together that had no successful \
         sign-in to it within 30 days.",
    ),
    whole(
        "sign_in.attempts_per_address",
        (1, 100_000),
        "50",
        "How many passwords one network may try in 15 minutes, for all accounts together.",
    ),
    whole(
        "sign_in.attempts_per_session",
        (1, 1000),
        "10",
        "How many passwords a signed-in person may try in 15 minutes to authenticate again.",
    ),
    key(
        "aaep.legacy_origins",
        ConfigKind::Origins,
        "[]",
        "Origins of other web pages that may use such an address from a browser, such as http://localhost:3000.",
    ),
    key(
        "aaep.legacy_hosts",
        ConfigKind::TextList,
        "[]",
        "Hosts beside that of public.origin by which such an address may be reached, with the port where there is \
         one, such as 127.0.0.1:8420.",
    ),
    key(
        "mcp.origins",
        ConfigKind::Origins,
        "[]",
        "Origins of other web pages that may use /mcp from a browser, such as http://localhost:6274.",
    ),
    key(
        "mcp.hosts",
        ConfigKind::TextList,
        "[]",
        "Hosts beside that of public.origin by which /mcp may be reached, with the port where there is one. Loopback \
         names need not be listed for programs on this machine.",
    ),
    key(
        "log.format",
        ConfigKind::Choice(&["text", "json"]),
        r#""text""#,
        "\"text\" for people, \"json\" for machines.",
    ),
    key(
        "log.level",
        ConfigKind::Choice(&["error", "warn", "info", "debug", "trace"]),
        r#""info""#,
        "The least important messages that are still written: error, warn, info, debug or trace.",
    ),
];
