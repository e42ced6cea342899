//! The start page.

use super::Frame;
use askama::Template;

/// `/`: an introduction, with links to the other pages.
#[derive(Clone, Debug, Template)]
#[template(path = "home.html")]
pub struct HomePage {
    pub frame: Frame,
}
