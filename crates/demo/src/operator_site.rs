//! The demo operator's web site: its identity, its keys and its webhook over real TLS, on loopback, under a certificate of
//! its own.

use super::{device::PATIENCE, plane::trouble};
use crate::DemoFailure;
use axum::{
    Router,
    body::Bytes,
    response::IntoResponse as _,
    routing::{get, post},
};
use countersign_client::operator::{OperatorKeys, ServedDocument};
use countersign_protocol::time::UnixMillis;
use http::{HeaderMap, StatusCode, header};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use std::{net::SocketAddr, sync::Arc};
use tokio::{
    net::TcpListener,
    sync::{
        Mutex,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    },
};
use tokio_rustls::TlsAcceptor;

pub(super) const WEBHOOK_PATH: &str = "/hooks/countersign";

/// A request to the webhook, not verified yet.
pub(super) struct WebhookRequest {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

pub(super) struct OperatorSite {
    pub(super) address: SocketAddr,
    /// The certificate that the service must trust.
    pub(super) root_pem: String,
    webhook: Mutex<UnboundedReceiver<WebhookRequest>>,
    task: tokio::task::JoinHandle<()>,
}

impl OperatorSite {
    pub(super) async fn start(operator: &OperatorKeys, now: UnixMillis) -> Result<Self, DemoFailure> {
        let certified = rcgen::generate_simple_self_signed([operator.domain().to_string()]).map_err(trouble)?;
        let root_pem = certified.cert.pem();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(trouble)?
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .map_err(trouble)?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(trouble)?;
        let address = listener.local_addr().map_err(trouble)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let (arrived, webhook) = unbounded_channel();
        let task = tokio::spawn(serve(listener, acceptor, site(operator.documents(now), arrived)));
        Ok(Self { address, root_pem, webhook: Mutex::new(webhook), task })
    }

    /// The next request to the webhook.
    pub(super) async fn webhook_request(&self) -> Result<WebhookRequest, DemoFailure> {
        let next = async { self.webhook.lock().await.recv().await };
        let arrived = tokio::time::timeout(PATIENCE, next).await.ok().flatten();
        arrived.ok_or_else(|| DemoFailure::new("not as promised: the operator was not notified in time"))
    }

    pub(super) fn stop(&self) {
        self.task.abort();
    }
}

fn site(documents: [ServedDocument; 2], arrived: UnboundedSender<WebhookRequest>) -> Router {
    let webhook = post(async move |headers: HeaderMap, body: Bytes| {
        let kept = arrived.send(WebhookRequest { headers, body });
        kept.map_or(StatusCode::SERVICE_UNAVAILABLE, |()| StatusCode::OK)
    });
    let router = Router::new().route(WEBHOOK_PATH, webhook);
    documents.into_iter().fold(router, |router, document| {
        let ServedDocument { path, body } = document;
        router.route(
            path,
            get(move || async move { ([(header::CONTENT_TYPE, "application/json")], body).into_response() }),
        )
    })
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, site: Router) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, service) = (acceptor.clone(), TowerToHyperService::new(site.clone()));
        tokio::spawn(async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                let _ended =
                    auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
            }
        });
    }
}
