//! The rules of a delegation's end on the consent screen: whose they are, and stricter ones of the person (AAP 8.4).

use super::{Frame, OperatorLabel};
use countersign_protocol::aap::policy::{
    EffectivePolicy, LifecycleEvent, PolicyDuration, PolicyLayer, PolicySource, PolicySources, UsageBudget,
};
use std::collections::BTreeSet;

/// The effective policy of the approval, and the parties behind it.
#[derive(Clone, Debug, Default)]
pub struct EndRules {
    pub policy: EffectivePolicy,
    pub sources: PolicySources,
}

impl EndRules {
    /// The rules beside the duration, each with its authors.
    pub(super) fn lines(&self, frame: &Frame, operator: &OperatorLabel) -> Vec<String> {
        let EndRules { policy, sources } = self;
        let mut lines = Vec::new();
        let mut rule = |text: String, by: &BTreeSet<PolicySource>| {
            lines.push(format!("{text} ({})", authors(by, frame, operator)));
        };
        if let Some(period) = policy.inactivity_timeout {
            rule(frame.say_of("ends-inactivity", "duration", frame.duration(&period)), &sources.inactivity_timeout);
        }
        if policy.on_task_completion {
            rule(frame.say("ends-task"), &sources.on_task_completion);
        }
        if let Some(most) = policy.after_use.max_requests {
            rule(frame.say_count("ends-requests", count(most)), &sources.max_requests);
        }
        if let Some(most) = policy.after_use.max_writes {
            rule(frame.say_count("ends-writes", count(most)), &sources.max_writes);
        }
        for event in &policy.on_events {
            rule(frame.say(event_text(*event)), &sources.on_events);
        }
        lines
    }

    pub(super) fn duration_by(&self, frame: &Frame, operator: &OperatorLabel) -> String {
        authors(&self.sources.expires_at, frame, operator)
    }
}

const fn event_text(event: LifecycleEvent) -> &'static str {
    match event {
        LifecycleEvent::UserOffboarded => "ends-offboarded",
        LifecycleEvent::OrgSubscriptionCancelled => "ends-subscription",
        LifecycleEvent::ResourceDeleted => "ends-resource",
        LifecycleEvent::UserRoleChanged => "ends-role",
    }
}

fn count(most: u64) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

fn authors(by: &BTreeSet<PolicySource>, frame: &Frame, operator: &OperatorLabel) -> String {
    let author = |source: &PolicySource| match source {
        PolicySource::Service => frame.say_service("ends-by-service"),
        PolicySource::Operator => frame.say_of("ends-by-operator", "domain", operator.domain.as_str()),
        PolicySource::User => frame.say("ends-by-user"),
    };
    by.iter().map(author).collect::<Vec<_>>().join(", ")
}

/// The person's own rules, as typed.
#[derive(Clone, Debug, Default)]
pub struct OwnRules {
    pub after_duration: String,
    pub after_inactivity: String,
    pub max_requests: String,
    pub on_task_completion: bool,
}

impl OwnRules {
    pub fn read(field: impl Fn(&str) -> String) -> Self {
        Self {
            after_duration: field("after_duration").trim().to_owned(),
            after_inactivity: field("after_inactivity").trim().to_owned(),
            max_requests: field("max_requests").trim().to_owned(),
            on_task_completion: field("on_task_completion") == "true",
        }
    }

    /// The layer of the person, or the name of a field that cannot be read.
    pub fn layer(&self) -> Result<PolicyLayer, &'static str> {
        let duration = |text: &str, field| match text {
            "" => Ok(None),
            text => PolicyDuration::parse(text).map(Some).ok_or(field),
        };
        let max_requests = match self.max_requests.as_str() {
            "" => None,
            text => Some(text.parse::<u64>().map_err(|_| "max_requests")?),
        };
        let layer = PolicyLayer {
            after_duration: duration(&self.after_duration, "after_duration")?,
            after_inactivity: duration(&self.after_inactivity, "after_inactivity")?,
            on_task_completion: self.on_task_completion,
            after_use: UsageBudget { max_requests, ..UsageBudget::default() },
            ..PolicyLayer::default()
        };
        match layer.problem() {
            None => Ok(layer),
            Some(("after_inactivity", _)) => Err("after_inactivity"),
            Some(_) => Err("max_requests"),
        }
    }

    pub(super) fn is_typed(&self) -> bool {
        self.on_task_completion
            || [&self.after_duration, &self.after_inactivity, &self.max_requests].iter().any(|text| !text.is_empty())
    }
}
