//! Walks a chain from its first entry to its head. Each step requires that everything before it is valid.

use super::{
    Flaw, Wrong,
    in_force::InForce,
    round::Exchanged,
    shape::{member, signed_body, signed_whole},
};
use countersign_protocol::{
    clarification::{
        Abandoned, ChainEntry, DigestText, GivenBy, PlanChanged, PublicKey, Record, Rotated, Round, SignedType, Stamp,
        signed::{self},
    },
    hash::Digest,
    mplp::MplpId,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) struct Walk<'a> {
    pub(super) session_id: MplpId,
    pub(super) keys: InForce<'a>,
    pub(super) head: Digest,
    /// The time of the last entry.
    pub(super) last: Option<Stamp>,
    pub(super) rounds: Vec<Exchanged<'a>>,
    /// The plans in question, each with the time from which on.
    pub(super) plans: Vec<(DigestText, Option<Stamp>)>,
    /// The last abandonment: its time and its actor.
    pub(super) abandoned: Option<(Stamp, GivenBy)>,
    /// The last round of every gap, as an index into `rounds`.
    pub(super) latest: BTreeMap<&'a str, usize>,
    /// Every head so far, with the number of rounds at that point.
    pub(super) heads: Vec<(Digest, u64)>,
}

impl<'a> Walk<'a> {
    /// Starts at the genesis, which binds session and first plan.
    pub(super) fn begin(record: &Record, keys: InForce<'a>) -> Self {
        let head = signed::genesis(&record.session_id, &record.plan_digest.0);
        Self {
            session_id: record.session_id.clone(),
            keys,
            head,
            last: None,
            rounds: Vec::new(),
            plans: vec![(record.plan_digest, None)],
            abandoned: None,
            latest: BTreeMap::new(),
            heads: vec![(head, 0)],
        }
    }

    pub(super) fn step(&mut self, raw: &'a Value, entry: ChainEntry) -> Result<(), Wrong> {
        self.check_link(raw, &entry)?;
        let hash = entry.entry_hash().0;
        if self.abandoned.is_some() && matches!(entry, ChainEntry::Round(_) | ChainEntry::PlanChanged(_)) {
            return Err(Wrong::at("", Flaw::AfterAbandoned));
        }
        match entry {
            ChainEntry::Round(round) => self.round(raw, round)?,
            ChainEntry::Rotated(rotated) => self.rotated(raw, &rotated)?,
            ChainEntry::PlanChanged(changed) => self.plan_changed(raw, &changed)?,
            ChainEntry::Abandoned(abandoned) => self.abandoned(raw, &abandoned)?,
        }
        self.head = hash;
        self.heads.push((hash, self.rounds.len() as u64));
        Ok(())
    }

    fn check_link(&self, raw: &Value, entry: &ChainEntry) -> Result<(), Wrong> {
        if entry.prev().0 != self.head {
            return Err(Wrong::at("prev", Flaw::NotLinked));
        }
        let same = signed::entry_hash(raw)? == entry.entry_hash().0;
        if same { Ok(()) } else { Err(Wrong::at("entry_hash", Flaw::Changed)) }
    }

    /// Only a signature by the old key makes another key the agent's.
    fn rotated(&mut self, raw: &Value, rotated: &Rotated) -> Result<(), Wrong> {
        let rotation = &rotated.rotation;
        self.not_before_last(&rotated.timestamp, "timestamp")?;
        in_order(&rotation.rotated_at, &rotated.timestamp, "timestamp")?;
        if rotation.agent_id != self.keys.agent_id {
            return Err(Wrong::at("rotation.agent_id", Flaw::AnotherAgent));
        }
        if rotation.old_public_key != self.keys.current {
            return Err(Wrong::at("rotation.old_public_key", Flaw::AnotherKey));
        }
        let document = member(raw, "rotation");
        signed_whole(SignedType::Rotation, &document, &rotation.old_public_key, &rotation.signature)
            .map_err(|wrong| wrong.under("rotation"))?;
        self.keys.replace(rotation);
        self.keys.check(&rotation.new_public_key, &rotated.timestamp, "rotation.new_public_key")?;
        self.last = Some(rotated.timestamp.clone());
        Ok(())
    }

    fn plan_changed(&mut self, raw: &Value, changed: &PlanChanged) -> Result<(), Wrong> {
        self.not_before_last(&changed.timestamp, "timestamp")?;
        self.keys.check(&changed.agent_public_key, &changed.timestamp, "agent_public_key")?;
        let body = json!({
            "session_id": self.session_id,
            "agent_id": self.keys.agent_id,
            "agent_public_key": member(raw, "agent_public_key"),
            "timestamp": member(raw, "timestamp"),
            "plan_digest": member(raw, "plan_digest"),
            "prev": member(raw, "prev"),
        });
        signed_body(SignedType::Plan, &body, &changed.agent_public_key, &changed.signature)
            .map_err(|wrong| wrong.under("signature"))?;
        self.plans.push((changed.plan_digest, Some(changed.timestamp.clone())));
        self.last = Some(changed.timestamp.clone());
        Ok(())
    }

    /// Only a person's abandonment may follow another one.
    fn abandoned(&mut self, raw: &Value, abandoned: &Abandoned) -> Result<(), Wrong> {
        self.not_before_last(&abandoned.timestamp, "timestamp")?;
        self.keys.check(&abandoned.agent_public_key, &abandoned.timestamp, "agent_public_key")?;
        if self.abandoned.is_some() && abandoned.abandoned_by != GivenBy::Person {
            return Err(Wrong::at("abandoned_by", Flaw::AfterAbandoned));
        }
        if Some(abandoned.plan_digest) != self.plan() {
            return Err(Wrong::at("plan_digest", Flaw::AnotherPlan));
        }
        if let Some(round) = abandoned.unanswered.iter().find_map(|gap| self.settled(gap)) {
            return Err(Wrong::at("unanswered", Flaw::ResolvedAlready { round: round.round }));
        }
        let mut body = json!({ "session_id": self.session_id, "agent_id": self.keys.agent_id });
        for name in ["agent_public_key", "timestamp", "abandoned_by", "unanswered", "plan_digest", "prev"] {
            if let Value::Object(members) = &mut body {
                members.insert(name.into(), member(raw, name));
            }
        }
        signed_body(SignedType::Abandonment, &body, &abandoned.agent_public_key, &abandoned.signature)
            .map_err(|wrong| wrong.under("signature"))?;
        self.abandoned = Some((abandoned.timestamp.clone(), abandoned.abandoned_by));
        self.last = Some(abandoned.timestamp.clone());
        Ok(())
    }

    /// Gaps of the current plan without a settling answer. Those of an earlier plan are no longer asked.
    pub(super) fn unsettled(&self) -> impl Iterator<Item = &str> {
        let last = self.latest.iter().filter_map(|(id, at)| self.rounds.get(*at).map(|round| (*id, round)));
        last.filter(|(_, seen)| !seen.round.resolved && seen.plan + 1 == self.plans.len()).map(|(id, _)| id)
    }

    /// The round that settled a gap.
    pub(super) fn settled(&self, gap_id: &str) -> Option<&Round> {
        let last = self.latest.get(gap_id).and_then(|at| self.rounds.get(*at))?;
        last.round.resolved.then_some(&last.round)
    }

    /// The number of settled gaps, over all plans.
    pub(super) fn settled_gaps(&self) -> u64 {
        self.latest.keys().filter(|id| self.settled(id).is_some()).count() as u64
    }

    /// The digest of the current plan at this point.
    pub(super) fn plan(&self) -> Option<DigestText> {
        self.plans.last().map(|(digest, _)| *digest)
    }

    pub(super) fn not_before_last(&self, at: &Stamp, place: &str) -> Result<(), Wrong> {
        self.last.as_ref().map_or(Ok(()), |last| in_order(last, at, place))
    }
}

pub(super) fn in_order(earlier: &Stamp, later: &Stamp, place: &str) -> Result<(), Wrong> {
    if later.is_before(earlier) {
        return Err(Wrong::at(place, Flaw::TimeRunsBack { after: earlier.to_string() }));
    }
    Ok(())
}

/// The first key of a chain: that of its first entry. For an empty chain it is the signing key.
pub(super) fn first_key(entries: &[ChainEntry], signing: &PublicKey) -> PublicKey {
    let named = |entry: &ChainEntry| match entry {
        ChainEntry::Round(round) => round.agent_public_key.clone(),
        ChainEntry::Rotated(rotated) => Some(rotated.rotation.old_public_key.clone()),
        ChainEntry::PlanChanged(changed) => Some(changed.agent_public_key.clone()),
        ChainEntry::Abandoned(abandoned) => Some(abandoned.agent_public_key.clone()),
    };
    entries.iter().find_map(named).unwrap_or_else(|| signing.clone())
}
