//! A project's signing keys for clarification: created on first use, encrypted at rest, rotated publicly (W-20).

use crate::{projects::ProjectAt, services::Clarifications, store::ClarificationKeysOf};
use countersign_core::{
    clarification::{key::AskingKey, view},
    evidence::DraftEntry,
    records::{ClarificationKey, Project, Record, Table},
    refusal::Refusal,
    step::{Effects, Guard, Step},
};
use countersign_jose::clarification::AgentKey;
use countersign_protocol::{
    clarification::{PublishedKeys, Rotation, Signature, Stamp},
    time::UnixMillis,
};
use std::sync::Arc;

impl Clarifications<'_> {
    /// The current signing key, created if there is none.
    pub(crate) async fn signing_key(self, project: &Project) -> Result<AskingKey, Refusal> {
        let agent_id = view::agent_id(&project.document);
        self.run(|| async {
            let mut keys = self.clarification_keys(project).await?;
            let mut effects = Effects::default();
            if keys.is_empty() {
                let (_, first) = self.new_key(project, &agent_id, 1, None)?;
                effects.puts.push(Record::ClarificationKey(first.clone()));
                keys.push(first);
            }
            let row = keys.last().ok_or(Refusal::Internal)?;
            let agent_key = self.unseal(row)?;
            let answer = AskingKey {
                agent_id: agent_id.clone(),
                public_key: agent_key.public_key(),
                signs: Arc::new(move |input| agent_key.sign(input)),
                rotations: keys.iter().filter_map(|key| key.rotation.clone()).collect(),
                guard: Guard { table: Table::ClarificationKey, key: row.key, version: row.version },
            };
            Ok(Step { answer, effects })
        })
        .await
    }

    /// Rotates the key. The old one signs the rotation and is deleted; its signatures stay verifiable.
    pub async fn rotate_clarification_key(self, at: &ProjectAt) -> Result<PublishedKeys, Refusal> {
        let project = &at.project;
        let agent_id = view::agent_id(&project.document);
        let rotate = || async {
            self.signing_key(project).await?;
            let keys = self.clarification_keys(project).await?;
            let old = keys.last().ok_or(Refusal::Internal)?;
            let now = self.now();
            let (new_key, mut row) = self.new_key(project, &agent_id, old.generation + 1, Some(now))?;
            let old_key = self.unseal(old)?;
            let mut rotation = Rotation {
                agent_id: agent_id.clone(),
                old_public_key: old_key.public_key(),
                new_public_key: new_key.public_key(),
                rotated_at: Stamp::of(now),
                signature: Signature::from_bytes([0; 64]),
            };
            rotation.signature = old_key.sign(&countersign_protocol::clarification::Signable::input(&rotation)?);
            row.rotation = Some(rotation);
            let retired =
                ClarificationKey { version: old.version + 1, sealed: None, retired_at: Some(now), ..old.clone() };
            let mut mint = self.env()?.mint();
            let event = DraftEntry::new((project.key, &project.id), "clarification_key_rotated", now)
                .open("old_public_key", retired.public_key.as_str())
                .open("new_public_key", row.public_key.as_str());
            let effects = Effects {
                puts: vec![Record::ClarificationKey(retired), Record::ClarificationKey(row)],
                evidence: vec![event.seal(&mut mint)?],
                ..Effects::default()
            };
            Ok::<_, Refusal>(Step { answer: (), effects })
        };
        self.run(rotate).await?;
        self.published_clarification_keys(at).await
    }

    /// The public keys for verifiers (W-19).
    pub async fn published_clarification_keys(self, at: &ProjectAt) -> Result<PublishedKeys, Refusal> {
        self.signing_key(&at.project).await?;
        let keys = self.clarification_keys(&at.project).await?;
        view::published(&view::agent_id(&at.project.document), &keys)
    }

    /// Oldest first.
    async fn clarification_keys(self, project: &Project) -> Result<Vec<ClarificationKey>, Refusal> {
        let mut keys = self.find_all(ClarificationKeysOf(project.key)).await?;
        keys.sort_by_key(|key| key.generation);
        Ok(keys)
    }

    fn new_key(
        self,
        project: &Project,
        agent_id: &str,
        generation: i64,
        at: Option<UnixMillis>,
    ) -> Result<(AgentKey, ClarificationKey), Refusal> {
        let mut mint = self.env()?.mint();
        let agent_key = AgentKey::from_seed(mint.bytes());
        let public_key = agent_key.public_key().as_str().to_owned();
        let sealed = self.keys.sealer().seal(&context(project.key, &public_key), &*agent_key.seed());
        let row = ClarificationKey {
            key: mint.key(),
            version: 1,
            project: project.key,
            generation,
            agent_id: agent_id.to_owned(),
            public_key,
            sealed: Some(sealed.map_err(|_| Refusal::Internal)?),
            created_at: at.unwrap_or_else(|| self.now()),
            retired_at: None,
            rotation: None,
        };
        Ok((agent_key, row))
    }

    fn unseal(self, row: &ClarificationKey) -> Result<AgentKey, Refusal> {
        let sealed = row.sealed.as_deref().ok_or(Refusal::Internal)?;
        let seed = self.keys.sealer().open(&context(row.project, &row.public_key), sealed);
        let seed = seed.map_err(|_| Refusal::Internal)?;
        let seed: [u8; 32] = seed.as_slice().try_into().map_err(|_| Refusal::Internal)?;
        Ok(AgentKey::from_seed(seed))
    }
}

/// Binds an encrypted key to its purpose, project and public key.
fn context(project: countersign_protocol::ids::RowKey, public_key: &str) -> String {
    format!("clarification-key:{project}:{public_key}")
}
