//! Subscribers of a person, authenticated by a token or by the person's sign-in session.

use crate::{
    people::SignedIn,
    projects::ProjectAt,
    services::Events,
    store::{MembershipOf, SubscriberTokenByHash, SubscriberTokenById, SubscriberTokensOfPerson},
};
use countersign_core::{
    aaep::subscribers::{
        AddToken, AddTokenView, AddedSubscriberToken, NewSubscriberToken, PREFIX, RevokeToken, RevokeTokenView,
    },
    decision::answer::ProvenPerson,
    mplp::roles::Deciding,
    people::{ProjectMember, signed_in},
    records::{Assurance, Person, Project, SubscriberToken, SubscriptionOwner, Table, TokenState, Via, WebSession},
    refusal::Refusal,
    step::{Guard, Operation as _},
};
use countersign_protocol::{hash::Digest, ids::RowKey, project::ProjectDocument, time::UnixMillis};
use std::sync::Arc;

/// A person's subscriber, authenticated by its token or by the person's sign-in session.
#[derive(Clone, Debug)]
pub struct Listener {
    pub(crate) project: RowKey,
    pub(crate) member: ProjectMember,
    pub(crate) owner: SubscriptionOwner,
    pub(crate) may_answer: bool,
    pub(crate) approves_high_risk: bool,
    legacy: bool,
    /// When the credential expires.
    pub(crate) until: Option<UnixMillis>,
    pub(crate) guards: Vec<Guard>,
}

impl Listener {
    /// The person, if the credential lets them decide anything.
    pub fn deciding_member(&self) -> Option<&ProjectMember> {
        Some(&self.member).filter(|_| self.may_answer)
    }

    pub fn person_key(&self) -> RowKey {
        self.member.person.key
    }

    /// A token of role *reads only* never answers.
    pub fn may_answer(&self) -> bool {
        self.may_answer
    }

    /// Whether it may use the legacy endpoints.
    pub fn is_legacy(&self) -> bool {
        self.legacy
    }

    /// The person as the answerer of a question.
    pub(crate) fn answerer(&self, document: &ProjectDocument, via: Via, now: UnixMillis) -> ProvenPerson {
        let assurance = match self.owner {
            SubscriptionOwner::Token { .. } => Assurance::Token,
            SubscriptionOwner::WebSession { .. } if self.member.is_fresh(now) => Assurance::Fresh,
            SubscriptionOwner::WebSession { .. } => Assurance::Session,
        };
        ProvenPerson {
            person: self.person_key(),
            subject: self.member.person.subject.clone(),
            roles: self.member.roles(),
            assurance,
            presence: None,
            deciding: Deciding::of(document, &self.member.person.subject, &self.member.roles()),
            may_answer: self.may_answer,
            approves_high_risk: self.approves_high_risk,
            via,
            guards: self.guards.clone(),
        }
    }

    fn of_token(project: &Project, member: ProjectMember, token: &SubscriberToken) -> Self {
        let mut guards = member.guards();
        guards.push(Guard { table: Table::SubscriberToken, key: token.key, version: token.version });
        Self {
            project: project.key,
            owner: SubscriptionOwner::Token { key: token.key },
            may_answer: token.may_answer,
            approves_high_risk: token.approves_high_risk,
            legacy: token.legacy && project.document.decisions.legacy_subscribers,
            until: Some(token.expires_at),
            guards,
            member,
        }
    }

    fn of_sign_in(project: &Project, member: ProjectMember, session: &WebSession) -> Self {
        let mut guards = member.guards();
        guards.push(Guard { table: Table::WebSession, key: session.key, version: session.version });
        Self {
            project: project.key,
            owner: SubscriptionOwner::WebSession { key: session.key },
            may_answer: true,
            approves_high_risk: false,
            legacy: false,
            until: Some(session.expires_at),
            guards,
            member,
        }
    }
}

impl Events<'_> {
    /// The subscriber of a token, `cst_…`. Every invalid token gets the same refusal.
    pub async fn subscriber_by_token(self, at: &ProjectAt, secret: &str) -> Result<Listener, Refusal> {
        if !secret.strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with('_')) {
            return Err(unknown_token());
        }
        self.check_clock()?;
        let token = self.find_one(SubscriberTokenByHash(Digest::of(secret.as_bytes()))).await?;
        let token = token.ok_or_else(unknown_token)?;
        self.subscriber_of_token(&at.project, &token).await?.ok_or_else(unknown_token)
    }

    /// A signed-in person as a subscriber, such as the inbox page.
    pub async fn subscriber_by_sign_in(self, at: &ProjectAt, who: &SignedIn) -> Result<Listener, Refusal> {
        self.check_clock()?;
        let not_here = || Refusal::NotAuthorized("only members of the project may listen in it".into());
        self.subscriber_of_session(&at.project, &who.session).await?.ok_or_else(not_here)
    }

    /// The subscriber in its current state; `None` if its credential is no longer valid.
    pub(crate) async fn reload_subscriber(
        self,
        project: &Project,
        owner: SubscriptionOwner,
    ) -> Result<Option<Listener>, Refusal> {
        match owner {
            SubscriptionOwner::Token { key } => {
                let token: Option<SubscriberToken> = self.get(key).await?;
                match token {
                    Some(token) => self.subscriber_of_token(project, &token).await,
                    None => Ok(None),
                }
            }
            SubscriptionOwner::WebSession { key } => {
                let session: Option<WebSession> = self.get(key).await?;
                match session {
                    Some(session) => self.subscriber_of_session(project, &session).await,
                    None => Ok(None),
                }
            }
        }
    }

    async fn subscriber_of_token(
        self,
        project: &Project,
        token: &SubscriberToken,
    ) -> Result<Option<Listener>, Refusal> {
        if token.project != project.key {
            return Ok(None);
        }
        let member = self.load_member(project.key, token.person, UnixMillis(i64::MIN)).await?;
        let holds =
            |member: &ProjectMember| token.state(&member.person, self.now()) == TokenState::Active && is_active(member);
        Ok(member.filter(holds).map(|member| Listener::of_token(project, member, token)))
    }

    async fn subscriber_of_session(self, project: &Project, session: &WebSession) -> Result<Option<Listener>, Refusal> {
        let fresh_until = session.proven_at.plus_secs(self.settings.fresh_s);
        let member = self.load_member(project.key, session.person, fresh_until).await?;
        let holds = |member: &ProjectMember| signed_in(session, &member.person, self.now()) && is_active(member);
        Ok(member.filter(holds).map(|member| Listener::of_sign_in(project, member, session)))
    }

    async fn load_member(
        self,
        project: RowKey,
        person: RowKey,
        fresh_until: UnixMillis,
    ) -> Result<Option<ProjectMember>, Refusal> {
        let Some(person) = self.get::<Person>(person).await? else { return Ok(None) };
        let membership = self.find_one(MembershipOf { project, person: person.key }).await?;
        Ok(Some(ProjectMember { person, membership, fresh_until }))
    }

    /// Issues a token for a subscriber of this person.
    pub async fn add_subscriber_token(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        new: NewSubscriberToken,
    ) -> Result<AddedSubscriberToken, Refusal> {
        let project = Arc::new(at.project.clone());
        self.run(|| async {
            // Loaded again, so that the guards cover the rows of the decision.
            let place = self.load_member(project.key, member.person.key, member.fresh_until).await?;
            let member = place.filter(|place| !place.person.disabled).ok_or(Refusal::SignInRequired)?;
            let view = AddTokenView { project: Arc::clone(&project), member };
            let add = AddToken { new: new.clone() };
            add.decide(&view, &self.env()?)
        })
        .await
    }

    /// A person's tokens in a project, including revoked ones, newest first.
    pub async fn subscriber_tokens(self, at: &ProjectAt, person: RowKey) -> Result<Vec<SubscriberToken>, Refusal> {
        let mut found = self.find_all(SubscriberTokensOfPerson { project: at.project.key, person }).await?;
        found.reverse();
        Ok(found)
    }

    /// Revokes a token: its streams end, and its replies no longer count.
    pub async fn revoke_subscriber_token(
        self,
        at: &ProjectAt,
        member: &ProjectMember,
        id: &str,
    ) -> Result<SubscriberToken, Refusal> {
        let project = Arc::new(at.project.clone());
        self.run(|| async {
            let token = self.find_one(SubscriberTokenById { project: at.project.key, id: id.to_owned() }).await?;
            let token = token.ok_or_else(|| Refusal::NotFound("there is no such subscriber token".into()))?;
            let view = RevokeTokenView { project: Arc::clone(&project), member: member.clone(), token };
            RevokeToken.decide(&view, &self.env()?)
        })
        .await
    }
}

/// Whether the person is enabled and has a role in the project.
fn is_active(member: &ProjectMember) -> bool {
    !member.person.disabled && !member.roles().is_empty()
}

fn unknown_token() -> Refusal {
    Refusal::NotAuthorized("the subscriber token is unknown or no longer valid".into())
}
