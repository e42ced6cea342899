//! Streams events while the caller's credential is valid.

use super::caller::MplpCaller;
use crate::{App, http::sse::line};
use countersign_engine::{BusPage, Cursor, EventsAfter, ProjectAt};
use futures_util::{Stream, stream};
use std::{collections::VecDeque, pin::pin};

/// Number of evidence entries read at once.
const LOOK: usize = 200;

/// Begins with the events already found.
pub(super) fn events(app: App, caller: MplpCaller, found: BusPage) -> impl Stream<Item = String> + Send {
    let BusPage { events, next, .. } = found;
    let following = EventFollower { app, at: caller.at, token: caller.token, told: events.into(), cursor: next };
    stream::unfold(following, EventFollower::next)
}

struct EventFollower {
    app: App,
    at: ProjectAt,
    token: String,
    told: VecDeque<EventsAfter>,
    cursor: Cursor,
}

impl EventFollower {
    async fn next(mut self) -> Option<(String, Self)> {
        loop {
            if let Some(told) = self.told.pop_front() {
                return Some((written(&told)?, self));
            }
            self.look().await?;
        }
    }

    /// Reads the next events, and waits if there are none. `None` ends the stream: the caller has lost access, or it
    /// cannot be determined.
    async fn look(&mut self) -> Option<()> {
        let engine = self.app.engine();
        let plans = engine.plans();
        let mut news = pin!(plans.wait_for_events());
        // Registered before the read, so that no change is missed.
        let _not_yet = futures_util::poll!(&mut news);
        let at = engine.project(&self.at.address).await.ok()?;
        let reader = plans.reauthenticate_caller(&at, &self.token).await.ok()?.reader();
        let page = plans.bus_events(&at, &reader, &self.cursor, LOOK).await.ok()?;
        if page.events.is_empty() && !page.more {
            news.await;
        }
        self.told = page.events.into();
        self.cursor = page.next;
        Some(())
    }
}

/// Only the last event of an entry has an id: a stream cannot resume in between.
fn written(told: &EventsAfter) -> Option<String> {
    let json = serde_json::to_string(&told.event).ok()?;
    let id = told.cursor.as_ref().map(|cursor| format!("id: {cursor}\n")).unwrap_or_default();
    Some(format!("event: mplp.event\n{id}data: {}\n\n", line(&json)))
}
