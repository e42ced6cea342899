//! `countersign witness serve`: a witness of transparency logs (C2SP tlog-witness), for a second machine.
//!
//! It cosigns a checkpoint only if it continues the largest tree of that log it has seen. What it has seen is durable before
//! it answers, and only one process at a time has it.

mod state;

pub use state::{WitnessError, WitnessState};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use countersign_evidence::witness::{Refused, SIZE_TYPE};
use http::{HeaderValue, StatusCode, header};
use std::sync::Arc;

/// A proof, a checkpoint and many signatures.
const MAX_BODY_BYTES: usize = 64 * 1024;

pub fn router(state: Arc<WitnessState>) -> Router {
    Router::new()
        .route("/add-checkpoint", post(add_checkpoint))
        .route("/key", get(key))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(state)
}

/// The witness's verifier key.
async fn key(State(state): State<Arc<WitnessState>>) -> String {
    format!("{}\n", state.verifier_key())
}

async fn add_checkpoint(State(state): State<Arc<WitnessState>>, body: Bytes) -> Response {
    let decided = tokio::task::spawn_blocking(move || state.add_checkpoint(&body)).await;
    match decided {
        Ok(Ok(line)) => text("text/plain; charset=utf-8", StatusCode::OK, format!("{line}\n")),
        Ok(Err(WitnessError::Refused(refused))) => refusal(&refused),
        Ok(Err(why)) => {
            tracing::error!(%why, "nothing can be cosigned");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn refusal(refused: &Refused) -> Response {
    tracing::warn!(%refused, "a checkpoint is not cosigned");
    let status = StatusCode::from_u16(refused.status()).unwrap_or(StatusCode::BAD_REQUEST);
    match refused {
        Refused::OtherSize(size) => text(SIZE_TYPE, status, format!("{size}\n")),
        other => text("text/plain; charset=utf-8", status, format!("{other}\n")),
    }
}

fn text(kind: &'static str, status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static(kind))], body).into_response()
}
