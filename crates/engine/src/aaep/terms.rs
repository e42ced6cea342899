//! The producer's offer to subscribers, and its manifest (AAEP 5.10).

use crate::{projects::ProjectAt, services::Events};
use countersign_core::{
    aaep::{
        manifest::{ManifestContext, manifest},
        negotiate::{Offer, SubscriptionTerms, negotiate},
        texts::LANGUAGES,
    },
    records::{Project, Subscription},
    refusal::Refusal,
};
use countersign_protocol::aaep::{
    envelope::{Producer, VERSION},
    handshake::{Capabilities, SubscriptionRequest},
    manifest::{Manifest, PATH},
};
use std::sync::Arc;

/// Maximum number of subscriptions of one person on one node.
pub(super) const MOST_OF_A_PERSON: usize = 10_000;
/// Domain separation: no other signature of this key can pass for a manifest, nor a manifest for anything else.
const MANIFEST_TYP: &str = "aaep-manifest+jws";

impl Events<'_> {
    /// The manifest of a project's hub, plain and as a compact JWS.
    pub async fn aaep_manifest(self, at: &ProjectAt) -> Result<(Manifest, String), Refusal> {
        let (producer, prefix) = (producer(at), format!("{}/aaep/v1", at.prefix()));
        let about = ManifestContext {
            producer: &producer,
            origin: at.service.as_str(),
            path_prefix: &prefix,
            max_concurrent_subscriptions: u64::try_from(MOST_OF_A_PERSON).ok(),
            contact: None,
        };
        let manifest = manifest(&about, &offer(&at.project));
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let signed = keys.signing.sign(MANIFEST_TYP, &manifest).map_err(|_| Refusal::Internal)?;
        Ok((manifest, signed))
    }
}

/// The hub of a project as a producer. The manifest names the same.
pub(super) fn producer(at: &ProjectAt) -> Producer {
    Producer {
        agent_id: format!("{}/{}", at.service.host(), at.project.id),
        agent_version: None,
        agent_name: Some("Countersign".into()),
        model: None,
        manifest_uri: Some(manifest_uri(at)),
    }
}

pub(super) fn manifest_uri(at: &ProjectAt) -> String {
    format!("{}{}{PATH}", at.service, at.prefix())
}

pub(super) fn offer(project: &Project) -> Offer {
    Offer {
        languages: LANGUAGES.map(str::to_owned).to_vec(),
        max_timeout_seconds: u32::try_from(project.document.decisions.max_timeout_seconds).unwrap_or(86_400),
        can_sign: true,
        ..Offer::default()
    }
}

impl Events<'_> {
    /// The terms of a row, on any node and after a restart: they follow from the requested capabilities.
    pub(super) fn terms_of(self, project: &Project, row: &Subscription) -> Result<Arc<SubscriptionTerms>, Refusal> {
        let (place, known) = ((row.key, row.version, project.version), &self.hub.known_terms);
        if let Some(terms) = known.of_row(place) {
            return Ok(terms);
        }
        let terms = known.shared(negotiated(project, row)?);
        known.insert(place, &terms);
        Ok(terms)
    }
}

fn negotiated(project: &Project, row: &Subscription) -> Result<SubscriptionTerms, Refusal> {
    let capabilities: Capabilities = serde_json::from_value(row.capabilities.clone()).map_err(|_| Refusal::Internal)?;
    let request = SubscriptionRequest { aaep_version: VERSION.into(), capabilities, ..SubscriptionRequest::default() };
    let offer = Offer { may_answer: row.may_answer, ..offer(project) };
    negotiate(&request, &offer).map_err(|why| {
        tracing::error!(%why, "the terms of a subscription no longer follow from its row");
        Refusal::Internal
    })
}
