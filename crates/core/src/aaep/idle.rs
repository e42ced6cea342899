//! Ends an AAEP session after its agent went silent or lost access. Every session has exactly one terminal event (AAEP
//! 4.5.1), even if its agent cannot send it.

use super::{event_writer::EventWriter, session::own_audience, texts::Notice};
use crate::{
    decision::ProjectRef,
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{AaepSession, AaepSessionState, OpenTool, Record},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::aaep::event::{CancelledBy, Payload, SessionCancelled, Summaries, ToolCompleted, ToolStatus};
use serde_json::Map;

/// A session past its idle or access deadline.
pub struct SessionDue;

impl Operation for SessionDue {
    type View = (ProjectRef, AaepSession);
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, (place, session): &Self::View, env: &Env) -> Result<Step<()>, Refusal> {
        let Some(due) = session.due().filter(|due| env.now >= *due) else { return Ok(Step::answer(())) };
        let mut mint = env.mint();
        let access_ended = session.access_until.is_some_and(|until| env.now >= until);
        let (by, reason, notice) = match access_ended {
            true => (CancelledBy::System, "access_ended", Notice::Revoked),
            false => (CancelledBy::Timeout, "agent_silent", Notice::AgentSilent),
        };
        let mut talk = EventWriter::resume(session, env.now);
        complete_tools(&mut talk, &mut mint);
        talk.announce(&own_audience(session), &mut mint, Map::new(), |words| {
            Payload::SessionCancelled(SessionCancelled {
                summaries: Summaries::normal(words(&notice)),
                cancelled_by: by,
                cancellation_reason: Some(reason.into()),
                partial_result: None,
            })
        });
        let (over, news) = talk.finish();
        let entry = DraftEntry::new((place.0, &place.1), "aaep_session_ended", env.now)
            .open("aaep_session_id", over.id.as_str())
            .open("principal", over.principal.as_str())
            .open("reason", reason);
        let evidence = vec![entry.seal(&mut mint)?];
        let puts = vec![Record::AaepSession(over)];
        Ok(Step { answer: (), effects: Effects { puts, news, evidence, not_before: Some(due), ..Effects::default() } })
    }
}

/// Completes every invoked tool, if only with an unknown outcome (AAEP 4.5.2).
fn complete_tools(talk: &mut EventWriter, mint: &mut Mint) {
    let AaepSessionState::Open { tools, .. } = &talk.session().state else { return };
    let to = own_audience(talk.session());
    for OpenTool { tool, call_id, .. } in tools.clone() {
        let notice = Notice::OutcomeUnknown { tool: tool.clone() };
        talk.announce(&to, mint, Map::new(), |words| {
            Payload::ToolCompleted(ToolCompleted {
                tool: tool.clone(),
                status: ToolStatus::Timeout,
                summaries: Summaries::normal(words(&notice)),
                tool_call_id: call_id.clone(),
                duration_ms: None,
                error_message: None,
            })
        });
    }
}
