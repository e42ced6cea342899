//! Enrolment of operators for webhooks: their secrets, sealed under the project's key.

use crate::{
    services::Agents,
    store::{self, WebhookEnrolmentOf, WebhookEnrolmentsIn},
};
use countersign_core::{
    aap::webhook_secrets::{AddWebhookSecret, EndWebhookSecret, WebhookSecretsView},
    records::{Project, WebhookEnrolment, WebhookSecret},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_jose::WebhookKey;
use countersign_protocol::{domain::Domain, ids::RowKey};

/// A new secret, as its operator has to receive it.
pub struct NewWebhookSecret {
    pub secret: WebhookSecret,
    /// `whsec_…`: shown once.
    pub text: String,
}

impl Agents<'_> {
    pub async fn add_webhook_secret(self, project: &Project, operator: &Domain) -> Result<NewWebhookSecret, Refusal> {
        let sealer = self.project_sealer(project).await?;
        let seal = |id: &str, key: &[u8]| sealer.seal(&sealed_for(id), key).map_err(|_| Refusal::Internal);
        let added = self.run(|| async {
            let view = self.webhook_secrets_view(project, operator).await?;
            AddWebhookSecret { seal: &seal }.decide(&view, &self.env()?)
        });
        let added = added.await?;
        Ok(NewWebhookSecret { text: WebhookKey::secret_text(&added.key), secret: added.secret })
    }

    /// Returns the secrets that remain.
    pub async fn retire_webhook_secret(
        self,
        project: &Project,
        operator: &Domain,
        id: &str,
    ) -> Result<Vec<WebhookSecret>, Refusal> {
        self.run(|| async {
            let view = self.webhook_secrets_view(project, operator).await?;
            EndWebhookSecret { id: id.to_owned() }.decide(&view, &self.env()?)
        })
        .await
    }

    pub async fn webhook_enrolments(self, project: RowKey) -> Result<Vec<WebhookEnrolment>, Refusal> {
        Ok(store::find_all(&*self.store, WebhookEnrolmentsIn(project)).await?)
    }

    /// Whether the operator has a secret in this project.
    pub(crate) async fn is_enrolled(self, project: RowKey, operator: &Domain) -> Result<bool, Refusal> {
        let found = self.webhook_enrolment(project, operator).await?;
        Ok(found.is_some_and(|enrolment| enrolment.is_active()))
    }

    /// The operator's keys, newest first.
    pub(crate) async fn webhook_keys(self, project: &Project, operator: &Domain) -> Result<Vec<WebhookKey>, Refusal> {
        let Some(enrolment) = self.webhook_enrolment(project.key, operator).await? else { return Ok(Vec::new()) };
        let sealer = self.project_sealer(project).await?;
        let open = |secret: &WebhookSecret| {
            let bytes = sealer.open(&sealed_for(&secret.id), &secret.sealed).map_err(|_| Refusal::Internal)?;
            Ok(WebhookKey::new(bytes.as_slice().try_into().map_err(|_| Refusal::Internal)?))
        };
        enrolment.secrets.iter().map(open).collect()
    }

    async fn webhook_enrolment(self, project: RowKey, operator: &Domain) -> Result<Option<WebhookEnrolment>, Refusal> {
        let lookup = WebhookEnrolmentOf { project, operator: operator.to_string() };
        Ok(store::find_one(&*self.store, lookup).await?)
    }

    async fn webhook_secrets_view(self, project: &Project, operator: &Domain) -> Result<WebhookSecretsView, Refusal> {
        Ok(WebhookSecretsView {
            place: (project.key, project.id.clone()),
            operator: operator.clone(),
            enrolment: self.webhook_enrolment(project.key, operator).await?,
        })
    }
}

fn sealed_for(id: &str) -> String {
    format!("webhook-secret:{id}")
}
