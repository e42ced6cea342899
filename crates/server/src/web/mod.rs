use crate::App;
pub(crate) fn router() -> axum::Router<App> {
    axum::Router::new()
}
