//! Converts the values of the table into the plain structs of [`super::node`].

use super::{
    checks,
    kind::postgres,
    layers::Values,
    node::{
        Aaep, CredentialConfig, EvidenceAnchors, Gateway, KeySource, Listen, Log, Mcp, NodeConfig, Outbound, Public,
        SignIn, Store, Tenancy,
    },
    problem::ConfigProblem,
    secret::ConfigSecret,
    witness,
};
use countersign_engine::store::Retention;
use countersign_protocol::project::ProjectDocument;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// `base` is the folder for relative paths. Checks across several keys have already passed.
pub(super) fn node(
    values: &Values,
    base: &Path,
    credentials: BTreeMap<String, CredentialConfig>,
    project: Option<ProjectDocument>,
) -> Result<NodeConfig, ConfigProblem> {
    Ok(NodeConfig {
        tenancy: values.get("tenancy")?,
        test_mode: values.get("test_mode")?,
        listen: listen(values, base)?,
        public: public(values)?,
        gateway: gateway(values, base, credentials)?,
        store: store(values, base)?,
        retention: retention(values)?,
        evidence: evidence(values, base)?,
        keys: keys(values, base)?,
        outbound: outbound(values, base)?,
        sign_in: sign_in(values)?,
        aaep: aaep(values)?,
        mcp: Mcp { origins: values.get("mcp.origins")?, hosts: values.get("mcp.hosts")? },
        log: Log { format: values.get("log.format")?, level: values.get("log.level")? },
        project,
    })
}

fn listen(values: &Values, base: &Path) -> Result<Listen, ConfigProblem> {
    Ok(Listen {
        public: values.get("listen.public")?,
        operations: values.get("listen.operations")?,
        operations_socket: operations_socket(values, base)?,
        first_byte: Duration::from_secs(values.get("listen.first_byte_seconds")?),
        header_read: Duration::from_secs(values.get("listen.header_read_seconds")?),
        idle: Duration::from_secs(values.get("listen.idle_seconds")?),
        request: Duration::from_secs(values.get("listen.request_seconds")?),
        max_body_bytes: values.get("listen.max_body_bytes")?,
        max_connections: values.get("listen.max_connections")?,
        max_connections_per_address: values.get("listen.max_connections_per_address")?,
        max_streams: values.get("listen.max_streams")?,
    })
}

/// A SQLite file has only one node, so its socket can be beside the file.
fn operations_socket(values: &Values, base: &Path) -> Result<Option<PathBuf>, ConfigProblem> {
    let named: PathBuf = values.get("listen.operations_socket")?;
    if !named.as_os_str().is_empty() {
        return Ok(Some(base.join(named)));
    }
    Ok(match store(values, base)? {
        Store::Sqlite { path, .. } => {
            let mut folder = path.into_os_string();
            folder.push("-operations");
            Some(PathBuf::from(folder).join("socket"))
        }
        Store::Postgres { .. } => None,
    })
}

fn public(values: &Values) -> Result<Public, ConfigProblem> {
    Ok(Public {
        origin: values.get("public.origin")?,
        subdomains: values.get("public.subdomains")?,
        trusted_proxies: values.get("public.trusted_proxies")?,
        connect_requests_per_minute: values.get("public.connect_requests_per_minute")?,
    })
}

/// `None` if `gateway.listen` is empty.
fn gateway(
    values: &Values,
    base: &Path,
    credentials: BTreeMap<String, CredentialConfig>,
) -> Result<Option<Gateway>, ConfigProblem> {
    if values.get::<String>("gateway.listen")?.is_empty() {
        return Ok(None);
    }
    let origin: String = values.get("gateway.public_origin")?;
    let roots: PathBuf = values.get("gateway.upstream_ca_file")?;
    Ok(Some(Gateway {
        listen: values.get("gateway.listen")?,
        public_origin: if origin.is_empty() { None } else { Some(values.get("gateway.public_origin")?) },
        upstreams: upstreams(values)?,
        upstream_ca_file: Some(roots).filter(|path| !path.as_os_str().is_empty()).map(|path| base.join(path)),
        credentials,
        header_timeout: Duration::from_secs(values.get("gateway.header_timeout_seconds")?),
        body_timeout: Duration::from_secs(values.get("gateway.body_timeout_seconds")?),
        max_header_bytes: values.get("gateway.max_header_bytes")?,
        drain: Duration::from_secs(values.get("gateway.drain_seconds")?),
    }))
}

/// The admin of one tenant must not reach into the operator's network: with several tenants, an empty list permits no
/// upstream.
fn upstreams(values: &Values) -> Result<Option<Vec<String>>, ConfigProblem> {
    let listed: Vec<String> = values.get("gateway.upstreams")?;
    let any = listed.is_empty() && values.get::<Tenancy>("tenancy")? == Tenancy::Single;
    Ok(if any { None } else { Some(listed) })
}

fn store(values: &Values, base: &Path) -> Result<Store, ConfigProblem> {
    if values.get::<String>("store.kind")? == "sqlite" {
        let path = base.join(values.get::<PathBuf>("store.path")?);
        return Ok(Store::Sqlite { path, readers: values.get("store.readers")? });
    }
    let roots = Some(values.get::<PathBuf>("store.root_certificates")?).filter(|path| !path.as_os_str().is_empty());
    Ok(Store::Postgres {
        url: database(values)?,
        root_certificates: roots.map(|path| base.join(path)),
        pool: values.get("store.pool")?,
        state: base.join(values.get::<PathBuf>("store.state")?),
    })
}

fn retention(values: &Values) -> Result<Retention, ConfigProblem> {
    Ok(Retention {
        audit_days: values.get("retention.audit_days")?,
        decisions_days: values.get("retention.decisions_days")?,
        plans_days: values.get("retention.plans_days")?,
        clarifications_days: values.get("retention.clarifications_days")?,
        feed_days: values.get("retention.feed_days")?,
    })
}

fn evidence(values: &Values, base: &Path) -> Result<EvidenceAnchors, ConfigProblem> {
    let files: PathBuf = values.get("evidence.checkpoint_files")?;
    let witnesses: Vec<String> = values.get("evidence.witnesses")?;
    Ok(EvidenceAnchors {
        checkpoint_files: Some(files).filter(|path| !path.as_os_str().is_empty()).map(|path| base.join(path)),
        witnesses: witnesses.iter().filter_map(|text| witness::parse(text)).collect(),
    })
}

/// A separate password takes precedence over one in the URL. The URL of a Unix socket has no host part to carry a
/// password, so it becomes a parameter.
fn database(values: &Values) -> Result<ConfigSecret, ConfigProblem> {
    let (text, password): (String, String) = (values.get("store.url")?, values.get("store.password")?);
    let Some(mut url) = postgres(&text).filter(|_| !password.is_empty()) else { return Ok(ConfigSecret::new(text)) };
    if url.set_password(Some(&password)).is_err() {
        url.query_pairs_mut().append_pair("password", &password);
    }
    Ok(ConfigSecret::new(url))
}

fn keys(values: &Values, base: &Path) -> Result<KeySource, ConfigProblem> {
    Ok(match checks::key_source(values) {
        Some("keys.environment") => KeySource::Environment(values.get("keys.environment")?),
        Some("keys.command") => KeySource::Command(values.get("keys.command")?),
        _ => KeySource::File(base.join(values.get::<PathBuf>("keys.file")?)),
    })
}

fn outbound(values: &Values, base: &Path) -> Result<Outbound, ConfigProblem> {
    let roots: Vec<PathBuf> = values.get("outbound.extra_roots")?;
    Ok(Outbound {
        static_hosts: values.get("outbound.static")?,
        extra_roots: roots.iter().map(|path| base.join(path)).collect(),
        timeout: Duration::from_secs(values.get("outbound.timeout_seconds")?),
        alert_after_failures: values.get("outbound.alert_after_failures")?,
        new_operators_per_minute: values.get("outbound.new_operators_per_minute")?,
    })
}

fn aaep(values: &Values) -> Result<Aaep, ConfigProblem> {
    Ok(Aaep { legacy_origins: values.get("aaep.legacy_origins")?, legacy_hosts: values.get("aaep.legacy_hosts")? })
}

fn sign_in(values: &Values) -> Result<SignIn, ConfigProblem> {
    Ok(SignIn {
        session: Duration::from_hours(values.get("sign_in.session_hours")?),
        fresh: Duration::from_mins(values.get("sign_in.fresh_minutes")?),
        attempts_per_account_and_network: values.get("sign_in.attempts_per_account_and_network")?,
        attempts_per_account: values.get("sign_in.attempts_per_account")?,
        attempts_per_address: values.get("sign_in.attempts_per_address")?,
        attempts_per_session: values.get("sign_in.attempts_per_session")?,
    })
}
