//! Ids in paths. Nothing is normalised: anything but a bare lower-case UUID of version 4 is refused (M-02, M-04).

use crate::{App, http::answer::RefusalResponse};
use axum::extract::{FromRequestParts, RawPathParams};
use countersign_engine::Refusal;
use countersign_protocol::mplp::MplpId;
use http::request::Parts;

macro_rules! ids {
    ($($name:ident = $param:literal;)+) => {
        $(pub(crate) struct $name(pub(super) MplpId);

        impl FromRequestParts<App> for $name {
            type Rejection = RefusalResponse;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
                let text = named(parts, app, $param).await;
                let id = MplpId::parse(&text).map_err(|why| Refusal::invalid(format!("{}: {why}", $param)))?;
                Ok(Self(id))
            }
        })+
    };
}

ids! {
    PlanId = "plan";
    StepId = "step";
    ConfirmId = "confirm";
}

/// The path parameter with this name; empty if it is not valid UTF-8.
pub(super) async fn named(parts: &mut Parts, app: &App, name: &str) -> String {
    let params = RawPathParams::from_request_parts(parts, app).await.ok();
    let found = params.as_ref().and_then(|params| params.iter().find(|(known, _)| *known == name));
    found.map(|(_, text)| text.to_owned()).unwrap_or_default()
}
