//! An engine over a store of its own, whose entries are sealed, and an independent reader of its log.

use crate::{
    postgres,
    store::{START, committed, entry},
};
use async_trait::async_trait;
use countersign_core::{
    records::{Project, Record},
    step::Effects,
};
use countersign_engine::{
    Clock, Engine, Entropy, EvidenceSettings, KnownOperator, ManualClock, OperatorError, Operators, PasswordCost,
    Settings, SignedCheckpoint, StartError, Tenancy, Throttle,
    store::{self, Outcome, PostgresLocation, Retention, Store, StoreLocation, StoreOptions},
};
use countersign_evidence::{
    checkpoint::Checkpoint,
    merkle,
    note::{Note, VerifierKey},
    tile::{RightEdge, Tile},
};
use countersign_jose::EvidenceCrypto;
use countersign_protocol::{
    domain::Domain, evidence, hash::Digest, ids::ProjectId, ids::RowKey, origin::Origin, time::UnixMillis,
};
use futures_util::future::join_all;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

pub(super) const NORTH: RowKey = 1;
pub(super) const SOUTH: RowKey = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Database {
    Sqlite,
    Postgres,
}

/// A database that outlives its engines.
pub(super) struct LastingPlace {
    pub(super) location: StoreLocation,
    pub(super) database: Database,
    pub(super) folder: PathBuf,
    /// Of the database and of every node on it.
    pub(super) clock: ManualClock,
    /// Removed with this value, unless it is another process's.
    ours: bool,
}

impl LastingPlace {
    pub(super) async fn fresh(database: Database) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("countersign-sealing-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let location = match database {
            Database::Sqlite => StoreLocation::File(folder.join("countersign.db")),
            Database::Postgres => {
                let url = postgres::migrated_database().await;
                postgres::set_clock(&url, START).await;
                StoreLocation::Postgres(PostgresLocation::new(url))
            }
        };
        Self { location, database, folder, clock: ManualClock::at(UnixMillis(START)), ours: true }
    }

    /// The same place in another process.
    pub(super) fn of_another_process(location: StoreLocation) -> Self {
        let (database, folder) = (Database::Sqlite, PathBuf::new());
        Self { location, database, folder, clock: ManualClock::at(UnixMillis(START)), ours: false }
    }

    /// Another place with a copy of everything beside the file. Nothing may have it open.
    pub(super) fn copied(&self) -> Self {
        let folder = self.folder.with_extension("copy");
        std::fs::create_dir_all(&folder).unwrap();
        for file in std::fs::read_dir(&self.folder).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
        let location = StoreLocation::File(folder.join("countersign.db"));
        Self { location, database: self.database, folder, clock: self.clock.clone(), ours: true }
    }

    /// Writes another entry at a position, with its hash, and the running hashes that follow from it.
    pub(super) async fn forge_entry(&self, pos: i64) {
        let reader = Sealing::on(self).await;
        let lane = reader.store().lane();
        let mut entries = Vec::new();
        for project in [NORTH, SOUTH] {
            let found = reader.store().log_entries(project, 0, 1000).await.unwrap();
            entries.extend(found.into_iter().map(|entry| (project, entry)));
        }
        reader.stop().await;
        let forged = br#"{"forged":true}"#.to_vec();
        let mut chains = std::collections::BTreeMap::new();
        for (project, entry) in &entries {
            let leaf = if entry.pos == pos { &forged } else { &entry.leaf };
            let chain = chains.entry(*project).or_insert(Digest([0; 32]));
            *chain = evidence::chain(chain, entry.seq, &evidence::leaf_hash(leaf));
        }
        let bytes = |bytes: &[u8]| match self.database {
            Database::Sqlite => format!("x'{}'", hex::encode(bytes)),
            Database::Postgres => format!("decode('{}', 'hex')", hex::encode(bytes)),
        };
        let (leaf, hash) = (bytes(&forged), bytes(&evidence::leaf_hash(&forged).0));
        self.tamper(&format!("UPDATE evidence SET leaf = {leaf}, hash = {hash} WHERE lane = {lane} AND pos = {pos}"))
            .await;
        for (project, chain) in chains {
            let chain = bytes(&chain.0);
            self.tamper(&format!("UPDATE lane_heads SET chain = {chain} WHERE lane = {lane} AND project = {project}"))
                .await;
        }
    }

    /// Changes rows past the store, as somebody with access to the database does.
    pub(super) async fn tamper(&self, sql: &str) {
        match &self.location {
            StoreLocation::File(path) => {
                let (path, sql) = (path.clone(), sql.to_owned());
                let change = move || rusqlite::Connection::open(path).unwrap().execute_batch(&sql).unwrap();
                tokio::task::spawn_blocking(change).await.unwrap();
            }
            StoreLocation::Postgres(place) => drop(postgres::run(&place.url, sql).await),
            StoreLocation::Temporary => unreachable!("it lasts"),
        }
    }
}

impl Drop for LastingPlace {
    fn drop(&mut self) {
        if !self.ours {
            return;
        }
        for folder in [self.folder.clone(), self.folder.with_extension("anchors")] {
            let _best_effort = std::fs::remove_dir_all(folder);
        }
    }
}

pub(super) struct NoOperators;

#[async_trait]
impl Operators for NoOperators {
    async fn operator(&self, _: &Domain, _: &str, _: UnixMillis, _: &str) -> Result<KnownOperator, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    async fn last_published(&self, _: &Domain, _: &str, _: UnixMillis) -> Result<Option<UnixMillis>, OperatorError> {
        Err(OperatorError::Unreachable)
    }
}

/// A node.
pub(super) struct Sealing {
    pub(super) engine: Arc<Engine>,
    pub(super) clock: ManualClock,
}

impl Sealing {
    pub(super) async fn on(place: &LastingPlace) -> Self {
        Self::wrapped(place, |store| store).await
    }

    pub(super) async fn wrapped(place: &LastingPlace, wrap: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>) -> Self {
        let nobody = Arc::new(NoOperators);
        Self::try_with(place, EvidenceSettings::default(), nobody, wrap).await.unwrap()
    }

    pub(super) async fn with(place: &LastingPlace, settings: EvidenceSettings, operators: Arc<dyn Operators>) -> Self {
        Self::try_with(place, settings, operators, |store| store).await.unwrap()
    }

    pub(super) async fn try_with(
        place: &LastingPlace,
        evidence: EvidenceSettings,
        operators: Arc<dyn Operators>,
        wrap: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>,
    ) -> Result<Self, StartError> {
        let (location, clock) = (&place.location, place.clock.clone());
        let read = clock.clone();
        let options = StoreOptions { readers: 8, place: location.clone(), clock: Arc::new(move || read.now()) };
        let store = wrap(store::open(options).await.unwrap());
        let by = Clock::Manual(clock.clone());
        let settings = Settings { evidence, ..settings() };
        let engine = Engine::start(settings, Arc::clone(&store), by, Entropy::System, &[7; 32], operators).await;
        if engine.is_err() {
            store.close().await;
        }
        let node = Self { engine: engine?, clock };
        for (key, id) in [(NORTH, "north"), (SOUTH, "south")] {
            // Another node may have it already.
            let puts = vec![Record::Project(project(key, id))];
            let _known = node.engine.store().commit(Effects { puts, ..Effects::default() }).await;
        }
        Ok(node)
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        self.engine.store()
    }

    /// Entries of a project, all at once.
    pub(super) async fn append(&self, project: RowKey, count: usize) {
        let step = |n: usize| {
            let evidence = vec![entry(project, START, 50, 60, &n.to_string())];
            self.store().commit(Effects { evidence, ..Effects::default() })
        };
        let outcomes: Vec<Outcome> = join_all((0..count).map(step)).await;
        assert_eq!(committed(&outcomes), count);
    }

    /// Advances the clock of the node and of its database.
    pub(super) async fn advance_secs(&self, secs: i64, place: &LastingPlace) {
        self.clock.advance_secs(secs);
        if let StoreLocation::Postgres(place) = &place.location {
            postgres::set_clock(&place.url, self.clock.now().0).await;
        }
    }

    pub(super) async fn sealed(&self, project: RowKey) -> SignedCheckpoint {
        self.engine.evidence().checkpoint_now(project).await.unwrap()
    }

    pub(super) async fn size(&self, project: RowKey) -> u64 {
        self.engine.evidence().checkpoint(project).await.map_or(0, |checkpoint| checkpoint.size)
    }

    /// Reads a whole log as a stranger does, from its keys, its checkpoint, its entries and its tiles, and checks each of
    /// them. Returns the places of its entries by index.
    pub(super) async fn check_log(&self, project: RowKey) -> Vec<(i64, i64)> {
        let evidence = || self.engine.evidence();
        let signed = evidence().checkpoint(project).await.unwrap();
        let checkpoint = opened(&self.keys(project).await, &signed.note);
        assert_eq!((checkpoint.size, checkpoint.root), (signed.size, signed.root.0));
        let mut edge = RightEdge::default();
        let mut full = Vec::new();
        let entries = self.store().log_entries(project, 0, signed.size.cast_signed()).await.unwrap();
        for (index, entry) in (0..).zip(&entries) {
            assert_eq!(entry.index, index, "no index is missing or used twice");
            edge.push(&EvidenceCrypto, merkle::leaf_hash(&EvidenceCrypto, &entry.leaf), |tile, bytes| {
                full.push((tile, bytes))
            });
        }
        assert_eq!((edge.size(), edge.root(&EvidenceCrypto)), (checkpoint.size, checkpoint.root));
        for (tile, bytes) in full.into_iter().chain(edge.tiles()) {
            assert_eq!(evidence().tile(project, tile).await.unwrap(), bytes, "{}", tile.path());
        }
        entries.iter().map(|entry| (entry.lane, entry.seq)).collect()
    }

    pub(super) async fn keys(&self, project: RowKey) -> Vec<VerifierKey> {
        let keys = self.engine.evidence().verifier_keys(project).await.unwrap();
        keys.into_iter().map(|(verifier, _)| verifier).collect()
    }

    /// The entries below one tile of level 0.
    pub(super) async fn bundle(&self, project: RowKey, number: u64, width: u16) -> Vec<u8> {
        self.engine.evidence().entry_bundle(project, Tile { level: 0, number, width }).await.unwrap()
    }

    pub(super) async fn stop(self) {
        self.engine.store().close().await;
    }
}

/// A note's checkpoint, signed by one of these keys.
pub(super) fn opened(keys: &[VerifierKey], note: &str) -> Checkpoint {
    let note = Note::parse(note.as_bytes()).unwrap();
    note.verify(&EvidenceCrypto, keys).unwrap();
    Checkpoint::parse(&note.text).unwrap()
}

/// Every lane's entries, each once and in their order.
pub(super) fn check_order(places: &[(i64, i64)]) {
    let mut next = std::collections::BTreeMap::new();
    for (lane, seq) in places {
        let expected = next.entry(*lane).or_insert(1);
        assert_eq!(seq, expected, "lane {lane}");
        *expected += 1;
    }
}

fn project(key: RowKey, id: &str) -> Project {
    Project {
        key,
        version: 1,
        id: ProjectId::parse(id).unwrap(),
        created_at: UnixMillis(START),
        changed_at: UnixMillis(START),
        document: serde_json::from_value(serde_json::json!({ "id": id })).unwrap(),
    }
}

fn settings() -> Settings {
    Settings {
        origin: Origin::parse("https://plane.example").unwrap(),
        tenancy: Tenancy::Multi,
        gateway: None,
        subdomains: false,
        test_mode: false,
        throttle: Throttle::default(),
        connect_requests_per_minute: 60,
        sign_in_lifetime_s: 3600,
        fresh_s: 300,
        password_cost: PasswordCost { memory_kib: 8, passes: 1 },
        unrecorded_outcomes: None,
        retention: Retention::default(),
        evidence: EvidenceSettings::default(),
    }
}

/// Two tests of one promise about a database that lasts.
macro_rules! on_both_databases {
    ($($(#[doc = $doc:expr])* async fn $name:ident($place:ident) $body:block)+) => {
        $(mod $name {
            use super::*;

            $(#[doc = $doc])*
            async fn promise($place: &LastingPlace) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn on_sqlite() {
                promise(&LastingPlace::fresh(Database::Sqlite).await).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn on_postgres() {
                promise(&LastingPlace::fresh(Database::Postgres).await).await;
            }
        })+
    };
}
pub(super) use on_both_databases;
