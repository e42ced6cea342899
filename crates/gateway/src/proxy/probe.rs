//! The gateway's own read: whether an upstream carried out a call after its response was lost.

use super::{
    bodies::ToUpstream,
    collect,
    exchange::UpstreamTarget,
    settings::GatewaySettings,
    upstream::{Pool, UpstreamConnection},
};
use async_trait::async_trait;
use countersign_engine::{ProbeResponse, UpstreamProbes};
use countersign_protocol::{ids::ProjectId, project::Upstream};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, header};
use std::{sync::Arc, time::Duration};

/// From dialling to the last byte of the response: shorter than the time for which one attempt blocks others.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: u64 = 64 * 1024;

/// Sends the upstream's own credential. The probe has no calling agent, so no agent's data is sent.
pub(super) struct ProbeClient {
    pool: Arc<Pool>,
    settings: GatewaySettings,
}

impl ProbeClient {
    pub(super) fn new(pool: Arc<Pool>, settings: GatewaySettings) -> Self {
        Self { pool, settings }
    }

    async fn ask(&self, project: &ProjectId, upstream: &Upstream, path: &str) -> Option<ProbeResponse> {
        let target = UpstreamTarget::at(&self.pool, &self.settings, project.as_str(), upstream).ok()?;
        let request = request(&target, path)?;
        let dialled = tokio::time::timeout(target.connect, self.pool.dial(&target.site)).await.ok()?;
        let mut connection = match dialled {
            Ok(connection) => connection,
            Err(why) => {
                tracing::warn!(%why, "an upstream could not be reached for a probe");
                return None;
            }
        };
        let response = read(&mut connection, request).await;
        connection.cut();
        response
    }
}

#[async_trait]
impl UpstreamProbes for ProbeClient {
    async fn probe(&self, project: &ProjectId, upstream: &Upstream, path: &str) -> Option<ProbeResponse> {
        tokio::time::timeout(ANSWER_WITHIN, self.ask(project, upstream, path)).await.ok().flatten()
    }
}

fn request(target: &UpstreamTarget, path: &str) -> Option<Request<ToUpstream>> {
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, target.site.host.clone());
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(credential) = &target.credential {
        headers.insert(credential.header.clone(), credential.value.clone());
    }
    let mut request = Request::new(ToUpstream::Whole(None));
    *request.method_mut() = Method::GET;
    *request.uri_mut() = path.parse::<Uri>().ok().filter(|uri| uri.authority().is_none())?;
    *request.headers_mut() = headers;
    Some(request)
}

async fn read(connection: &mut UpstreamConnection, request: Request<ToUpstream>) -> Option<ProbeResponse> {
    let (answer, _left) = connection.send(request, None);
    let (head, body) = answer.await.ok()?.into_parts();
    let encoded = head.headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    let body = collect::whole(body, MAX_BODY_BYTES, ANSWER_WITHIN).await.ok().filter(|_| !encoded);
    Some(ProbeResponse { status: head.status.as_u16(), body: body.map(|bytes| bytes.to_vec()) })
}
