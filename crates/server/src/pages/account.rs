//! The signed-in person's sign-in sessions and subscribers.

use super::{Frame, NewSubscriber, PlainLine, SubscriberRow, SubscribersError};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// `/account`. Posts `csrf` to `/sign-out`, to `/sign-out-everywhere` or below `/account/subscribers`.
#[derive(Clone, Debug, Template)]
#[template(path = "account.html")]
pub struct AccountPage {
    pub frame: Frame,
    pub username: String,
    pub signed_in_at: UnixMillis,
    /// When this sign-in session expires.
    pub expires_at: UnixMillis,
    pub subscribers: Vec<SubscriberRow>,
    pub new_subscriber: NewSubscriber,
    pub csrf: String,
    pub error: Option<AccountError>,
    /// The name of a subscriber that was just revoked.
    pub taken_back: Option<PlainLine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountError {
    /// The CSRF token of the form has expired.
    FormExpired,
    Subscriber(SubscribersError),
}

impl AccountPage {
    fn error_text(&self) -> Option<String> {
        Some(match self.error? {
            AccountError::FormExpired => self.frame.say("error-form-expired"),
            AccountError::Subscriber(error) => error.text(&self.frame),
        })
    }

    /// The form field with the error, if any.
    fn error_field(&self) -> &'static str {
        match self.error {
            Some(AccountError::Subscriber(error)) => error.field(),
            _ => "",
        }
    }

    fn is_invalid(&self, field: &str) -> bool {
        self.error_field() == field
    }

    fn notice_text(&self) -> Option<String> {
        let name = self.taken_back.as_ref()?;
        Some(self.frame.say_of("subscriber-taken-back", "name", name.as_str()))
    }
}
