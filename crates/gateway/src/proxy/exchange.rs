//! One request to the upstream and the head of its answer: sent once, with nothing but what was decided.

use super::{
    Shared,
    bodies::{FromUpstream, ToUpstream},
    passage::Passage,
    settings::UpstreamCredential,
    upstream::{Line, Site, Unanswered},
};
use crate::headers::IDENTITY;
use countersign_engine::{Became, Grant, Refusal};
use futures_util::poll;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use hyper::body::Incoming;
use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};
use tokio::sync::oneshot;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// How to get to the service behind a call.
pub(super) struct Way {
    site: Arc<Site>,
    credential: Option<UpstreamCredential>,
    idempotency: Option<HeaderName>,
    connect: Duration,
    answer: Duration,
}

/// A request as the upstream will get it, but for what we add.
pub(super) struct Sealed {
    pub(super) method: Method,
    /// Path and query.
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: ToUpstream,
    /// Resolves when the body was sent, if it is still arriving.
    pub(super) when_sent: Option<oneshot::Receiver<()>>,
    /// Whether only a new connection will do.
    pub(super) fresh: bool,
}

/// Why there is no answer, and whether anything may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mishap {
    NotSent(&'static str),
    Slow(&'static str),
    Failed(&'static str),
}

impl Mishap {
    pub(super) fn became(self) -> Became {
        match self {
            Self::NotSent(why) => Became::NotSent(why),
            Self::Slow(why) | Self::Failed(why) => Became::Lost(why),
        }
    }

    pub(super) fn refusal(self) -> Refusal {
        match self {
            Self::NotSent(_) => Refusal::UpstreamUnreachable,
            Self::Slow(_) => Refusal::UpstreamSlow,
            Self::Failed(_) => Refusal::UpstreamFailed,
        }
    }
}

impl Way {
    /// Found before anything is spent: a service that is not configured costs nobody a yes.
    pub(super) fn of(shared: &Shared, grant: &Grant) -> Result<Self, Mishap> {
        let Some(upstream) = grant.upstream() else { return Err(misconfigured("no upstream is configured")) };
        let Ok(site) = shared.pool.site(&upstream.url) else { return Err(misconfigured("its URL cannot be used")) };
        let allowed = shared.settings.allowed_upstreams.as_ref();
        if allowed.is_some_and(|list| !list.contains(&site.destination)) {
            return Err(misconfigured("this node does not allow that upstream"));
        }
        let credential = match &upstream.credential {
            Some(name) => match shared.settings.credentials.get(name) {
                Some(credential) if credential.is_for(grant.project().id.as_str()) => Some(credential.clone()),
                Some(_) => return Err(misconfigured("the credential is not for this project")),
                None => return Err(misconfigured("this node has no such credential")),
            },
            None => None,
        };
        let seconds = |value: Option<i64>| value.and_then(|s| u64::try_from(s).ok()).map(Duration::from_secs);
        Ok(Self {
            site,
            credential,
            idempotency: upstream.idempotency_header.as_ref().and_then(|name| name.parse().ok()),
            connect: seconds(upstream.connect_timeout_seconds).unwrap_or(CONNECT_WITHIN),
            answer: seconds(grant.route().upstream_timeout_seconds)
                .or(seconds(upstream.timeout_seconds))
                .unwrap_or(ANSWER_WITHIN),
        })
    }
}

fn misconfigured(why: &'static str) -> Mishap {
    tracing::error!(why, "a call cannot be forwarded");
    Mishap::NotSent(why)
}

impl Shared {
    /// Sends what is sealed and waits for the head of the answer.
    pub(super) async fn exchange(
        &self,
        passage: &mut Passage,
        way: &Way,
        mut sealed: Sealed,
    ) -> Result<Response<FromUpstream>, Mishap> {
        // The digests of held calls were compared before; method and target are compared for every call.
        let target = sealed.uri.path_and_query().map_or("", http::uri::PathAndQuery::as_str);
        if !passage.covers_head(sealed.method.as_str(), target) {
            tracing::error!("what was about to be sent is not what was decided");
            return Err(Mishap::NotSent("it was not what was decided"));
        }
        let (fresh, when_sent) = (sealed.fresh, sealed.when_sent.take());
        let request = self.addressed(passage, way, sealed)?;
        let mut line = self.reach(way, fresh).await?;
        let used = line.used;
        let answer = match self.ask(passage, way, &mut line, request, when_sent).await {
            // Certainly not sent, and a read: a new connection will do. For a write it is said, and not tried again,
            // because whoever revokes has been told meanwhile that nothing is under way.
            Err(Silence::Unsent(request)) if used && !passage.grant().writes() => {
                line = self.reach(way, true).await?;
                self.ask(passage, way, &mut line, *request, None).await
            }
            answer => answer,
        };
        let answer = answer.map_err(Silence::mishap)?;
        Ok(answer.map(|body| FromUpstream::new(body, line, self.settings.body_timeout)))
    }

    /// Adds what only we may say: where it goes, by whom, and for whom.
    fn addressed(&self, passage: &Passage, way: &Way, sealed: Sealed) -> Result<Request<ToUpstream>, Mishap> {
        let statement = self.engine.identity_assertion(passage.grant(), &way.site.audience, passage.held());
        let statement = statement.ok().and_then(|text| HeaderValue::try_from(text).ok());
        let mut headers = sealed.headers;
        headers.insert(header::HOST, way.site.host.clone());
        headers.insert(IDENTITY, statement.ok_or(Mishap::NotSent("no statement of who calls could be signed"))?);
        if let (Some(name), Some(key)) = (&way.idempotency, passage.effect_key()) {
            let key = HeaderValue::from_str(key).map_err(|_| Mishap::NotSent("the effect key fits no header"))?;
            headers.insert(name.clone(), key);
        }
        if let Some(credential) = &way.credential {
            headers.insert(credential.header.clone(), credential.value.clone());
        }
        let mut request = Request::new(sealed.body);
        *request.method_mut() = sealed.method;
        *request.uri_mut() = sealed.uri;
        *request.headers_mut() = headers;
        Ok(request)
    }

    async fn reach(&self, way: &Way, fresh: bool) -> Result<Line, Mishap> {
        let line =
            async { if fresh { self.pool.fresh_line(&way.site).await } else { self.pool.line(&way.site).await } };
        match tokio::time::timeout(way.connect, line).await {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(why)) => {
                tracing::warn!(%why, "an upstream could not be reached");
                Err(Mishap::NotSent("the upstream could not be reached"))
            }
            Err(_late) => {
                tracing::warn!("an upstream could not be reached in time");
                Err(Mishap::NotSent("the upstream could not be reached in time"))
            }
        }
    }

    async fn ask(
        &self,
        passage: &mut Passage,
        way: &Way,
        line: &mut Line,
        request: Request<ToUpstream>,
        when_sent: Option<oneshot::Receiver<()>>,
    ) -> Result<Response<Incoming>, Silence> {
        let upgrades = request.headers().contains_key(header::UPGRADE);
        let mut asking = pin!(line.send(request));
        let first = poll!(asking.as_mut());
        passage.handed_on();
        let answer = match first {
            Poll::Ready(answer) => answer.map_err(Silence::of)?,
            Poll::Pending => self.wait(passage, way.answer, asking, when_sent).await?,
        };
        // A service that says so unasked would be talking past us from here on.
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS && !upgrades {
            return Err(Silence::Lost("the upstream switched protocols unasked"));
        }
        Ok(answer)
    }

    /// Waits for the answer, and keeps the lease of a claim alive meanwhile.
    async fn wait(
        &self,
        passage: &mut Passage,
        limit: Duration,
        mut asking: Pin<&mut impl Future<Output = Result<Response<Incoming>, Unanswered>>>,
        when_sent: Option<oneshot::Receiver<()>>,
    ) -> Result<Response<Incoming>, Silence> {
        let mut late = pin!(async {
            if let Some(sent) = when_sent {
                let _sent = sent.await;
            }
            tokio::time::sleep(limit).await;
        });
        loop {
            let renew = passage.renew_every();
            tokio::select! {
                answer = &mut asking => return answer.map_err(Silence::of),
                () = &mut late => return Err(Silence::Slow),
                () = after(renew) => passage.renew(&self.engine).await,
            }
        }
    }
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// No answer from a connection that stood.
enum Silence {
    Unsent(Box<Request<ToUpstream>>),
    Slow,
    Lost(&'static str),
}

impl Silence {
    fn of(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Unsent(request) => Self::Unsent(request),
            Unanswered::Lost(why) => {
                tracing::warn!(%why, "an upstream gave no answer");
                Self::Lost(if why.is_parse() { "the upstream's answer made no sense" } else { "the connection broke" })
            }
        }
    }

    fn mishap(self) -> Mishap {
        match self {
            Self::Unsent(_) => Mishap::NotSent("the connection was closed before anything was sent"),
            Self::Slow => Mishap::Slow("the upstream did not answer in time"),
            Self::Lost(why) => Mishap::Failed(why),
        }
    }
}
