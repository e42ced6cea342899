//! The gateway's own requests: whether an upstream carried out a call after its response was lost, and the undoing
//! of committed calls (AAP 17.7).

use super::{
    bodies::ToUpstream,
    collect,
    exchange::UpstreamTarget,
    settings::GatewaySettings,
    upstream::{Pool, UpstreamConnection},
};
use async_trait::async_trait;
use countersign_engine::{ProbeResponse, UpstreamError, UpstreamRequests};
use countersign_protocol::{ids::ProjectId, project::Upstream};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, header};
use std::{sync::Arc, time::Duration};

/// For a response, to its last byte. With the time for connecting it is shorter than the lease of an attempt.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: u64 = 64 * 1024;

/// Sends the upstream's own credential. These requests have no calling agent, so no agent's data is sent.
pub(super) struct OwnRequests {
    pool: Arc<Pool>,
    settings: GatewaySettings,
}

impl OwnRequests {
    pub(super) fn new(pool: Arc<Pool>, settings: GatewaySettings) -> Self {
        Self { pool, settings }
    }

    /// An error if nothing was sent, None without a response.
    async fn ask(
        &self,
        project: &ProjectId,
        upstream: &Upstream,
        (method, path): (&str, &str),
    ) -> Result<Option<ProbeResponse>, UpstreamError> {
        let unsendable = |_| UpstreamError::NotSent("the upstream is not configured");
        let target = UpstreamTarget::at(&self.pool, &self.settings, project.as_str(), upstream).map_err(unsendable)?;
        let request = request(&target, method, path).ok_or(UpstreamError::NotSent("its path cannot be sent"))?;
        let dialled = tokio::time::timeout(target.connect.min(ANSWER_WITHIN), self.pool.dial(&target.site)).await;
        let mut connection = match dialled {
            Ok(Ok(connection)) => connection,
            Ok(Err(why)) => {
                tracing::warn!(%why, "an upstream could not be reached");
                return Err(UNREACHABLE);
            }
            Err(_late) => return Err(UNREACHABLE),
        };
        let response = tokio::time::timeout(ANSWER_WITHIN, read(&mut connection, request)).await.ok().flatten();
        connection.cut();
        Ok(response)
    }
}

const UNREACHABLE: UpstreamError = UpstreamError::NotSent("the upstream could not be reached");

#[async_trait]
impl UpstreamRequests for OwnRequests {
    async fn probe(&self, project: &ProjectId, upstream: &Upstream, path: &str) -> Option<ProbeResponse> {
        let asked = self.ask(project, upstream, ("GET", path));
        tokio::time::timeout(ANSWER_WITHIN, asked).await.ok()?.ok().flatten()
    }

    async fn cancel(
        &self,
        project: &ProjectId,
        upstream: &Upstream,
        method: &str,
        path: &str,
    ) -> Result<Option<ProbeResponse>, UpstreamError> {
        self.ask(project, upstream, (method, path)).await
    }
}

fn request(target: &UpstreamTarget, method: &str, path: &str) -> Option<Request<ToUpstream>> {
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, target.site.host.clone());
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(credential) = &target.credential {
        headers.insert(credential.header.clone(), credential.value.clone());
    }
    let mut request = Request::new(ToUpstream::Whole(None));
    *request.method_mut() = Method::from_bytes(method.as_bytes()).ok()?;
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
