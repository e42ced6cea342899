//! The preview of a dry run, from the same functions that decide and render the real call.

use super::{DryRunCall, Limit};
use crate::{
    held::{HttpRequest, explain_call, texts_of},
    project::undo::hold_window_s,
    records::{Decision, Mode},
    step::Count,
};
use countersign_protocol::{
    aap::dry_run::{ApprovalUse, DryRunChecks, DryRunNeed, DryRunPreview, LimitUse, WouldAsk, WouldSend, WouldUse},
    hash::Digest,
};

const KB: i64 = 1024;

/// What the engine found out about the real call.
#[derive(Debug, Default)]
pub struct Previewed {
    /// None for an agent without a delegation.
    pub digest: Option<Digest>,
    /// The question that would be raised, or is pending.
    pub asked: Option<AskedInPreview>,
    pub approval: Option<ApprovalUse>,
    /// The counters of the call with their present values.
    pub counters: Vec<(Count, i64)>,
}

#[derive(Debug)]
pub struct AskedInPreview {
    pub decision: Decision,
    pub is_pending: bool,
}

/// What the same request without the marker would do.
pub fn preview(call: &DryRunCall, request: &HttpRequest, found: Previewed) -> DryRunPreview {
    let facts = call.facts();
    let (document, route) = (&facts.project().document, facts.route());
    let explained = explain_call(document, route, request);
    let held = explained.held;
    let (why, approvers) = held.map(|held| (held.why, held.asked)).unwrap_or_default();
    let would_ask = found.asked.and_then(|asked| {
        let AskedInPreview { decision, is_pending } = asked;
        let own =
            facts.mode() == Mode::ServiceAccount && decision.terms.approvers.roles == [crate::records::Role::Admin];
        Some(WouldAsk {
            why,
            // A service account acts for nobody.
            approvers: if own { vec!["role:admin".into()] } else { approvers },
            assurance: decision.terms.floor.as_str().to_owned(),
            risk_level: decision.terms.risk,
            irreversible: decision.terms.irreversible,
            timeout_seconds: decision.terms.timeout_s,
            approval_seconds: decision.terms.allowance_s,
            question: texts_of(&decision)?,
            decision_id: is_pending.then_some(decision.id),
        })
    });
    let window_s = if call.needs() == DryRunNeed::Person { hold_window_s(document, route) } else { 0 };
    DryRunPreview {
        dry_run: true,
        route: explained.route,
        action: explained.action,
        next: next(call.needs(), would_ask.as_ref(), found.approval.as_ref()),
        digest: found.digest.map(|digest| digest.hex()),
        checked: DryRunChecks {
            scopes: explained.scopes,
            intent_types: explained.intent_types,
            tier: explained.tier,
            proof: explained.proof,
            resource: explained.resource,
        },
        would_need: call.needs(),
        would_send: would_send(request),
        would_ask,
        would_use: WouldUse { limits: found.counters.into_iter().map(limit_use).collect(), approval: found.approval },
        would_hold_for_undo: (window_s > 0).then_some(window_s),
    }
}

fn would_send(request: &HttpRequest) -> WouldSend {
    WouldSend {
        method: request.method.clone(),
        target: request.target.clone(),
        content_type: request.content_type.clone(),
        content_encoding: request.content_encoding.clone(),
        headers: request.headers.clone(),
        body_bytes: request.body.len(),
        body_sha256: request.body_sha256(),
    }
}

/// In the limit's own unit: bytes are counted, kilobytes are the limit.
fn limit_use((count, used): (Count, i64)) -> LimitUse {
    let in_kb = Limit::from_name(count.name) == Some(Limit::DataEgress);
    let (used, most) = if in_kb { (used.saturating_add(KB - 1) / KB, count.limit / KB) } else { (used, count.limit) };
    LimitUse { limit: count.name.to_owned(), used, most, would_add: (!in_kb).then_some(count.by) }
}

fn next(needs: DryRunNeed, asks: Option<&WouldAsk>, approval: Option<&ApprovalUse>) -> String {
    let said = match (needs, asks, approval) {
        (DryRunNeed::Nothing, ..) => "send the same request without the dry run: it is forwarded",
        (DryRunNeed::OwnWord, ..) => {
            "send the same request without the dry run, with X-Agent-Confirm: true if the action is intended"
        }
        (_, _, Some(ApprovalUse { standing: true, .. })) => {
            "send the same request without the dry run: an approval covers it"
        }
        (_, _, Some(_)) => "send the same request without the dry run and with X-Agent-Confirm: true: it is approved",
        (_, Some(WouldAsk { decision_id: Some(_), .. }), None) => {
            "send the same request without the dry run: the question about it is pending"
        }
        _ => {
            "send the same request without the dry run: it raises a question with this digest, and only that request runs"
        }
    };
    said.to_owned()
}
