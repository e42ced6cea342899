//! Test fixture for clarification: a project document, a clock, and the signing keys.

use super::rules;
use crate::{
    decision_store::Outcome,
    decision_world::{Plane, at_deadline},
};
use countersign_core::{
    clarification::{key::AskingKey, rules::Rules, view},
    records::{ClarificationKey, ClarificationSession, Decision, DecisionState, Table},
    step::{Guard, Step},
};
use countersign_jose::{
    KeyPolicy,
    clarification::{AgentKey, Registry},
};
use countersign_protocol::{
    clarification::{Rotation, Signature, Stamp},
    ids::RowKey,
    project::ProjectDocument,
    time::UnixMillis,
};
use std::sync::Arc;

/// Row keys of signing keys start here.
const KEYS: RowKey = 900;

pub(crate) struct World {
    pub(crate) plane: Plane,
    pub(crate) rules: Arc<Rules>,
    /// Signing keys, oldest first, with their rows.
    keys: Vec<AgentKey>,
    rows: Vec<ClarificationKey>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut ProjectDocument)) -> Self {
        let mut document = rules::document(helper().public_key().as_str());
        change(&mut document);
        let rules = Arc::new(Rules::compile(&document.clarification).unwrap());
        let mut world = Self { plane: Plane::with(document), rules, keys: Vec::new(), rows: Vec::new() };
        world.put_in_force(AgentKey::from_seed([1; 32]), None);
        world
    }

    /// Changes the project document and recompiles its rules.
    pub(crate) fn apply(&mut self, change: impl FnOnce(&mut ProjectDocument)) {
        let mut project = (*self.plane.project).clone();
        change(std::sync::Arc::make_mut(&mut project.document));
        project.version += 1;
        self.rules = Arc::new(Rules::compile(&project.document.clarification).unwrap());
        self.plane.project = Arc::new(project);
    }

    pub(crate) fn now(&self) -> UnixMillis {
        self.plane.store.now
    }

    /// Advances the clock and settles the decisions past their deadline.
    pub(crate) fn later(&mut self, millis: i64) {
        self.plane.store.now = self.now().plus_millis(millis);
        let now = self.now();
        let due =
            |decision: &&Decision| matches!(decision.state, DecisionState::Pending { deadline, .. } if deadline <= now);
        let due: Vec<RowKey> = self.plane.store.decisions().filter(due).map(|decision| decision.key).collect();
        for decision in due {
            let step = self.plane.due(decision, at_deadline(), now).unwrap();
            self.plane.commit(step);
        }
    }

    pub(crate) fn commit<A>(&mut self, step: Step<A>) -> A {
        self.plane.commit(step)
    }

    pub(crate) fn try_commit<A>(&mut self, step: Step<A>) -> Result<A, Outcome> {
        match self.plane.store.commit(&step.effects) {
            Outcome::Committed => Ok(step.answer),
            refused => Err(refused),
        }
    }
}

/// Signing keys.
impl World {
    /// The old key signs its successor.
    pub(crate) fn rotate(&mut self) {
        let now = self.now();
        self.rotate_at(now);
    }

    pub(crate) fn rotate_at(&mut self, at: UnixMillis) {
        let (old, new) = (self.keys.last().unwrap(), AgentKey::from_seed([self.keys.len() as u8 + 1; 32]));
        let mut rotation = Rotation {
            agent_id: self.key().agent_id,
            old_public_key: old.public_key(),
            new_public_key: new.public_key(),
            rotated_at: Stamp::of(at),
            signature: Signature::from_bytes([0; 64]),
        };
        rotation.signature = old.sign_body(&rotation).unwrap();
        let row = self.rows.last_mut().unwrap();
        (row.version, row.retired_at, row.sealed) = (2, Some(at), None);
        self.plane.store.standing.insert((Table::ClarificationKey, row.key), 2);
        self.put_in_force(new, Some(rotation));
    }

    fn put_in_force(&mut self, key: AgentKey, rotation: Option<Rotation>) {
        let generation = self.keys.len() as i64 + 1;
        let row = ClarificationKey {
            key: KEYS + generation,
            version: 1,
            project: self.plane.project.key,
            generation,
            agent_id: view::agent_id(&self.plane.project.document),
            public_key: key.public_key().as_str().to_owned(),
            sealed: Some("sealed".into()),
            created_at: self.now(),
            retired_at: None,
            rotation,
        };
        self.plane.store.standing.insert((Table::ClarificationKey, row.key), 1);
        self.keys.push(key);
        self.rows.push(row);
    }

    /// The current signing key.
    pub(crate) fn key(&self) -> AskingKey {
        let (key, row) = (self.keys.last().unwrap().clone(), self.rows.last().unwrap());
        AskingKey {
            agent_id: row.agent_id.clone(),
            public_key: key.public_key(),
            signs: Arc::new(move |input| key.sign(input)),
            rotations: self.rows.iter().filter_map(|row| row.rotation.clone()).collect(),
            guard: Guard { table: Table::ClarificationKey, key: row.key, version: row.version },
        }
    }

    /// A verifier's key registry: the project's published keys and the listed agent's key.
    pub(crate) fn registry(&self) -> Registry {
        let published = view::published(&self.key().agent_id, &self.rows).unwrap();
        Registry::new(KeyPolicy::default()).with(&published).with_key(rules::KNOWN, helper().public_key())
    }
}

/// The listed agent's key for signing its own answers.
pub(crate) fn helper() -> AgentKey {
    AgentKey::from_seed([77; 32])
}

/// The ids of the open gaps.
pub(crate) fn open(session: &ClarificationSession) -> Vec<&str> {
    session.open_gaps().map(|asked| asked.gap.id.as_str()).collect()
}

/// The fields of the open gaps.
pub(crate) fn fields(session: &ClarificationSession) -> Vec<&str> {
    session.open_gaps().map(|asked| asked.gap.field.as_str()).collect()
}
