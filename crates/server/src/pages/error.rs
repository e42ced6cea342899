//! The error page: the problem and the next step.

use super::Frame;
use askama::Template;

#[derive(Clone, Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    pub frame: Frame,
    pub trouble: Trouble,
    /// A reference the person can quote and the owner can find in the log.
    pub request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
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
            Trouble::TooMany { retry_after_s } => {
                self.frame.say_of("trouble-too-many-next", "duration", self.frame.duration(&retry_after_s))
            }
            _ => self.say("next"),
        }
    }

    fn say(&self, part: &str) -> String {
        let trouble = match self.trouble {
            Trouble::BadRequest => "bad-request",
            Trouble::NotAllowed => "not-allowed",
            Trouble::FormExpired => "form-expired",
            Trouble::NotFound => "not-found",
            Trouble::WrongMethod => "wrong-method",
            Trouble::TooMany { .. } => "too-many",
            Trouble::Internal => "internal",
            Trouble::Unavailable => "unavailable",
        };
        self.frame.say(&format!("trouble-{trouble}-{part}"))
    }
}
