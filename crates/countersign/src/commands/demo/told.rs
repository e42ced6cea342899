//! What the agent tells the person, on the terminal.

use countersign_client::agent::{Browser, Notice, UserFacing};
use std::sync::{Mutex, PoisonError};

/// Keeps what was said, for the story to check, and the page that was to be opened.
#[derive(Default)]
pub(super) struct Told {
    notices: Mutex<Vec<Notice>>,
    page: Mutex<Option<String>>,
}

impl Told {
    pub(super) fn page(&self) -> Option<String> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn last(&self) -> Option<Notice> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).last().cloned()
    }
}

impl UserFacing for Told {
    fn notice(&self, notice: Notice) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }
}

/// The person opens the page themselves; it is shown by the story.
impl Browser for Told {
    fn open(&self, url: &str) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = Some(url.to_owned());
    }
}
