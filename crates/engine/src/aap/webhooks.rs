//! Delivers messages to operators' webhooks (AAP 17.8). Due times are read from the rows, so that a restart forgets
//! nothing; the row's version lets one node send at a time.

use crate::{
    aap::webhook_attempts::WebhookAttempt,
    engine::Tenancy,
    ports::SignedMessage,
    services::Agents,
    store::{
        self, DeadMessagesIn, OutboxMessageById, OutboxMessageDueAfter, OutboxMessagesDueAt, OutboxMessagesIn,
        OutboxMessagesOpenOf, Outcome,
    },
};
use countersign_core::{
    aap::webhooks::{BeginDelivery, DeliveryView, RecordDelivery, ReplayMessage},
    records::{OutboxMessage, OutboxState, Project, RevokeReason},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_jose::webhook_headers;
use countersign_protocol::{
    aap::webhook::{AUTO_REVOKED, AutoRevokeNotice, SUSPENDED, SuspensionNotice},
    domain::Domain,
    ids::RowKey,
    time::UnixMillis,
};
use std::collections::BTreeSet;

impl Agents<'_> {
    /// Makes the attempts that are due, as many as each operator may have at a time, and returns their number. Call it often,
    /// and do not wait for the last call to return: an operator may be slow.
    pub async fn deliver_webhooks(self) -> Result<usize, Refusal> {
        let due = self.due_attempts().await?;
        let found = due.len();
        let attempts = due.into_iter().map(|(message, attempt)| self.deliver(message, attempt));
        futures_util::future::join_all(attempts).await.into_iter().collect::<Result<(), _>>()?;
        Ok(found)
    }

    /// Operator by operator, so that the backlog of one does not hide the messages of the others. A round that ends early is
    /// continued by the next one.
    async fn due_attempts(self) -> Result<Vec<(OutboxMessage, WebhookAttempt)>, Refusal> {
        let by = self.decision_time()?;
        let (mut due, mut had_turn) = (Vec::new(), BTreeSet::new());
        let mut after = self.webhook_attempts.last_operator();
        while !self.webhook_attempts.are_full() {
            let next = store::find_one(&*self.store, OutboxMessageDueAfter { operator: after.clone(), by }).await?;
            match next {
                Some(next) if had_turn.insert(next.operator.clone()) => {
                    due.extend(self.begin_attempts_at(&next.operator, by).await?);
                    after = next.operator.as_str().to_owned();
                }
                // From the first operator on again.
                None if !after.is_empty() => after.clear(),
                _ => break,
            }
        }
        Ok(due)
    }

    async fn begin_attempts_at(
        self,
        operator: &Domain,
        by: UnixMillis,
    ) -> Result<Vec<(OutboxMessage, WebhookAttempt)>, Refusal> {
        self.webhook_attempts.had_turn(operator);
        let limit = i64::try_from(self.webhook_attempts.free_at(operator)).unwrap_or(0);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let operator = operator.as_str().to_owned();
        let due = store::find_all(&*self.store, OutboxMessagesDueAt { operator, by, limit }).await?;
        let begin = |message| self.webhook_attempts.begin(&message).map(|attempt| (message, attempt));
        Ok(due.into_iter().filter_map(begin).collect())
    }

    async fn deliver(self, found: OutboxMessage, _attempt: WebhookAttempt) -> Result<(), Refusal> {
        let Some(message) = self.begin_delivery(&found).await? else { return Ok(()) };
        let OutboxState::Pending { attempts: attempt, .. } = message.state else { return Ok(()) };
        let result = self.send(&message).await;
        let recorded = self.run(|| async {
            let current: Option<OutboxMessage> = store::get(&*self.store, message.key).await?;
            let current = current.ok_or(Refusal::Internal)?;
            RecordDelivery { attempt, result: result.clone() }.decide(&current, &self.env()?)
        });
        log(&recorded.await?);
        Ok(())
    }

    /// None if another node was first, or an earlier message of the delegation is pending.
    async fn begin_delivery(self, found: &OutboxMessage) -> Result<Option<OutboxMessage>, Refusal> {
        let open = store::find_all(&*self.store, OutboxMessagesOpenOf(found.delegation)).await?;
        let message = open.iter().find(|message| message.key == found.key);
        let (Some(message), Some(first)) = (message, open.first()) else { return Ok(None) };
        let view = DeliveryView { message: message.clone(), first: first.clone() };
        let Step { answer, effects } = BeginDelivery.decide(&view, &self.env()?)?;
        match self.commit(effects).await {
            Outcome::Committed => Ok(answer),
            Outcome::Unavailable(_) => Err(Refusal::Unavailable),
            _ => Ok(None),
        }
    }

    /// One attempt: the status of the response, or the reason why there is none.
    async fn send(self, message: &OutboxMessage) -> Result<u16, String> {
        let signed = self.sign(message).await.map_err(|why| why.to_string())?;
        self.operators.post_webhook(&message.operator, self.now(), signed).await
    }

    async fn sign(self, message: &OutboxMessage) -> Result<SignedMessage, Refusal> {
        let project: Option<Project> = store::get(&*self.store, message.project).await?;
        let project = project.ok_or(Refusal::Internal)?;
        let keys = self.webhook_keys(&project, &message.operator).await?;
        let Some(newest) = keys.first() else {
            let why = "the operator has no active webhook secret; make one with `countersign webhooks secret create`";
            return Err(Refusal::NotFound(why.into()));
        };
        let sign = |canonical: &[u8]| newest.body_signature(canonical);
        let body = match message.reason {
            Some(reason) => self.notice(message, reason, &project).signed(sign)?,
            None => self.suspension_notice(message, &project)?.signed(sign)?,
        };
        let headers = webhook_headers(&keys, &message.id, self.now().secs(), &body);
        Ok(SignedMessage { headers, body })
    }

    fn suspension_notice(self, message: &OutboxMessage, project: &Project) -> Result<SuspensionNotice, Refusal> {
        Ok(SuspensionNotice {
            event: SUSPENDED.to_owned(),
            delegation_id: message.delegation_id.clone(),
            account_id: message.account_id.clone(),
            trigger: message.trigger.clone(),
            acknowledgement: self.acknowledgement(&message.delegation_id, message.revoked_at)?,
            suspended_at: message.revoked_at,
            timestamp: message.revoked_at,
            service: self.service_host(project),
        })
    }

    fn notice(self, message: &OutboxMessage, reason: RevokeReason, project: &Project) -> AutoRevokeNotice {
        AutoRevokeNotice {
            event: AUTO_REVOKED.to_owned(),
            delegation_id: message.delegation_id.clone(),
            account_id: message.account_id.clone(),
            trigger: message.trigger.clone(),
            triggered_by: message.triggered_by.clone(),
            reason: reason.as_str().to_owned(),
            revoked_at: message.revoked_at,
            timestamp: message.revoked_at,
            service: self.service_host(project),
        }
    }

    /// The host of the project's manifest (C-13): its own one, where projects have hosts.
    fn service_host(self, project: &Project) -> String {
        let origin = &self.settings.origin;
        match (self.settings.tenancy, self.settings.subdomains) {
            (Tenancy::Multi, true) => origin.with_subdomain(project.id.as_str()).host().to_owned(),
            _ => origin.host().to_owned(),
        }
    }

    /// The messages of a project with a key below `before`, newest first.
    pub async fn outbox(
        self,
        project: RowKey,
        before: Option<RowKey>,
        limit: i64,
    ) -> Result<Vec<OutboxMessage>, Refusal> {
        Ok(store::find_all(&*self.store, OutboxMessagesIn { project, before, limit }).await?)
    }

    /// Those of them that were given up.
    pub async fn dead_messages(
        self,
        project: RowKey,
        before: Option<RowKey>,
        limit: i64,
    ) -> Result<Vec<OutboxMessage>, Refusal> {
        Ok(store::find_all(&*self.store, DeadMessagesIn { project, before, limit }).await?)
    }

    pub async fn outbox_message(self, project: RowKey, id: &str) -> Result<OutboxMessage, Refusal> {
        let found = store::find_one(&*self.store, OutboxMessageById { project, id: id.to_owned() }).await?;
        found.ok_or_else(|| Refusal::NotFound("there is no such message in this project".into()))
    }

    /// Sends a dead message again.
    pub async fn replay_message(self, project: &Project, id: &str) -> Result<OutboxMessage, Refusal> {
        self.run(|| async {
            let message = self.outbox_message(project.key, id).await?;
            ReplayMessage.decide(&((project.key, project.id.clone()), message), &self.env()?)
        })
        .await
    }
}

fn log(message: &OutboxMessage) {
    let (id, operator) = (message.id.as_str(), message.operator.as_str());
    match &message.state {
        OutboxState::Delivered { attempts, .. } => {
            tracing::info!(id, operator, attempts, "a webhook message was delivered");
        }
        OutboxState::Pending { attempts, last_error, .. } => {
            let why = last_error.as_deref().unwrap_or_default();
            tracing::info!(id, operator, attempts, why, "a webhook message was not delivered, and will be sent again");
        }
        OutboxState::Dead { attempts, last_error, .. } => {
            tracing::warn!(id, operator, attempts, why = last_error, "a webhook message was given up; replay it later");
        }
    }
}
