//! `countersign service-account create ACCOUNT`

use super::{super::webhooks::operator, json};
use crate::{cli::Reading, context::Context, failure::Failure, operations};
use anstyle::AnsiColor;
use countersign_protocol::{
    aap::{
        delegate::{DelegateRequest, ServiceAccountDisclosure},
        policy::{
            EffectivePolicy, LifecycleEvent, PolicyDuration, PolicyLayer, PolicySource, PolicySources, UsageBudget,
        },
        service_account::GrantedScope,
    },
    domain::Domain,
};
use countersign_server::admin::{CreateServiceAccount, ReviewServiceAccount};
use serde_json::{Map, Value};
use std::{collections::BTreeSet, fmt::Write as _};

/// Grant fixed scopes and resources to an operator's agents. Everything is shown before it is confirmed
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The account: svc_ and 3 to 64 lower-case letters, digits and underscores.
    account: String,

    /// The operator's domain, such as agents.example.com.
    #[arg(long, value_name = "DOMAIN", value_parser = operator)]
    operator: Domain,

    /// The admin who confirms the grant. The token names their e-mail address.
    #[arg(long = "as", value_name = "NAME")]
    admin: String,

    /// The organisation that the account belongs to.
    #[arg(long, value_name = "ID")]
    org: String,

    /// What people are told about the account's access.
    #[arg(long, value_name = "TEXT")]
    description: String,

    /// A scope; may be repeated.
    #[arg(long = "scope", value_name = "ID", required = true)]
    scopes: Vec<String>,

    /// A resource such as inbox:sales, or a prefix such as inbox:*; may be repeated.
    #[arg(long = "resource", value_name = "RESOURCE")]
    resources: Vec<String>,

    /// The most requests in an hour.
    #[arg(long, value_name = "NUMBER")]
    requests_per_hour: Option<i64>,

    /// The most writes in a session.
    #[arg(long, value_name = "NUMBER")]
    writes_per_session: Option<i64>,

    /// The most kilobytes of responses in a session.
    #[arg(long, value_name = "NUMBER")]
    max_data_egress_kb: Option<i64>,

    #[command(flatten)]
    policy: PolicyFlags,

    /// Grant without a question, after the same checks.
    #[arg(long)]
    yes: bool,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

/// Your own auto-revoke policy. In each dimension the strictest of the service's, the operator's and yours counts.
#[derive(Debug, clap::Args)]
struct PolicyFlags {
    /// End the grant after this time, such as 30d.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    after_duration: Option<PolicyDuration>,

    /// End it after this time without a request, at least 1h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    after_inactivity: Option<PolicyDuration>,

    /// End it after so many requests.
    #[arg(long, value_name = "NUMBER")]
    max_requests: Option<u64>,

    /// End it after so many writes.
    #[arg(long, value_name = "NUMBER")]
    max_writes: Option<u64>,

    /// End it when the agent reports its task as complete.
    #[arg(long)]
    on_task_completion: bool,

    /// End it at this lifecycle event, such as resource.deleted; may be repeated.
    #[arg(long = "on-event", value_name = "EVENT", value_parser = event)]
    on_events: Vec<LifecycleEvent>,
}

impl PolicyFlags {
    fn layer(&self) -> PolicyLayer {
        PolicyLayer {
            max_duration: None,
            after_duration: self.after_duration,
            after_inactivity: self.after_inactivity,
            on_task_completion: self.on_task_completion,
            on_events: self.on_events.iter().copied().collect(),
            after_use: UsageBudget { max_requests: self.max_requests, max_writes: self.max_writes },
        }
    }
}

fn duration(text: &str) -> Result<PolicyDuration, String> {
    PolicyDuration::parse(text).ok_or_else(|| "a duration such as 30d, 12h or P30D".into())
}

fn event(text: &str) -> Result<LifecycleEvent, String> {
    let known = LifecycleEvent::ALL.map(LifecycleEvent::as_str).join(", ");
    LifecycleEvent::parse(text).ok_or_else(|| format!("one of {known}"))
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let review = ReviewServiceAccount {
        project: arguments.project.clone(),
        admin: arguments.admin.clone(),
        operator: arguments.operator.clone(),
        proposed: proposed(arguments)?,
    };
    let reviewed = operations::ask(context, review.clone())?;
    if !arguments.yes {
        context.terminal.say_aside(&words(&reviewed.shown));
        if !context.terminal.confirm("Grant this?")? {
            return Err(Failure::new("nothing was granted").hint("answer with yes, or use --yes in a script"));
        }
    }
    let create = CreateServiceAccount { reviewed: review, digest: reviewed.digest, shown_at: reviewed.shown_at };
    let created = operations::ask(context, create)?;
    if arguments.reading.json {
        let mut shown = json(&created.grant);
        if let Some(members) = shown.as_object_mut() {
            members.insert("delegation_token".into(), created.token.into());
        }
        return context.say_json(&shown);
    }
    if arguments.yes {
        context.say(&words(&reviewed.shown))?;
    }
    context.say(&format!("grant: {}\ntoken: {}\n", created.grant.id, created.token))?;
    let next = "pass the token to the operator: it works only together with the operator's own signature";
    context.terminal.note("note", AnsiColor::Yellow, next);
    Ok(())
}

fn proposed(arguments: &Arguments) -> Result<DelegateRequest, Failure> {
    let granted = GrantedScope {
        description: arguments.description.clone(),
        resources: arguments.resources.clone(),
        scopes: arguments.scopes.clone(),
        crosses_users: false,
    };
    let limits = [
        ("requests_per_hour", arguments.requests_per_hour),
        ("writes_per_session", arguments.writes_per_session),
        ("max_data_egress_kb", arguments.max_data_egress_kb),
    ];
    let limits: Map<String, Value> =
        limits.into_iter().filter_map(|(name, limit)| Some((name.to_owned(), limit?.into()))).collect();
    Ok(DelegateRequest {
        account_id: Some(arguments.account.clone()),
        org_id: Some(arguments.org.clone()),
        granted_scope: Some(serde_json::to_value(granted).map_err(|why| Failure::new(why.to_string()))?),
        usage_limits: Some(limits.into()),
        user_override: Some(
            serde_json::to_value(arguments.policy.layer()).map_err(|why| Failure::new(why.to_string()))?,
        ),
        ..DelegateRequest::default()
    })
}

/// Every scope and resource, and what the grant means.
fn words(shown: &ServiceAccountDisclosure) -> String {
    let mut text = format!(
        "{} of {} ({}), authorised by {}\n{}\nscopes:\n",
        shown.account_id, shown.operator, shown.org_id, shown.authorized_by, shown.mode_disclosure
    );
    for scope in &shown.scopes {
        let _ = writeln!(
            text,
            "  {}: {}{}",
            scope.id,
            scope.description,
            if scope.irreversible { " (irreversible)" } else { "" }
        );
    }
    text.push_str("resources:\n");
    for resource in &shown.granted_scope.resources {
        let _ = writeln!(text, "  {resource}");
    }
    if shown.granted_scope.resources.is_empty() {
        text.push_str("  none: no route with a resource can be called\n");
    }
    if !shown.routes_without_resource.is_empty() {
        text.push_str("without a resource, so that only the scopes bound these calls:\n");
    }
    for route in &shown.routes_without_resource {
        let _ = writeln!(text, "  {route}");
    }
    let crosses = match shown.granted_scope.crosses_users {
        true => "yes: it reaches data of several users, and every call records whose",
        false => "no",
    };
    let limits = [
        ("requests per hour", shown.usage_limits.requests_per_hour),
        ("writes per session", shown.usage_limits.writes_per_session),
        ("kilobytes of responses per session", shown.usage_limits.max_data_egress_kb),
    ];
    let _ = writeln!(text, "crosses users: {crosses}");
    for (name, limit) in limits.into_iter().filter_map(|(name, limit)| Some((name, limit?))) {
        let _ = writeln!(text, "at most {limit} {name}");
    }
    let sources = &shown.effective_policy_sources;
    let _ = writeln!(text, "until: {} ({})", shown.access_ends_at.to_rfc3339(), rule_of(&sources.expires_at));
    text.push_str(&ends_earlier(&shown.effective_policy, sources));
    text
}

/// The rules that end the grant before its time, each with the parties that demand it.
fn ends_earlier(policy: &EffectivePolicy, by: &PolicySources) -> String {
    let events: Vec<&str> = policy.on_events.iter().map(|event| event.as_str()).collect();
    let rules = [
        (policy.inactivity_timeout.map(|secs| format!("after {secs} s without a request")), &by.inactivity_timeout),
        (policy.on_task_completion.then(|| "when a task is complete".to_owned()), &by.on_task_completion),
        (policy.after_use.max_requests.map(|most| format!("after {most} requests")), &by.max_requests),
        (policy.after_use.max_writes.map(|most| format!("after {most} writes")), &by.max_writes),
        ((!events.is_empty()).then(|| format!("at {}", events.join(", "))), &by.on_events),
    ];
    let line =
        |(rule, by): (Option<String>, &BTreeSet<PolicySource>)| Some(format!("ends {} ({})\n", rule?, rule_of(by)));
    rules.into_iter().filter_map(line).collect()
}

fn rule_of(by: &BTreeSet<PolicySource>) -> String {
    let name = |source: &PolicySource| match source {
        PolicySource::User => "you",
        other => other.as_str(),
    };
    format!("rule of: {}", by.iter().map(name).collect::<Vec<_>>().join(", "))
}
