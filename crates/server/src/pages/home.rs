//! The front door.

use super::Frame;
use askama::Template;

/// `/`: what this is, and where to go.
#[derive(Clone, Debug, Template)]
#[template(path = "home.html")]
pub struct HomePage {
    pub frame: Frame,
}
