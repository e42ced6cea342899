//! The order of announcements: questions first, and under load fewer of the less urgent ones. Pure.

use super::announcement::{Announcement, AnnouncementKind, AnnouncementText};
use std::collections::VecDeque;

/// The most held non-urgent announcements. Nobody could listen to more.
const ROOM: usize = 64;
/// The limit of joined output; `folded` shows how much it stands for.
const LONGEST: usize = 16 * 1024;

/// The queue of announcements to a person.
#[derive(Clone, Debug, Default)]
pub struct Speech {
    assertive: VecDeque<Announcement>,
    polite: VecDeque<Announcement>,
    left_out: usize,
}

impl Speech {
    pub fn push(&mut self, announcements: impl IntoIterator<Item = Announcement>) {
        for announcement in announcements {
            if announcement.is_assertive() {
                self.assertive.push_back(announcement);
            } else {
                self.push_polite(announcement);
            }
        }
    }

    /// The next announcement: all assertive ones in order, then the rest in order.
    pub fn next_announcement(&mut self) -> Option<Announcement> {
        self.assertive.pop_front().or_else(|| self.polite.pop_front())
    }

    /// The number of dropped announcements since the last call. None was critical.
    pub fn take_dropped_count(&mut self) -> usize {
        std::mem::take(&mut self.left_out)
    }

    pub fn len(&self) -> usize {
        self.assertive.len() + self.polite.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn push_polite(&mut self, announcement: Announcement) {
        let announcement = match announcement {
            Announcement::Said(said) => match self.fold(said) {
                Some(said) => Announcement::Said(said),
                None => return,
            },
            other => other,
        };
        self.polite.push_back(announcement);
        if self.polite.len() > ROOM {
            // Drops background announcements first; among equals the oldest.
            let least = self.polite.iter().position(Announcement::is_background).unwrap_or(0);
            self.polite.remove(least);
            self.left_out += 1;
        }
    }

    /// Keeps only the latest state and progress of a session, and joins its output. Nothing is folded across a message
    /// of the same session, to keep the order (AAEP 8.2.3).
    fn fold(&mut self, said: AnnouncementText) -> Option<AnnouncementText> {
        let same_session = |waiting: &&mut Announcement| matches!(waiting, Announcement::Said(other) if other.session_id == said.session_id);
        let last = self.polite.iter_mut().rev().find(same_session);
        match last {
            Some(Announcement::Said(last)) if last.kind == said.kind && said.kind != AnnouncementKind::Message => {
                last.text = match said.kind {
                    AnnouncementKind::Output => format!("{}{}", last.text, said.text).chars().take(LONGEST).collect(),
                    _ => said.text,
                };
                last.urgency = last.urgency.max(said.urgency);
                last.folded += 1;
                None
            }
            _ => Some(said),
        }
    }
}

#[cfg(test)]
mod tests;
