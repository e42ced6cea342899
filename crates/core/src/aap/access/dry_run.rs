//! Dry runs (AAP 14.1): their marker, recognised in one well-formed spelling, and a call that previews and permits nothing.

use super::{CallFacts, Needs};
use crate::{
    decision::claim::{Claim, ClaimView},
    env::Env,
    held,
    refusal::Refusal,
    step::{Effects, Operation as _, SpentProof},
};
use countersign_protocol::{
    aap::dry_run::{ApprovalUse, DryRunNeed, PARAMETER},
    canonical::NotCanonical,
};
use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// The marker of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// None, or a well-formed `false`.
    #[default]
    No,
    Requested,
    /// It could mean either: refused in its turn.
    Unclear(&'static str),
}

impl DryRun {
    /// The marker, and the query without it: a dry run and the real request are the same action.
    ///
    /// `dry_run=true` and `X-Agent-Dry-Run: true` are well formed, once each and byte for byte, and so is `false`. Anything
    /// that a service could take for one of them is unclear.
    pub fn read<'q>(query: Option<&'q str>, headers: &[&[u8]]) -> (Self, Option<Cow<'q, str>>) {
        let pairs = query.into_iter().flat_map(|query| query.split('&'));
        let markers: Vec<&str> = pairs.filter(|pair| has_marker(pair)).collect();
        let (in_query, in_header) = (of_query(&markers), of_headers(headers));
        let marker = match (in_query, in_header) {
            (Err(why), _) | (_, Err(why)) => Self::Unclear(why),
            (Ok(Some(one)), Ok(Some(other))) if one != other => Self::Unclear("query and header contradict each other"),
            (Ok(one), Ok(other)) if one.or(other) == Some(true) => Self::Requested,
            _ => Self::No,
        };
        let rest = match (markers.is_empty(), marker) {
            (true, _) | (_, Self::Unclear(_)) => query.map(Cow::Borrowed),
            (false, _) => query.and_then(without_marker),
        };
        (marker, rest)
    }

    pub fn is_requested(self) -> bool {
        self == Self::Requested
    }

    /// `offered`: whether the route has a dry run.
    pub fn check(self, offered: bool) -> Result<(), Refusal> {
        match self {
            Self::Unclear(why) => Err(Refusal::DryRunUnclear(why)),
            Self::Requested if !offered => Err(Refusal::DryRunUnsupported),
            Self::Requested | Self::No => Ok(()),
        }
    }
}

/// Some services take a semicolon for a separator.
fn has_marker(pair: &str) -> bool {
    pair.split(';').any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        let decoded = held::decoded(name.as_bytes(), true);
        decoded.is_ok_and(|name| name.trim_matches([' ', '\0']).eq_ignore_ascii_case(PARAMETER))
    })
}

fn of_query(markers: &[&str]) -> Result<Option<bool>, &'static str> {
    match markers {
        [] => Ok(None),
        ["dry_run=true"] => Ok(Some(true)),
        ["dry_run=false"] => Ok(Some(false)),
        [_] => Err("the query has neither dry_run=true nor dry_run=false"),
        _ => Err("the query has dry_run more than once"),
    }
}

fn of_headers(values: &[&[u8]]) -> Result<Option<bool>, &'static str> {
    match values {
        [] => Ok(None),
        [b"true"] => Ok(Some(true)),
        [b"false"] => Ok(Some(false)),
        [_] => Err("X-Agent-Dry-Run is neither true nor false"),
        _ => Err("X-Agent-Dry-Run occurs more than once"),
    }
}

fn without_marker(query: &str) -> Option<Cow<'_, str>> {
    let rest: Vec<&str> = query.split('&').filter(|pair| !has_marker(pair)).collect();
    (!rest.is_empty()).then(|| Cow::Owned(rest.join("&")))
}

/// A dry run that the gateway answers, after every check of the real call. It permits nothing.
#[derive(Debug)]
pub struct DryRunCall {
    facts: Box<CallFacts>,
    proof: Option<SpentProof>,
    needs: DryRunNeed,
}

impl DryRunCall {
    pub(super) fn new(facts: CallFacts, proof: Option<SpentProof>, needs: &Needs) -> Self {
        let needs = match needs {
            Needs::Nothing => DryRunNeed::Nothing,
            Needs::ItsWord => DryRunNeed::OwnWord,
            Needs::Decision => DryRunNeed::Person,
        };
        Self { facts: Box::new(facts), proof, needs }
    }

    pub fn facts(&self) -> &CallFacts {
        &self.facts
    }

    pub fn needs(&self) -> DryRunNeed {
        self.needs
    }

    /// The same with a person's approval, where a plan demands one.
    pub(super) fn for_person(self) -> Self {
        Self { needs: DryRunNeed::Person, ..self }
    }

    /// What the real call would take of an approval, if it could claim it. Nothing is claimed.
    pub fn approval_use(&self, claim: Claim, view: &ClaimView, env: &Env) -> Result<ApprovalUse, Refusal> {
        self.facts.check_asked_in_session(view)?;
        let taken = claim.decide(view, env)?.answer.taken;
        let allowance = view.allowance.as_ref().ok_or(Refusal::Internal)?;
        Ok(ApprovalUse {
            decision_id: view.decision.id.clone(),
            standing: allowance.is_bounded(),
            uses_left: allowance.tally.uses - allowance.tally.used,
            would_take: 1,
            sums: allowance.tally.would_take(&taken),
        })
    }

    /// The only step of a dry run: its audit entry and its proof.
    pub fn record(&self, env: &Env) -> Result<Effects, NotCanonical> {
        Ok(Effects { guards: self.facts.guards.clone(), ..self.ended("200 OK", env)? })
    }

    pub fn record_refusal(&self, refusal: &Refusal, env: &Env) -> Result<Effects, NotCanonical> {
        self.facts.refusal_entry(refusal, self.proof.clone(), env)
    }

    pub fn record_abandonment(&self, why: &str, env: &Env) -> Result<Effects, NotCanonical> {
        self.ended(why, env)
    }

    fn ended(&self, outcome: &str, env: &Env) -> Result<Effects, NotCanonical> {
        let evidence = vec![self.facts.outcome(outcome, None, &[], env)?];
        Ok(Effects { evidence, proof: self.proof.clone(), ..Effects::default() })
    }
}
