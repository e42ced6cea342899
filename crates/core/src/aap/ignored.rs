//! Protocol members without an effect in this version. The sender or publisher is told, because silence would look like
//! support.

use countersign_protocol::aap::{identity::IdentityManifest, register::IgnoredMember};

/// Of an operator's identity manifest. `enrolled`: the operator has a webhook secret in this project (C-19).
pub fn of_operator(identity: &IdentityManifest, enrolled: bool) -> Vec<IgnoredMember> {
    let mut ignored = Vec::new();
    if identity.webhook_url.is_some() && !enrolled {
        let instead = "no webhook secret is agreed with this service; ask its administrator to enrol you, or poll \
                       GET /agent/audit with event_type=auto_revoked";
        ignored.push(member("webhook_url", instead));
    }
    if let Some(why) = identity.countersign.disclosure_refused {
        let shown = format!("{why}; people are shown this service's own text until yours has 1 to 150 words");
        ignored.push(member("countersign.liability_disclosure", &shown));
    }
    ignored
}

fn member(member: &str, reason: &str) -> IgnoredMember {
    IgnoredMember { member: member.into(), reason: reason.into() }
}
