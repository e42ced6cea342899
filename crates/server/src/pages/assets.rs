//! The static files of the pages. Their names carry a hash of their content, so they can be cached for ever.

use countersign_protocol::hash::Digest;
use std::sync::LazyLock;

/// A file served at `path`, with `Cache-Control: public, max-age=31536000, immutable`.
#[derive(Clone, Debug)]
pub struct Asset {
    pub path: String,
    pub content_type: &'static str,
    pub bytes: &'static [u8],
}

pub fn assets() -> &'static [Asset] {
    &*ASSETS
}

static ASSETS: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        asset("pages", "css", "text/css; charset=utf-8", include_bytes!("../../assets/pages.css")),
        asset("pages", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/pages.js")),
        asset("mark", "svg", "image/svg+xml", include_bytes!("../../assets/mark.svg")),
    ]
});

pub(super) fn stylesheet() -> &'static str {
    let [css, _, _] = &*ASSETS;
    &css.path
}

pub(super) fn script() -> &'static str {
    let [_, js, _] = &*ASSETS;
    &js.path
}

pub(super) fn icon() -> &'static str {
    let [_, _, svg] = &*ASSETS;
    &svg.path
}

fn asset(name: &str, extension: &str, content_type: &'static str, bytes: &'static [u8]) -> Asset {
    let hash: String = Digest::of(bytes).hex().chars().take(16).collect();
    Asset { path: format!("/assets/{name}.{hash}.{extension}"), content_type, bytes }
}
