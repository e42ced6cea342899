//! The agent's messages to the person, on the terminal.

use crate::DemoFailure;
use countersign_client::agent::{Browser, Notice, UserFacing};
use std::sync::{Mutex, PoisonError};

/// Keeps the messages for the checks, and the page to be opened.
#[derive(Default)]
pub(super) struct Notices {
    notices: Mutex<Vec<Notice>>,
    page: Mutex<Option<String>>,
}

impl Notices {
    pub(super) fn page(&self) -> Option<String> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The delegation request of the page.
    pub(super) fn request_id(&self) -> Result<String, DemoFailure> {
        let page = self.page().unwrap_or_default();
        let id = page.rsplit_once("/connect/").map(|(_, id)| id.to_owned());
        id.ok_or_else(|| DemoFailure::new("the agent named no page to open"))
    }

    pub(super) fn last(&self) -> Option<Notice> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).last().cloned()
    }
}

impl UserFacing for Notices {
    fn notice(&self, notice: Notice) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }
}

/// The person opens the page themselves; the demo prints its address.
impl Browser for Notices {
    fn open(&self, url: &str) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = Some(url.to_owned());
    }
}
