//! Keys of programs, keys of the service, and secrets that must not be readable at rest.

mod api_keys;
mod intent;
mod logs;
mod rest;
mod signing;
mod story;

use countersign_engine::{AddedKey, Address, ApiKeyKind, NewKey, Project, Refusal};
use countersign_testkit::Plane;

async fn project(plane: &Plane, address: Address) -> Project {
    plane.engine.project(&address).await.unwrap().project
}

fn new_key(kind: ApiKeyKind) -> NewKey {
    let (principal, responsible) = ("the nightly job".into(), "root".into());
    NewKey { kind, principal, responsible, actions: Vec::new(), asks: Vec::new(), jkt: None }
}

async fn add(plane: &Plane, kind: ApiKeyKind) -> AddedKey {
    let project = project(plane, Address::Unscoped).await;
    plane.engine.people().add_key(&project, &new_key(kind)).await.unwrap()
}

async fn refused(plane: &Plane, change: impl FnOnce(&mut NewKey)) -> Option<Refusal> {
    let project = project(plane, Address::Unscoped).await;
    let mut new = new_key(ApiKeyKind::Agent);
    change(&mut new);
    plane.engine.people().add_key(&project, &new).await.err()
}
