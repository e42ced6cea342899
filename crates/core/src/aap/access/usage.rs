//! The limits of a receipt (AAP 14.2, C-42): requests per hour by delegation, writes and bytes by session and receipt. And
//! the usage budget of a delegation's policy (AAP 8.3), which no receipt renews.
//!
//! They are counted and reserved in the step of the call itself, so two concurrent calls on different nodes cannot both
//! get the last one.

use super::facts::CallPrincipal;
use crate::{
    records::{Delegation, Receipt, RevokeReason},
    refusal::Refusal,
    step::Count,
};
use countersign_protocol::{
    aap::{consent_receipt::UsageLimits, policy::UsageBudget},
    ids::RowKey,
    time::UnixMillis,
};

/// The unit of `max_data_egress_kb`.
const KB: i64 = 1024;

/// The exhausted limit, as in `X-Agent-Limit-Reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    RequestsPerHour,
    WritesPerSession,
    DataEgress,
    /// Of the policy: the delegation ends with it.
    PolicyRequests,
    PolicyWrites,
}

impl Limit {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RequestsPerHour => "requests_per_hour",
            Self::WritesPerSession => "writes_per_session",
            Self::DataEgress => "max_data_egress_kb",
            Self::PolicyRequests => "after_use.max_requests",
            Self::PolicyWrites => "after_use.max_writes",
        }
    }

    /// The limit of the counter with this name; none if the counter is not one of a call's.
    pub fn from_name(name: &str) -> Option<Self> {
        use Limit::{DataEgress, PolicyRequests, PolicyWrites, RequestsPerHour, WritesPerSession};
        [RequestsPerHour, WritesPerSession, DataEgress, PolicyRequests, PolicyWrites]
            .into_iter()
            .find(|limit| limit.as_str() == name)
    }

    pub const fn ends_delegation(self) -> bool {
        matches!(self, Self::PolicyRequests | Self::PolicyWrites)
    }
}

/// The counters changed by a call, and their limits from the receipt.
#[derive(Clone, Debug)]
pub struct Usage {
    requests: String,
    /// Key prefix of this session's counters under this receipt: a new receipt starts new counters (C-42).
    session: String,
    limits: UsageLimits,
    budget: Budget,
    hour_ends: UnixMillis,
    receipt_ends: UnixMillis,
}

/// The usage budget of a delegation and its counters. They outlive the delegation.
#[derive(Clone, Debug, Default)]
struct Budget {
    limits: UsageBudget,
    key: String,
    until: UnixMillis,
}

impl Budget {
    fn of(delegation: Option<&Delegation>) -> Self {
        let limited = delegation.filter(|delegation| !delegation.policy.after_use.is_empty());
        limited.map_or_else(Self::default, |delegation| Self {
            limits: delegation.policy.after_use,
            key: format!("{}/budget/{}", delegation.project, delegation.key),
            until: delegation.policy_expires_at.plus_secs(86_400),
        })
    }

    fn count(&self, of: Limit, by: i64) -> Option<Count> {
        let (limit, kind) = match of {
            Limit::PolicyRequests => (self.limits.max_requests?, "requests"),
            Limit::PolicyWrites => (self.limits.max_writes?, "writes"),
            _ => return None,
        };
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let limit = match by {
            0 => most - 1,
            1.. => most,
            _ => i64::MAX,
        };
        Some(Count { name: of.as_str(), key: format!("{}/{kind}", self.key), by, limit, until: self.until })
    }
}

/// Looks whether a delegation's usage budget has room for another request.
pub fn budget_checks(delegation: &Delegation) -> CountedLimits {
    let budget = Budget::of(Some(delegation));
    CountedLimits(
        [Limit::PolicyRequests, Limit::PolicyWrites].into_iter().filter_map(|of| budget.count(of, 0)).collect(),
    )
}

/// A step's counters, each named after its limit.
#[derive(Clone, Debug, Default)]
pub struct CountedLimits(Vec<Count>);

impl Usage {
    pub(super) fn of(
        who: &CallPrincipal,
        delegation: Option<&Delegation>,
        receipt: Option<&Receipt>,
        now: UnixMillis,
    ) -> Self {
        let hour = now.secs().div_euclid(3600);
        let holder: RowKey = who.delegation.as_ref().map_or(who.session.0, |(key, _)| *key);
        let (project, session) = (who.project.0, who.session.0);
        // A service account's limits are those of its grant, and a receipt's if it has one (C-06).
        let granted = delegation.and_then(|d| d.service_account.as_ref()).map(|account| account.usage_limits);
        let of_receipt = receipt.map(|receipt| receipt.limits).unwrap_or_default();
        let limits = of_receipt.and(granted.unwrap_or_default());
        let session = (limits != UsageLimits::default()).then(|| match receipt {
            Some(receipt) => {
                let said = receipt.said.0.first_chunk::<8>().copied().unwrap_or_default();
                format!("{project}/used/{session}/{:016x}", u64::from_be_bytes(said))
            }
            None => format!("{project}/used/{session}/grant/{holder}"),
        });
        Self {
            // Beside the counters of its sessions: row keys grow with time, so a call mostly changes a single page.
            requests: format!("{project}/used/{holder}/requests/{hour}"),
            session: session.unwrap_or_default(),
            limits,
            budget: Budget::of(delegation),
            hour_ends: UnixMillis::from_secs((hour + 1) * 3600),
            receipt_ends: match (receipt, delegation.filter(|_| granted.is_some())) {
                (Some(receipt), _) => receipt.expires_at.plus_secs(86_400),
                (None, Some(grant)) => grant.policy_expires_at.plus_secs(86_400),
                (None, None) => now.plus_secs(86_400),
            },
        }
    }

    /// The counters of a call before it is forwarded: one request, one write if it is one, and a check of the egress.
    pub(super) fn reserve(&self, writes: bool) -> CountedLimits {
        self.request().with(self.reserve_after_waiting(writes))
    }

    /// As `reserve`, for a call counted among the hour's requests when it became pending.
    pub(super) fn reserve_after_waiting(&self, writes: bool) -> CountedLimits {
        let mut counted = CountedLimits::default();
        if writes && let Some(limit) = self.limits.writes_per_session {
            counted.0.push(self.count(Limit::WritesPerSession, 1, limit));
        }
        if writes {
            counted.0.extend(self.budget.count(Limit::PolicyWrites, 1));
        }
        counted.with(self.check_egress())
    }

    /// The request alone.
    pub(super) fn request(&self) -> CountedLimits {
        let limit = self.limits.requests_per_hour.unwrap_or(i64::MAX);
        let hour = self.count(Limit::RequestsPerHour, 1, limit);
        CountedLimits([hour].into_iter().chain(self.budget.count(Limit::PolicyRequests, 1)).collect())
    }

    /// Checks the limits without reserving: before a person is asked, and before the upstream is called. Empty if
    /// the receipt sets no limits.
    pub(super) fn check(&self, writes: bool) -> CountedLimits {
        let mut counted = CountedLimits::default();
        if let Some(limit) = self.limits.requests_per_hour {
            counted.0.push(self.count(Limit::RequestsPerHour, 0, limit - 1));
        }
        counted.0.extend(self.budget.count(Limit::PolicyRequests, 0));
        counted.with(self.check_after_waiting(writes))
    }

    /// As `check`, for a call counted among the requests when it became pending.
    pub(super) fn check_after_waiting(&self, writes: bool) -> CountedLimits {
        let mut counted = CountedLimits::default();
        if writes && let Some(limit) = self.limits.writes_per_session {
            counted.0.push(self.count(Limit::WritesPerSession, 0, limit - 1));
        }
        if writes {
            counted.0.extend(self.budget.count(Limit::PolicyWrites, 0));
        }
        counted.with(self.check_egress())
    }

    /// The limits of a call, and what it would add to each. The bytes of a response are not known before.
    pub fn would_use(&self, writes: bool) -> CountedLimits {
        let egress = self.egress_limit().map(|limit| self.count(Limit::DataEgress, 0, limit));
        let counted = self.reserve(writes).0.into_iter().filter(|count| count.by > 0 && count.limit != i64::MAX);
        CountedLimits(counted.chain(egress).collect())
    }

    fn check_egress(&self) -> CountedLimits {
        let look = self.egress_limit().map(|limit| self.count(Limit::DataEgress, 0, limit - 1));
        CountedLimits(look.into_iter().collect())
    }

    /// Returns a write that the upstream itself reported as not done.
    pub(super) fn release(&self) -> CountedLimits {
        let back = self.limits.writes_per_session.map(|_| self.count(Limit::WritesPerSession, -1, i64::MAX));
        CountedLimits(back.into_iter().chain(self.budget.count(Limit::PolicyWrites, -1)).collect())
    }

    /// Counts outgoing bytes. Those of a write are counted but never refused.
    pub fn egress(&self, bytes: i64, writes: bool) -> CountedLimits {
        let limit = self.egress_limit().filter(|_| bytes != 0);
        let count = limit.map(|limit| self.count(Limit::DataEgress, bytes, if writes { i64::MAX } else { limit }));
        CountedLimits(count.into_iter().collect())
    }

    pub fn egress_key(&self) -> String {
        format!("{}/egress", self.session)
    }

    pub fn egress_limit(&self) -> Option<i64> {
        self.limits.max_data_egress_kb.map(|kb| kb.saturating_mul(KB))
    }

    fn count(&self, of: Limit, by: i64, limit: i64) -> Count {
        let (key, until) = match of {
            Limit::RequestsPerHour => (self.requests.clone(), self.hour_ends.plus_secs(3600)),
            Limit::WritesPerSession => (format!("{}/writes", self.session), self.receipt_ends),
            Limit::DataEgress | Limit::PolicyRequests | Limit::PolicyWrites => (self.egress_key(), self.receipt_ends),
        };
        Count { name: of.as_str(), key, by, limit, until }
    }

    pub fn refusal(&self, limit: Limit, now: UnixMillis) -> Refusal {
        if limit.ends_delegation() {
            return Refusal::AutoRevoked(RevokeReason::PolicyExpired);
        }
        let until = if limit == Limit::RequestsPerHour { self.hour_ends } else { self.receipt_ends };
        Refusal::UsageLimitReached { limit, retry_after_s: until.millis_since(now).div_euclid(1000).max(1) }
    }
}

impl CountedLimits {
    pub fn with(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &Count> {
        self.0.iter()
    }

    pub fn to_vec(&self) -> Vec<Count> {
        self.0.clone()
    }
}
