//! Builds and binds a gateway from its configuration.

use crate::{
    App, Limits, ServedListener,
    app::router_at_gateway,
    config::{Environment, node},
};
use axum::{Router, body::Body};
use countersign_engine::Engine;
use countersign_gateway::{BadRoots, BoxBody, Destination, Endpoints, Gateway, GatewaySettings, UpstreamCredential};
use countersign_protocol::origin::Origin;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};
use tokio::net::TcpListener;
use tower::ServiceExt as _;

#[derive(Debug, thiserror::Error)]
pub enum GatewayTrouble {
    #[error("the gateway cannot listen on {address}: {why}")]
    Listen { address: SocketAddr, why: std::io::Error },
    #[error("the gateway listens on {0}, which no http:// origin can reach; set gateway.public_origin")]
    Origin(SocketAddr),
    #[error("gateway.upstream_ca_file {path} cannot be read: {why}")]
    RootsUnread { path: String, why: std::io::Error },
    #[error("gateway.upstream_ca_file: {0}")]
    Roots(#[from] BadRoots),
    #[error("gateway.upstreams: {0}")]
    Upstream(#[from] countersign_gateway::BadDestination),
    #[error("gateway.credentials.{name}: {why}")]
    Credential { name: String, why: String },
}

/// A gateway with a listener and without an engine yet: the engine must know its origin.
pub(crate) struct Bound<'a> {
    config: &'a node::Gateway,
    listener: TcpListener,
    address: SocketAddr,
    pub(crate) origin: Origin,
}

impl<'a> Bound<'a> {
    pub(crate) async fn bind(config: &'a node::Gateway) -> Result<Self, GatewayTrouble> {
        let trouble = |why| GatewayTrouble::Listen { address: config.listen, why };
        let listener = TcpListener::bind(config.listen).await.map_err(trouble)?;
        let address = listener.local_addr().map_err(trouble)?;
        let origin = config.origin_at(address).ok_or(GatewayTrouble::Origin(address))?;
        Ok(Self { config, listener, address, origin })
    }

    pub(crate) fn serve(
        self,
        engine: Arc<Engine>,
        own: Endpoints,
        whole: &node::NodeConfig,
        limits: Limits,
        environment: &Environment,
    ) -> Result<ServedListener, GatewayTrouble> {
        let settings = GatewaySettings {
            subdomains: whole.public.subdomains,
            max_connections: limits.max_connections,
            max_connections_per_address: limits.max_connections_per_address,
            trusted_proxies: whole.public.trusted_proxies.clone(),
            first_byte_timeout: limits.first_byte,
            idle_timeout: limits.idle,
            ..settings(self.config, self.origin, whole.tenancy, environment)?
        };
        let gateway = Gateway::with_endpoints(engine, settings, own)?;
        let listener = self.listener;
        Ok(ServedListener::until_told(self.address, |told| gateway.serve(listener, told)))
    }
}

/// The protocol's endpoints, as the gateway's listener serves them.
pub fn gateway_endpoints(app: App) -> Endpoints {
    let router = router_at_gateway(app);
    Arc::new(move |request| Box::pin(answer(router.clone(), request)))
}

async fn answer(router: Router, request: Request<Incoming>) -> Response<BoxBody> {
    let response = router.oneshot(request.map(Body::new)).await.unwrap_or_else(|never| match never {});
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}

fn settings(
    config: &node::Gateway,
    origin: Origin,
    tenancy: node::Tenancy,
    environment: &Environment,
) -> Result<GatewaySettings, GatewayTrouble> {
    let destinations = |listed: &Vec<String>| listed.iter().map(|text| Destination::parse(text)).collect();
    Ok(GatewaySettings {
        max_header_bytes: config.max_header_bytes,
        header_timeout: config.header_timeout,
        body_timeout: config.body_timeout,
        credentials: credentials(config, tenancy, environment)?,
        allowed_upstreams: config.upstreams.as_ref().map(destinations).transpose()?,
        extra_roots: roots(config)?,
        drain: config.drain,
        ..GatewaySettings::new(origin)
    })
}

fn roots(config: &node::Gateway) -> Result<Vec<u8>, GatewayTrouble> {
    let Some(path) = &config.upstream_ca_file else { return Ok(Vec::new()) };
    std::fs::read(path).map_err(|why| GatewayTrouble::RootsUnread { path: path.display().to_string(), why })
}

fn credentials(
    config: &node::Gateway,
    tenancy: node::Tenancy,
    environment: &Environment,
) -> Result<BTreeMap<String, UpstreamCredential>, GatewayTrouble> {
    let read = |(name, said): (&String, &node::CredentialConfig)| {
        let nobodys = (tenancy == node::Tenancy::Multi).then(Vec::new);
        let read = credential(said, environment).map(|credential| match said.projects.clone().or(nobodys) {
            Some(projects) => (name.clone(), credential.only_for(projects)),
            None => (name.clone(), credential),
        });
        read.map_err(|why| GatewayTrouble::Credential { name: name.clone(), why })
    };
    config.credentials.iter().map(read).collect()
}

/// Errors never contain the secret.
fn credential(said: &node::CredentialConfig, environment: &Environment) -> Result<UpstreamCredential, String> {
    let text = match &said.value {
        node::SecretSource::Value(secret) => secret.expose().to_owned(),
        node::SecretSource::File(path) => {
            std::fs::read_to_string(path).map_err(|why| format!("{} cannot be read: {why}", path.display()))?
        }
        node::SecretSource::Environment(name) => {
            environment.get(name).cloned().ok_or_else(|| format!("the variable {name} is not set"))?
        }
    };
    let header = HeaderName::try_from(&said.header).map_err(|_| "its header is not a valid header name".to_owned())?;
    let value = HeaderValue::try_from(text.trim()).map_err(|_| "its secret cannot be sent in a header".to_owned())?;
    if value.is_empty() {
        return Err("its secret is empty".into());
    }
    Ok(UpstreamCredential::new(header, value))
}
