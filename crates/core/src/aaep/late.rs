//! Events for a late subscriber: the state of each open session, then its pending questions as first asked (S1). Legal
//! as a repetition, since the questions keep their ids.

use super::{
    event_writer::{self, Chosen},
    shared_event::SharedEvent,
    texts::{LANGUAGES, Notice},
};
use crate::{
    decision::render,
    env::Mint,
    records::{AaepSession, AaepSessionState, Decision},
};
use countersign_protocol::{
    aaep::{
        envelope::LocalizationHints,
        event::{Event, Payload, StateChanged, Summaries},
        extension::{HUB, SAID_BY},
    },
    time::UnixMillis,
};
use serde_json::{Map, Value};

/// Outside the sequence numbers of a session.
pub const UNCOUNTED: i64 = -1;

/// The state of an open session; none if it is over, or still idle.
pub fn summary(session: &AaepSession, open: usize, now: UnixMillis, mint: &mut Mint) -> Option<SharedEvent> {
    let AaepSessionState::Open { at, .. } = &session.state else { return None };
    if at == event_writer::IDLE {
        return None;
    }
    let id = mint.id("evt");
    let notice = Notice::Now { state: at.clone(), open };
    let mut said = LANGUAGES.iter().map(|language| {
        let payload = Payload::StateChanged(StateChanged {
            from_state: event_writer::IDLE.into(),
            to_state: at.clone(),
            summaries: Summaries::normal(notice.text(language)),
            expected_duration_ms: None,
        });
        let marked =
            Map::from_iter([("summary".to_owned(), Value::Bool(true)), (SAID_BY.to_owned(), Value::from(HUB))]);
        let chosen =
            Chosen { localization_hints: Some(LocalizationHints::of(language)), ..Chosen::with_extension(marked) };
        (
            (*language).to_owned(),
            without_sequence(event_writer::stamp(session, id.clone(), now.max(session.last_at), payload, chosen)),
        )
    });
    let (_, first) = said.next()?;
    Some(SharedEvent::new(session.key, UNCOUNTED, first, said.collect::<Vec<_>>()))
}

/// A pending question as first asked: same id, same time, same token.
pub fn question(decision: &Decision, session: &AaepSession, reply_token: &str) -> SharedEvent {
    let event = |language: &str| render::event(decision, session, reply_token, language);
    let translated = |language: &str| (language.to_owned(), event(language));
    let translations: Vec<_> = render::other_languages(decision).map(translated).collect();
    SharedEvent::new(session.key, UNCOUNTED, event(render::own_language(decision)), translations)
}

fn without_sequence(mut event: Event) -> Event {
    event.envelope.sequence_number = None;
    event
}
