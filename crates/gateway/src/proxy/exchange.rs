//! One request to the upstream and the head of its response: sent once, with nothing but the decided content.

use super::{
    ProxyState,
    bodies::{Arriving, FromUpstream, ToUpstream},
    collect,
    settings::{GatewaySettings, UpstreamCredential},
    upstream::{Pool, SendFailure, Site, UpstreamConnection},
    websocket,
};
use crate::{
    complete::{self, MAX_BODY_BYTES},
    dry_run,
    headers::{self, IDENTITY, MAX_SUBJECT_BODY},
};
use async_trait::async_trait;
use bytes::Bytes;
use countersign_engine::{
    BEGINNING_BYTES, BodyDigest, CallFacts, Connect, HttpRequest, Permit, ReadWrite, Refusal, UpstreamError,
    UpstreamExchange, UpstreamOutcome, data_subjects_of_body,
};
use countersign_protocol::project::{DataSubjectSource, RouteStream, Upstream};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header, request::Parts};
use hyper::body::{Body as _, Incoming};
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::sync::oneshot;

const ANSWER_WITHIN: Duration = Duration::from_secs(Upstream::TIMEOUT_SECONDS.unsigned_abs());

/// The longest response that is read before it is handed on, to complete the path that undoes its call.
const SHORT_BODY_BYTES: usize = 64 * 1024;

/// The proxy's side of one call.
pub(super) struct ProxyExchange {
    shared: Arc<ProxyState>,
    parts: Parts,
    body: Option<Arriving>,
    origin: String,
    /// Found when the request is read; a kept request has none until its connection is dialled.
    target: Option<UpstreamTarget>,
    connection: Option<UpstreamConnection>,
    outgoing: Option<Outgoing>,
}

/// The upstream of a call and the settings of its connection.
pub(super) struct UpstreamTarget {
    pub(super) site: Arc<Site>,
    pub(super) credential: Option<UpstreamCredential>,
    idempotency: Option<HeaderName>,
    pub(super) connect: Duration,
    answer: Duration,
}

/// A request as the upstream will get it, without the headers that the gateway adds.
struct Outgoing {
    method: Method,
    /// Path and query.
    uri: Uri,
    headers: HeaderMap,
    body: ToUpstream,
    /// Resolves when the body was sent, if it is still arriving.
    when_sent: Option<oneshot::Receiver<()>>,
}

impl ProxyExchange {
    pub(super) fn new(
        shared: Arc<ProxyState>,
        parts: Parts,
        body: impl Into<Option<Arriving>>,
        origin: String,
    ) -> Self {
        Self { shared, parts, body: body.into(), origin, target: None, connection: None, outgoing: None }
    }

    /// Approved calls and WebSockets use a new connection (`alone`): the upstream may have closed an idle one, and a request
    /// sent on it would be lost.
    async fn dial(&self, target: &UpstreamTarget, alone: bool) -> Result<UpstreamConnection, UpstreamError> {
        let pool = &self.shared.pool;
        let dialling =
            async { if alone { pool.dial(&target.site).await } else { pool.connection(&target.site).await } };
        match tokio::time::timeout(target.connect, dialling).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(why)) => {
                tracing::warn!(%why, "an upstream could not be reached");
                Err(UpstreamError::NotSent("the upstream could not be reached"))
            }
            Err(_late) => {
                tracing::warn!("an upstream could not be reached in time");
                Err(UpstreamError::NotSent("the upstream could not be reached in time"))
            }
        }
    }

    fn websocket(&self) -> Outgoing {
        Outgoing {
            method: self.parts.method.clone(),
            uri: origin_form(&self.parts.uri),
            headers: HeaderMap::new(),
            body: ToUpstream::Whole(None),
            when_sent: None,
        }
    }

    /// A request that needs no approval. A long body is forwarded as it arrives.
    async fn read_outgoing(&mut self, facts: &CallFacts) -> Result<Outgoing, Refusal> {
        let (route, settings) = (facts.route(), &self.shared.settings);
        let (mut uri, mut headers) = (origin_form(&self.parts.uri), headers::forwarded(&self.parts.headers, route));
        dry_run::add(facts, &mut uri, &mut headers)?;
        let (max, pace) = (route.max_body_bytes, settings.body_timeout);
        // The beginning of a write is compared with earlier writes before it is sent.
        let least = if facts.refuses_repeats() { BEGINNING_BYTES } else { 0 };
        let limit = settings.buffer_limit.max(least);
        let (body, when_sent) = match self.body.take().filter(|body| !body.is_end_stream()) {
            None => (ToUpstream::Whole(None), None),
            Some(body) => match collect::beginning(body, limit, max, pace).await? {
                (bytes, None) => (ToUpstream::whole(bytes), None),
                (first, Some(rest)) => {
                    let (body, when_sent) = ToUpstream::rest(first, rest, max, pace);
                    (body, Some(when_sent))
                }
            },
        };
        Ok(Outgoing { method: self.parts.method.clone(), uri, headers, body, when_sent })
    }

    /// Adds the headers reserved to the gateway: host, identity, effect key and credential.
    fn with_gateway_headers(
        permit: &Permit,
        target: &UpstreamTarget,
        outgoing: Outgoing,
    ) -> Result<Request<ToUpstream>, UpstreamError> {
        // The digests of approved calls were compared before; method and target are compared for every call.
        let sent_to = outgoing.uri.path_and_query().map_or("", http::uri::PathAndQuery::as_str);
        let marked = dry_run::is_marked_as_decided(permit.facts(), &outgoing.uri, &outgoing.headers);
        if !marked || !permit.covers_head(outgoing.method.as_str(), sent_to) {
            tracing::error!("the outgoing request differs from the authorized one");
            return Err(UpstreamError::NotSent("it differed from the authorized request"));
        }
        let statement = permit.identity_assertion(&target.site.audience).ok();
        let statement = statement.and_then(|text| HeaderValue::try_from(text).ok());
        let mut headers = outgoing.headers;
        headers.insert(header::HOST, target.site.host.clone());
        headers
            .insert(IDENTITY, statement.ok_or(UpstreamError::NotSent("the identity assertion could not be signed"))?);
        if let (Some(name), Some(key)) = (&target.idempotency, permit.effect_key()) {
            let key =
                HeaderValue::from_str(key).map_err(|_| UpstreamError::NotSent("the effect key fits no header"))?;
            headers.insert(name.clone(), key);
        }
        if let Some(credential) = &target.credential {
            headers.insert(credential.header.clone(), credential.value.clone());
        }
        let mut request = Request::new(outgoing.body);
        *request.method_mut() = outgoing.method;
        *request.uri_mut() = outgoing.uri;
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Sends on an open connection and waits for the head of the response, renewing the lease of a claim meanwhile.
    async fn send_and_wait(
        permit: &mut Permit,
        target: &UpstreamTarget,
        connection: &mut UpstreamConnection,
        request: Request<ToUpstream>,
        when_sent: Option<oneshot::Receiver<()>>,
    ) -> Result<Response<Incoming>, SendFailure> {
        let upgrades = request.headers().contains_key(header::UPGRADE);
        let mut cut = pin!(permit.cut());
        let (answer, left) = connection.send(request, permit.send_right());
        let (mut answer, mut left, mut has_left) = (pin!(answer), pin!(left), false);
        let mut late = pin!(response_timeout(target.answer, when_sent));
        let answer = loop {
            let renew = permit.renew_every();
            tokio::select! {
                biased;
                answer = &mut answer => break answer?,
                () = &mut left, if !has_left => {
                    has_left = true;
                    connection.end_send_right();
                    permit.mark_sent();
                }
                why = &mut cut, if !has_left => return Err(why.into()),
                () = &mut late => return Err(UpstreamError::TimedOut("the upstream did not respond in time").into()),
                () = sleep_or_pending(renew) => permit.renew().await,
            }
        };
        if upgrades {
            connection.end_send_right();
        }
        // An upgrade that was not requested would let the upstream bypass the gateway from here on.
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS && !upgrades {
            return Err(UpstreamError::ConnectionLost("the upstream switched protocols unasked").into());
        }
        Ok(answer)
    }
}

#[async_trait]
impl Connect for ProxyExchange {
    async fn connect(&mut self, facts: &CallFacts) -> Result<(), UpstreamError> {
        if self.connection.is_some() {
            return Ok(());
        }
        if self.target.is_none() {
            let misconfigured = |_| UpstreamError::NotSent("the upstream is not configured");
            self.target = Some(UpstreamTarget::of(&self.shared, facts).map_err(misconfigured)?);
        }
        let Some(target) = &self.target else { return Err(UpstreamError::NotSent("the upstream is not known")) };
        // A call without a request of its own runs an approved one.
        let alone = self.outgoing.is_none() || facts.route().stream == Some(RouteStream::Websocket);
        self.connection = Some(self.dial(target, alone).await?);
        Ok(())
    }

    fn reaches_upstream(&self) -> bool {
        true
    }
}

impl UpstreamExchange for ProxyExchange {
    type Answer = Response<FromUpstream>;

    async fn read(&mut self, facts: &CallFacts) -> Result<(), Refusal> {
        self.target = Some(UpstreamTarget::of(&self.shared, facts)?);
        self.outgoing = Some(match opens_websocket(&self.parts, facts)? {
            true => {
                let headers = headers::forwarded(&self.parts.headers, facts.route());
                Outgoing { headers: websocket::handshake(&self.parts.headers, headers), ..self.websocket() }
            }
            false => self.read_outgoing(facts).await?,
        });
        Ok(())
    }

    async fn describe(&mut self, facts: &CallFacts, whole: bool) -> Result<(ReadWrite, BodyDigest), Refusal> {
        let mut outgoing = self.outgoing.take().ok_or(Refusal::Internal)?;
        let Outgoing { method, uri, headers, .. } = &outgoing;
        let head = complete::head_of_write(method, uri, &self.origin, headers);
        let (beginning, length) = (Some(outgoing.body.beginning()), outgoing.body.size_hint().exact());
        if whole {
            let max = facts.route().max_body_bytes.unwrap_or(MAX_BODY_BYTES);
            let body = std::mem::replace(&mut outgoing.body, ToUpstream::Whole(None));
            match collect::rest(body, max, self.shared.settings.body_timeout).await? {
                Some(body) => outgoing = Outgoing { body, when_sent: None, ..outgoing },
                // The body is consumed and cannot be sent, so the write counts as a repeat.
                None => return Ok((ReadWrite { head, beginning, length, body: None }, BodyDigest::default())),
            }
        }
        let body = outgoing.body.digest();
        self.outgoing = Some(outgoing);
        Ok((ReadWrite { head, beginning, length, body: body.get() }, body))
    }

    async fn read_whole(&mut self, facts: &CallFacts) -> Result<HttpRequest, Refusal> {
        self.target = Some(UpstreamTarget::of(&self.shared, facts)?);
        if self.parts.headers.contains_key(header::UPGRADE) {
            return Err(no_upgrade());
        }
        let max = facts.route().max_body_bytes.unwrap_or(MAX_BODY_BYTES);
        let body = match self.body.take() {
            Some(body) => collect::whole(body, max, self.shared.settings.body_timeout).await?,
            None => Bytes::new(),
        };
        complete::complete(&self.parts, &self.origin, facts.route(), &body)
    }

    async fn send(
        &mut self,
        permit: &mut Permit,
        approved: Option<HttpRequest>,
    ) -> Result<Response<FromUpstream>, UpstreamError> {
        let mut outgoing = match approved {
            Some(request) => of_approved(request)?,
            None => self.outgoing.take().ok_or(UpstreamError::NotSent("nothing was read"))?,
        };
        let (Some(target), Some(mut connection)) = (&self.target, self.connection.take()) else {
            return Err(UpstreamError::NotSent("the upstream is not known"));
        };
        let when_sent = outgoing.when_sent.take();
        let request = Self::with_gateway_headers(permit, target, outgoing)?;
        let used = connection.used;
        let answer = match Self::send_and_wait(permit, target, &mut connection, request, when_sent).await {
            // A read that was certainly not sent is retried on a new connection.
            Err(SendFailure { unsent: Some(request), .. }) if used && !permit.facts().writes() => {
                connection = self.dial(target, true).await?.pooled();
                Self::send_and_wait(permit, target, &mut connection, *request, None).await
            }
            answer => answer,
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(SendFailure { error, .. }) => {
                // Bytes that have not left yet must never leave.
                connection.cut();
                return Err(error);
            }
        };
        Ok(answer.map(|body| FromUpstream::new(body, connection, self.shared.settings.body_timeout)))
    }

    fn outcome(&self, answer: &Response<FromUpstream>) -> UpstreamOutcome {
        let switched = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
        headers::outcome(answer.status(), answer.headers(), answer.body().length().filter(|_| !switched))
    }

    async fn data_subjects(
        &mut self,
        source: &DataSubjectSource,
        answer: Response<FromUpstream>,
    ) -> Result<(Response<FromUpstream>, Vec<String>), UpstreamError> {
        let Some(member) = &source.member else {
            let subjects = headers::data_subjects(answer.headers(), source);
            return Ok((answer, subjects));
        };
        let (parts, body) = answer.into_parts();
        let broken = |_| UpstreamError::ConnectionLost("the response broke off");
        let (body, bytes) = body.read_whole(MAX_SUBJECT_BODY).await.map_err(broken)?;
        let too_long = "the response is too long to say whose data it touched";
        let bytes = bytes.ok_or(UpstreamError::ConnectionLost(too_long))?;
        Ok((Response::from_parts(parts, body), data_subjects_of_body(&bytes, member)))
    }

    async fn read_short_body(
        &mut self,
        answer: Response<FromUpstream>,
    ) -> Result<(Response<FromUpstream>, Option<Vec<u8>>), UpstreamError> {
        let encoded = answer.headers().get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
        let (parts, body) = answer.into_parts();
        let broken = |_| UpstreamError::ConnectionLost("the response broke off");
        let (body, bytes) = body.read_whole(SHORT_BODY_BYTES).await.map_err(broken)?;
        let bytes = bytes.filter(|_| !encoded).map(|bytes| bytes.to_vec());
        Ok((Response::from_parts(parts, body), bytes))
    }

    fn streams(&self, facts: &CallFacts, answer: &Response<FromUpstream>) -> bool {
        facts.route().stream == Some(RouteStream::Events) || answer.status() == StatusCode::SWITCHING_PROTOCOLS
    }
}

/// Taken from the approved request alone.
fn of_approved(request: HttpRequest) -> Result<Outgoing, UpstreamError> {
    let head = complete::head_of(&request).map_err(|_| UpstreamError::NotSent("it cannot be sent as it was approved"));
    let (method, uri, headers) = head?;
    Ok(Outgoing { method, uri, headers, body: ToUpstream::whole(Bytes::from(request.body)), when_sent: None })
}

/// The time limit starts when the body was sent.
async fn response_timeout(limit: Duration, when_sent: Option<oneshot::Receiver<()>>) {
    if let Some(sent) = when_sent {
        let _sent = sent.await;
    }
    tokio::time::sleep(limit).await;
}

impl UpstreamTarget {
    /// Resolved before anything is claimed: a missing upstream in the configuration must not cost an approval.
    fn of(shared: &ProxyState, facts: &CallFacts) -> Result<Self, Refusal> {
        let Some(upstream) = facts.upstream() else { return Err(misconfigured("no upstream is configured")) };
        let target = Self::at(&shared.pool, &shared.settings, facts.project().id.as_str(), upstream)?;
        Ok(match seconds(facts.route().upstream_timeout_seconds) {
            Some(answer) => Self { answer, ..target },
            None => target,
        })
    }

    /// An upstream of a project, as far as this node allows it.
    pub(super) fn at(
        pool: &Pool,
        settings: &GatewaySettings,
        project: &str,
        upstream: &Upstream,
    ) -> Result<Self, Refusal> {
        let Ok(site) = pool.site(&upstream.url) else { return Err(misconfigured("its URL cannot be used")) };
        let allowed = settings.allowed_upstreams.as_ref();
        if allowed.is_some_and(|list| !list.contains(&site.destination)) {
            return Err(misconfigured("this node does not allow that upstream"));
        }
        let credential = match &upstream.credential {
            Some(name) => match settings.credentials.get(name) {
                Some(credential) if credential.is_for(project) => Some(credential.clone()),
                Some(_) => return Err(misconfigured("the credential is not for this project")),
                None => return Err(misconfigured("this node has no such credential")),
            },
            None => None,
        };
        Ok(Self {
            site,
            credential,
            idempotency: upstream.idempotency_header.as_ref().and_then(|name| name.parse().ok()),
            connect: seconds(Some(upstream.connect_timeout_s())).unwrap_or_default(),
            answer: seconds(upstream.timeout_seconds).unwrap_or(ANSWER_WITHIN),
        })
    }
}

fn seconds(value: Option<i64>) -> Option<Duration> {
    value.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs)
}

fn misconfigured(why: &'static str) -> Refusal {
    tracing::error!(why, "a call cannot be forwarded");
    Refusal::UpstreamUnreachable
}

/// Whether the request opens a WebSocket. Only routes declared for WebSockets accept one, and they accept nothing else.
fn opens_websocket(parts: &Parts, facts: &CallFacts) -> Result<bool, Refusal> {
    match facts.route().stream {
        Some(RouteStream::Websocket) if websocket::is_opening(parts)? => Ok(true),
        Some(RouteStream::Websocket) => Err(Refusal::invalid("only WebSockets can be opened at this address")),
        _ if parts.headers.contains_key(header::UPGRADE) => Err(no_upgrade()),
        _ => Ok(false),
    }
}

fn no_upgrade() -> Refusal {
    Refusal::invalid("this address does not switch to another protocol")
}

/// Path and query alone, as requests to an origin have them.
fn origin_form(uri: &Uri) -> Uri {
    uri.path_and_query().cloned().map(Uri::from).unwrap_or_default()
}

async fn sleep_or_pending(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
