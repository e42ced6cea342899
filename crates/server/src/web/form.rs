//! A submitted form: a few fields, each once.

use crate::{
    App,
    http::{answer::RefusalResponse, body},
};
use axum::{
    extract::{FromRequest, Request},
    response::{IntoResponse as _, Response},
};
use countersign_engine::Refusal;
use http::{StatusCode, Uri, header};
use std::collections::BTreeMap;

pub(super) struct Form(BTreeMap<String, String>);

impl FromRequest<App> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
        }
        let bytes = body::read(request, app.limits.max_body_bytes).await?;
        Self::parse(&bytes).map_err(|why| RefusalResponse(why).into_response())
    }
}

impl Form {
    /// The fields of a form that was sent by GET.
    pub(super) fn of_query(uri: &Uri) -> Result<Self, Refusal> {
        Self::parse(uri.query().unwrap_or_default().as_bytes())
    }

    /// Refuses a repeated field: two readers could pick different values.
    fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut fields = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(bytes) {
            if fields.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(Refusal::invalid("a field of the form came twice"));
            }
        }
        Ok(Self(fields))
    }

    /// The value of a field; empty if absent.
    pub(super) fn field(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}
