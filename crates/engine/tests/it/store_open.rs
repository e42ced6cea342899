//! Opening a store: durability, refusals, and their messages.

use crate::{
    postgres,
    store::{Bench, START, entry, fixed, on_both_stores, once, open_postgres, put, secret, spent},
    store_decisions::rows::{allowance, decision, digest, execution, expired},
    store_tables::{delegation, session},
};
use countersign_core::{
    records::{
        Allowance, AllowanceState, Delegation, DelegationState, Execution, ExecutionState, Person, Point, Question,
        Reporter, RevokeReason, Session, SessionKey, Stored as _, SubscriberToken,
    },
    step::{Effects, EvidenceDraft},
};
use countersign_engine::store::{
    self, AllowancesOfDecision, AllowancesOpenByDigest, AuditBy, AuditQuery, DecisionsOfPrincipal, DelegationsDue,
    FeedQuery, Outcome, PostgresLocation, SecretByName, SessionKeyByJkt, Store, StoreError, StoreLocation,
    StoreOptions,
};
use countersign_protocol::time::UnixMillis;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A folder, removed after the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("countersign-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn file(path: &Path) -> StoreOptions {
    StoreOptions { readers: 8, place: StoreLocation::File(path.into()), clock: fixed() }
}

async fn refusal(options: StoreOptions) -> StoreError {
    store::open(options).await.err().expect("it was opened")
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_file_keeps_everything_over_a_restart() {
    let folder = Folder::new("restart");
    let path = folder.0.join("plane.db");
    let written = store::open(file(&path)).await.unwrap();
    let step = Effects {
        puts: vec![secret(1, 1, "a")],
        once: vec![once("k")],
        evidence: vec![entry(1, START, 50, 60, "first")],
        ..Effects::default()
    };
    assert_eq!(written.commit(step).await, Outcome::Committed);
    written.close().await;
    drop(written);

    let read = store::open(file(&path)).await.unwrap();
    assert!(store::find_one(&*read, SecretByName("a".into())).await.unwrap().is_some());
    assert_eq!(read.commit(Effects { once: vec![once("k")], ..Effects::default() }).await, spent("k"));
    let next = Effects { evidence: vec![entry(1, START, 50, 60, "second")], ..Effects::default() };
    assert_eq!(read.commit(next).await, Outcome::Committed);
    let by = AuditBy::Session(vec![60]);
    let query = AuditQuery { project: 1, by, from: None, to: None, event_type: None, after: None, limit: 9 };
    let seqs: Vec<i64> = read.audit(query).await.unwrap().rows.iter().map(|row| row.place.seq).collect();
    assert_eq!(seqs, [1, 2]);
}

///
#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_a_file_never_goes_backwards_not_even_over_a_restart() {
    let bench = Bench::sqlite().await;
    bench.set_now(START + 5000).await;
    assert_eq!(bench.store.now().await.unwrap().0, START + 5000);
    bench.set_now(START).await;
    assert_eq!(bench.store.now().await.unwrap().0, START + 5000);

    let folder = Folder::new("clock");
    let path = folder.0.join("plane.db");
    let written = store::open(file(&path)).await.unwrap();
    assert_eq!(written.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);
    written.close().await;
    let earlier = StoreOptions { clock: std::sync::Arc::new(|| UnixMillis(START - 9000)), ..file(&path) };
    assert_eq!(store::open(earlier).await.unwrap().now().await.unwrap().0, START);
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("private");
    let path = folder.0.join("plane.db");
    let _store = store::open(file(&path)).await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_from_a_newer_version_is_refused_with_a_remedy() {
    let folder = Folder::new("newer");
    let path = folder.0.join("plane.db");
    store::open(file(&path)).await.unwrap().close().await;
    let side = rusqlite::Connection::open(&path).unwrap();
    side.execute("INSERT INTO refinery_schema_history VALUES (99, 'later', '2026-01-01T00:00:00Z', '1')", []).unwrap();
    let refused = refusal(file(&path)).await;
    assert!(matches!(refused, StoreError::Newer { found: 99, .. }));
    assert!(refused.to_string().contains("use that version or a newer one"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_database_from_a_newer_version_is_refused() {
    let url = postgres::fresh_database().await;
    open_postgres(&url).await.close().await;
    let later = "INSERT INTO refinery_schema_history VALUES (99, 'later', '2026-01-01T00:00:00Z', '1')";
    postgres::run(&url, later).await;
    let options =
        StoreOptions { readers: 8, place: StoreLocation::Postgres(PostgresLocation::new(url)), clock: fixed() };
    assert!(matches!(refusal(options).await, StoreError::Newer { found: 99, .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_cannot_be_used_is_named() {
    let missing = refusal(file(Path::new("/nowhere/plane.db"))).await.to_string();
    assert!(missing.contains("/nowhere/plane.db") && missing.contains("must exist"), "{missing}");
    let garbled = StoreOptions {
        readers: 8,
        place: StoreLocation::Postgres(PostgresLocation::new("not an address")),
        clock: fixed(),
    };
    assert!(refusal(garbled).await.to_string().contains("postgres://user@host/database"));
    let nobody = PostgresLocation::new("postgres://nobody@127.0.0.1:1/none");
    let nobody = StoreOptions { readers: 8, place: StoreLocation::Postgres(nobody), clock: fixed() };
    assert!(matches!(refusal(nobody).await, StoreError::Unavailable(_)));
    let bare = PostgresLocation::new("postgres://nobody@127.0.0.1:1/none?sslmode=verify-full");
    let bare = StoreOptions { readers: 8, place: StoreLocation::Postgres(bare), clock: fixed() };
    assert!(refusal(bare).await.to_string().contains("PEM file"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_postgresql_is_reported_with_its_cause_and_without_the_password() {
    let url = postgres::fresh_database().await.replace("postgres@", "postgres:hunter2@");
    let (server, _) = url.rsplit_once('/').unwrap();
    let told = async |url: String| {
        let place = StoreLocation::Postgres(PostgresLocation::new(url));
        refusal(StoreOptions { readers: 8, place, clock: fixed() }).await.to_string()
    };
    let missing = told(format!("{server}/nowhere")).await;
    assert!(missing.contains("database \"nowhere\" does not exist (3D000)"), "{missing}");
    let nobody = told("postgres://postgres:hunter2@127.0.0.1:1/plane".into()).await;
    assert!(nobody.contains("Connection refused"), "{nobody}");
    let over_tls = told(format!("{url}?sslmode=require")).await;
    assert!(![missing, nobody, over_tls].iter().any(|told| told.contains("hunter2") || told.ends_with("db error")));
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_over_tls_is_used_only_if_its_certificate_is_vouched_for() {
    let url = postgres::over_tls(&postgres::fresh_database().await);
    let vouched =
        PostgresLocation { root_certificates: Some(postgres::root_certificate()), ..PostgresLocation::new(&url) };
    let open = |place: PostgresLocation| {
        store::open(StoreOptions { readers: 8, place: StoreLocation::Postgres(place), clock: fixed() })
    };
    let store = open(vouched.clone()).await.unwrap();
    assert_eq!(store.commit(put(secret(1, 1, "a"))).await, Outcome::Committed);

    let by_another_name = PostgresLocation { url: url.replace("localhost", "127.0.0.1"), ..vouched };
    assert!(open(by_another_name).await.is_err());
    let folder = Folder::new("tls");
    let stranger = folder.0.join("stranger.crt");
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&stranger, certified.cert.pem()).unwrap();
    let of_a_stranger = PostgresLocation { root_certificates: Some(stranger), ..PostgresLocation::new(&url) };
    assert!(open(of_a_stranger).await.is_err());
}

///
#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_broken_nothing_is_committed_and_the_writer_outlives_it() {
    let folder = Folder::new("broken");
    let path = folder.0.join("plane.db");
    let store = store::open(file(&path)).await.unwrap();
    let side = rusqlite::Connection::open(&path).unwrap();
    side.execute_batch("ALTER TABLE lane_heads RENAME TO elsewhere").unwrap();
    let step = || Effects { evidence: vec![entry(1, START, 50, 60, "x")], ..put(secret(1, 1, "a")) };
    assert!(matches!(store.commit(step()).await, Outcome::Unavailable(_)));
    side.execute_batch("ALTER TABLE elsewhere RENAME TO lane_heads").unwrap();
    assert!(store::find_one(&*store, SecretByName("a".into())).await.unwrap().is_none());
    assert_eq!(store.commit(step()).await, Outcome::Committed);
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_the_database_cannot_take_is_unavailable_alone_and_the_writer_lives_on() {
    let bench = Bench::postgres().await;
    // PostgreSQL's text cannot contain a NUL.
    let mut steps: Vec<Effects> = (0..20).map(|key| put(secret(key, 1, &format!("n{key}")))).collect();
    steps.insert(10, put(secret(99, 1, "zero \0 inside")));
    let outcomes = bench.commit_all(steps).await;
    assert!(matches!(outcomes[10], Outcome::Unavailable(_)));
    assert_eq!(crate::store::committed(&outcomes), 20);
}

on_both_stores! {
    async fn expired_rows_are_swept_and_nothing_else(bench) {
        let many = |name: &str| (0..1500).map(|n| once(&format!("{name}{n}"))).collect();
        assert_eq!(bench.store.commit(Effects { once: many("old"), ..Effects::default() }).await, Outcome::Committed);
        let mut young = Effects { once: many("young"), ..Effects::default() };
        for once in &mut young.once {
            once.until = once.until.plus_secs(60);
        }
        assert_eq!(bench.store.commit(young.clone()).await, Outcome::Committed);
        assert_eq!(bench.store.sweep(crate::store::LATER.plus_millis(1)).await.unwrap(), 1500);
        assert_eq!(bench.store.sweep(crate::store::LATER.plus_millis(1)).await.unwrap(), 0);
        assert_eq!(bench.store.commit(young).await, spent("young0"));
    }
}

/// Undoes the third version of the schema.
const SECOND_SCHEMA: &str = "DROP TABLE held_requests; \
     DROP INDEX sessions_of_key; ALTER TABLE sessions DROP COLUMN jkt; \
     DROP INDEX allowances_open; ALTER TABLE allowances DROP COLUMN project; \
     ALTER TABLE allowances DROP COLUMN open_digest; \
     DROP INDEX executions_live_effect; ALTER TABLE executions DROP COLUMN live_effect; \
     DELETE FROM refinery_schema_history WHERE version = 3;";

/// The same for the fourth.
const THIRD_SCHEMA: &str = "DROP TABLE clarification_sessions; DROP TABLE clarification_entries; \
     DROP TABLE clarification_keys; DELETE FROM refinery_schema_history WHERE version = 5; \
     DROP TABLE plans; DROP TABLE imported_confirms; DROP TABLE feed; \
     DROP INDEX decisions_of_principal; DROP INDEX decisions_of_project; \
     ALTER TABLE decisions DROP COLUMN principal; \
     DROP INDEX allowances_of_decision; DROP INDEX allowances_open_of_holder; \
     DROP INDEX allowances_open_of_person; DROP INDEX allowances_open_of_decider; DROP INDEX allowances_open_in; \
     ALTER TABLE allowances DROP COLUMN open_holder; ALTER TABLE allowances DROP COLUMN open_person; \
     ALTER TABLE allowances DROP COLUMN open_decider; ALTER TABLE allowances DROP COLUMN open_in; \
     DELETE FROM refinery_schema_history WHERE version = 4;";

/// The rest for PostgreSQL: SQLite cannot drop a unique constraint, so there the table is rebuilt.
const THIRD_IN_POSTGRES: &str = "ALTER TABLE allowances ADD CONSTRAINT allowances_decision_key UNIQUE (decision);";

/// Both stores as an older version left them: written with the current schema, and then downgraded.
async fn as_left(name: &str, written: Effects, older: &str, postgres_too: &str) -> (Folder, [Arc<dyn Store>; 2]) {
    let in_sqlite = format!("{SEVENTH_SCHEMA} {SEVENTH_IN_SQLITE} {older}");
    let in_postgres = format!("{SEVENTH_SCHEMA} {SEVENTH_IN_POSTGRES} {older} {postgres_too}");
    let folder = Folder::new(name);
    let path = folder.0.join("plane.db");
    let today = store::open(file(&path)).await.unwrap();
    assert_eq!(today.commit(written.clone()).await, Outcome::Committed);
    today.close().await;
    rusqlite::Connection::open(&path).unwrap().execute_batch(&in_sqlite).unwrap();
    std::fs::remove_file(folder.0.join("plane.db.position")).unwrap();

    let url = postgres::fresh_database().await;
    let today = open_postgres(&url).await;
    assert_eq!(today.commit(written).await, Outcome::Committed);
    today.close().await;
    drop(today);
    postgres::run(&url, &in_postgres).await;
    (folder, [store::open(file(&path)).await.unwrap(), open_postgres(&url).await])
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowance_of_an_older_schema_is_found_by_its_digest_while_it_is_open() {
    let of = |key, state| allowance(key, 1, START, state).into_record();
    let written =
        Effects { puts: vec![of(1, AllowanceState::Open), of(2, AllowanceState::Spent)], ..Effects::default() };
    let older = format!("{SIXTH_SCHEMA} {FIFTH_SCHEMA} {THIRD_SCHEMA} {SECOND_SCHEMA}");
    let rings = format!("{THIRD_IN_POSTGRES} DROP TABLE proofs_0, proofs_1, proofs_2, proofs_3;");
    let (_folder, stores) = as_left("second-schema", written, &older, &rings).await;
    for store in stores {
        let open = |n| AllowancesOpenByDigest { project: 1, digest: digest(n) };
        assert_eq!(store::find_all(&*store, open(1)).await.unwrap().len(), 1);
        assert_eq!(store::find_all(&*store, open(2)).await.unwrap().len(), 0);
    }
}

/// Undoes every schema version from the eighth on; the ninth only changes documents, so its number is just
/// removed.
const SEVENTH_SCHEMA: &str = "DROP TABLE evidence_checks; DROP TABLE erasures; DROP TABLE erased_openings; DROP TABLE log_sealer; \
     DROP TABLE log_lanes; DROP TABLE logs; DROP TABLE log_tiles; DROP TABLE log_segments; DROP TABLE checkpoints; \
     DROP TABLE cosignatures; DROP TABLE log_keys; DROP TABLE lifecycle_reports; DROP TABLE undoable_calls; DROP TABLE heartbeats; DROP TABLE reversible_writes; DROP TABLE rollbacks; \
     DROP INDEX executions_of_session; ALTER TABLE executions DROP COLUMN of_session; \
     DROP INDEX decisions_expands; ALTER TABLE decisions DROP COLUMN expands; \
     DROP INDEX sessions_expanded; ALTER TABLE sessions DROP COLUMN expanded_in; \
     ALTER TABLE sessions DROP COLUMN expanded_for; DROP INDEX allowances_queued_due; DROP INDEX allowances_queued_in; \
     ALTER TABLE allowances DROP COLUMN queued_due; ALTER TABLE allowances DROP COLUMN queued_in; DROP TABLE scim_users; DROP TABLE outbox_messages; DROP TABLE webhook_enrolments; DROP TABLE clock; DROP TABLE unsettled_writes; DROP INDEX executions_by_fence; \
     ALTER TABLE executions DROP COLUMN fence_of; ALTER TABLE executions DROP COLUMN fence; \
     DROP INDEX executions_probe_due; ALTER TABLE executions DROP COLUMN probe_due; \
     DROP INDEX decisions_by_settlement; DROP INDEX decisions_asked_in; \
     DROP INDEX decisions_of_plan; ALTER TABLE decisions DROP COLUMN settled_at; \
     ALTER TABLE decisions DROP COLUMN asked_in; ALTER TABLE decisions DROP COLUMN plan; \
     ALTER TABLE executions DROP COLUMN ended_at; \
     DROP INDEX aaep_sessions_by_end; ALTER TABLE aaep_sessions DROP COLUMN ended_at; \
     DROP INDEX delegations_by_end; ALTER TABLE delegations DROP COLUMN ended_at; \
     DROP INDEX sessions_without_delegation; DROP INDEX plans_by_end; ALTER TABLE plans DROP COLUMN ended_at; \
     DROP INDEX clarification_sessions_by_end; ALTER TABLE clarification_sessions DROP COLUMN ended_at; \
     DROP TABLE retention_progress; DROP INDEX decisions_open_of_effect; ALTER TABLE decisions DROP COLUMN open_effect; \
     DROP TABLE epochs; ALTER TABLE lanes DROP COLUMN commits; \
     DROP TABLE session_keys; DELETE FROM refinery_schema_history WHERE version >= 8;";
const SEVENTH_IN_SQLITE: &str = "ALTER TABLE sessions ADD COLUMN jkt BLOB; \
     UPDATE sessions SET jkt = unhex(json_extract(doc, '$.jkt')); \
     CREATE INDEX sessions_of_key ON sessions (project, jkt) WHERE jkt IS NOT NULL;";
const SEVENTH_IN_POSTGRES: &str = "ALTER TABLE sessions ADD COLUMN jkt BYTEA; \
     UPDATE sessions SET jkt = decode(CAST(doc AS JSON) ->> 'jkt', 'hex'); \
     CREATE INDEX sessions_of_key ON sessions (project, jkt, key) WHERE jkt IS NOT NULL;";

/// Undoes the seventh version of the schema.
const SIXTH_SCHEMA: &str = "DROP INDEX delegations_due; ALTER TABLE delegations DROP COLUMN due; \
     DELETE FROM refinery_schema_history WHERE version = 7;";

/// The same for the sixth.
const FIFTH_SCHEMA: &str = "DROP TABLE agent_events; DROP INDEX aaep_sessions_due; \
     ALTER TABLE aaep_sessions DROP COLUMN due; DELETE FROM refinery_schema_history WHERE version = 6;";

///
#[tokio::test(flavor = "multi_thread")]
async fn a_delegation_of_an_older_schema_falls_due_while_it_is_active() {
    let of = |key, state| Delegation { state, ..delegation(key) }.into_record();
    let revoked = DelegationState::Revoked { at: UnixMillis(START), reason: RevokeReason::ManualRevoke };
    let written = Effects { puts: vec![of(1, DelegationState::Active), of(2, revoked)], ..Effects::default() };
    let (_folder, stores) = as_left("sixth-schema", written, SIXTH_SCHEMA, "").await;
    for store in stores {
        let due = |by| DelegationsDue { by: UnixMillis(by), limit: 9 };
        assert_eq!(store::find_all(&*store, due(START - 1)).await.unwrap().len(), 0);
        let found = store::find_all(&*store, due(START)).await.unwrap();
        assert_eq!(found, [delegation(1)]);
    }
}

/// AAP-18.1-01
#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_an_older_schema_keeps_its_key() {
    let unbound = Session { jkt: None, ..session(2) };
    let written = Effects { puts: vec![session(1).into_record(), unbound.into_record()], ..Effects::default() };
    let (_folder, stores) = as_left("seventh-schema", written, "", "").await;
    for store in stores {
        let jkt = session(1).jkt.unwrap();
        let lookup = |project| SessionKeyByJkt { project, jkt };
        let found = store::find_all(&*store, lookup(1)).await.unwrap();
        assert_eq!(found, [SessionKey { key: 1, version: 1, project: 1, session: 1, jkt }]);
        assert_eq!(store::find_all(&*store, lookup(2)).await.unwrap().len(), 0);
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn subscriber_tokens_of_an_older_version_end_after_ninety_days_and_with_their_persons_sign_ins() {
    let alice = Person {
        key: 1,
        version: 1,
        issuer: "local".into(),
        subject: "alice".into(),
        display_name: "\0 \"generation\":3".into(),
        email: None,
        password_hash: None,
        platform_admin: false,
        disabled: false,
        created_at: UnixMillis(START),
        generation: 7,
    };
    let token = |key, expires_at| SubscriberToken {
        key,
        version: 1,
        project: 1,
        id: format!("tok_{key}"),
        hash: digest(key),
        person: 1,
        name: "\0 \"expires_at\":1 \\".into(),
        may_answer: true,
        legacy: false,
        approves_high_risk: false,
        generation: 7,
        created_at: UnixMillis(START),
        expires_at: UnixMillis(expires_at),
        revoked_at: None,
    };
    let puts = vec![alice.into_record(), token(2, 5).into_record(), token(3, 6).into_record()];
    let older = "UPDATE subscriber_tokens SET doc = replace(replace(doc, '\"approves_high_risk\":false,', ''), \
         '\"generation\":7,', ''); \
         UPDATE subscriber_tokens SET doc = replace(doc, '\"expires_at\":5,', '\"expires_at\":null,');";
    let (_folder, stores) = as_left("eighth-schema", Effects { puts, ..Effects::default() }, older, "").await;
    for store in stores {
        let endless: SubscriberToken = store::get(&*store, 2).await.unwrap().unwrap();
        assert_eq!((endless.generation, endless.name.as_str()), (7, "\0 \"expires_at\":1 \\"));
        assert!(endless.expires_at > UnixMillis(START).plus_secs(89 * 86_400), "{:?}", endless.expires_at);
        let short: SubscriberToken = store::get(&*store, 3).await.unwrap().unwrap();
        assert_eq!((short.generation, short.expires_at), (7, UnixMillis(6)));
    }
}

/// A decision with text that is hard to escape, an approval of it and its use, as they were before plans.
fn before_plans() -> Effects {
    let mut asked = decision(1, 1, expired());
    let Question::Clarification(clarification) = &mut asked.question else { panic!("another question") };
    clarification.question = "\0 \\u0000 \\\0 \"lease_s\":7 \\".into();
    asked.terms.lease_s = 45;
    asked.point = Point::Gateway;
    let yes = Allowance { decision: 1, ..allowance(2, 1, START, AllowanceState::Open) };
    let failed =
        ExecutionState::Failed { at: UnixMillis(START), by: Reporter::Claimant, why: Some("\"lease_s\":\0".into()) };
    let used = Execution { decision: 1, ..execution(3, 1, failed) };
    let told = |event_type| EvidenceDraft { event_type, ..entry(1, START, 50, 60, event_type) };
    Effects {
        puts: vec![asked.into_record(), yes.into_record(), used.into_record()],
        evidence: vec![told("decision_raised"), told("call"), told("decision_settled"), told("execution_claimed")],
        ..Effects::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_from_before_plans_are_read_paged_and_exported_like_new_ones() {
    let leaseless = "UPDATE allowances SET doc = replace(doc, '\"lease_s\":60,', ''); \
         UPDATE executions SET doc = replace(replace(doc, '\"lease_s\":60,', ''), '\"point\":\"gateway\",', '');";
    let older = format!("{SIXTH_SCHEMA} {FIFTH_SCHEMA} {THIRD_SCHEMA} {leaseless}");
    let (_folder, stores) = as_left("third-schema", before_plans(), &older, THIRD_IN_POSTGRES).await;
    for store in stores {
        let page = DecisionsOfPrincipal { project: 1, principal: "del_1".into(), before: None, limit: 9 };
        assert_eq!(store::find_all(&*store, page).await.unwrap().len(), 1);
        let yes = store::find_all(&*store, AllowancesOfDecision(1)).await.unwrap();
        assert_eq!(yes.iter().map(|yes| (yes.key, yes.lease_s)).collect::<Vec<_>>(), [(2, 45)]);
        let used: Execution = store::get(&*store, 3).await.unwrap().unwrap();
        assert_eq!((used.lease_s, used.point), (45, Point::Gateway));
        let several = Allowance { decision: 1, ..allowance(4, 1, START, AllowanceState::Open) };
        assert_eq!(store.commit(put(several.into_record())).await, Outcome::Committed);
        let told = store.feed(FeedQuery { project: 1, after: vec![], limit: 9 }).await.unwrap().rows;
        let told: Vec<&str> = told.iter().map(|row| row.event_type.as_str()).collect();
        assert_eq!(told, ["decision_raised", "decision_settled", "execution_claimed"]);
    }
}
