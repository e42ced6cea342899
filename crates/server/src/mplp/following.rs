//! What happens, as it happens, for as long as the caller's credential counts.

use super::caller::Caller;
use crate::{App, http::sse::line};
use countersign_engine::{BusPage, Cursor, ProjectAt, Told};
use futures_util::{Stream, stream};
use std::{collections::VecDeque, pin::pin};

/// How many entries of the record one look takes.
const LOOK: usize = 200;

/// Beginning with what was found already.
pub(super) fn events(app: App, caller: Caller, found: BusPage) -> impl Stream<Item = String> + Send {
    let BusPage { events, next, .. } = found;
    let following = Following { app, at: caller.at, token: caller.token, told: events.into(), cursor: next };
    stream::unfold(following, Following::next)
}

struct Following {
    app: App,
    at: ProjectAt,
    token: String,
    told: VecDeque<Told>,
    cursor: Cursor,
}

impl Following {
    async fn next(mut self) -> Option<(String, Self)> {
        loop {
            if let Some(told) = self.told.pop_front() {
                return Some((written(&told)?, self));
            }
            self.look().await?;
        }
    }

    /// Looks, and waits where there is nothing to see. None where the caller may see nothing any more, or nobody knows.
    async fn look(&mut self) -> Option<()> {
        let engine = self.app.engine();
        let mut news = pin!(engine.something_happens());
        // From here on no change is missed.
        let _not_yet = futures_util::poll!(&mut news);
        let at = engine.project(&self.at.address).await.ok()?;
        let reader = engine.speaker_again(&at, &self.token).await.ok()?.reader();
        let page = engine.bus_events(&at, &reader, &self.cursor, LOOK).await.ok()?;
        if page.events.is_empty() && !page.more {
            news.await;
        }
        self.told = page.events.into();
        self.cursor = page.next;
        Some(())
    }
}

/// Only the last event of an entry has an id: there is no place to go on from in between.
fn written(told: &Told) -> Option<String> {
    let json = serde_json::to_string(&told.event).ok()?;
    let id = told.cursor.as_ref().map(|cursor| format!("id: {cursor}\n")).unwrap_or_default();
    Some(format!("event: mplp.event\n{id}data: {}\n\n", line(&json)))
}
