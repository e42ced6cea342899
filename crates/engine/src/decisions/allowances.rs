//! Standing approvals: finding the one that covers a call, listing them, and taking them back.

use crate::{
    projects::ProjectAt,
    services::Decisions,
    store::{AllowancesOpenIn, AllowancesOpenOfDecider, AllowancesOpenOfHolder, AllowancesOpenOfPerson},
};
use countersign_core::{
    bounded::Book,
    decision::{answer::ProvenPerson, grant::AskedFor, revoke::RevokeApproval},
    mplp::{allowance, progress},
    people::ProjectMember,
    records::{Allowance, Decision, Delegation, Plan, Point, Raiser, Role},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{ids::RowKey, mplp::AllowanceShown};
use quick_cache::sync::Cache;
use std::{collections::HashSet, sync::Arc};

const HOLDERS: usize = 10_000;

/// The open standing approvals of holders, as far as this node has seen them. The cache only speeds up the search: a hit is
/// confirmed by the store, and a miss is looked up there before anybody is asked.
pub(crate) struct StandingApprovalCache(Cache<RowKey, Arc<Book>>);

impl Default for StandingApprovalCache {
    fn default() -> Self {
        Self(Cache::new(HOLDERS))
    }
}

/// An open approval with its decision.
#[derive(Clone, Debug)]
pub struct OpenAllowance {
    pub allowance: Allowance,
    pub decision: Decision,
    pub plan: Option<Plan>,
}

impl OpenAllowance {
    pub fn shown(&self) -> AllowanceShown {
        allowance::shown(&self.allowance, &self.decision, self.plan.as_ref())
    }
}

impl Decisions<'_> {
    /// The open approval that lets this call run, if there is one beside those that turned out to be invalid.
    pub(crate) async fn find_covering(
        self,
        project: RowKey,
        raiser: &Raiser,
        point: Point,
        call: &AskedFor,
        passed_over: &[RowKey],
    ) -> Result<Option<Allowance>, Refusal> {
        let holder = raiser.holder();
        if let Some(book) = self.standing_approvals.0.get(&holder) {
            let candidates = book.candidates(&call.what, &call.arguments).into_iter();
            for key in candidates.filter(|key| !passed_over.contains(key)) {
                let known: Option<Allowance> = self.get(key).await?;
                if let Some(allowance) = known
                    && self.covers(&allowance, raiser, point, call).await?
                {
                    return Ok(Some(allowance));
                }
            }
        }
        let open = self.find_all(AllowancesOpenOfHolder { project, holder }).await?;
        let patterns = open.iter().filter_map(|allowance| Some((allowance.key, allowance.pattern.as_ref()?)));
        self.standing_approvals.0.insert(holder, Arc::new(Book::new(patterns)));
        for allowance in open.into_iter().filter(|allowance| !passed_over.contains(&allowance.key)) {
            if self.covers(&allowance, raiser, point, call).await? {
                return Ok(Some(allowance));
            }
        }
        Ok(None)
    }

    async fn covers(
        self,
        allowance: &Allowance,
        raiser: &Raiser,
        point: Point,
        call: &AskedFor,
    ) -> Result<bool, Refusal> {
        let own = allowance.raised_by.principal == raiser.principal && allowance.raised_by.session == raiser.session;
        let usable = own && allowance.is_open() && allowance.point == point && self.now() < allowance.until;
        let taken = allowance.pattern.as_ref().filter(|_| usable).and_then(|pattern| call.fits(pattern).ok());
        if taken.is_none_or(|taken| allowance.tally.reserve(&taken).is_err()) {
            return Ok(false);
        }
        let Some(step) = &allowance.step else { return Ok(true) };
        let plan = self.plan_of(Some(step.plan)).await?;
        Ok(plan.is_some_and(|plan| progress::may_begin(&plan.document, &step.step).is_ok()))
    }

    /// The open standing approvals that a person may see: those for their agents, those that they gave, and all for an admin.
    pub async fn open_allowances(self, at: &ProjectAt, member: &ProjectMember) -> Result<Vec<OpenAllowance>, Refusal> {
        let (project, person) = (at.project.key, member.person.key);
        let mut found = match member.has_role(Role::Admin) {
            true => self.find_all(AllowancesOpenIn(project)).await?,
            false => {
                let mut own = self.find_all(AllowancesOpenOfPerson { project, person }).await?;
                own.extend(self.find_all(AllowancesOpenOfDecider { project, person }).await?);
                own
            }
        };
        found.sort_by_key(|allowance| allowance.key);
        found.dedup_by_key(|allowance| allowance.key);
        self.with_decisions(found).await
    }

    /// The open standing approvals under these delegations of a project, oldest first.
    pub async fn open_allowances_under(
        self,
        project: RowKey,
        delegations: &[Delegation],
    ) -> Result<Vec<OpenAllowance>, Refusal> {
        let Some(first) = delegations.first() else { return Ok(Vec::new()) };
        let mut found = match delegations.iter().all(|delegation| delegation.person == first.person) {
            true => self.find_all(AllowancesOpenOfPerson { project, person: first.person }).await?,
            false => self.find_all(AllowancesOpenIn(project)).await?,
        };
        let keys: HashSet<RowKey> = delegations.iter().map(|delegation| delegation.key).collect();
        found.retain(|allowance| allowance.raised_by.delegation.is_some_and(|key| keys.contains(&key)));
        found.sort_by_key(|allowance| allowance.key);
        self.with_decisions(found).await
    }

    /// Those of them that still allow something.
    async fn with_decisions(self, mut found: Vec<Allowance>) -> Result<Vec<OpenAllowance>, Refusal> {
        found.retain(|allowance| self.now() < allowance.until);
        let mut all = Vec::with_capacity(found.len());
        for allowance in found {
            let decision: Option<Decision> = self.get(allowance.decision).await?;
            let plan = self.plan_of(allowance.step.as_ref().map(|step| step.plan)).await?;
            all.extend(decision.map(|decision| OpenAllowance { allowance, decision, plan }));
        }
        // A step that can no longer get its turn allows nothing.
        all.retain(|open| match (&open.plan, &open.allowance.step) {
            (Some(plan), Some(of)) => progress::may_still_run(&plan.document, &of.step),
            _ => true,
        });
        Ok(all)
    }

    /// One approval that this person may see, open or over.
    pub async fn visible_allowance(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        id: &str,
    ) -> Result<Option<Allowance>, Refusal> {
        let Some(key) = allowance_key(id) else { return Ok(None) };
        let found: Option<Allowance> = self.get(key).await?;
        let person = member.person.key;
        let sees = |found: &Allowance| {
            let own = found.raised_by.person == person || found.decided_by == Some(person);
            found.project == at.project.key && (own || member.has_role(Role::Admin))
        };
        Ok(found.filter(sees))
    }

    /// Takes back the rest of an approval. `id` is the allowance's, as lists show it.
    pub async fn revoke_allowance(
        self,
        at: &ProjectAt,
        id: &str,
        by: &ProvenPerson,
        reason: Option<String>,
    ) -> Result<Allowance, Refusal> {
        let not_there = || Refusal::NotFound("there is no such permission".into());
        let key = allowance_key(id).ok_or_else(not_there)?;
        self.run_locked(|| async {
            let found = self.lock_allowance(key).await?;
            let own = found.filter(|(_, view)| view.allowance.project == at.project.key);
            let (lock, view) = own.ok_or_else(not_there)?;
            Ok((lock, RevokeApproval { by: by.clone(), reason: reason.clone() }.decide(&view, &self.env()?)?))
        })
        .await
    }
}

fn allowance_key(id: &str) -> Option<RowKey> {
    RowKey::from_str_radix(id.strip_prefix("alw_")?, 16).ok()
}
