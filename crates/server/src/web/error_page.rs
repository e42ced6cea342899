//! Refusals as pages with a next step, for browsers; other clients get the JSON envelope.

use super::{answer, visit};
use crate::{
    App,
    http::{answer::RefusalResponse, cookie, request_id::RequestId},
    pages::{ErrorKind, ErrorPage, Frame},
};
use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use countersign_engine::Refusal;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

/// Middleware around every page: a browser never gets a JSON answer.
pub(super) async fn as_page(State(app): State<App>, id: RequestId, request: Request, next: Next) -> Response {
    let reader = ErrorPageReader { headers: request.headers().clone(), uri: request.uri().clone(), id };
    let response = next.run(request).await;
    if !reader.reads_pages() {
        return response;
    }
    match response.extensions().get::<RefusalResponse>() {
        Some(RefusalResponse(refusal)) => reader.told(&app, &refusal.clone()).await,
        None if is_bare(&response) => reader.shown(&app, response.status(), by_status(response.status())).await,
        None => response,
    }
}

/// The fallback handler. Mostly programs end up here, so only an explicit `Accept: text/html` gets a page.
pub(crate) async fn nowhere(State(app): State<App>, id: RequestId, headers: HeaderMap, uri: Uri) -> Response {
    let reader = ErrorPageReader { headers, uri, id };
    if reader.accept().contains("text/html") {
        return reader.shown(&app, StatusCode::NOT_FOUND, ErrorKind::NotFound).await;
    }
    StatusCode::NOT_FOUND.into_response()
}

/// Axum's own rejections have a status and no readable body.
fn is_bare(response: &Response) -> bool {
    let failed = response.status().is_client_error() || response.status().is_server_error();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    failed && !kind.starts_with("text/html")
}

/// The request's headers and URI, for an error page.
struct ErrorPageReader {
    headers: HeaderMap,
    uri: Uri,
    id: RequestId,
}

impl ErrorPageReader {
    fn accept(&self) -> &str {
        self.headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }

    fn reads_pages(&self) -> bool {
        self.accept().contains("text/html") || !self.accept().contains("json")
    }

    async fn told(&self, app: &App, refusal: &Refusal) -> Response {
        match refusal {
            Refusal::SignInRequired => answer::see_other(&self.by_way_of("/sign-in?next=")),
            Refusal::FreshSignInRequired => answer::see_other(&self.by_way_of("/sign-in?fresh&next=")),
            refusal => {
                app.metrics.refused(refusal.code());
                let (status, trouble) = of_refusal(refusal);
                let mut response = self.shown(app, status, trouble).await;
                let wait = refusal.retry_after_s().map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds)));
                response.headers_mut().extend(wait);
                response
            }
        }
    }

    /// The sign-in page, which redirects back to this URL.
    fn by_way_of(&self, sign_in: &str) -> String {
        let here = self.uri.path_and_query().map_or("/", |here| here.as_str());
        format!("{sign_in}{}", answer::in_query(here))
    }

    async fn shown(&self, app: &App, status: StatusCode, trouble: ErrorKind) -> Response {
        let service = visit::service_name(app, &self.headers, &self.uri).await;
        let person = self.person(app).await;
        let frame = Frame::new(visit::language(&self.headers), &service, person.as_deref());
        let page = ErrorPage { frame: frame.clone(), trouble, request_id: self.id.0.clone() };
        answer::page(status, &frame, &page)
    }

    /// The signed-in person, if any; a failed lookup must not prevent the error page.
    async fn person(&self, app: &App) -> Option<String> {
        let secret = cookie::read(&self.headers)?;
        let who = app.engine.people().signed_in(&secret).await.ok().flatten()?;
        Some(who.person.display_name)
    }
}

/// An absent record and another person's are indistinguishable (C-61).
fn of_refusal(refusal: &Refusal) -> (StatusCode, ErrorKind) {
    let status = StatusCode::from_u16(refusal.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match refusal {
        Refusal::DelegationNotFound => (StatusCode::NOT_FOUND, ErrorKind::NotFound),
        Refusal::CsrfRejected => (status, ErrorKind::FormExpired),
        Refusal::TooManyAttempts { retry_after_s } => (status, ErrorKind::TooMany { retry_after_s: *retry_after_s }),
        _ => (status, by_status(status)),
    }
}

fn by_status(status: StatusCode) -> ErrorKind {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ErrorKind::NotAllowed,
        StatusCode::NOT_FOUND | StatusCode::GONE => ErrorKind::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => ErrorKind::WrongMethod,
        StatusCode::SERVICE_UNAVAILABLE => ErrorKind::Unavailable,
        status if status.is_client_error() => ErrorKind::BadRequest,
        _ => ErrorKind::Internal,
    }
}
