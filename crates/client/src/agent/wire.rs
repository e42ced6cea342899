//! One exchange with the service, and the rules of versions that hold for every one of them (AAP 13.4, 22).

use super::{Agent, Notice, Refused, WireError, notice::shown, versions::NoneInCommon};
use crate::possession::{Possession, exchange};
use countersign_outbound::{Request, Response};
use countersign_protocol::{
    aap::{error::Code, version},
    json,
};
use http::{HeaderValue, Method};
use serde::{Serialize, de::DeserializeOwned};
use url::Url;

/// The most bytes of an answer that is read.
pub(super) const ANSWER_CAP: usize = 4 * 1024 * 1024;

/// Whether the same request may be sent again although it may have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Harmless,
    Harmful,
}

/// What is wrong with an answer, whatever it says.
enum Fault {
    Unsupported,
    OtherServed(String),
}

impl Agent {
    /// Sends with the agreed version. If the service refuses that version or answers in another one, the request
    /// is sent once more in a version that both sides list, and never a third time. With a possession each attempt
    /// is proven anew.
    pub(super) async fn send(
        &mut self,
        request: Request,
        repeat: Repeat,
        possession: Option<&Possession>,
    ) -> Result<Response, WireError> {
        let asked = self.versions.asked().map_err(|none| self.no_common_version(none))?;
        let answer = self.send_as(asked, request.clone(), possession).await?;
        let Some(fault) = fault_of(asked, &answer) else { return Ok(answer) };
        let next = self.after(asked, fault, &answer, repeat)?;
        let answer = self.send_as(next, request, possession).await?;
        match fault_of(next, &answer) {
            None => Ok(answer),
            Some(Fault::Unsupported) => {
                self.versions.refuse(next);
                let none = NoneInCommon { theirs: "none that it keeps to".to_owned() };
                Err(self.no_common_version(none))
            }
            Some(Fault::OtherServed(served)) => Err(self.other_served(next, served, repeat, &answer)),
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

    /// The version for the second attempt, if there may be one.
    fn after(
        &mut self,
        asked: &'static str,
        fault: Fault,
        answer: &Response,
        repeat: Repeat,
    ) -> Result<&'static str, WireError> {
        match fault {
            Fault::Unsupported => self.versions.refuse(asked),
            Fault::OtherServed(served) => {
                let error = self.other_served(asked, served, repeat, answer);
                if matches!(error, WireError::MayHaveRun { .. }) {
                    return Err(error);
                }
            }
        }
        self.versions.agree_anew(&answer.headers).map_err(|none| self.no_common_version(none))
    }

    /// A write that was answered with success in another version ran already, in a way that nobody asked for.
    /// To send it again could do it twice, so that is left to whoever can find out.
    fn other_served(&self, asked: &'static str, served: String, repeat: Repeat, answer: &Response) -> WireError {
        let error = if repeat == Repeat::Harmful && answer.status.is_success() {
            WireError::MayHaveRun { asked, served }
        } else {
            WireError::OtherVersionServed { asked, served }
        };
        self.tell(Notice::ProtocolError { service: self.service(), what: error.to_string() });
        error
    }

    fn no_common_version(&self, none: NoneInCommon) -> WireError {
        let error = WireError::none_in_common(self.versions.ours(), none);
        self.tell(Notice::ProtocolError { service: self.service(), what: error.to_string() });
        error
    }

    /// A document to an endpoint, a document back.
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
    if let Some(refused) = Refused::of_endpoint(answer) {
        return Err(Box::new(refused).into());
    }
    json::from_slice(&answer.body).map_err(|_| WireError::BadAnswer { endpoint })
}

/// Whether a method only looks.
pub(super) fn repeat(method: &Method) -> Repeat {
    if method.is_safe() { Repeat::Harmless } else { Repeat::Harmful }
}

/// A refused version is told as such; it is no fault that the refusal itself is served in another one.
fn fault_of(asked: &str, answer: &Response) -> Option<Fault> {
    if Refused::of_endpoint(answer).is_some_and(|refused| refused.is(Code::SpecVersionUnsupported)) {
        return Some(Fault::Unsupported);
    }
    let served = answer.headers.get(version::SERVED)?.to_str().unwrap_or_default().trim();
    (served.trim_start_matches("aap/") != asked).then(|| Fault::OtherServed(shown(served)))
}
