//! Holding a call until an authenticated person has confirmed exactly it, and letting that one through once (C-02).

use super::{Held, HeldFacts, Permit};
use crate::{
    decisions::{Agent, Asked, Claiming, RaisedDecision},
    engine::{Engine, TRIES, unavailable},
    projects::{Address, ProjectAt},
    store::{self, Lookup, Outcome},
};
use countersign_core::{
    aap::access::{Call, Owed, Verdict},
    bounded::{Arguments, Units, What},
    decision::{claim::Claim, grant::AskedFor, terms::Wishes},
    held::{self, Fields, HttpRequest},
    mplp::deviation,
    records::{Allowance, Confirmation, Decision, DecisionState, Defaulted, Point, Question, Words},
    refusal::{Awaited, Awaiting, Refusal},
};
use countersign_protocol::{
    hash::Digest,
    ids::{RowKey, prefixed},
    project::Route,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The longest time that a connection is held for a person's answer.
pub(super) const LONGEST_WAIT_S: u64 = 55;

/// Exactly what is asked about a call.
pub(super) struct Matter {
    pub(super) digest: Digest,
    /// Or why nobody can be asked: what an approval covers already needs no question.
    pub(super) question: Result<Confirmation, held::Unreadable>,
    pub(super) effect: Option<held::Effect>,
    /// The same as arguments, for yeses that cover more than one call.
    pub(super) call: AskedFor,
}

/// A call on its way through a hold.
pub(super) struct Holding {
    pub(super) owed: Owed,
    pub(super) call: Call,
    pub(super) address: Address,
    pub(super) at: ProjectAt,
    pub(super) matter: Matter,
    /// The decision that the caller named, by token or id; empty if it named none.
    pub(super) named: String,
}

impl Engine {
    /// Spends the yes that covers exactly this request, or has a person asked.
    ///
    /// A header never authorises: `true` has a yes looked up, a confirmation token names one, and either is spent on
    /// this digest, by this session, or not at all.
    pub async fn hold(&self, held: Held, request: HttpRequest) -> Result<Permit, Refusal> {
        let Held { owed, call, address } = held;
        self.look_at_limits(owed.call()).await?;
        let matter = match matter(&owed, &request) {
            Ok(matter) => matter,
            Err(refusal) => return Err(self.told(&owed, refusal).await),
        };
        let at = self.project(&address).await?;
        let named = call.confirm.as_deref().and_then(|token| token.split_once('.')).map(|(id, _)| id.to_owned());
        let holding = Holding { owed, call, address, at, matter, named: named.unwrap_or_default() };
        if let Err(refusal) = self.holding_is_clear(&holding).await {
            return self.finished(&holding, Err(refusal)).await;
        }
        if let Some(spent) = self.spend_bounded(&holding).await? {
            return self.finished(&holding, Ok(spent)).await;
        }
        match holding.call.confirm.clone().as_deref() {
            None => self.ask_for(holding, request).await,
            Some("true") => {
                let yeses = self.yeses_for(&holding).await?;
                self.spend_or_ask(holding, request, yeses).await
            }
            Some(token) => {
                let spent = self.spend_token(&holding, token).await;
                self.finished(&holding, spent).await
            }
        }
    }

    /// Calls that an approved plan or a bounded yes covers run without a further question. Whoever names a
    /// confirmation means that one.
    async fn spend_bounded(&self, holding: &Holding) -> Result<Option<Permit>, Refusal> {
        if !matches!(holding.call.confirm.as_deref(), None | Some("true")) {
            return Ok(None);
        }
        let raiser = self.agent_of(&holding.owed)?.raiser;
        let project = holding.at.project.key;
        // A yes that others spent meanwhile, or whose ground is gone, is passed over: then the next one that
        // covers the call is taken, or a person is asked.
        let mut passed_over = Vec::new();
        while passed_over.len() < TRIES {
            let call = &holding.matter.call;
            let covering = self.covering(project, &raiser, Point::Gateway, call, &passed_over).await?;
            let Some(allowance) = covering else { return Ok(None) };
            let decision: Option<Decision> = store::get(&*self.store, allowance.decision).await.map_err(unavailable)?;
            let decision = decision.ok_or(Refusal::Internal)?;
            match self.spend(holding, decision, Some(allowance.key)).await {
                Ok(permit) => return Ok(Some(permit)),
                Err(Refusal::YesGone(_) | Refusal::ConfirmationInvalid(_)) => passed_over.push(allowance.key),
                Err(refusal) => return self.finished(holding, Err(refusal)).await.map(Some),
            }
        }
        Ok(None)
    }

    /// The decision that a confirmation token names. Whatever is wrong with it, nobody is asked anew: whoever sends one
    /// believes that somebody was.
    async fn spend_token(&self, holding: &Holding, token: &str) -> Result<Permit, Refusal> {
        let other = |why| Err(self.awaited(holding, Awaiting::OtherConfirmation(why), None));
        let Some((id, _)) = token.split_once('.') else { return other("it is not a confirmation token") };
        if self.confirm_token(id)? != token {
            return other("it is not a confirmation token of this service");
        }
        let decision = self.decision_at(holding.at.project.key, id).await?;
        let principal = holding.owed.principal()?;
        let Some(decision) = decision.filter(|decision| decision.raised_by.principal == principal) else {
            return other("it was given to another agent");
        };
        self.spend_yes(holding, decision).await
    }

    /// Spends whichever yes is still worth something; if none is, a person is asked anew.
    async fn spend_or_ask(
        &self,
        holding: Holding,
        request: HttpRequest,
        yeses: Vec<Decision>,
    ) -> Result<Permit, Refusal> {
        for decision in yeses {
            match self.spend_yes(&holding, decision).await {
                // It lapsed, another request had it, or what it rested on is gone.
                Err(Refusal::YesGone(_)) => {}
                spent => return self.finished(&holding, spent).await,
            }
        }
        self.ask_anew(holding, request).await
    }

    /// Without a word about its yes a request does not spend it, unless it would wait for it.
    async fn ask_for(&self, holding: Holding, request: HttpRequest) -> Result<Permit, Refusal> {
        let yeses = self.yeses_for(&holding).await?;
        match yeses.first() {
            Some(decision) if waits(&holding).is_none() => {
                let refusal = self.awaited(&holding, Awaiting::Redemption, Some(decision));
                Err(self.told(&holding.owed, refusal).await)
            }
            _ => self.spend_or_ask(holding, request, yeses).await,
        }
    }

    /// Asks, and waits if the caller would.
    async fn ask_anew(&self, holding: Holding, request: HttpRequest) -> Result<Permit, Refusal> {
        let decision = match self.raise_held(&holding, &request).await {
            Ok(decision) => decision,
            Err(refusal) => return Err(self.told(&holding.owed, refusal).await),
        };
        match waits(&holding) {
            Some(seconds) => self.wait_for(holding, decision, seconds.min(LONGEST_WAIT_S)).await,
            None => {
                let why = why_not(&decision);
                let refusal = self.awaited(&holding, why, Some(&decision));
                Err(self.told(&holding.owed, refusal).await)
            }
        }
    }

    /// Holds the connection until the question is settled or the time is over; then everything is decided anew.
    async fn wait_for(&self, mut holding: Holding, decision: Decision, seconds: u64) -> Result<Permit, Refusal> {
        let (effects, counted) = holding.owed.waits();
        match self.commit(effects).await {
            Outcome::Committed => {}
            outcome => return Err(self.turned_down(holding.owed.call(), &counted, outcome).await),
        }
        holding.owed = holding.owed.waiting();
        let decision = self.once_settled(decision, Duration::from_secs(seconds)).await?;
        self.forget_bearer(&holding.address, &holding.call);
        let again = self.decide_call_again(&holding).await?;
        holding.owed = again;
        if decision.is_pending() || why_not(&decision) != Awaiting::Redemption {
            let refusal = self.awaited(&holding, why_not(&decision), Some(&decision));
            return Err(self.told(&holding.owed, refusal).await);
        }
        let spent = self.spend_yes(&holding, decision).await;
        self.finished(&holding, spent).await
    }

    /// The decision once it is settled, or as it is when `wait` is over.
    async fn once_settled(&self, decision: Decision, wait: Duration) -> Result<Decision, Refusal> {
        const LOOK_AGAIN: Duration = Duration::from_secs(1);
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        loop {
            let waiting = self.waits.begin(decision.key);
            let changed = waiting.changed();
            tokio::pin!(changed);
            // From here on no change is missed; so look.
            changed.as_mut().enable();
            let now: Option<Decision> = store::get(&*self.store, decision.key).await.map_err(unavailable)?;
            let now = now.ok_or(Refusal::Internal)?;
            if !now.is_pending() || over.is_elapsed() {
                return Ok(now);
            }
            tokio::select! {
                () = &mut over => {}
                () = changed => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// The same call, decided from what the store says now. Its proof was spent when it began to wait.
    async fn decide_call_again(&self, holding: &Holding) -> Result<Owed, Refusal> {
        let verdict = match holding.owed.is_waiting() {
            true => self.decide_waiting(&holding.address, &holding.call).await?,
            false => self.decide_call(&holding.address, &holding.call).await?,
        };
        match verdict {
            Verdict::Owed(owed) => Ok(owed.continues(&holding.owed)),
            Verdict::Granted(_) => Err(Refusal::Unavailable),
        }
    }

    /// The accepted, unspent decisions of this session for exactly this digest. Those for more than one call were
    /// looked at before: what is left of them does not cover it.
    async fn yeses_for(&self, holding: &Holding) -> Result<Vec<Decision>, Refusal> {
        let lookup = Lookup::AllowancesOpenByDigest { project: holding.at.project.key, digest: holding.matter.digest };
        let open: Vec<Allowance> = store::find_all(&*self.store, lookup).await.map_err(unavailable)?;
        let session = Some(holding.owed.call().session());
        let now = self.now();
        let fits = |allowance: &&Allowance| {
            let own = allowance.point == Point::Gateway && allowance.raised_by.session == session;
            own && !allowance.is_bounded() && now < allowance.until
        };
        let mut yeses = Vec::new();
        for allowance in open.iter().filter(fits) {
            yeses.extend(store::get::<Decision>(&*self.store, allowance.decision).await.map_err(unavailable)?);
        }
        Ok(yeses)
    }

    /// The claim, with everything that the call rests on, durable before the first byte goes upstream.
    pub(super) async fn spend_yes(&self, holding: &Holding, decision: Decision) -> Result<Permit, Refusal> {
        self.spend(holding, decision, None).await
    }

    async fn spend(&self, holding: &Holding, decision: Decision, allowance: Option<RowKey>) -> Result<Permit, Refusal> {
        self.approved_is_clear(holding, &decision).await?;
        let mut owed = holding.owed.clone();
        let (digest, effect) = (holding.matter.digest, holding.matter.effect.as_ref().map(|effect| effect.digest));
        let claiming = Claiming { digest, effect, allowance };
        for _ in 0..TRIES {
            let _turn = self.turns.take(decision.asked_in).await;
            let view = self.claim_view(&holding.at, Vec::new(), &decision, &claiming).await?;
            let under_way = owed.call().delegation().map(|key| self.forwards.begin(key));
            let claim = Claim {
                digest,
                effect,
                point: Point::Gateway,
                node: self.store.lane(),
                call: Some(holding.matter.call.clone()),
                rules: Some(owed.rules()),
            };
            let (step, counted) = owed.claim(claim, &view, &self.env()?)?;
            match self.commit(step.effects).await {
                Outcome::Committed => {
                    self.tallies.moved(&counted);
                    let (grant, execution) = step.answer;
                    let held = HeldFacts {
                        decision: decision.key,
                        decision_id: decision.id,
                        execution_id: execution.id,
                        digest: execution.digest,
                        effect_key: holding.matter.effect.as_ref().map(|effect| effect.key.clone()),
                        lease_s: execution.lease_s,
                    };
                    let (call, address) = (holding.call.clone(), holding.address.clone());
                    return Ok(Permit { grant, held: Some(Box::new(held)), under_way, call, address });
                }
                Outcome::Stale => self.forget_bearer(&holding.address, &holding.call),
                Outcome::OutOfTime => return Err(Refusal::YesGone("its time is over")),
                outcome => return Err(self.turned_down(owed.call(), &counted, outcome).await),
            }
            owed = self.decide_call_again(holding).await?;
        }
        Err(Refusal::Unavailable)
    }

    /// A yes that does not cover the call is told in the one way that the protocol knows (C-02); what came of it stands
    /// in the audit.
    pub(super) async fn finished(&self, holding: &Holding, spent: Result<Permit, Refusal>) -> Result<Permit, Refusal> {
        let refusal = match spent {
            Ok(permit) => return Ok(permit),
            Err(Refusal::YesGone(why)) => {
                let decision = self.decision_at(holding.at.project.key, &holding.named).await.ok().flatten();
                self.awaited(holding, Awaiting::OtherConfirmation(why), decision.as_ref())
            }
            Err(Refusal::ConfirmationInvalid(_)) => {
                let why = "it was given for something else";
                self.awaited(holding, Awaiting::OtherConfirmation(why), None)
            }
            // Already recorded, or not to be: the caller is not known, or nothing can be written.
            Err(
                refusal @ (Refusal::UsageLimitReached { .. }
                | Refusal::DpopReplayed
                | Refusal::Unavailable
                | Refusal::Internal),
            ) => return Err(refusal),
            Err(refusal) => refusal,
        };
        Err(self.told(&holding.owed, refusal).await)
    }

    /// A refusal of a call that was in order so far: recorded, counted, and then told.
    pub(super) async fn told(&self, owed: &Owed, refusal: Refusal) -> Refusal {
        let recorded = async {
            let (effects, counted) = owed.answered(&refusal, &self.env()?)?;
            Ok::<_, Refusal>((self.commit(effects).await, counted))
        };
        match recorded.await {
            Ok((Outcome::Committed, counted)) => {
                self.tallies.moved(&counted);
                refusal
            }
            Ok((outcome, counted)) => self.turned_down(owed.call(), &counted, outcome).await,
            Err(trouble) => trouble,
        }
    }

    /// An open gap stops it, whatever anybody said yes to (W-26).
    async fn holding_is_clear(&self, holding: &Holding) -> Result<(), Refusal> {
        let raiser = self.agent_of(&holding.owed)?.raiser;
        self.may_be_asked(&holding.at.project, &raiser, holding.owed.call().action()).await
    }

    /// The same before an approval is claimed.
    async fn approved_is_clear(&self, holding: &Holding, approval: &Decision) -> Result<(), Refusal> {
        let raiser = self.agent_of(&holding.owed)?.raiser;
        let call = holding.owed.call();
        self.may_run(&holding.at.project, &raiser, (call.action(), Some(call.route().id.as_str())), Some(approval))
            .await
    }

    async fn raise_held(&self, holding: &Holding, request: &HttpRequest) -> Result<Decision, Refusal> {
        let Holding { owed, at, matter, .. } = holding;
        let agent = self.agent_of(owed)?;
        let mut question = matter.question.clone().map_err(unreadable)?;
        self.mark_deviation(&agent.raiser, &matter.call, &mut question).await?;
        self.mark_clarified(&at.project, &agent.raiser, None, &mut question).await?;
        let call = owed.call();
        let room = owed.room();
        let asked = Asked {
            digest: matter.digest,
            // A question of one session is not the other's (AAP 14.1).
            same: Digest::of(format!("{}\n{}", call.session(), matter.digest.hex()).as_bytes()),
            tool: call.action().to_owned(),
            question: Question::Confirmation(question),
            wishes: Wishes::default(),
            language: None,
            session_id: None,
            correlation_id: None,
            point: Point::Gateway,
            words: Words::Owner,
            effect: matter.effect.as_ref().map(|effect| effect.digest),
            route: Some(call.route().id.clone()),
            room: room.counts(),
            keep: Some(self.seal_request(&at.project, request).await?),
            target: None,
            governance: None,
            plan: None,
            gap: None,
            sent: None,
        };
        let RaisedDecision { decision, .. } = self.ask(at, &agent, asked).await.map_err(|refusal| match refusal {
            Refusal::NoRoom { count } => match room.limit(count) {
                Some(limit) => call.usage().refusal(limit, self.now()),
                None => Refusal::Internal,
            },
            refusal => refusal,
        })?;
        Ok(decision)
    }

    fn agent_of(&self, owed: &Owed) -> Result<Agent, Refusal> {
        Agent::of_call(owed.call())
    }

    /// The 403, with the decision's id, where to wait, the page, and how to go on.
    fn awaited(&self, holding: &Holding, why: Awaiting, decision: Option<&Decision>) -> Refusal {
        let document = &holding.at.project.document;
        Refusal::ConfirmationRequired(Box::new(Awaited {
            action: holding.owed.call().action().to_owned(),
            why,
            decision: decision.map(|decision| self.facts_of(&holding.at, decision)).unwrap_or_default(),
            status: document.confirmation_status,
        }))
    }

    fn facts_of(&self, at: &ProjectAt, decision: &Decision) -> Map<String, Value> {
        let id = &decision.id;
        let mut facts = Map::new();
        facts.insert("decision_id".into(), json!(id));
        facts.insert("state".into(), json!(countersign_core::decision::settled_as(decision)));
        let wait = format!("{}{}/v1/decisions/{id}?wait={LONGEST_WAIT_S}", at.service, at.prefix());
        facts.insert("wait".into(), json!(wait));
        facts.insert("page".into(), json!(self.page_of(at, id)));
        facts.insert("digest".into(), json!(decision.digest.hex()));
        facts.extend(deviation_of(decision).map(|lines| ("plan_difference".to_owned(), lines)));
        if let Some(redeem) = self.redeem_url(at, id) {
            facts.insert("redeem".into(), json!(redeem));
        }
        match &decision.state {
            DecisionState::Pending { deadline, .. } => {
                facts.insert("deadline".into(), json!(deadline.to_rfc3339()));
            }
            DecisionState::Rejected { rationale, proposal, .. } => {
                facts.extend(rationale.as_ref().map(|reason| ("reason".to_owned(), json!(reason))));
                facts.extend(proposal.clone().map(|proposal| ("proposal".to_owned(), proposal)));
            }
            _ if why_not(decision) == Awaiting::Redemption => {
                facts.extend(self.confirm_token(id).ok().map(|token| ("confirm_token".to_owned(), json!(token))));
            }
            _ => {}
        }
        facts
    }

    /// Where the request that a decision is about can be run without sending it again.
    pub(crate) fn redeem_url(&self, at: &ProjectAt, decision_id: &str) -> Option<String> {
        let gateway = self.resources_of(&at.project)?;
        Some(format!("{gateway}/.countersign/decisions/{decision_id}/redeem"))
    }

    /// Names a decision in `X-Agent-Confirm`: its id and a MAC of it. Worth nothing without the session that asked.
    pub(crate) fn confirm_token(&self, decision_id: &str) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let tag = keys.mac.tag("confirm-token", decision_id.as_bytes());
        let half = tag.first_chunk::<16>().ok_or(Refusal::Internal)?;
        Ok(format!("{decision_id}.{}", prefixed("cft", *half)))
    }
}

/// Reads the request strictly and says what a person would be asked. Whatever cannot be read in one way only is
/// refused before anybody is asked.
pub(super) fn matter(owed: &Owed, request: &HttpRequest) -> Result<Matter, Refusal> {
    let route = owed.call().route();
    let fields = Fields::read(route, request).map_err(unreadable)?;
    Ok(Matter {
        digest: owed.digest(request)?,
        question: match held::question(route, request, &fields) {
            Err(why) if !matches!(why, held::Unreadable::TooMuch(_)) => return Err(unreadable(why)),
            question => question,
        },
        effect: held::effect(route, &fields).map_err(unreadable)?,
        call: call_of_request(route, request, &fields),
    })
}

fn unreadable(why: held::Unreadable) -> Refusal {
    Refusal::invalid(why.to_string())
}

/// A request as a call with arguments.
pub(crate) fn call_of_request(route: &Route, request: &HttpRequest, fields: &Fields) -> AskedFor {
    AskedFor {
        what: What::Route { id: route.id.clone() },
        arguments: Arguments::of_request(request, fields),
        units: Units::of_route(route, fields),
    }
}

/// How long the caller would wait for a person.
fn waits(holding: &Holding) -> Option<u64> {
    holding.call.wait_s.filter(|seconds| *seconds > 0)
}

/// How the call differs from the plan, where there is one.
fn deviation_of(decision: &Decision) -> Option<Value> {
    match &decision.question {
        Question::Confirmation(asked) => asked.extra_context.as_ref()?.get(deviation::MEMBER).cloned(),
        Question::Clarification(_) => None,
    }
}

fn why_not(decision: &Decision) -> Awaiting {
    match &decision.state {
        DecisionState::Pending { .. } => Awaiting::Answer,
        DecisionState::Accepted { .. } | DecisionState::Expired { as_if: Defaulted::Accept, .. } => {
            Awaiting::Redemption
        }
        DecisionState::Rejected { .. } | DecisionState::Answered { .. } => Awaiting::Rejected,
        DecisionState::Expired { .. } => Awaiting::Expired,
        DecisionState::Cancelled { .. } => Awaiting::Cancelled,
    }
}
