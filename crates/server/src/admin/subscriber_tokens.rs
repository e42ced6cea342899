//! Requests of `countersign token`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{
    AddedSubscriberToken, Address, Engine, NewSubscriberToken, ProjectAt, ProjectMember, SubscriberToken, TokenState,
};
use countersign_protocol::time::UnixMillis;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub struct AddSubscriberToken {
    pub project: Option<String>,
    /// The name of the subscriber's person.
    pub person: String,
    /// The person's password, if the token is to approve irreversible calls of high risk.
    pub password: Option<String>,
    pub new: NewSubscriberToken,
}

impl AdminRequest for AddSubscriberToken {
    const NAME: &'static str = "add-subscriber-token";
    type Answer = AddedSubscriberToken;

    async fn run(self, engine: &Arc<Engine>) -> Result<AddedSubscriberToken, AdminRefusal> {
        let at = project(engine, self.project.as_deref()).await?;
        let mut everybody = members(engine, &at).await?.into_iter();
        let member = everybody.find(|member| member.person.subject == self.person).ok_or(AdminRefusal::NoAccount)?;
        let member = match &self.password {
            Some(password) => engine.people().prove_presence(member, password).await?,
            None => member,
        };
        Ok(engine.events().add_subscriber_token(&at, &member, self.new).await?)
    }
}

#[derive(Serialize, Deserialize)]
pub struct ListSubscriberTokens {
    pub project: Option<String>,
    /// Only this person's.
    pub person: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub struct ListedSubscriberToken {
    pub token: SubscriberToken,
    /// The name of its person.
    pub person: String,
    pub state: TokenState,
}

impl AdminRequest for ListSubscriberTokens {
    const NAME: &'static str = "list-subscriber-tokens";
    type Answer = Vec<ListedSubscriberToken>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<ListedSubscriberToken>, AdminRefusal> {
        let at = project(engine, self.project.as_deref()).await?;
        let mut found = Vec::new();
        for ProjectMember { person, .. } in members(engine, &at).await? {
            if self.person.as_ref().is_some_and(|only| *only != person.subject) {
                continue;
            }
            let (tokens, now) = (engine.events().subscriber_tokens(&at, person.key).await?.into_iter(), engine.now());
            found.extend(tokens.map(|token| ListedSubscriberToken {
                state: token.state(&person, now),
                person: person.subject.clone(),
                token,
            }));
        }
        Ok(found)
    }
}

#[derive(Serialize, Deserialize)]
pub struct RevokeSubscriberToken {
    pub project: Option<String>,
    pub id: String,
}

impl AdminRequest for RevokeSubscriberToken {
    const NAME: &'static str = "revoke-subscriber-token";
    type Answer = SubscriberToken;

    async fn run(self, engine: &Arc<Engine>) -> Result<SubscriberToken, AdminRefusal> {
        let at = project(engine, self.project.as_deref()).await?;
        for member in members(engine, &at).await? {
            let own = engine.events().subscriber_tokens(&at, member.person.key).await?;
            if own.iter().any(|token| token.id == self.id) {
                return Ok(engine.events().revoke_subscriber_token(&at, &member, &self.id).await?);
            }
        }
        Err(AdminRefusal::UnknownSubscriberToken)
    }
}

async fn project(engine: &Arc<Engine>, id: Option<&str>) -> Result<ProjectAt, AdminRefusal> {
    let project = find_project(engine, id).await?;
    Ok(engine.project(&Address::Scoped(project.id.to_string())).await?)
}

/// All people with their membership in the project. None of them counts as freshly authenticated: the caller only proved
/// access to the node.
async fn members(engine: &Arc<Engine>, at: &ProjectAt) -> Result<Vec<ProjectMember>, AdminRefusal> {
    let people = engine.people().list().await?.into_iter();
    let member = people.map(|(person, places)| ProjectMember {
        person,
        membership: places.into_iter().find(|place| place.project == at.project.key),
        fresh_until: UnixMillis(i64::MIN),
    });
    Ok(member.collect())
}
