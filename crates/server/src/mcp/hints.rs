//! The next step after a refusal, for a client that sees tools and neither URLs nor headers.

use countersign_engine::Refusal;

pub(super) fn after(refusal: &Refusal) -> String {
    match refusal {
        Refusal::InvalidRequest(_) => "correct the arguments and call the tool again".into(),
        Refusal::NotFound(_) => "check the id: an agent sees only its own questions and plans".into(),
        Refusal::ClarificationRequired(unclear) if unclear.gaps.is_empty() => {
            format!("call wwa_clarify_confirm with session_id {}", unclear.session_id)
        }
        Refusal::ClarificationRequired(unclear) => format!(
            "answer each gap with wwa_clarify_resolve and session_id {} (an empty answer has a person asked), or call \
             wwa_clarify_check in that session with a plan that says it",
            unclear.session_id
        ),
        Refusal::AlreadyResolved(_) => {
            "the answer is final; call wwa_clarify_check with a changed plan to have it asked again".into()
        }
        Refusal::ConfirmationInvalid(_) => {
            "call request_confirmation for exactly the call to run, and begin_action with the same".into()
        }
        Refusal::ConfirmationRequired(_) | Refusal::WordRequired(_) => {
            "call request_confirmation, and await_decision until a person has decided".into()
        }
        Refusal::Conflict(_) | Refusal::ApprovalGone(_) => {
            "call await_decision or plan_status to read the current state, and decide again".into()
        }
        Refusal::NotAuthorized(_) => {
            "call list_actions to see the actions you may request; others need another key".into()
        }
        Refusal::TierNotMet { needed: 2.., has: 0..=1 } => "the user must connect this agent first".into(),
        Refusal::Unavailable => "nothing was carried out; call the tool again shortly".into(),
        _ => refusal.hint().replace("Retry-After says", "retry_after_seconds says"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_engine::Unclear;

    /// Every refusal that a tool can run into.
    fn refusals() -> Vec<Refusal> {
        let unclear = |gaps| Refusal::ClarificationRequired(Box::new(Unclear { session_id: "s".into(), gaps }));
        vec![
            Refusal::invalid("x"),
            Refusal::NotFound("x".into()),
            unclear(Vec::new()),
            unclear(vec![("g".into(), "f".into(), "q".into())]),
            Refusal::AlreadyResolved("x".into()),
            Refusal::ConfirmationInvalid("x".into()),
            Refusal::WordRequired("x".into()),
            Refusal::Conflict("x".into()),
            Refusal::ApprovalGone("x"),
            Refusal::NotAuthorized("x".into()),
            Refusal::TierNotMet { needed: 2, has: 1 },
            Refusal::TierNotMet { needed: 3, has: 2 },
            Refusal::TooManyQuestions { why: "x", retry_after_s: 1 },
            Refusal::SessionNotFound,
            Refusal::Unavailable,
            Refusal::Internal,
        ]
    }

    #[test]
    fn a_hint_names_tools_and_no_address_or_header() {
        for refusal in refusals() {
            let hint = after(&refusal);
            for word in ["/", "Retry-After", "X-Agent", "POST", "GET "] {
                assert!(!hint.contains(word), "{refusal:?}: {hint}");
            }
        }
    }
}
