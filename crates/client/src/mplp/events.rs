//! Bus events, page by page.

use super::{Mplp, MplpError};
use countersign_protocol::mplp::{BusEvent, ListPage};
use url::form_urlencoded;

/// The number of log entries behind one page.
const PAGE: usize = 200;

/// Events in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    pub events: Vec<BusEvent>,
    /// The cursor to continue from; none if this page has nothing new.
    pub next: Option<String>,
}

impl Mplp {
    /// The events after a position in the log, or from its beginning, as far as visible to this caller.
    pub async fn events(&self, after: Option<&str>) -> Result<EventPage, MplpError> {
        let listed: ListPage<BusEvent> = self.get(&place("/events", after)).await?;
        let next = listed.next.filter(|next| next != after.unwrap_or_default());
        Ok(EventPage { events: listed.items, next })
    }
}

/// The path with its cursor.
fn place(path: &str, after: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &PAGE.to_string());
    query.extend_pairs(after.map(|after| ("after", after)));
    format!("{path}?{}", query.finish())
}
