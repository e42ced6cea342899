//! A call beyond its consent receipt and within its delegation (AAP 12.3).

use super::{AccessView, Bearer, Call, CallFacts, DryRun};
use crate::{
    aap::scope_expansion::{ExpansionMode, ends_at},
    records::{Mode, Receipt},
    refusal::{ExceededConsent, Refusal},
};
use countersign_protocol::{
    hash::Digest,
    project::{Route, Scope},
    time::UnixMillis,
};

/// The scope that a call uses beyond its receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedExpansion {
    pub scope: String,
    /// Whether the session has it. A silent one is recorded before the call goes on.
    pub recorded: bool,
}

/// A scope that a person can be asked for.
#[derive(Clone, Debug)]
pub struct WantedScope {
    pub facts: CallFacts,
    pub scope: String,
    /// The content of the receipt that lacks it.
    pub receipt: Digest,
    pub until: UnixMillis,
}

/// `allowing`: the scopes of the delegation that allow the action. None of them is in the receipt. A service account has
/// exactly what an admin granted, narrowed by its receipt: nobody is asked for more.
pub(super) fn beyond_receipt(
    call: &Call,
    view: &AccessView,
    bearer: &Bearer,
    route: &Route,
    allowing: &[&Scope],
) -> Result<UsedExpansion, Refusal> {
    let mode = ExpansionMode::of(&view.project.document);
    let refused = |scope: Option<&str>| Err(ExceededConsent::of(&route.action, scope).into());
    if bearer.mode() == Mode::ServiceAccount || mode == ExpansionMode::Reject {
        return refused(None);
    }
    let has = |scope: &&&Scope| {
        let own = |expansion: &&_| mode.honours(expansion);
        bearer.session.expansions.iter().filter(own).any(|expansion| expansion.scope == scope.id)
    };
    if let Some(scope) = allowing.iter().find(has) {
        return Ok(UsedExpansion { scope: scope.id.clone(), recorded: true });
    }
    match (least(allowing), mode) {
        (Some(scope), ExpansionMode::Silent) => Ok(UsedExpansion { scope: scope.id.clone(), recorded: false }),
        // A dry run asks nobody.
        (Some(scope), _) if call.dry_run == DryRun::No => refused(Some(&scope.id)),
        _ => refused(None),
    }
}

/// The scope with the fewest actions: no more is asked for than the call needs.
fn least<'s>(allowing: &[&'s Scope]) -> Option<&'s Scope> {
    allowing.iter().min_by_key(|scope| scope.allows.len()).copied()
}

impl WantedScope {
    /// The scope that the refusal of a call names.
    pub(super) fn of(
        refusal: &Refusal,
        call: &Call,
        view: &AccessView,
        route: &Route,
        bearer: &Bearer,
        now: UnixMillis,
    ) -> Option<Box<Self>> {
        let Refusal::ConsentScopeExceeded(exceeded) = refusal else { return None };
        let receipt: &Receipt = bearer.receipt()?;
        let until = ends_at(receipt, bearer.delegation.as_ref()?);
        let facts = CallFacts::new(call, view, route, bearer, true, now);
        Some(Box::new(Self { facts, scope: exceeded.scope.clone()?, receipt: receipt.said, until }))
    }
}
