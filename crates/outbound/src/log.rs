//! A hook that records fetches, for tests and metrics.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// Called for every fetch with a valid URL, before anything is resolved.
pub trait FetchLog: Send + Sync {
    fn before_fetch(&self, method: &http::Method, url: &str);
}

/// The last fetches, oldest first.
#[derive(Debug)]
pub struct RecentFetches {
    room: usize,
    urls: Mutex<VecDeque<String>>,
}

impl RecentFetches {
    pub fn with_room_for(room: usize) -> Self {
        Self { room, urls: Mutex::new(VecDeque::new()) }
    }

    pub fn urls(&self) -> Vec<String> {
        self.urls.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl FetchLog for RecentFetches {
    fn before_fetch(&self, _method: &http::Method, url: &str) {
        let mut urls = self.urls.lock().unwrap_or_else(PoisonError::into_inner);
        if urls.len() >= self.room {
            urls.pop_front();
        }
        urls.push_back(url.to_owned());
    }
}
