//! Hints for words that other texts about MPLP use but its schemas do not.

/// For an unexpected value.
pub(super) fn for_value(found: &str) -> Option<&'static str> {
    Some(match found {
        // M-20
        "pending_approval" => "a Plan with a pending Confirm is proposed",
        // M-18
        "override" => "it is no status: a decision in spite of a lock is sent with \"override\": true",
        // M-17
        "step" | "delta" => "it is approved as other, with its own id as target_id",
        // M-22
        "changes_requested" | "request_changes" => "asking for changes is rejected with a reason",
        "expired" | "timeout" => "a Confirm without an answer in time is cancelled",
        "canceled" => "it is spelled cancelled",
        _ => return None,
    })
}

/// For an unknown member.
pub(super) fn for_member(found: &str) -> Option<&'static str> {
    Some(match found {
        // M-01
        "protocolVersion" => "write protocol_version, and schema_version beside it",
        "schemaVersion" => "write schema_version",
        "source" => "the producer is named in created_by",
        "lifecycle_phase" => "write lifecyclePhase",
        "truth_domain" => "write truthDomain",
        "last_confirm_ref" => "write lastConfirmRef",
        // M-19
        "governance" => "a Plan has none: the link to its Confirm is the Confirm's target_id",
        "actions" => "send {\"plan\": …, \"actions\": …}: the Plan's own schema is closed",
        _ => return None,
    })
}

pub(super) fn with(why: String, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{why}; {hint}"),
        None => why,
    }
}
