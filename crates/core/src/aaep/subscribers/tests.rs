use super::{AddToken, AddTokenView, NewSubscriberToken, RevokeToken, RevokeTokenView};
use crate::{
    env::Env,
    people::ProjectMember,
    records::{Membership, Person, Project, Record, Role},
    refusal::Refusal,
    signals::Signal,
    step::Operation as _,
};
use countersign_protocol::{hash::Digest, ids::ProjectId, time::UnixMillis};
use serde_json::json;
use std::sync::Arc;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

fn env() -> Env {
    Env { now: NOW, entropy: [5; 32], first_key: 100 }
}

fn project(legacy: bool) -> Arc<Project> {
    let document = json!({ "id": "calendar", "decisions": { "legacy_subscribers": legacy } });
    Arc::new(Project {
        key: 1,
        version: 1,
        id: ProjectId::parse("calendar").unwrap(),
        created_at: NOW,
        changed_at: NOW,
        document: serde_json::from_value(document).unwrap(),
    })
}

fn member(key: i64, roles: &[Role]) -> ProjectMember {
    let person = Person {
        key,
        version: 3,
        issuer: "local".into(),
        subject: "alice".into(),
        display_name: "Alice".into(),
        email: None,
        password_hash: None,
        platform_admin: false,
        disabled: false,
        created_at: NOW,
        generation: 1,
    };
    let membership = Membership { key: key + 1, version: 4, project: 1, person: key, roles: roles.to_vec() };
    ProjectMember { person, membership: Some(membership), fresh_until: NOW }
}

fn new() -> NewSubscriberToken {
    NewSubscriberToken {
        name: " kitchen speaker ".into(),
        may_answer: true,
        legacy: false,
        approves_high_risk: false,
        lifetime_s: Some(60),
    }
}

fn add(new: NewSubscriberToken, roles: &[Role]) -> Result<crate::step::Step<super::AddedSubscriberToken>, Refusal> {
    AddToken { new }.decide(&AddTokenView { project: project(false), member: member(10, roles) }, &env())
}

#[test]
fn only_members_get_tokens_and_only_ones_that_make_sense() {
    assert!(matches!(add(new(), &[]), Err(Refusal::NotAuthorized(_))));
    let odd = [
        NewSubscriberToken { name: "  ".into(), ..new() },
        NewSubscriberToken { name: "x".repeat(129), ..new() },
        NewSubscriberToken { lifetime_s: Some(0), ..new() },
        NewSubscriberToken { lifetime_s: Some(i64::MAX), ..new() },
        NewSubscriberToken { lifetime_s: Some(90 * 86_400 + 1), ..new() },
        NewSubscriberToken { approves_high_risk: true, may_answer: false, ..new() },
        NewSubscriberToken { legacy: true, ..new() },
    ];
    for new in odd {
        assert!(matches!(add(new.clone(), &[Role::User]), Err(Refusal::InvalidRequest(_))), "{new:?}");
    }
}

///
#[test]
fn a_token_for_the_highest_risk_is_made_only_with_a_fresh_proof() {
    let new = NewSubscriberToken { approves_high_risk: true, ..new() };
    let of = |fresh_until| {
        let member = ProjectMember { fresh_until, ..member(10, &[Role::User]) };
        AddToken { new: new.clone() }.decide(&AddTokenView { project: project(false), member }, &env())
    };
    assert!(matches!(of(NOW.plus_secs(-1)), Err(Refusal::FreshSignInRequired)));
    assert!(of(NOW).unwrap().answer.token.approves_high_risk);
}

#[test]
fn the_secret_is_in_the_answer_alone() {
    let step = add(new(), &[Role::User]).unwrap();
    let secret = &step.answer.secret;
    assert!(secret.starts_with("cst_") && secret.len() == 47);
    assert_eq!(step.answer.token.hash, Digest::of(secret.as_bytes()));
    assert_eq!(step.answer.token.name, "kitchen speaker");
    assert_eq!(step.answer.token.expires_at, NOW.plus_secs(60));
    let usual = add(NewSubscriberToken { lifetime_s: None, ..new() }, &[Role::User]).unwrap().answer.token;
    assert_eq!((usual.expires_at, usual.generation), (NOW.plus_secs(90 * 86_400), 1));
    assert!(!format!("{:?}", step.effects).contains(secret.as_str()));
    assert_eq!(step.effects.evidence.len(), 1);
    assert_eq!(step.effects.guards.len(), 2, "whoever is thrown out at the same moment gets none");
}

#[test]
fn a_token_is_taken_back_by_its_person_alone_and_once() {
    let token = add(new(), &[Role::User]).unwrap().answer.token;
    let view = |member, token| RevokeTokenView { project: project(false), member, token };
    let other = RevokeToken.decide(&view(member(20, &[Role::Admin]), token.clone()), &env());
    assert!(matches!(other, Err(Refusal::NotFound(_))));

    let step = RevokeToken.decide(&view(member(10, &[Role::User]), token), &env()).unwrap();
    assert_eq!(step.answer.revoked_at, Some(NOW));
    assert_eq!(step.effects.news, [Signal::Standing { person: 10 }]);
    assert!(matches!(&step.effects.puts[..], [Record::SubscriberToken(put)] if *put == step.answer));
    let again = RevokeToken.decide(&view(member(10, &[Role::User]), step.answer), &env()).unwrap();
    assert!(again.effects.is_empty());
}
