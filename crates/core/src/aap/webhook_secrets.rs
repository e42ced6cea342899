//! Webhook secrets: one or two an operator and project (C-19). A second one is added before the first is retired, so that
//! the operator can change over without a gap.

use crate::{
    decision::ProjectRef,
    env::{Env, Mint},
    evidence::DraftEntry,
    records::{Record, WebhookEnrolment, WebhookSecret},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::domain::Domain;

pub struct WebhookSecretsView {
    pub place: ProjectRef,
    pub operator: Domain,
    /// The operator's row, if it ever had a secret here.
    pub enrolment: Option<WebhookEnrolment>,
}

/// Creates a secret.
pub struct AddWebhookSecret<F> {
    /// Seals a key under its id.
    pub seal: F,
}

pub struct AddedWebhookSecret {
    pub secret: WebhookSecret,
    /// Shown once, to be passed to the operator; stored sealed only.
    pub key: [u8; 32],
}

impl<F: Fn(&str, &[u8]) -> Result<String, Refusal>> Operation for AddWebhookSecret<F> {
    type View = WebhookSecretsView;
    type Answer = AddedWebhookSecret;
    type Refusal = Refusal;

    fn decide(self, view: &WebhookSecretsView, env: &Env) -> Result<Step<AddedWebhookSecret>, Refusal> {
        let mut mint = env.mint();
        let known = view.enrolment.clone();
        let mut enrolment = known.unwrap_or_else(|| WebhookEnrolment {
            key: mint.key(),
            version: 0,
            project: view.place.0,
            operator: view.operator.clone(),
            secrets: Vec::new(),
        });
        if enrolment.secrets.len() >= WebhookEnrolment::MAX_SECRETS {
            let why = "the operator has two active webhook secrets; retire the older one first";
            return Err(Refusal::Conflict(why.into()));
        }
        let (id, key) = (mint.id("whs"), mint.bytes::<32>());
        let secret = WebhookSecret { sealed: (self.seal)(&id, &key)?, id, created_at: env.now };
        enrolment.secrets.insert(0, secret.clone());
        let effects = changed(view, enrolment, "webhook_secret_added", &secret.id, env, &mut mint)?;
        Ok(Step { answer: AddedWebhookSecret { secret, key }, effects })
    }
}

/// Retires a secret: nothing is signed with it any more, and it is deleted.
pub struct EndWebhookSecret {
    pub id: String,
}

impl Operation for EndWebhookSecret {
    type View = WebhookSecretsView;
    /// The remaining secrets.
    type Answer = Vec<WebhookSecret>;
    type Refusal = Refusal;

    fn decide(self, view: &WebhookSecretsView, env: &Env) -> Result<Step<Vec<WebhookSecret>>, Refusal> {
        let unknown = || Refusal::NotFound("the operator has no active webhook secret with this id".into());
        let mut enrolment = view.enrolment.clone().ok_or_else(unknown)?;
        let before = enrolment.secrets.len();
        enrolment.secrets.retain(|secret| secret.id != self.id);
        if enrolment.secrets.len() == before {
            return Err(unknown());
        }
        let remaining = enrolment.secrets.clone();
        let effects = changed(view, enrolment, "webhook_secret_retired", &self.id, env, &mut env.mint())?;
        Ok(Step { answer: remaining, effects })
    }
}

fn changed(
    view: &WebhookSecretsView,
    enrolment: WebhookEnrolment,
    event_type: &'static str,
    secret_id: &str,
    env: &Env,
    mint: &mut Mint,
) -> Result<Effects, Refusal> {
    let entry = DraftEntry::new((view.place.0, &view.place.1), event_type, env.now)
        .open("operator", view.operator.as_str())
        .open("by", "service")
        .open("secret_id", secret_id)
        .seal(mint)?;
    let enrolment = WebhookEnrolment { version: enrolment.version + 1, ..enrolment };
    Ok(Effects { puts: vec![Record::WebhookEnrolment(enrolment)], evidence: vec![entry], ..Effects::default() })
}
