//! The upstream API: answers everything, and records its requests.

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use countersign_gateway::VerifiedCaller;
use http::{HeaderMap, Method, StatusCode};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

/// One forwarded request.
#[derive(Clone, Debug)]
pub struct Reached {
    pub method: Method,
    pub path: String,
    pub query: Option<String>,
    pub headers: HeaderMap,
    pub caller: Option<VerifiedCaller>,
}

type Meanwhile = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

#[derive(Clone, Default)]
pub struct TestUpstream {
    reached: Arc<Mutex<Vec<Reached>>>,
    status: Arc<Mutex<Option<StatusCode>>>,
    meanwhile: Arc<Mutex<Option<Arc<Meanwhile>>>>,
}

impl TestUpstream {
    pub fn router(&self) -> Router {
        Router::new().fallback(answer).with_state(self.clone())
    }

    /// Every forwarded request, in order.
    pub fn reached(&self) -> Vec<Reached> {
        self.reached.lock().unwrap().clone()
    }

    /// Responds with this status from now on.
    pub fn set_status(&self, status: u16) {
        *self.status.lock().unwrap() = Some(StatusCode::from_u16(status).unwrap());
    }

    /// Runs a function during each following request, before its response.
    pub fn meanwhile<F, Fut>(&self, what: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        *self.meanwhile.lock().unwrap() = Some(Arc::new(Box::new(move || Box::pin(what()))));
    }
}

async fn answer(State(upstream): State<TestUpstream>, request: Request) -> Response {
    let reached = Reached {
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().map(str::to_owned),
        headers: request.headers().clone(),
        caller: request.extensions().get::<VerifiedCaller>().cloned(),
    };
    upstream.reached.lock().unwrap().push(reached);
    let meanwhile = upstream.meanwhile.lock().unwrap().clone();
    if let Some(meanwhile) = meanwhile {
        meanwhile().await;
    }
    let usual = if request.method() == Method::POST { StatusCode::CREATED } else { StatusCode::OK };
    let status = upstream.status.lock().unwrap().unwrap_or(usual);
    (status, "{\"from\":\"upstream\"}").into_response()
}
