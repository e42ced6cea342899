//! A session transition. Every change appends chain entries, renews the signed message and the chain signature, and
//! writes audit entries.

use super::{
    key::AskingKey,
    required_answerer,
    rules::{Finding, Rules, accepted_plan},
};
use crate::{
    decision::ProjectRef,
    env::{Env, Mint},
    evidence::DraftEntry as Evidence,
    records::{
        AskedGap, ClarificationEntry, ClarificationSession, ClarificationState, GapState, Raiser, Record, Submitted,
    },
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::{
    clarification::{
        Abandoned, AnsweredBy, ChainEntry, DigestText, Gap, GivenBy, Message, PROTOCOL_VERSION, PlanChanged, Rotated,
        Round, SCHEMA, Severity, Signature, Stamp, Status,
        limits::{MAX_ENTRIES, MAX_GAPS, MAX_PLANS},
        signed::{self, AbandonmentBody, AnswerBody, AskBody, ChainBody, PlanBody},
        submission::OwnSignature,
    },
    hash::Digest,
    mplp::MplpId,
    project::ProjectDocument,
    time::UnixMillis,
};
use serde_json::Value;

/// The context of a transition beside the session.
pub struct TransitionContext<'a> {
    pub place: &'a ProjectRef,
    pub document: &'a ProjectDocument,
    pub rules: &'a Rules,
    pub key: &'a AskingKey,
}

/// Placeholder in an entry until its hash is computed.
const UNSEALED: DigestText = DigestText(Digest([0; 32]));

pub struct SessionTransition<'a> {
    around: TransitionContext<'a>,
    session: ClarificationSession,
    /// When the open questions were asked: the time of the last change before this one.
    asked_at: UnixMillis,
    entries: Vec<Value>,
    evidence: Vec<Evidence>,
}

/// An answer with its verdict.
pub struct GivenAnswer {
    pub answer: String,
    /// The accepted text, or the reason for rejecting the answer.
    pub judged: Result<String, String>,
    pub given_by: GivenBy,
    /// The decision that a person answered.
    pub decision_id: Option<String>,
    /// The verified signature of the answerer. Without one, the project signs a receipt (W-06).
    pub signed: Option<OwnSignature>,
}

impl<'a> SessionTransition<'a> {
    /// Begins a session with this plan.
    pub fn begin(
        around: TransitionContext<'a>,
        by: &Raiser,
        id: MplpId,
        plan: Submitted,
        same: Digest,
        env: &Env,
        mint: &mut Mint,
    ) -> Self {
        let agent_id = around.key.agent_id.clone();
        let evidence = vec![opened(around.place, by, &id, &plan, env)];
        let session = ClarificationSession {
            key: mint.key(),
            version: 1,
            project: around.place.0,
            head: signed::genesis(&id, &plan.digest),
            id,
            by: by.clone(),
            agent_id,
            public_key: around.key.public_key.as_str().to_owned(),
            same,
            opened_at: env.now,
            last_at: env.now,
            expires_at: env.now.plus_secs(around.document.clarification.session_seconds),
            plans: vec![plan],
            gaps: Vec::new(),
            rounds: 0,
            entries: 0,
            message: Value::Null,
            chain_signature: String::new(),
            state: ClarificationState::Open,
        };
        Self { around, session, asked_at: env.now, entries: Vec::new(), evidence }
    }

    /// Continues a session. Key rotations since the last change are recorded first (W-20).
    pub fn of(around: TransitionContext<'a>, session: &ClarificationSession, now: UnixMillis) -> Result<Self, Refusal> {
        let (last_at, asked_at) = (now.max(session.last_at), session.last_at);
        let session = ClarificationSession { version: session.version + 1, last_at, ..session.clone() };
        let mut moving = Self { around, session, asked_at, entries: Vec::new(), evidence: Vec::new() };
        moving.record_rotations()?;
        Ok(moving)
    }

    pub fn session(&self) -> &ClarificationSession {
        &self.session
    }

    /// Dates each rotation by its own time: the key may have been replaced long ago, and the local clock may lag behind
    /// the clock of the node that rotated it.
    fn record_rotations(&mut self) -> Result<(), Refusal> {
        let between = self.around.key.rotations_since(&self.session.public_key).to_vec();
        for rotation in between {
            self.session.public_key = rotation.new_public_key.as_str().to_owned();
            self.asked_at = self.asked_at.max(rotation.rotated_at.at());
            self.session.last_at = self.session.last_at.max(self.asked_at);
            let entry = Rotated::new(Stamp::of(self.asked_at), rotation, self.head());
            self.link(ChainEntry::Rotated(entry))?;
        }
        // A key that no rotation leads to would break every chain that it signs.
        let reached = self.session.public_key == self.around.key.public_key.as_str();
        if reached { Ok(()) } else { Err(Refusal::Internal) }
    }

    /// Replaces the plan. Open gaps are evaluated again; an answer is kept only if the new plan raises exactly the same
    /// question.
    pub fn plan_changed(&mut self, plan: Submitted, same: Digest) -> Result<(), Refusal> {
        if self.session.plans.len() >= MAX_PLANS {
            return Err(Refusal::Conflict(format!(
                "{MAX_PLANS} different plans were submitted in this session: begin another"
            )));
        }
        let body = PlanBody {
            session_id: self.session.id.clone(),
            agent_id: self.session.agent_id.clone(),
            agent_public_key: self.around.key.public_key.clone(),
            timestamp: self.stamp(),
            plan_digest: DigestText(plan.digest),
            prev: self.head(),
        };
        let signature = self.around.key.sign(&body)?;
        self.link(ChainEntry::PlanChanged(PlanChanged::new(body, signature)))?;
        self.asked_at = self.session.last_at;
        for asked in &mut self.session.gaps {
            match &mut asked.state {
                GapState::Open { .. } => asked.state = GapState::Superseded,
                GapState::Resolved { applies, .. } => *applies = false,
                GapState::Superseded | GapState::Abandoned { .. } => {}
            }
        }
        self.session.plans.push(plan);
        self.session.same = same;
        self.keep_answers()
    }

    /// Repeats until stable: one kept answer may make the plan raise another question that is already answered.
    fn keep_answers(&mut self) -> Result<(), Refusal> {
        loop {
            let found = self.findings_in(&self.plan_with_answers()?)?;
            let kept = found.iter().filter(|finding| self.keep_answer(finding)).count();
            if kept == 0 {
                return Ok(());
            }
        }
    }

    /// Drops an agent's own answer if the new plan requires a person to give it.
    fn keep_answer(&mut self, finding: &Finding) -> bool {
        let (fingerprint, owed) = (finding.fingerprint(), self.needs_person(finding));
        let same = |asked: &&mut AskedGap| asked.is_resolved() && asked.fingerprint == fingerprint;
        match self.session.gaps.iter_mut().rev().find(same).map(|asked| &mut asked.state) {
            Some(GapState::Resolved { applies, given_by, .. })
                if !*applies && (*given_by == GivenBy::Person || !owed) =>
            {
                *applies = true;
                true
            }
            _ => false,
        }
    }

    /// Evaluates the plan with its answers applied, and asks about each new gap.
    pub fn evaluate(&mut self) -> Result<(), Refusal> {
        let plan = self.plan_with_answers()?;
        for finding in self.findings_in(&plan)? {
            let known =
                |asked: &AskedGap| asked.is_current() && asked.rule == finding.rule && asked.pointer == finding.pointer;
            if !self.session.gaps.iter().any(known) {
                let asked = self.open_gap(finding);
                self.session.gaps.push(asked);
            }
        }
        match self.session.open_gaps().count() > MAX_GAPS {
            true => Err(Refusal::invalid(format!("more than {MAX_GAPS} gaps would be open: answer the others first"))),
            false => Ok(()),
        }
    }

    fn findings_in(&self, plan: &Value) -> Result<Vec<Finding>, Refusal> {
        self.around.rules.findings(plan).map_err(|why| Refusal::invalid(why.to_string()))
    }

    fn open_gap(&self, finding: Finding) -> AskedGap {
        let person_must_answer = self.needs_person(&finding);
        let fingerprint = finding.fingerprint();
        AskedGap {
            gap: Gap {
                // Counts all gaps ever asked, so that no id is used twice (W-24).
                id: format!("gap-{:03}", self.session.gaps.len() + 1),
                field: finding.field,
                pointer: Some(finding.pointer.clone()),
                severity: finding.severity,
                question: finding.question,
                context: finding.context,
                suggestions: finding.suggestions,
                suggestions_exclusive: finding.exclusive,
                blocked_operations: finding.blocked,
                person_must_answer,
            },
            pointer: finding.pointer,
            rule: finding.rule,
            fingerprint,
            answer_kind: finding.answer,
            state: GapState::Open { asked: None, refused: None },
        }
    }

    fn needs_person(&self, finding: &Finding) -> bool {
        let plan = self.session.plan().map_or(&Value::Null, |submitted| &submitted.plan);
        required_answerer::person(self.around.document, plan, finding)
    }

    /// The submitted plan with every applicable answer written into it, and nothing else (WWA-1-04).
    pub fn plan_with_answers(&self) -> Result<Value, Refusal> {
        with_answers(&self.session)
    }

    /// Appends a round: the current question and its answer.
    pub fn answered(&mut self, gap_id: &str, given: GivenAnswer) -> Result<(), Refusal> {
        let at = self.session.gaps.iter().position(|asked| asked.gap.id == gap_id && asked.is_open());
        let at = at.ok_or_else(|| Refusal::NotFound("the session has no such open gap".into()))?;
        let round = self.round(at, &given)?;
        let resolved = round.resolved;
        self.session.rounds += 1;
        if let Some(signed) = &given.signed {
            self.session.last_at = self.session.last_at.max(signed.timestamp.at());
        }
        self.link(ChainEntry::Round(round.clone()))?;
        self.record_answer(&round, &given);
        let now = self.session.last_at;
        self.asked_at = now;
        let Some(asked) = self.session.gaps.get_mut(at) else { return Err(Refusal::Internal) };
        match given.judged {
            Ok(accepted) => {
                let (answer, given_by) = (given.answer, given.given_by);
                let (round, applies) = (round.round, true);
                asked.state = GapState::Resolved { answer, accepted, given_by, at: now, round, applies };
            }
            Err(why) => {
                if let GapState::Open { refused, .. } = &mut asked.state {
                    *refused = Some((given.answer, why));
                }
            }
        }
        debug_assert_eq!(resolved, !asked.is_open());
        Ok(())
    }

    fn round(&self, at: usize, given: &GivenAnswer) -> Result<Round, Refusal> {
        let asked = self.session.gaps.get(at).ok_or(Refusal::Internal)?;
        let ask_timestamp = Stamp::of(self.asked_at);
        let ask = AskBody { ask_timestamp, ..ask_of(&self.session, &asked.gap, self.around.key)? };
        let ask_signature = self.around.key.sign(&ask)?;
        let signed = match &given.signed {
            Some(signed) => signed.clone(),
            None => self.receipt(&ask, given)?,
        };
        Ok(Round {
            round: ask.round,
            ask_timestamp: ask.ask_timestamp,
            ask_signature,
            gap: asked.gap.clone(),
            answer_timestamp: signed.timestamp,
            answer: given.answer.clone(),
            answered_by: signed.answered_by,
            answer_signature: signed.signature,
            resolved: given.judged.is_ok(),
            plan_digest: Some(ask.plan_digest),
            agent_public_key: Some(ask.agent_public_key),
            given_by: Some(given.given_by),
            decision_id: given.decision_id.clone(),
            prev: ask.prev,
            entry_hash: UNSEALED,
        })
    }

    /// Signs that this answer was given, without claiming the answerer's signature (W-06).
    fn receipt(&self, ask: &AskBody, given: &GivenAnswer) -> Result<OwnSignature, Refusal> {
        let body = AnswerBody {
            session_id: ask.session_id.clone(),
            round: ask.round,
            gap_id: ask.gap.id.clone(),
            answer: given.answer.clone(),
            answer_timestamp: self.stamp(),
            answered_by: AnsweredBy {
                agent_id: ask.agent_id.clone(),
                public_key: ask.agent_public_key.clone(),
                attested: false,
            },
            ask_hash: signed::ask_hash(ask)?,
        };
        let signature = self.around.key.sign(&body)?;
        Ok(OwnSignature { answered_by: body.answered_by, timestamp: body.answer_timestamp, signature })
    }

    /// Links the gap to a pending decision.
    pub fn link_decision(&mut self, gap_id: &str, decision: countersign_protocol::ids::RowKey) {
        let found = self.session.gaps.iter_mut().find(|asked| asked.gap.id == gap_id);
        if let Some(GapState::Open { asked, .. }) = found.map(|asked| &mut asked.state) {
            *asked = Some(decision);
        }
    }

    /// Closes the session. An agent's own abandonment keeps the gaps that a person must answer.
    pub(super) fn abandon(&mut self, by: GivenBy, event: Evidence) -> Result<(), Refusal> {
        let plan = self.session.plan().ok_or(Refusal::Internal)?.digest;
        let body = AbandonmentBody {
            session_id: self.session.id.clone(),
            agent_id: self.session.agent_id.clone(),
            agent_public_key: self.around.key.public_key.clone(),
            timestamp: self.stamp(),
            abandoned_by: by,
            unanswered: self.session.unanswered().map(|asked| asked.gap.id.clone()).collect(),
            plan_digest: DigestText(plan),
            prev: self.head(),
        };
        let signature = self.around.key.sign(&body)?;
        self.link(ChainEntry::Abandoned(Abandoned::new(body, signature)))?;
        for asked in &mut self.session.gaps {
            if let GapState::Open { asked: question, .. } = &asked.state {
                asked.state = GapState::Abandoned { asked: *question };
            }
        }
        let holds = by == GivenBy::Own && self.session.unanswered_blocks().next().is_some();
        let state = ClarificationState::Abandoned { at: self.session.last_at, by, holds };
        self.close(state, self.session.same, event.open("holds", holds));
        Ok(())
    }

    pub(super) fn close(&mut self, state: ClarificationState, same: Digest, event: Evidence) {
        self.session.state = state;
        self.session.same = same;
        self.evidence.push(event);
    }

    pub(super) fn sign_chain(&self) -> Result<Signature, Refusal> {
        self.around.key.sign(&chain_body(&self.session, self.around.key))
    }

    pub(super) fn key(&self) -> &AskingKey {
        self.around.key
    }

    pub(super) fn place(&self) -> &ProjectRef {
        self.around.place
    }

    /// Signs the message and the chain, and adds all writes to the effects.
    pub fn finish(mut self, effects: &mut Effects, mint: &mut Mint) -> Result<ClarificationSession, Refusal> {
        self.session.message = self.message()?;
        self.session.chain_signature = self.sign_chain()?.as_str().to_owned();
        let first = self.session.entries - i64::try_from(self.entries.len()).unwrap_or(0);
        for (document, position) in self.entries.drain(..).zip(first + 1..) {
            let key = mint.key();
            let session = self.session.key;
            effects.puts.push(Record::ClarificationEntry(ClarificationEntry {
                key,
                version: 1,
                session,
                position,
                document,
            }));
        }
        for event in self.evidence {
            let event = event.open("chain_head", self.session.head.hex()).open("rounds", self.session.rounds);
            effects.evidence.push(event.seal(mint)?);
        }
        effects.guards.push(self.around.key.guard);
        effects.puts.push(Record::ClarificationSession(self.session.clone()));
        Ok(self.session)
    }

    fn message(&self) -> Result<Value, Refusal> {
        let session = &self.session;
        let open = |severity| number(session.unanswered().filter(|asked| asked.gap.severity == severity).count());
        let gaps: Vec<Gap> = session.unanswered().map(|asked| asked.gap.clone()).collect();
        let message = Message {
            schema: SCHEMA.into(),
            protocol_version: PROTOCOL_VERSION.into(),
            session_id: session.id.clone(),
            agent_id: session.agent_id.clone(),
            agent_public_key: self.around.key.public_key.clone(),
            timestamp: self.stamp(),
            status: if gaps.is_empty() { Status::ReadyToProceed } else { Status::NeedsClarification },
            gaps,
            accepted_gaps: number(session.gaps.iter().filter(|asked| asked.is_resolved()).count()),
            blocking_gaps: open(Severity::Block),
            warning_gaps: open(Severity::Warn),
            signature: Signature::from_bytes([0; 64]),
        };
        let signature = self.around.key.sign(&message)?;
        serde_json::to_value(Message { signature, ..message }).map_err(|_| Refusal::Internal)
    }

    fn link(&mut self, entry: ChainEntry) -> Result<(), Refusal> {
        if self.session.entries >= i64::try_from(MAX_ENTRIES).unwrap_or(i64::MAX) {
            return Err(Refusal::Conflict(format!("the chain has {MAX_ENTRIES} entries: begin another session")));
        }
        let entry = entry.sealed()?;
        self.session.entries += 1;
        self.session.head = entry.entry_hash().0;
        self.entries.push(serde_json::to_value(entry).map_err(|_| Refusal::Internal)?);
        Ok(())
    }

    fn head(&self) -> DigestText {
        DigestText(self.session.head)
    }

    fn stamp(&self) -> Stamp {
        Stamp::of(self.session.last_at)
    }

    /// Answers and the content of plans are personal data: hidden.
    fn record_answer(&mut self, round: &Round, given: &GivenAnswer) {
        let event = session_entry(self.around.place, &self.session, "clarification_answered")
            .open("round", round.round)
            .open("gap_id", round.gap.id.as_str())
            .open("severity", serde_json::to_value(round.gap.severity).unwrap_or_default())
            .open("resolved", round.resolved)
            .open("given_by", serde_json::to_value(given.given_by).unwrap_or_default())
            .open("attested", round.answered_by.attested)
            .open_if("decision_id", given.decision_id.clone())
            .hidden("field", round.gap.field.as_str())
            .hidden("question", round.gap.question.as_str())
            .hidden("answer", given.answer.as_str())
            .hidden_if("accepted_answer", given.judged.as_ref().ok().cloned())
            .hidden_if("refused_because", given.judged.as_ref().err().cloned());
        self.evidence.push(event);
    }

    /// Records the evaluated plan and its number of open gaps.
    pub fn record_check(&mut self) {
        let open = self.session.open_gaps().count() as u64;
        let digest = self.session.plan().map(|plan| plan.digest.hex());
        let event = session_entry(self.around.place, &self.session, "clarification_checked")
            .open("open_gaps", open)
            .open("submission", self.session.plans.len() as u64)
            .hidden_if("plan_sha256", digest);
        self.evidence.push(event);
    }
}

/// The submitted plan with every applicable answer written into it.
pub fn with_answers(session: &ClarificationSession) -> Result<Value, Refusal> {
    let plan = session.plan().map_or(&Value::Null, |submitted| &submitted.plan);
    let answers = session.gaps.iter().filter_map(|asked| match &asked.state {
        // An accepted WARN changes nothing in the plan (W-05).
        GapState::Resolved { applies: true, accepted, .. } if asked.keeps_value(accepted) => None,
        GapState::Resolved { accepted, round, applies: true, .. } => {
            Some((*round, (asked.pointer.as_str(), asked.answer_kind, accepted.as_str())))
        }
        _ => None,
    });
    // In the order of the rounds: the later of two answers for one place wins.
    let mut answers: Vec<_> = answers.collect();
    answers.sort_by_key(|(round, _)| *round);
    accepted_plan(plan, answers.into_iter().map(|(_, answer)| answer)).map_err(|why| Refusal::invalid(why.to_string()))
}

/// The body of a gap's next question: the coming round, on top of the current chain head (W-04).
pub fn ask_of(session: &ClarificationSession, gap: &Gap, key: &AskingKey) -> Result<AskBody, Refusal> {
    let plan = session.plan().ok_or(Refusal::Internal)?;
    Ok(AskBody {
        session_id: session.id.clone(),
        round: number(session.rounds + 1),
        agent_id: session.agent_id.clone(),
        agent_public_key: key.public_key.clone(),
        ask_timestamp: Stamp::of(session.last_at),
        gap: gap.clone(),
        plan_digest: DigestText(plan.digest),
        prev: DigestText(session.head),
    })
}

/// The content covered by the chain signature (W-09).
pub fn chain_body(session: &ClarificationSession, key: &AskingKey) -> ChainBody {
    ChainBody {
        session_id: session.id.clone(),
        total_rounds: number(session.rounds),
        all_resolved: session.unanswered().next().is_none(),
        head: DigestText(session.head),
        signed_at: Stamp::of(session.last_at),
        agent_id: session.agent_id.clone(),
        agent_public_key: key.public_key.clone(),
    }
}

/// The limits of a session keep its counts within every integer type.
pub(super) fn number(count: impl TryInto<u64>) -> u64 {
    count.try_into().unwrap_or(u64::MAX)
}

/// The common members of every audit entry about a session.
pub(super) fn session_entry(place: &ProjectRef, session: &ClarificationSession, event_type: &'static str) -> Evidence {
    of_agent(Evidence::new((place.0, &place.1), event_type, session.last_at), &session.by)
        .open("clarification_session_id", session.id.as_str())
}

fn opened(place: &ProjectRef, by: &Raiser, id: &MplpId, plan: &Submitted, env: &Env) -> Evidence {
    of_agent(Evidence::new((place.0, &place.1), "clarification_opened", env.now), by)
        .open("clarification_session_id", id.as_str())
        .hidden("plan_sha256", plan.digest.hex())
}

fn of_agent(entry: Evidence, by: &Raiser) -> Evidence {
    let entry = entry.open_if("operator", by.operator.as_ref().map(|domain| domain.as_str().to_owned()));
    match by.delegation {
        Some(delegation) => entry.under_delegation(delegation, &by.principal),
        None => entry.open("principal", by.principal.as_str()),
    }
}
