//! The error page: the problem and the next step.

use super::Frame;
use askama::Template;

#[derive(Clone, Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    pub frame: Frame,
    pub trouble: ErrorKind,
    /// A reference the person can quote and the owner can find in the log.
    pub request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// 400
    BadRequest,
    /// 403
    NotAllowed,
    /// 403, the CSRF token of the form has expired
    FormExpired,
    /// 404
    NotFound,
    /// 405
    WrongMethod,
    /// 429
    TooMany { retry_after_s: i64 },
    /// 500
    Internal,
    /// 503
    Unavailable,
}

impl ErrorPage {
    fn title(&self) -> String {
        self.say("title")
    }

    fn what(&self) -> String {
        self.say("what")
    }

    fn next(&self) -> String {
        match self.trouble {
            ErrorKind::TooMany { retry_after_s } => {
                self.frame.say_of("trouble-too-many-next", "duration", self.frame.duration(&retry_after_s))
            }
            _ => self.say("next"),
        }
    }

    fn say(&self, part: &str) -> String {
        let trouble = match self.trouble {
            ErrorKind::BadRequest => "bad-request",
            ErrorKind::NotAllowed => "not-allowed",
            ErrorKind::FormExpired => "form-expired",
            ErrorKind::NotFound => "not-found",
            ErrorKind::WrongMethod => "wrong-method",
            ErrorKind::TooMany { .. } => "too-many",
            ErrorKind::Internal => "internal",
            ErrorKind::Unavailable => "unavailable",
        };
        self.frame.say(&format!("trouble-{trouble}-{part}"))
    }
}
