//! The toy bank: an API that knows nothing of agents. It carries out and remembers every request.

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, StatusCode, Uri, header};
use serde_json::json;
use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

/// The credential by which the bank recognises the gateway. Agents never see it, and requests without it are refused.
pub(super) const CREDENTIAL: &str = "Bearer the-banks-own-secret";

pub(super) struct Bank {
    books: Arc<Books>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// One request, byte for byte.
#[derive(Clone)]
pub(super) struct Got {
    method: Method,
    path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

#[derive(Default)]
struct Books {
    got: Mutex<Vec<Got>>,
    slow: AtomicBool,
    arrived: Notify,
}

impl Bank {
    pub(super) async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (books, address) = (Arc::new(Books::default()), listener.local_addr()?);
        let api = Router::new().fallback(serve).with_state(Arc::clone(&books));
        let task = tokio::spawn(async move {
            let _ended = axum::serve(listener, api).await;
        });
        Ok(Self { books, address, task })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests posted to a path; each was carried out.
    pub(super) fn effects(&self, path: &str) -> Vec<Got> {
        let got = self.books.got.lock().unwrap_or_else(PoisonError::into_inner);
        got.iter().filter(|got| got.method == Method::POST && got.path == path).cloned().collect()
    }

    /// From now on it carries out requests, but responds too late for any caller.
    pub(super) fn slows_down(&self) {
        self.books.slow.store(true, Ordering::SeqCst);
    }

    /// Waits until a request has arrived while it is slow.
    pub(super) async fn is_at_work(&self) {
        self.books.arrived.notified().await;
    }

    pub(super) fn speeds_up(&self) {
        self.books.slow.store(false, Ordering::SeqCst);
    }

    pub(super) fn close(&self) {
        self.task.abort();
    }
}

async fn serve(State(books): State<Arc<Books>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    if headers.get(header::AUTHORIZATION).is_none_or(|value| value != CREDENTIAL) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let reads = method == Method::GET;
    let number = books.write_down(Got { method, path: uri.path().to_owned(), headers, body });
    if reads {
        return Json(json!({ "account": uri.path(), "balance": "1250000.00 USD" })).into_response();
    }
    if books.slow.load(Ordering::SeqCst) {
        books.arrived.notify_one();
        std::future::pending::<()>().await;
    }
    (StatusCode::CREATED, Json(json!({ "number": number }))).into_response()
}

impl Books {
    fn write_down(&self, got: Got) -> usize {
        let mut all = self.got.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(got);
        all.len()
    }
}
