//! A session as kept by an asking agent, with helpers to build invalid ones.

use countersign_jose::clarification::{AgentKey, Registry};
use countersign_protocol::{
    clarification::{
        Abandoned, AnsweredBy, Attestation, ChainEntry, ChainReference, DigestText, Gap, GivenBy, Handoff,
        HandoffContext, Inputs, Message, Operation, PlanChanged, PublishedKey, PublishedKeys, Record, Rotated,
        Rotation, Round, Severity, Signable, Signature, SignedRound, Stamp, Status, SubmittedPlan,
        record::UNHASHED,
        signed::{self, AbandonmentBody, AnswerBody, AskBody, ChainBody, PlanBody},
    },
    hash::Digest,
    mplp::MplpId,
    time::UnixMillis,
};
use serde::Serialize;
use serde_json::{Value, json};

pub(super) const AGENT: &str = "countersign-shop";
pub(super) const SESSION: &str = "6f9619ff-8b86-4d01-b42d-00c04fc964ff";
pub(super) const OTHER_SESSION: &str = "0b8f2a6e-3c1d-4e5f-9a7b-1c2d3e4f5a6b";
/// 2026-05-10T15:00:00Z
pub(super) const BEGIN: i64 = 1_778_425_200;

pub(super) fn key(seed: u8) -> AgentKey {
    AgentKey::from_seed([seed; 32])
}

pub(super) fn stamp(seconds: i64) -> Stamp {
    Stamp::of(UnixMillis::from_secs(BEGIN + seconds))
}

pub(super) fn gap(number: u32, field: &str, severity: Severity) -> Gap {
    Gap {
        id: format!("gap-{number:03}"),
        field: field.into(),
        pointer: Some(format!("/{}", field.replace('.', "/"))),
        severity,
        question: format!("What is {field}?"),
        context: "It decides where the money goes.".into(),
        suggestions: vec!["one".into(), "Two".into()],
        suggestions_exclusive: false,
        blocked_operations: vec![Operation::Planner, Operation::Build],
        person_must_answer: false,
    }
}

/// The asking agent's keys as known to a verifier.
pub(super) fn registry(keys: &[&AgentKey]) -> Registry {
    let published =
        |key: &&AgentKey| PublishedKey { public_key: key.public_key(), created_at: stamp(-1000), retired_at: None };
    let keys = keys.iter().map(published).collect();
    Registry::default().with(&PublishedKeys { agent_id: AGENT.into(), keys, rotations: Vec::new() })
}

/// The properties of an answer; [`Given::own`] has the defaults.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) answer: String,
    pub(super) resolved: bool,
    pub(super) given_by: GivenBy,
    pub(super) decision_id: Option<String>,
    /// Name and key of the answering agent, if it signs.
    pub(super) signer: Option<(String, AgentKey)>,
}

impl Given {
    pub(super) fn own(answer: &str) -> Self {
        Self { answer: answer.into(), resolved: true, given_by: GivenBy::Own, decision_id: None, signer: None }
    }

    pub(super) fn person(answer: &str) -> Self {
        Self { given_by: GivenBy::Person, decision_id: Some("dec_1".into()), ..Self::own(answer) }
    }

    pub(super) fn escalated(answer: &str) -> Self {
        Self { resolved: false, ..Self::own(answer) }
    }

    pub(super) fn signed(answer: &str, agent_id: &str, key: AgentKey) -> Self {
        Self { signer: Some((agent_id.into(), key)), ..Self::own(answer) }
    }
}

#[derive(Clone)]
pub(super) struct Session {
    pub(super) id: MplpId,
    pub(super) key: AgentKey,
    pub(super) entries: Vec<ChainEntry>,
    pub(super) plans: Vec<(Value, i64)>,
    pub(super) open: Vec<Gap>,
    pub(super) exchanges: Vec<SignedRound>,
    /// Seconds since [`BEGIN`].
    pub(super) now: i64,
}

impl Session {
    pub(super) fn begin(id: &str, key: AgentKey, plan: Value) -> Self {
        let id = MplpId::parse(id).unwrap();
        Self { id, key, entries: Vec::new(), plans: vec![(plan, 0)], open: Vec::new(), exchanges: Vec::new(), now: 0 }
    }

    fn plan_digest(&self) -> DigestText {
        DigestText(signed::plan_digest(&self.plans.last().unwrap().0).unwrap())
    }

    pub(super) fn genesis(&self) -> Digest {
        signed::genesis(&self.id, &signed::plan_digest(&self.plans[0].0).unwrap())
    }

    pub(super) fn head(&self) -> DigestText {
        self.entries.last().map_or_else(|| DigestText(self.genesis()), ChainEntry::entry_hash)
    }

    pub(super) fn rounds(&self) -> u64 {
        self.entries.iter().filter(|entry| entry.as_round().is_some()).count() as u64
    }

    pub(super) fn link(&mut self, entry: ChainEntry) {
        self.entries.push(entry.sealed().unwrap());
    }

    /// Asks now; the answer comes a second later.
    pub(super) fn round(&mut self, gap: &Gap, given: Given) {
        let ask = AskBody {
            session_id: self.id.clone(),
            round: self.rounds() + 1,
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
            ask_timestamp: stamp(self.now),
            gap: gap.clone(),
            plan_digest: self.plan_digest(),
            prev: self.head(),
        };
        self.now += 1;
        let answered_at = stamp(self.now);
        self.exchange(ask, given, answered_at);
    }

    /// Signs question and answer without checks.
    pub(super) fn exchange(&mut self, ask: AskBody, given: Given, answer_timestamp: Stamp) {
        let (name, signer) = given.signer.clone().unwrap_or_else(|| (AGENT.into(), self.key.clone()));
        let answered_by =
            AnsweredBy { agent_id: name, public_key: signer.public_key(), attested: given.signer.is_some() };
        let answer = AnswerBody {
            session_id: self.id.clone(),
            round: ask.round,
            gap_id: ask.gap.id.clone(),
            answer: given.answer.clone(),
            answer_timestamp: answer_timestamp.clone(),
            answered_by: answered_by.clone(),
            ask_hash: signed::ask_hash(&ask).unwrap(),
        };
        let round = Round {
            round: ask.round,
            ask_timestamp: ask.ask_timestamp.clone(),
            ask_signature: self.key.sign_body(&ask).unwrap(),
            gap: ask.gap.clone(),
            answer_timestamp,
            answer: given.answer,
            answered_by,
            answer_signature: signer.sign_body(&answer).unwrap(),
            resolved: given.resolved,
            plan_digest: Some(ask.plan_digest),
            agent_public_key: Some(ask.agent_public_key.clone()),
            given_by: Some(given.given_by),
            decision_id: given.decision_id,
            prev: ask.prev,
            entry_hash: UNHASHED,
        };
        self.exchanges.push(SignedRound::of(&round, ask, answer));
        self.link(ChainEntry::Round(round));
    }

    pub(super) fn rotate(&mut self, to: AgentKey) {
        let rotation = rotation(&self.key, &to, self.now);
        self.enter_rotation(rotation);
        self.key = to;
    }

    pub(super) fn enter_rotation(&mut self, rotation: Rotation) {
        let entry = Rotated::new(stamp(self.now), rotation, self.head());
        self.link(ChainEntry::Rotated(entry));
    }

    pub(super) fn change_plan(&mut self, plan: Value) {
        self.now += 1;
        self.plans.push((plan, self.now));
        let body = PlanBody {
            session_id: self.id.clone(),
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
            timestamp: stamp(self.now),
            plan_digest: self.plan_digest(),
            prev: self.head(),
        };
        let signature = self.key.sign_body(&body).unwrap();
        self.link(ChainEntry::PlanChanged(PlanChanged::new(body, signature)));
    }

    pub(super) fn abandon(&mut self, abandoned_by: GivenBy) {
        self.now += 1;
        let body = AbandonmentBody {
            session_id: self.id.clone(),
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
            timestamp: stamp(self.now),
            abandoned_by,
            unanswered: self.open.iter().map(|gap| gap.id.clone()).collect(),
            plan_digest: self.plan_digest(),
            prev: self.head(),
        };
        let signature = self.key.sign_body(&body).unwrap();
        self.link(ChainEntry::Abandoned(Abandoned::new(body, signature)));
    }

    pub(super) fn record(&self) -> Record {
        self.record_saying(self.rounds(), self.open.is_empty())
    }

    /// Signs these totals without checks.
    pub(super) fn record_saying(&self, total_rounds: u64, all_resolved: bool) -> Record {
        let body = ChainBody {
            session_id: self.id.clone(),
            total_rounds,
            all_resolved,
            head: self.head(),
            signed_at: stamp(self.now),
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
        };
        Record {
            session_id: self.id.clone(),
            chain: self.entries.clone(),
            total_rounds,
            all_resolved,
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
            plan_digest: DigestText(signed::plan_digest(&self.plans[0].0).unwrap()),
            signed_at: stamp(self.now),
            chain_signature: self.key.sign_body(&body).unwrap(),
        }
    }

    pub(super) fn message(&self) -> Message {
        let open = |severity| self.open.iter().filter(|gap| gap.severity == severity).count() as u64;
        let resolved = self.entries.iter().filter_map(ChainEntry::as_round).filter(|round| round.resolved).count();
        self.signed_message(Message {
            schema: countersign_protocol::clarification::SCHEMA.into(),
            protocol_version: "1.0.0".into(),
            session_id: self.id.clone(),
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
            timestamp: stamp(self.now),
            status: if self.open.is_empty() { Status::ReadyToProceed } else { Status::NeedsClarification },
            gaps: self.open.clone(),
            accepted_gaps: resolved as u64,
            blocking_gaps: open(Severity::Block),
            warning_gaps: open(Severity::Warn),
            signature: nothing(),
        })
    }

    pub(super) fn signed_message(&self, message: Message) -> Message {
        Message { signature: self.key.sign_body(&message).unwrap(), ..message }
    }

    pub(super) fn attestation(&self, accepted: &Value) -> Attestation {
        let record = self.record();
        self.signed_attestation(Attestation {
            attestation_version: "1.0.0".into(),
            session_id: self.id.clone(),
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
            issued_at: stamp(self.now),
            plan_digest: DigestText(signed::plan_digest(accepted).unwrap()),
            inputs: Inputs { clarification_rounds: self.rounds(), clarification_chain_ref: self.head() },
            clarification: ChainReference {
                rounds: self.rounds(),
                head: self.head(),
                chain_signature: record.chain_signature,
            },
            signature: nothing(),
        })
    }

    pub(super) fn signed_attestation(&self, attestation: Attestation) -> Attestation {
        Attestation { signature: self.key.sign_body(&attestation).unwrap(), ..attestation }
    }

    pub(super) fn handoff(&self, plan: Option<Value>) -> Handoff {
        let handoff = Handoff {
            handoff_version: "1.0.0".into(),
            session_id: self.id.clone(),
            agent_id: AGENT.into(),
            agent_public_key: self.key.public_key(),
            created_at: stamp(self.now),
            plan,
            context: HandoffContext { clarification: self.record() },
            signature: nothing(),
        };
        Handoff { signature: self.key.sign_body(&handoff).unwrap(), ..handoff }
    }

    /// The audit of the whole session, with the accepted plan and its attestation if given.
    pub(super) fn audit(&self, accepted: Option<&Value>) -> Value {
        let plans: Vec<SubmittedPlan> = self
            .plans
            .iter()
            .map(|(plan, _)| SubmittedPlan {
                plan_digest: DigestText(signed::plan_digest(plan).unwrap()),
                plan_object: plan.clone(),
            })
            .collect();
        let mut audit = json!({
            "clarification_chain": self.exchanges,
            "record": self.record(),
            "message": self.message(),
            "submitted_plans": plans,
        });
        if let Some(accepted) = accepted {
            audit["accepted_plan"] = accepted.clone();
            audit["attestation"] = value(&self.attestation(accepted));
        }
        audit
    }
}

pub(super) fn rotation(old: &AgentKey, new: &AgentKey, at: i64) -> Rotation {
    let rotation = Rotation {
        agent_id: AGENT.into(),
        old_public_key: old.public_key(),
        new_public_key: new.public_key(),
        rotated_at: stamp(at),
        signature: nothing(),
    };
    Rotation { signature: old.sign_body(&rotation).unwrap(), ..rotation }
}

pub(super) fn nothing() -> Signature {
    Signature::from_bytes([0; 64])
}

pub(super) fn value<T: Serialize>(document: &T) -> Value {
    serde_json::to_value(document).unwrap()
}

pub(super) fn resigned<T: Signable>(key: &AgentKey, document: &T) -> Signature {
    key.sign_body(document).unwrap()
}

pub(super) fn plan() -> Value {
    json!({ "payee": { "name": "ACME" }, "amount": 82_000 })
}

/// Five rounds with an escalation, a person, a signed answer, a rotation and a changed plan. Everything is settled.
pub(super) fn eventful() -> Session {
    eventful_as(SESSION)
}

pub(super) fn eventful_as(id: &str) -> Session {
    let mut session = Session::begin(id, key(1), json!({ "payee": { "name": "ACME" } }));
    let account = gap(1, "payee.account", Severity::Block);
    session.round(&account, Given::escalated("the usual one"));
    session.round(&account, Given::person("DE02 1203"));
    session.now += 10;
    session.rotate(key(2));
    session.round(&gap(2, "purpose", Severity::Warn), Given::signed("two", "caller-1", key(9)));
    session.change_plan(plan());
    session.round(&gap(3, "payee.account", Severity::Block), Given::person("DE02 1203"));
    session.round(&gap(4, "terms", Severity::Warn), Given::own("accept"));
    session
}

/// The accepted plan of [`eventful`].
pub(super) fn eventful_plan() -> Value {
    json!({ "payee": { "name": "ACME", "account": "DE02 1203" }, "amount": 82_000, "terms": "accept" })
}

pub(super) fn eventful_registry() -> Registry {
    registry(&[&key(1), &key(2)]).with_key("caller-1", key(9).public_key())
}
