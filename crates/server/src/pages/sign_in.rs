//! Signing in, and authenticating again.

use super::Frame;
use askama::Template;

/// Posts `username`, `password`, `next` and `csrf` to `/sign-in`.
#[derive(Clone, Debug, Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    pub frame: Frame,
    pub purpose: SignInPurpose,
    /// The redirect target after signing in; see [`super::local_path`].
    pub next: String,
    pub username: String,
    pub csrf: String,
    pub error: Option<SignInError>,
    pub notice: Option<SignInNotice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInPurpose {
    SignIn,
    /// A signed-in person enters the password again, because the next step requires fresh authentication.
    Confirm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInError {
    MissingUsername,
    MissingPassword,
    /// The page never reveals which of the two was wrong.
    Wrong,
    TooManyTries {
        retry_after_s: i64,
    },
    FormExpired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInNotice {
    SignedOut,
    SignedOutEverywhere,
}

impl SignInPage {
    fn is_confirmation(&self) -> bool {
        self.purpose == SignInPurpose::Confirm
    }

    fn heading(&self) -> String {
        match self.purpose {
            SignInPurpose::SignIn => self.frame.say_service("sign-in-heading"),
            SignInPurpose::Confirm => self.frame.say("confirm-heading"),
        }
    }

    fn lead(&self) -> String {
        self.frame.say(if self.is_confirmation() { "confirm-lead" } else { "sign-in-lead" })
    }

    fn error_text(&self) -> Option<String> {
        Some(match self.error? {
            SignInError::MissingUsername => self.frame.say("sign-in-error-username"),
            SignInError::MissingPassword => self.frame.say("sign-in-error-password"),
            SignInError::Wrong => self.frame.say("sign-in-error-wrong"),
            SignInError::TooManyTries { retry_after_s } => {
                self.frame.say_of("sign-in-error-too-many", "duration", self.frame.duration(&retry_after_s))
            }
            SignInError::FormExpired => self.frame.say("error-form-expired"),
        })
    }

    /// The form field with the error.
    fn error_field(&self) -> &'static str {
        match self.error {
            Some(SignInError::MissingPassword) => "password",
            _ if self.is_confirmation() => "password",
            _ => "username",
        }
    }

    fn is_invalid(&self, field: &str) -> bool {
        match self.error {
            Some(SignInError::MissingUsername) => field == "username",
            Some(SignInError::MissingPassword) => field == "password",
            Some(SignInError::Wrong) => true,
            _ => false,
        }
    }

    fn notice_text(&self) -> Option<String> {
        let id = match self.notice? {
            SignInNotice::SignedOut => "signed-out",
            SignInNotice::SignedOutEverywhere => "signed-out-everywhere",
        };
        Some(self.frame.say(id))
    }
}
