//! Auto-revoke policies: the layers that service, operator and user declare (AAP 8.4), and the effective policy that
//! results at grant time (AAP 19.6).

use crate::{
    duration,
    time::{UnixMillis, rfc3339_option},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;

/// The shortest inactivity that a policy can name, in seconds (AAP 19.6).
pub const MIN_INACTIVITY_S: i64 = 3600;

/// A lifecycle event that ends delegations (AAP 8.3); the vocabulary is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LifecycleEvent {
    #[serde(rename = "user.offboarded")]
    UserOffboarded,
    #[serde(rename = "org.subscription_cancelled")]
    OrgSubscriptionCancelled,
    #[serde(rename = "resource.deleted")]
    ResourceDeleted,
    #[serde(rename = "user.role_changed")]
    UserRoleChanged,
}

impl LifecycleEvent {
    pub const ALL: [Self; 4] =
        [Self::UserOffboarded, Self::OrgSubscriptionCancelled, Self::ResourceDeleted, Self::UserRoleChanged];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UserOffboarded => "user.offboarded",
            Self::OrgSubscriptionCancelled => "org.subscription_cancelled",
            Self::ResourceDeleted => "resource.deleted",
            Self::UserRoleChanged => "user.role_changed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == text)
    }
}

/// A usage budget: the delegation ends when one of them is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UsageBudget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub max_requests: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub max_writes: Option<u64>,
}

impl UsageBudget {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One party's policy. An absent member leaves its dimension to the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyLayer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_duration: Option<PolicyDuration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_duration: Option<PolicyDuration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_inactivity: Option<PolicyDuration>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_task_completion: bool,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub on_events: BTreeSet<LifecycleEvent>,
    #[serde(default, skip_serializing_if = "UsageBudget::is_empty")]
    pub after_use: UsageBudget,
}

impl PolicyLayer {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The shorter of `max_duration` and `after_duration`, in seconds: both end a delegation by time.
    pub fn duration_s(&self) -> Option<i64> {
        [self.max_duration, self.after_duration].into_iter().flatten().map(PolicyDuration::secs).min()
    }

    /// Both layers as one: the stricter value in each dimension.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let (ours, theirs) = (self.after_use, other.after_use);
        Self {
            max_duration: least(self.max_duration, other.max_duration),
            after_duration: least(self.after_duration, other.after_duration),
            after_inactivity: least(self.after_inactivity, other.after_inactivity),
            on_task_completion: self.on_task_completion || other.on_task_completion,
            on_events: self.on_events.union(&other.on_events).copied().collect(),
            after_use: UsageBudget {
                max_requests: least(ours.max_requests, theirs.max_requests),
                max_writes: least(ours.max_writes, theirs.max_writes),
            },
        }
    }

    /// The first member that a policy cannot have here, with the reason.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let zero = |limit: Option<u64>| limit == Some(0);
        match self {
            Self { after_inactivity: Some(period), .. } if period.secs() < MIN_INACTIVITY_S => {
                Some(("after_inactivity", "must be at least 1h"))
            }
            Self { after_use, .. } if zero(after_use.max_requests) => {
                Some(("after_use.max_requests", "must be at least 1"))
            }
            Self { after_use, .. } if zero(after_use.max_writes) => {
                Some(("after_use.max_writes", "must be at least 1"))
            }
            _ => None,
        }
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    a.into_iter().chain(b).min()
}

/// The layers of one delegation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PolicyLayers {
    /// The service's own, which nobody can loosen.
    pub service_minimum: PolicyLayer,
    #[serde(default, skip_serializing_if = "PolicyLayer::is_empty")]
    pub operator_default: PolicyLayer,
    #[serde(default, skip_serializing_if = "PolicyLayer::is_empty")]
    pub user_override: PolicyLayer,
}

impl PolicyLayers {
    pub fn each(&self) -> [(PolicySource, &PolicyLayer); 3] {
        [
            (PolicySource::Service, &self.service_minimum),
            (PolicySource::Operator, &self.operator_default),
            (PolicySource::User, &self.user_override),
        ]
    }
}

/// A duration of a policy, written as `14d`, `12h`, `P7D` or `PT30M` (C-44).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, examples("14d", "PT12H")))]
pub struct PolicyDuration(i64);

/// Durations beyond this are refused, so that no sum with a time overflows: 100 years.
const MAX_DURATION_S: i64 = 100 * 366 * 86400;

impl PolicyDuration {
    pub fn parse(text: &str) -> Option<Self> {
        duration::parse_secs(text).filter(|secs| *secs <= MAX_DURATION_S).map(Self)
    }

    pub const fn secs(self) -> i64 {
        self.0
    }
}

impl Serialize for PolicyDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::to_text(self.0))
    }
}

impl<'de> Deserialize<'de> for PolicyDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("must be a duration such as 14d, 12h or P7D"))
    }
}

/// The party that declared a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PolicySource {
    Service,
    Operator,
    User,
}

impl PolicySource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Operator => "operator",
            Self::User => "user",
        }
    }
}

/// The effective policy of a delegation, with the members of AAP 19.6 and no others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EffectivePolicy {
    #[serde(default, with = "rfc3339_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub expires_at: Option<UnixMillis>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 3600))]
    pub inactivity_timeout: Option<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_task_completion: bool,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub on_events: BTreeSet<LifecycleEvent>,
    #[serde(default, skip_serializing_if = "UsageBudget::is_empty")]
    pub after_use: UsageBudget,
}

/// The parties whose layer decided each dimension of an effective policy; several if they agree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PolicySources {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub expires_at: BTreeSet<PolicySource>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub inactivity_timeout: BTreeSet<PolicySource>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub on_task_completion: BTreeSet<PolicySource>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub on_events: BTreeSet<PolicySource>,
    #[serde(default, rename = "after_use.max_requests", skip_serializing_if = "BTreeSet::is_empty")]
    pub max_requests: BTreeSet<PolicySource>,
    #[serde(default, rename = "after_use.max_writes", skip_serializing_if = "BTreeSet::is_empty")]
    pub max_writes: BTreeSet<PolicySource>,
}

impl PolicySources {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
