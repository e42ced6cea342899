//! Simultaneous use of one delegation from two networks suspends it (AAP 13.3, C-86): a token was stolen, or agents are
//! not isolated from each other.

use crate::{
    aap::webhooks,
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    records::{Delegation, DelegationState, Record, SuspendReason},
    refusal::Refusal,
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::{project::ConcurrentUse, time::UnixMillis};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

#[cfg(test)]
mod tests;

/// The network of a caller: the leading bits of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientNetwork {
    base: IpAddr,
    prefix: u8,
}

impl ClientNetwork {
    pub fn of(address: IpAddr, watch: &ConcurrentUse) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => {
                let hidden = u32::MAX.checked_shr(u32::from(watch.ipv4_prefix)).unwrap_or(0);
                let base = IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & !hidden));
                Self { base, prefix: watch.ipv4_prefix }
            }
            IpAddr::V6(v6) => {
                let hidden = u128::MAX.checked_shr(u32::from(watch.ipv6_prefix)).unwrap_or(0);
                let base = IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !hidden));
                Self { base, prefix: watch.ipv6_prefix }
            }
        }
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.prefix)
    }
}

/// The last use of a delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastUse {
    pub network: ClientNetwork,
    pub at: UnixMillis,
}

impl LastUse {
    /// Whether two uses are simultaneous and from different networks. Their order does not matter: one of them may come
    /// late from another node.
    pub fn conflicts_with(&self, other: &Self, window_seconds: i64) -> bool {
        let apart_ms = self.at.millis_since(other.at).abs();
        self.network != other.network && apart_ms < window_seconds.saturating_mul(1000)
    }
}

/// Suspends a delegation in use from these two networks. It is not revoked: nobody asked for that.
pub struct SuspendForConcurrentUse {
    pub networks: [ClientNetwork; 2],
}

pub struct SuspendView {
    pub place: ProjectRef,
    pub delegation: Delegation,
    /// Whether the operator has a webhook secret in this project.
    pub notifies_operator: bool,
}

impl Operation for SuspendForConcurrentUse {
    type View = SuspendView;
    type Answer = ();
    type Refusal = Refusal;

    fn decide(self, view: &SuspendView, env: &Env) -> Result<Step<()>, Refusal> {
        let SuspendView { place, delegation, notifies_operator } = view;
        if delegation.state != DelegationState::Active {
            return Ok(Step::answer(()));
        }
        let (mut mint, why) = (env.mint(), SuspendReason::ConcurrentUse);
        let state = DelegationState::Suspended { at: env.now, why };
        let suspended = Delegation { state, version: delegation.version + 1, ..delegation.clone() };
        let [one, other] = self.networks;
        let entry = DraftEntry::new((place.0, &place.1), "delegation_suspended", env.now)
            .under_delegation(delegation.key, &delegation.id)
            .open("operator", delegation.operator.as_str())
            .open("by", "service")
            .open("reason", why.as_str())
            .about(delegation)
            .hidden("networks", format!("{one} and {other}"))
            .seal(&mut mint)?;
        let mut puts = vec![Record::Delegation(suspended)];
        if *notifies_operator {
            puts.push(Record::OutboxMessage(webhooks::suspension(delegation, why, env.now, &mut mint)));
        }
        let news = vec![Signal::Standing { person: delegation.person }];
        Ok(Step { answer: (), effects: Effects { puts, evidence: vec![entry], news, ..Effects::default() } })
    }
}
