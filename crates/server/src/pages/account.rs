//! The person's own sign-ins.

use super::Frame;
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// `/account`. Posts `csrf` to `/sign-out` or to `/sign-out-everywhere`.
#[derive(Clone, Debug, Template)]
#[template(path = "account.html")]
pub struct AccountPage {
    pub frame: Frame,
    pub username: String,
    pub signed_in_at: UnixMillis,
    /// When this sign-in ends by itself.
    pub expires_at: UnixMillis,
    pub csrf: String,
    /// The form was sent with a token that no longer counts.
    pub form_expired: bool,
}
