use crate::{
    Clock, Engine, Entropy, KeysError, KnownOperator, ManualClock, OperatorError, Operators, PasswordCost, Settings,
    StartError, Tenancy, Throttle,
    store::{self, Store, StoreLocation, StoreOptions},
};
use async_trait::async_trait;
use countersign_core::{records::Project, refusal::Refusal};
use countersign_protocol::{
    aap::delegation_token::{DelegationClaims, TYP},
    domain::Domain,
    ids::ProjectId,
    origin::Origin,
    time::UnixMillis,
};
use std::sync::Arc;

const ORIGIN: &str = "http://127.0.0.1:8420";
const KEY: [u8; 32] = [7; 32];

struct Nobody;

#[async_trait]
impl Operators for Nobody {
    async fn operator(&self, _: &Domain, _: &str, _: UnixMillis, _: &str) -> Result<KnownOperator, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    async fn last_published(&self, _: &Domain, _: &str, _: UnixMillis) -> Result<Option<UnixMillis>, OperatorError> {
        Err(OperatorError::Unreachable)
    }
}

/// One database, and engines over it as if each were a process of its own.
struct World {
    store: Arc<dyn Store>,
    clock: ManualClock,
}

impl World {
    async fn new() -> Self {
        let clock = ManualClock::at(UnixMillis::from_secs(1_800_000_000));
        let read = clock.clone();
        let options = StoreOptions { readers: 8, place: StoreLocation::Temporary, clock: Arc::new(move || read.now()) };
        Self { store: store::open(options).await.unwrap(), clock }
    }

    async fn engine(&self) -> Arc<Engine> {
        self.engine_with(&KEY).await.unwrap()
    }

    async fn engine_with(&self, key: &[u8; 32]) -> Result<Arc<Engine>, StartError> {
        let settings = Settings {
            origin: Origin::parse(ORIGIN).unwrap(),
            tenancy: Tenancy::Single,
            gateway: None,
            subdomains: false,
            test_mode: false,
            throttle: Throttle::default(),
            connect_requests_per_minute: 60,
            sign_in_lifetime_s: 3600,
            fresh_s: 300,
            password_cost: PasswordCost { memory_kib: 8, passes: 1 },
            unrecorded_outcomes: None,
            retention: crate::store::Retention::default(),
            evidence: crate::EvidenceSettings::default(),
        };
        let clock = Clock::Manual(self.clock.clone());
        Engine::start(settings, self.store.clone(), clock, Entropy::System, key, Arc::new(Nobody)).await
    }
}

fn kids(engine: &Engine) -> Vec<String> {
    engine.keys().unwrap().keys.iter().map(|key| key.kid.clone()).collect()
}

fn project() -> Project {
    let document = serde_json::json!({ "id": "calendar" });
    Project {
        key: 1,
        version: 1,
        id: ProjectId::parse("calendar").unwrap(),
        created_at: UnixMillis(0),
        changed_at: UnixMillis(0),
        document: serde_json::from_value(document).unwrap(),
    }
}

/// A delegation token as the engine signs it.
fn token(signer: &Engine) -> String {
    let iat = signer.clock.now().secs();
    let claims = DelegationClaims {
        iss: ORIGIN.into(),
        sub: "alice".into(),
        delegated_to: Domain::parse("operator.example").unwrap(),
        delegation_id: "del_0123456789".into(),
        scopes: vec!["calendar.read".into()],
        max_agent_ttl: 3600,
        iat,
        exp: iat + 3600,
    };
    signer.keys().unwrap().signing.sign(TYP, &claims).unwrap()
}

#[tokio::test]
async fn another_key_encryption_key_opens_nothing() {
    let world = World::new().await;
    world.engine().await;
    let refused = world.engine_with(&[8; 32]).await.err().unwrap();
    assert!(matches!(refused, StartError::Keys(KeysError::WrongKey)), "{refused}");
}

#[tokio::test]
async fn a_token_that_names_a_key_nobody_made_is_refused_after_the_store_was_asked() {
    let (world, stranger) = (World::new().await, World::new().await);
    let forged = token(&*stranger.engine().await);
    let refused = world.engine().await.agents().prove_delegation(&forged, &project()).await;
    assert!(matches!(refused, Err(Refusal::DelegationInvalid(_))), "{refused:?}");
}

#[tokio::test]
async fn rotating_without_end_is_refused_before_the_set_is_one_that_nobody_reads() {
    let world = World::new().await;
    let engine = world.engine().await;
    let refused = loop {
        if let Err(why) = engine.rotate_keys().await {
            break why;
        }
    };
    assert!(matches!(refused, KeysError::TooMany), "{refused}");
    assert!(kids(&engine).len() <= countersign_jose::MAX_SET_KEYS);
    assert_eq!(kids(&*world.engine().await), kids(&engine));
}

///
#[tokio::test]
async fn nodes_share_one_set_of_keys() {
    let world = World::new().await;
    let (first, second) = tokio::join!(world.engine(), world.engine());
    assert_eq!((kids(&first).len(), kids(&first)), (1, kids(&second)));
}

#[tokio::test]
async fn a_token_signed_with_a_key_that_another_node_has_just_made_is_believed_at_once() {
    let world = World::new().await;
    let (rotating, other) = (world.engine().await, world.engine().await);
    let added = rotating.rotate_keys().await.unwrap();
    assert!(!kids(&other).contains(&added.kid));
    let proven = other.agents().prove_delegation(&token(&rotating), &project()).await.unwrap();
    let countersign_protocol::facts::VerifiedGrant::User(proven) = proven else { panic!("a person's token") };
    assert_eq!(proven.kid(), added.kid);
    assert_eq!(other.keys().unwrap().signing.kid(), added.kid);
}

#[tokio::test]
async fn a_node_signs_with_the_new_key_after_tidying_and_still_believes_the_old_one() {
    let world = World::new().await;
    let (rotating, other) = (world.engine().await, world.engine().await);
    let before = token(&other);
    let added = rotating.rotate_keys().await.unwrap();
    other.run_maintenance().await.unwrap();
    assert_eq!(other.keys().unwrap().signing.kid(), added.kid);
    other.agents().prove_delegation(&before, &project()).await.unwrap();
}

/// The overlap of AAP 20.2.
#[tokio::test]
async fn a_retired_key_is_published_until_its_last_signature_expires_and_not_longer() {
    let world = World::new().await;
    let engine = world.engine().await;
    let old = kids(&engine);
    engine.rotate_keys().await.unwrap();
    let retires_at = engine.keys().unwrap().keys[0].retires_at.unwrap();
    assert!(retires_at >= world.clock.now().plus_secs(7200));
    world.clock.set(retires_at.plus_millis(-1));
    engine.run_maintenance().await.unwrap();
    assert!(kids(&engine).contains(&old[0]) && kids(&engine).len() == 2);
    world.clock.set(retires_at);
    engine.run_maintenance().await.unwrap();
    assert!(!kids(&engine).contains(&old[0]) && kids(&engine).len() == 1);
}

#[tokio::test]
async fn two_rotations_at_once_leave_one_key_that_signs() {
    let world = World::new().await;
    let (left, right) = (world.engine().await, world.engine().await);
    let (one, two) = tokio::join!(left.rotate_keys(), right.rotate_keys());
    one.unwrap();
    two.unwrap();
    left.run_maintenance().await.unwrap();
    let keys = &left.keys().unwrap().keys;
    assert_eq!(keys.len(), 3);
    assert_eq!(keys.iter().filter(|key| key.retires_at.is_none()).count(), 1);
}
