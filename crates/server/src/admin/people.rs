//! Requests of `countersign user`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{Engine, Membership, Project, Role};
use countersign_protocol::{ids::ProjectId, time::UnixMillis};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The actor recorded in the evidence when a person is disabled at the command line.
const BY: &str = "operator";

#[derive(Serialize, Deserialize)]
pub struct ListPeople {}

/// A person, with roles by project id.
#[derive(Serialize, Deserialize)]
pub struct ListedPerson {
    pub name: String,
    pub issuer: String,
    pub display_name: String,
    pub platform_admin: bool,
    pub disabled: bool,
    pub created_at: UnixMillis,
    pub roles: Vec<(String, Vec<Role>)>,
}

impl AdminRequest for ListPeople {
    const NAME: &'static str = "list-people";
    type Answer = Vec<ListedPerson>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<ListedPerson>, AdminRefusal> {
        let projects = engine.projects().await?;
        let listed = engine.people().list().await?.into_iter().map(|(person, places)| ListedPerson {
            name: person.subject,
            issuer: person.issuer,
            display_name: person.display_name,
            platform_admin: person.platform_admin,
            disabled: person.disabled,
            created_at: person.created_at,
            roles: roles(places, &projects),
        });
        Ok(listed.collect())
    }
}

fn roles(places: Vec<Membership>, projects: &[Project]) -> Vec<(String, Vec<Role>)> {
    let held = places.into_iter().filter(|place| !place.roles.is_empty());
    let named = held.filter_map(|place| {
        let project = projects.iter().find(|project| project.key == place.project)?;
        Some((project.id.to_string(), place.roles))
    });
    named.collect()
}

/// Without roles, the person is no member of any project yet.
#[derive(Serialize, Deserialize)]
pub struct AddPerson {
    pub name: String,
    pub display_name: String,
    pub password: String,
    pub platform_admin: bool,
    pub roles: Vec<Role>,
    /// The project of the roles; `None`: the only one.
    pub project: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub struct RolesInProject {
    pub project: ProjectId,
    pub roles: Vec<Role>,
    /// The delegations that ended because the roles changed.
    pub revoked: Vec<String>,
}

impl AdminRequest for AddPerson {
    const NAME: &'static str = "add-person";
    type Answer = Option<RolesInProject>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Option<RolesInProject>, AdminRefusal> {
        let project = match self.roles.is_empty() {
            true => None,
            false => Some(find_project(engine, self.project.as_deref()).await?),
        };
        engine.people().add_person(&self.name, &self.display_name, &self.password, self.platform_admin).await?;
        let Some(project) = project else { return Ok(None) };
        let place = engine.people().set_roles(project.key, &self.name, self.roles).await?;
        Ok(Some(RolesInProject { project: project.id, roles: place.roles, revoked: Vec::new() }))
    }
}

/// Replaces all roles: those not listed are removed. Delegations whose policy lists `user.role_changed` end.
#[derive(Serialize, Deserialize)]
pub struct AssignRoles {
    pub name: String,
    pub roles: Vec<Role>,
    pub project: Option<String>,
}

impl AdminRequest for AssignRoles {
    const NAME: &'static str = "assign-roles";
    type Answer = RolesInProject;

    async fn run(self, engine: &Arc<Engine>) -> Result<RolesInProject, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let (place, revoked) = engine.people().change_roles(&project, &self.name, self.roles, BY).await?;
        Ok(RolesInProject { project: project.id, roles: place.roles, revoked })
    }
}

#[derive(Serialize, Deserialize)]
pub struct SetPassword {
    pub name: String,
    pub password: String,
}

impl AdminRequest for SetPassword {
    const NAME: &'static str = "set-password";
    type Answer = ();

    async fn run(self, engine: &Arc<Engine>) -> Result<(), AdminRefusal> {
        engine.people().set_password(&self.name, &self.password).await?;
        Ok(())
    }
}

/// The address that a service account's token names for an admin.
#[derive(Serialize, Deserialize)]
pub struct SetEmail {
    pub name: String,
    pub email: String,
}

impl AdminRequest for SetEmail {
    const NAME: &'static str = "set-email";
    type Answer = ();

    async fn run(self, engine: &Arc<Engine>) -> Result<(), AdminRefusal> {
        engine.people().set_email(&self.name, &self.email).await?;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
pub struct DisablePerson {
    pub name: String,
}

/// The number of items of each kind that ended.
#[derive(Serialize, Deserialize)]
pub struct EndedWithPerson {
    pub delegations: usize,
    pub api_keys: usize,
    pub subscriber_tokens: usize,
    pub questions: usize,
    pub approvals: usize,
}

impl AdminRequest for DisablePerson {
    const NAME: &'static str = "disable-person";
    type Answer = EndedWithPerson;

    async fn run(self, engine: &Arc<Engine>) -> Result<EndedWithPerson, AdminRefusal> {
        let ended = engine.people().disable_person(&self.name, BY).await?;
        Ok(EndedWithPerson {
            delegations: ended.delegations,
            api_keys: ended.keys,
            subscriber_tokens: ended.tokens,
            questions: ended.questions,
            approvals: ended.approvals,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub struct EnablePerson {
    pub name: String,
}

impl AdminRequest for EnablePerson {
    const NAME: &'static str = "enable-person";
    type Answer = ();

    async fn run(self, engine: &Arc<Engine>) -> Result<(), AdminRefusal> {
        engine.people().set_disabled(&self.name, false).await?;
        Ok(())
    }
}
