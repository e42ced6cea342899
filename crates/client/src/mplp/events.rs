//! What happened, page by page.

use super::{Mplp, MplpError};
use countersign_protocol::mplp::{BusEvent, Listed};
use url::form_urlencoded;

/// How many entries of the log one page is made from.
const PAGE: usize = 200;

/// Events in the order in which they happened.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    pub events: Vec<BusEvent>,
    /// Where to go on; none where this page adds nothing to what was known.
    pub next: Option<String>,
}

impl Mplp {
    /// What happened after a place in the log, or from its beginning, as far as this caller may know.
    pub async fn events(&self, after: Option<&str>) -> Result<EventPage, MplpError> {
        let listed: Listed<BusEvent> = self.get(&place("/events", after)).await?;
        let next = listed.next.filter(|next| next != after.unwrap_or_default());
        Ok(EventPage { events: listed.items, next })
    }
}

/// The path with where to go on.
fn place(path: &str, after: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &PAGE.to_string());
    query.extend_pairs(after.map(|after| ("after", after)));
    format!("{path}?{}", query.finish())
}
