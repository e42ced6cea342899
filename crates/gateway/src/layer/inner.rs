//! One call of the inner service.

use super::{BoxBody, BoxError};
use bytes::Bytes;
use countersign_engine::UpstreamError;
use futures_util::FutureExt as _;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Body;
use std::panic::AssertUnwindSafe;
use tower::{Service, ServiceExt as _};

pub(crate) struct Inner<S>(pub(super) S);

impl<S> Inner<S> {
    pub(super) async fn call_once<In, Out>(self, request: Request<In>) -> Result<Response<BoxBody>, UpstreamError>
    where
        S: Service<Request<In>, Response = Response<Out>>,
        S::Error: Into<BoxError>,
        Out: Body<Data = Bytes> + Send + 'static,
        Out::Error: Into<BoxError>,
    {
        // A panic is caught, so that the interrupted call gets an outcome in the record too.
        let why = match AssertUnwindSafe(self.0.oneshot(request)).catch_unwind().await {
            Ok(Ok(response)) => return Ok(response.map(|body| body.map_err(Into::into).boxed_unsync())),
            Ok(Err(why)) => why.into().to_string(),
            Err(_panic) => "it panicked".to_owned(),
        };
        tracing::error!(why, "the upstream service failed");
        Err(UpstreamError::ConnectionLost("the upstream failed"))
    }
}
