//! `/`

use super::{answer, visit::Visit};
use crate::{App, pages::HomePage};
use axum::{extract::State, response::Response};
use http::StatusCode;

pub(super) async fn get(State(app): State<App>, visit: Visit) -> Response {
    let frame = visit.frame(&app).await;
    answer::page(StatusCode::OK, &frame, &HomePage { frame: frame.clone() })
}
