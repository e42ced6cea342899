//! The static files of the pages. Their names change with their content.

use crate::{App, pages};
use axum::{Router, routing::get};
use http::{HeaderName, header};

const ALWAYS: [(HeaderName, &str); 3] = [
    (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) fn router() -> Router<App> {
    pages::assets().iter().fold(Router::new(), |router, asset| {
        let file = get(|| async { (ALWAYS, [(header::CONTENT_TYPE, asset.content_type)], asset.bytes) });
        router.route(&asset.path, file)
    })
}
