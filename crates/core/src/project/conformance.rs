//! The parts of each conformance tier (AAP 15), and what a project's document must have to provide them.

use super::{check::Problems, dry_run, undo::scope_window_s};
use crate::records::Mode;
use countersign_protocol::{
    aap::manifest::ConformanceTier,
    project::{Confirmed, ProjectDocument},
    time::is_date,
};

#[cfg(test)]
mod tests;

/// One part of a tier.
pub struct ConformancePart {
    /// The lowest tier that has it.
    pub tier: ConformanceTier,
    pub name: &'static str,
    pub provided: fn(&ProjectDocument) -> bool,
    /// The correction of a document without it.
    pub demands: &'static str,
}

/// Every part that a document can lack. The others are in every service: operator identity, delegations, receipts, audit,
/// errors, versions, auto-revoke, usage limits, access summary, disclosures, webhooks, and trust tiers 1 to 3. Proofs of
/// possession follow from the claim itself.
pub const PARTS: &[ConformancePart] = &[
    ConformancePart {
        tier: ConformanceTier::Extended,
        name: "service accounts",
        provided: |document| has_mode(document, Mode::ServiceAccount),
        demands: "add \"service_account\" to identity_modes_supported",
    },
    ConformancePart {
        tier: ConformanceTier::Extended,
        name: "dry runs",
        provided: dry_run::is_provided,
        demands: "a route that writes needs a dry run, and every stream that writes dry_run = false",
    },
    ConformancePart {
        tier: ConformanceTier::Extended,
        name: "an undo window",
        provided: |document| {
            !writes(document) || document.scopes.iter().any(|scope| scope_window_s(document, scope) > 0)
        },
        demands: "declare undo on a route that writes, with a window in its scope",
    },
    ConformancePart {
        tier: ConformanceTier::Full,
        name: "trust tier 4",
        provided: |document| !document.trusted_providers.is_empty(),
        demands: "name a model provider in trusted_providers",
    },
    ConformancePart {
        tier: ConformanceTier::Full,
        name: "mixed-mode sessions",
        provided: |document| has_mode(document, Mode::UserDelegated) && has_mode(document, Mode::ServiceAccount),
        demands: "identity_modes_supported must have both modes",
    },
    ConformancePart {
        tier: ConformanceTier::Full,
        name: "confirmation by a person",
        provided: |document| document.scopes.iter().all(|scope| scope.confirmation == Confirmed::Decision),
        demands: "no scope may have confirmation = \"self_asserted\"",
    },
];

/// The parts of a tier that a document lacks. Higher tiers have all parts of the lower ones.
pub fn missing(document: &ProjectDocument, tier: ConformanceTier) -> impl Iterator<Item = &'static ConformancePart> {
    PARTS.iter().filter(move |part| part.tier <= tier && !(part.provided)(document))
}

/// A manifest never claims more than the document provides.
pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    let claim = &document.conformance;
    for part in missing(document, claim.tier) {
        let why = format!("{:?} needs {}: {}", claim.tier.as_str(), part.name, part.demands);
        found.demand(false, "conformance.tier", &why);
    }
    let date = claim.tested.as_deref().is_none_or(is_date);
    found.demand(date, "conformance.tested", "must be the date of the last suite run, such as 2026-06-01");
}

fn has_mode(document: &ProjectDocument, mode: Mode) -> bool {
    document.identity_modes_supported.iter().any(|supported| supported == mode.as_str())
}

fn writes(document: &ProjectDocument) -> bool {
    document.routes.iter().any(|route| route.writes())
}
