//! Abandons a clarification session: its questions block nothing any more, and its plan is never confirmed.
//!
//! An agent cannot abandon a question that a person must answer. Such a BLOCK continues to block irreversible calls
//! without a later approval, until a person abandons the session too or the session expires.

use super::{
    ClarificationView,
    transition::{SessionTransition, session_entry},
};
use crate::{
    env::Env,
    people::ProjectMember,
    records::{ClarificationSession, ClarificationState, Raiser, Role},
    refusal::Refusal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::clarification::GivenBy;

/// The party abandoning the session.
pub enum Abandon {
    /// The principal that submitted the plan.
    Agent(Raiser),
    /// The person that the agent acts for or that is responsible for it, or an admin.
    Person(Box<ProjectMember>),
}

impl Operation for Abandon {
    type View = ClarificationView;
    type Answer = ClarificationSession;
    type Refusal = Refusal;

    fn decide(self, view: &ClarificationView, env: &Env) -> Result<Step<ClarificationSession>, Refusal> {
        let by = self.authorize(&view.session)?;
        match view.session.state {
            // Abandoning again changes nothing, except that a person lifts the block that an agent's abandonment left.
            ClarificationState::Abandoned { holds, .. } if by == GivenBy::Own || !holds => {
                return Ok(Step::answer(view.session.clone()));
            }
            ClarificationState::Abandoned { .. } if env.now < view.session.expires_at => {}
            _ => super::is_live(&view.session, env.now)?,
        }
        let place = (view.project.key, view.project.id.clone());
        let mut moving = SessionTransition::of(view.context(&place), &view.session, env.now)?;
        let event = session_entry(&place, moving.session(), "clarification_abandoned")
            .open("abandoned_by", serde_json::to_value(by).unwrap_or_default())
            .open("unanswered", moving.session().unanswered().count() as u64)
            .hidden_if("person", self.subject());
        moving.abandon(by, event)?;
        let mut effects = Effects { guards: view.guards.clone(), ..Effects::default() };
        let answer = moving.finish(&mut effects, &mut env.mint())?;
        Ok(Step { answer, effects })
    }
}

/// The person that the agent acts for or that is responsible for it, or an admin of the project.
pub fn may_abandon(session: &ClarificationSession, member: &ProjectMember) -> bool {
    member.has_role(Role::Admin) || session.by.person == member.person.key
}

impl Abandon {
    /// Answers "not found" for another principal's session, so that its existence is not disclosed.
    fn authorize(&self, session: &ClarificationSession) -> Result<GivenBy, Refusal> {
        match self {
            Self::Agent(raiser) => super::is_own(session, raiser).map(|()| GivenBy::Own),
            Self::Person(member) if may_abandon(session, member) => Ok(GivenBy::Person),
            Self::Person(_) => Err(super::no_session()),
        }
    }

    fn subject(&self) -> Option<String> {
        match self {
            Self::Agent(_) => None,
            Self::Person(member) => Some(member.person.subject.clone()),
        }
    }
}
