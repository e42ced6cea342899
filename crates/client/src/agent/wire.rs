//! One exchange with the service, and the version rules of every exchange (AAP 13.4, 22).

use super::{Agent, Notice, ServiceRefusal, WireError, notice::shown, versions::NoneInCommon};
use crate::possession::{Possession, exchange};
use countersign_outbound::{Request, Response};
use countersign_protocol::{
    aap::{error::Code, version},
    json,
};
use http::{HeaderValue, Method};
use serde::{Serialize, de::DeserializeOwned};
use url::Url;

/// The largest response body that is read, in bytes.
pub(super) const ANSWER_CAP: usize = 4 * 1024 * 1024;

/// Whether the same request may be sent again although it may have been executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Harmless,
    Harmful,
}

/// A protocol fault of a response, regardless of its content.
enum WireFault {
    Unsupported,
    OtherServed(String),
}

impl Agent {
    /// Sends with the agreed version. If the service refuses that version or responds in another one, the request is
    /// sent once more in a version that both sides list, and never a third time. With a possession each attempt has a
    /// new proof.
    pub(super) async fn send(
        &mut self,
        request: Request,
        repeat: Repeat,
        possession: Option<&Possession>,
    ) -> Result<Response, WireError> {
        let asked = self.versions.requested().map_err(|none| self.no_common_version(none))?;
        let answer = self.send_as(asked, request.clone(), possession).await?;
        let Some(fault) = fault_of(asked, &answer) else { return Ok(answer) };
        let next = self.second_version(asked, fault, &answer, repeat)?;
        let answer = self.send_as(next, request, possession).await?;
        match fault_of(next, &answer) {
            None => Ok(answer),
            Some(WireFault::Unsupported) => {
                self.versions.refuse(next);
                let none = NoneInCommon { theirs: "none that it keeps to".to_owned() };
                Err(self.no_common_version(none))
            }
            Some(WireFault::OtherServed(served)) => Err(self.other_served(next, served, repeat, &answer)),
        }
    }

    async fn send_as(
        &self,
        asked: &'static str,
        mut request: Request,
        possession: Option<&Possession>,
    ) -> Result<Response, WireError> {
        request.headers.insert(version::HEADER, HeaderValue::from_static(asked));
        exchange(self.transport.as_ref(), &self.nonces, possession, request).await
    }

    /// The version for the second attempt, if one is allowed.
    fn second_version(
        &mut self,
        asked: &'static str,
        fault: WireFault,
        answer: &Response,
        repeat: Repeat,
    ) -> Result<&'static str, WireError> {
        match fault {
            WireFault::Unsupported => self.versions.refuse(asked),
            WireFault::OtherServed(served) => {
                let error = self.other_served(asked, served, repeat, answer);
                if matches!(error, WireError::MayHaveRun { .. }) {
                    return Err(error);
                }
            }
        }
        self.versions.renegotiate(&answer.headers).map_err(|none| self.no_common_version(none))
    }

    /// A write with a success in another version has already run, in an unrequested way. Sending it again could run it
    /// twice, so that is left to the caller.
    fn other_served(&self, asked: &'static str, served: String, repeat: Repeat, answer: &Response) -> WireError {
        let error = if repeat == Repeat::Harmful && answer.status.is_success() {
            WireError::MayHaveRun { asked, served }
        } else {
            WireError::OtherVersionServed { asked, served }
        };
        self.notify(Notice::ProtocolError { service: self.service(), what: error.to_string() });
        error
    }

    fn no_common_version(&self, none: NoneInCommon) -> WireError {
        let error = WireError::none_in_common(self.versions.ours(), none);
        self.notify(Notice::ProtocolError { service: self.service(), what: error.to_string() });
        error
    }

    /// Posts a document to an endpoint and reads a document.
    pub(super) async fn post<A: DeserializeOwned>(
        &mut self,
        endpoint: &'static str,
        url: Url,
        body: &impl Serialize,
        possession: Option<&Possession>,
    ) -> Result<A, WireError> {
        let body = serde_json::to_vec(body).map_err(|_| WireError::BadAnswer { endpoint })?;
        let answer = self.send(Request::post_json(url, body), Repeat::Harmless, possession).await?;
        document(endpoint, &answer)
    }
}

pub(super) fn document<A: DeserializeOwned>(endpoint: &'static str, answer: &Response) -> Result<A, WireError> {
    if let Some(refused) = ServiceRefusal::of_endpoint(answer) {
        return Err(Box::new(refused).into());
    }
    json::from_slice(&answer.body).map_err(|_| WireError::BadAnswer { endpoint })
}

/// Whether a method is read-only.
pub(super) fn repeat(method: &Method) -> Repeat {
    if method.is_safe() { Repeat::Harmless } else { Repeat::Harmful }
}

/// A refused version is reported as such; the refusal itself may be served in another one.
fn fault_of(asked: &str, answer: &Response) -> Option<WireFault> {
    if ServiceRefusal::of_endpoint(answer).is_some_and(|refused| refused.is(Code::SpecVersionUnsupported)) {
        return Some(WireFault::Unsupported);
    }
    let served = answer.headers.get(version::SERVED)?.to_str().unwrap_or_default().trim();
    (served.trim_start_matches("aap/") != asked).then(|| WireFault::OtherServed(shown(served)))
}
