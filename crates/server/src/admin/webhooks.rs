//! Requests of `countersign webhooks`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{Engine, OutboxMessage, Refusal, WebhookSecret};
use countersign_protocol::{domain::Domain, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An active secret, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedWebhookSecret {
    pub operator: Domain,
    pub id: String,
    pub created_at: UnixMillis,
}

#[derive(Serialize, Deserialize)]
pub struct CreateWebhookSecret {
    pub project: Option<String>,
    pub operator: Domain,
}

#[derive(Serialize, Deserialize)]
pub struct CreatedWebhookSecret {
    pub listed: ListedWebhookSecret,
    /// Shown once; stored sealed.
    pub secret: String,
}

impl AdminRequest for CreateWebhookSecret {
    const NAME: &'static str = "create-webhook-secret";
    type Answer = CreatedWebhookSecret;

    async fn run(self, engine: &Arc<Engine>) -> Result<CreatedWebhookSecret, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let added = engine.agents().add_webhook_secret(&project, &self.operator).await?;
        Ok(CreatedWebhookSecret { listed: listed(&self.operator, added.secret), secret: added.text })
    }
}

/// The active secrets, the newest of each operator first.
#[derive(Serialize, Deserialize)]
pub struct ListWebhookSecrets {
    pub project: Option<String>,
}

impl AdminRequest for ListWebhookSecrets {
    const NAME: &'static str = "list-webhook-secrets";
    type Answer = Vec<ListedWebhookSecret>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<ListedWebhookSecret>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let enrolments = engine.agents().webhook_enrolments(project.key).await?.into_iter();
        let of = |operator: Domain, secrets: Vec<WebhookSecret>| {
            secrets.into_iter().map(move |secret| listed(&operator, secret))
        };
        Ok(enrolments.flat_map(|enrolment| of(enrolment.operator, enrolment.secrets)).collect())
    }
}

#[derive(Serialize, Deserialize)]
pub struct RetireWebhookSecret {
    pub project: Option<String>,
    pub operator: Domain,
    pub id: String,
}

impl AdminRequest for RetireWebhookSecret {
    const NAME: &'static str = "retire-webhook-secret";
    /// The operator's remaining secrets.
    type Answer = Vec<ListedWebhookSecret>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<ListedWebhookSecret>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let remaining = engine.agents().retire_webhook_secret(&project, &self.operator, &self.id).await;
        let remaining = remaining.map_err(|why| match why {
            Refusal::NotFound(_) => AdminRefusal::UnknownWebhookSecret,
            other => other.into(),
        })?;
        Ok(remaining.into_iter().map(|secret| listed(&self.operator, secret)).collect())
    }
}

/// Messages with a key below `before`, newest first.
#[derive(Serialize, Deserialize)]
pub struct ListWebhookMessages {
    pub project: Option<String>,
    /// Only those that were given up.
    pub dead: bool,
    pub before: Option<RowKey>,
    pub limit: i64,
}

impl AdminRequest for ListWebhookMessages {
    const NAME: &'static str = "list-webhook-messages";
    type Answer = Vec<OutboxMessage>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<OutboxMessage>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let (agents, before, limit) = (engine.agents(), self.before, self.limit);
        Ok(match self.dead {
            true => agents.dead_messages(project.key, before, limit).await?,
            false => agents.outbox(project.key, before, limit).await?,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub struct ShowWebhookMessage {
    pub project: Option<String>,
    pub id: String,
}

impl AdminRequest for ShowWebhookMessage {
    const NAME: &'static str = "show-webhook-message";
    type Answer = OutboxMessage;

    async fn run(self, engine: &Arc<Engine>) -> Result<OutboxMessage, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        engine.agents().outbox_message(project.key, &self.id).await.map_err(of_message)
    }
}

/// Sends a dead message again.
#[derive(Serialize, Deserialize)]
pub struct ReplayWebhookMessage {
    pub project: Option<String>,
    pub id: String,
}

impl AdminRequest for ReplayWebhookMessage {
    const NAME: &'static str = "replay-webhook-message";
    type Answer = OutboxMessage;

    async fn run(self, engine: &Arc<Engine>) -> Result<OutboxMessage, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        engine.agents().replay_message(&project, &self.id).await.map_err(of_message)
    }
}

fn listed(operator: &Domain, secret: WebhookSecret) -> ListedWebhookSecret {
    ListedWebhookSecret { operator: operator.clone(), id: secret.id, created_at: secret.created_at }
}

fn of_message(why: Refusal) -> AdminRefusal {
    match why {
        Refusal::NotFound(_) => AdminRefusal::UnknownWebhookMessage,
        other => other.into(),
    }
}
