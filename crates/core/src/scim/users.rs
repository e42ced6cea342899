//! The steps that create, change and remove a user.

use super::{
    ProvisionedUser, ScimRefusal,
    change::{TargetUser, attributes_of},
};
use crate::{
    decision::ProjectRef,
    env::Env,
    evidence::DraftEntry,
    people::accounts::{LOCAL, SetRoles},
    records::{Membership, Person, Record, Role, ScimUser, Table},
    signals::Signal,
    step::{Effects, EvidenceDraft, Operation, Step},
};
use countersign_protocol::time::UnixMillis;
use serde_json::{Map, Value, json};

pub const USER_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:User";

/// Creates a user, and the person and the membership unless they exist.
pub struct CreateUser {
    pub issuer: String,
    pub target: TargetUser,
    /// The principal of the key.
    pub by: String,
}

pub struct CreateUserView {
    pub place: ProjectRef,
    pub person: Option<Person>,
    pub membership: Option<Membership>,
    /// Whether the person is a user of the project already.
    pub is_user: bool,
    pub name_is_taken: bool,
}

impl Operation for CreateUser {
    type View = CreateUserView;
    type Answer = ProvisionedUser;
    type Refusal = ScimRefusal;

    fn decide(self, view: &CreateUserView, env: &Env) -> Result<Step<ProvisionedUser>, ScimRefusal> {
        if view.is_user {
            return Err(ScimRefusal::Uniqueness("a user with this externalId exists already".into()));
        }
        if view.name_is_taken {
            return Err(ScimRefusal::Uniqueness("a user with this userName exists already".into()));
        }
        // The accounts of the service's own administrators are no tenant's users.
        if view.person.as_ref().is_some_and(|person| person.platform_admin) {
            return Err(ScimRefusal::Uniqueness("this externalId cannot be provisioned".into()));
        }
        let mut mint = env.mint();
        let person = view.person.clone().unwrap_or_else(|| self.new_person(mint.key(), env.now));
        let is_new = view.person.is_none();
        let user = ScimUser {
            key: mint.key(),
            version: 1,
            project: view.place.0,
            id: mint.id("usr"),
            person: person.key,
            external_id: self.target.external_id.clone(),
            user_name: self.target.user_name.clone(),
            attributes: self.target.attributes.clone(),
            created_at: env.now,
            changed_at: env.now,
        };
        let new_membership = Membership {
            key: mint.key(),
            version: 1,
            project: view.place.0,
            person: person.key,
            roles: self.target.roles.clone(),
        };
        let joins = self.target.active && view.membership.as_ref().is_none_or(|found| found.roles.is_empty());
        let membership = match (&view.membership, joins) {
            (Some(found), true) => {
                Some(Membership { version: found.version + 1, roles: self.target.roles.clone(), ..found.clone() })
            }
            (found, false) => found.clone(),
            (None, true) => Some(new_membership),
        };
        let mut effects = Effects {
            puts: vec![Record::ScimUser(user.clone())],
            news: vec![Signal::Standing { person: person.key }],
            ..Effects::default()
        };
        effects.puts.extend(is_new.then(|| Record::Person(person.clone())));
        effects.puts.extend(membership.clone().filter(|_| joins).map(Record::Membership));
        let roles = membership.as_ref().map_or(&[][..], |membership| &membership.roles);
        effects.evidence.push(entry(&view.place, "scim_user_created", (&user, roles, &self.by), env)?);
        Ok(Step { answer: ProvisionedUser { user, person, membership }, effects })
    }
}

impl CreateUser {
    fn new_person(&self, key: i64, now: UnixMillis) -> Person {
        let shown = self.target.attributes.get("displayName").and_then(Value::as_str);
        Person {
            key,
            version: 1,
            issuer: self.issuer.clone(),
            subject: self.target.external_id.clone(),
            display_name: shown.unwrap_or(&self.target.user_name).to_owned(),
            email: None,
            password_hash: None,
            platform_admin: false,
            disabled: false,
            created_at: now,
            generation: 1,
        }
    }
}

/// Writes the intended state of a user. The membership of an inactive one has ended before, with everything that the
/// person held in the project.
pub struct ChangeUser {
    pub target: TargetUser,
    pub by: String,
}

pub struct ChangeUserView {
    pub place: ProjectRef,
    pub current: ProvisionedUser,
    /// Whether another user has the intended name.
    pub name_is_taken: bool,
}

impl Operation for ChangeUser {
    type View = ChangeUserView;
    type Answer = ProvisionedUser;
    type Refusal = ScimRefusal;

    fn decide(self, view: &ChangeUserView, env: &Env) -> Result<Step<ProvisionedUser>, ScimRefusal> {
        if view.name_is_taken {
            return Err(ScimRefusal::Uniqueness("a user with this userName exists already".into()));
        }
        let ProvisionedUser { user, person, membership } = &view.current;
        let named = user.user_name == self.target.user_name && user.attributes == self.target.attributes;
        if named && view.current.roles() == self.target.roles {
            return Ok(Step::answer(view.current.clone()));
        }
        let changed = ScimUser {
            version: user.version + 1,
            user_name: self.target.user_name,
            attributes: self.target.attributes,
            changed_at: env.now,
            ..user.clone()
        };
        let mut effects = Effects { puts: vec![Record::ScimUser(changed.clone())], ..Effects::default() };
        let mut membership = membership.clone();
        if view.current.roles() != self.target.roles {
            let roles = self.target.roles.clone();
            let set = SetRoles { project: view.place.0, person: person.key, roles };
            let step = set.decide(&membership, env).map_err(|why| ScimRefusal::InvalidValue(why.to_string()))?;
            membership = Some(step.answer);
            effects = effects.and(step.effects);
        }
        let evidence = entry(&view.place, "scim_user_changed", (&changed, &self.target.roles, &self.by), env)?;
        effects.evidence.push(evidence);
        Ok(Step { answer: ProvisionedUser { user: changed, person: person.clone(), membership }, effects })
    }
}

/// Removes a user. The person stays, since records refer to them.
pub fn delete_user(place: &ProjectRef, user: &ScimUser, by: &str, env: &Env) -> Result<Step<()>, ScimRefusal> {
    let effects = Effects {
        removes: vec![(Table::ScimUser, user.key)],
        evidence: vec![entry(place, "scim_user_deleted", (user, &[], by), env)?],
        ..Effects::default()
    };
    Ok(Step { answer: (), effects })
}

fn entry(
    place: &ProjectRef,
    event_type: &'static str,
    (user, roles, by): (&ScimUser, &[Role], &str),
    env: &Env,
) -> Result<EvidenceDraft, ScimRefusal> {
    let roles: Vec<&str> = roles.iter().map(|role| super::role_name(*role)).collect();
    let entry = DraftEntry::new((place.0, &place.1), event_type, env.now)
        .open("roles", roles)
        .hidden("user_id", user.id.as_str())
        .hidden("subject", user.external_id.as_str())
        .hidden("by", by);
    entry.seal(&mut env.salts()).map_err(|why| ScimRefusal::Other(why.into()))
}

/// Whether people with this issuer exist here only: their names are shared by all projects.
pub fn is_local(issuer: &str) -> bool {
    issuer == LOCAL
}

/// The resource, as SCIM publishes it. `base` is the URL of `/scim/v2`.
pub fn document(user: &ProvisionedUser, base: &str) -> Value {
    let mut resource: Map<String, Value> = attributes_of(user);
    resource.insert("schemas".into(), json!([USER_SCHEMA]));
    resource.insert("id".into(), user.user.id.as_str().into());
    let meta = json!({
        "resourceType": "User",
        "created": user.user.created_at.to_rfc3339(),
        "lastModified": user.user.changed_at.to_rfc3339(),
        "location": format!("{base}/Users/{}", user.user.id),
    });
    resource.insert("meta".into(), meta);
    resource.retain(|_, value| !value.as_array().is_some_and(Vec::is_empty));
    Value::Object(resource)
}
