//! Every table keeps its records, and every lookup finds exactly its own.

use crate::{
    store::{Bench, committed, on_both_stores},
    store_decisions::{AT, keys, put, rows::digest, write},
};
use countersign_core::{
    records::{
        AccessToken, ApiKey, ApiKeyKind, ConnectProgress, ConnectRequest, Delegation, DelegationState, Disclosure,
        HeldRequest, Membership, Person, Project, RevokeReason, RevokedReceipt, Role, Secret, Session, SessionKey,
        SessionState, SigningKey, Stored, UnsettledWrite, WebSession, WriteFingerprint, WriteState,
    },
    step::Effects,
};
use countersign_engine::store::{
    self, AccessTokenByHash, AllPeople, AllProjects, ApiKeyByHash, ApiKeyById, ApiKeysOfProject, ConnectRequestByCode,
    ConnectRequestById, DelegationById, DelegationsDue, DelegationsOfPerson, DisclosureById, Lookup, MembershipOf,
    MembershipsOfPerson, Outcome, PersonBySubject, ProjectById, RevokedReceiptByHash, Search, SessionById,
    SessionKeyByJkt, SessionsBySessionId, SigningKeys, UnsettledWriteById, UnsettledWritesIn, UnsettledWritesOf,
    WebSessionByToken,
};
use countersign_protocol::{
    aap::policy::{EffectivePolicy, PolicyLayer, PolicySources},
    domain::Domain,
    ids::RowKey,
};
use serde_json::json;
use std::fmt::Debug;

/// Puts the two records, and looks up the first one.
async fn finds<T: Stored + PartialEq + Debug>(bench: &Bench, pair: [T; 2], searches: &[Search]) {
    let [wanted, other] = pair;
    let puts = vec![wanted.clone().into_record(), other.clone().into_record()];
    assert_eq!(bench.store.commit(Effects { puts, ..Effects::default() }).await, Outcome::Committed);
    for search in searches {
        assert_eq!(bench.found::<T>(search).await, std::slice::from_ref(&wanted), "{search:?}");
    }
    assert_eq!(store::get::<T>(&*bench.store, other.key()).await.unwrap(), Some(other));
    assert_eq!(store::get::<T>(&*bench.store, 999).await.unwrap(), None);
}

fn domain(n: RowKey) -> Domain {
    Domain::parse(&format!("agents{n}.example")).unwrap()
}

fn project(key: RowKey, version: i64) -> Project {
    let document = serde_json::from_value(json!({ "id": format!("p{key}"), "display_name": version.to_string() }));
    let id = countersign_protocol::ids::ProjectId::parse(&format!("p{key}")).unwrap();
    Project { key, version, id, created_at: AT, changed_at: AT, document: document.unwrap() }
}

on_both_stores! {
    ///
    async fn every_version_of_a_project_stays_readable(bench) {
        for version in 1..=3 {
            write(&bench, project(1, version)).await;
        }
        assert_eq!(bench.store.project_versions(1).await.unwrap(), [1, 2, 3]);
        assert_eq!(store::project_at(&*bench.store, 1, 2).await.unwrap(), Some(project(1, 2)));
        assert_eq!(store::project_at(&*bench.store, 1, 4).await.unwrap(), None);
        assert_eq!(store::get(&*bench.store, 1).await.unwrap(), Some(project(1, 3)));
    }

    async fn people_and_projects_are_found_by_their_names(bench) {
        finds(&bench, [project(1, 1), project(2, 1)], &[ProjectById("p1".into()).search()]).await;
        assert_eq!(store::find_all(&*bench.store, AllProjects).await.unwrap().len(), 2);
        let person = |key: RowKey| Person {
            key,
            version: 1,
            issuer: "local".into(),
            subject: key.to_string(),
            display_name: "Ada".into(),
            email: None,
            password_hash: None,
            platform_admin: false,
            disabled: false,
            created_at: AT,
            generation: 1,
        };
        let by_subject = PersonBySubject { issuer: "local".into(), subject: "1".into() };
        finds(&bench, [person(1), person(2)], &[by_subject.search()]).await;
        assert_eq!(store::find_all(&*bench.store, AllPeople).await.unwrap().len(), 2);
        let member = |key, project, person| Membership { key, version: 1, project, person, roles: vec![Role::User] };
        let of = [
            MembershipOf { project: 1, person: 1 }.search(),
            MembershipsOfPerson(1).search(),
        ];
        finds(&bench, [member(1, 1, 1), member(2, 2, 2)], &of).await;
        let web = |key: RowKey| WebSession {
            key,
            version: 1,
            token_hash: digest(key),
            person: key,
            generation: 1,
            started_at: AT,
            proven_at: AT,
            expires_at: AT,
        };
        let lookups = [WebSessionByToken(digest(1)).search()];
        finds(&bench, [web(1), web(2)], &lookups).await;
    }

    async fn connections_are_found_by_id_and_by_code(bench) {
        let request = |key: RowKey, progress| ConnectRequest {
            key,
            version: 1,
            project: 1,
            id: format!("req_{key}"),
            service: "https://api.example.test".into(),
            operator: domain(key),
            operator_name: "Agents".into(),
            operator_disclosure: None,
            operator_policy: PolicyLayer::default(),
            operator_contact: None,
            mode: Default::default(),
            scopes: vec![],
            max_agent_ttl: None,
            code_challenge: "c".into(),
            state: "s".into(),
            callback: None,
            expires_at: AT,
            progress,
        };
        let approved =
            ConnectProgress::Approved { delegation: 5, code_hash: digest(1), code_expires_at: AT.plus_secs(9000) };
        let pair = [request(1, approved), request(2, ConnectProgress::Open)];
        let lookups = [ConnectRequestById("req_1".into()).search(), ConnectRequestByCode(digest(1)).search()];
        finds(&bench, pair, &lookups).await;
        let disclosure = |key: RowKey| Disclosure {
            user_policy: PolicyLayer::default(),
            key,
            version: 1,
            project: 1,
            id: format!("dis_{key}"),
            person: 1,
            operator: domain(1),
            scopes: vec![],
            max_agent_ttl: None,
            request: None,
            shown: digest(key),
            language: "en".into(),
            text: "…".into(),
            shown_at: AT,
            expires_at: AT,
            spent: false,
        };
        let by_id = DisclosureById { project: 1, id: "dis_1".into() };
        finds(&bench, [disclosure(1), disclosure(2)], &[by_id.search()]).await;
        // The code of the first request outlives the request itself.
        assert_eq!(bench.store.sweep(AT.plus_secs(7200)).await.unwrap(), 3);
        assert!(store::find_one(&*bench.store, ConnectRequestByCode(digest(1))).await.unwrap().is_some());
    }
}

pub(crate) fn delegation(key: RowKey) -> Delegation {
    Delegation {
        key,
        version: 1,
        project: 1,
        id: format!("del_00000{key}"),
        person: key,
        subject: key.to_string(),
        service_account: None,
        operator: domain(key),
        operator_name: "Agents".into(),
        scopes: vec!["read".into()],
        max_agent_ttl: 60,
        granted_at: AT,
        token_expires_at: AT,
        policy_expires_at: AT,
        idle_check_at: None,
        policy: EffectivePolicy::default(),
        policy_sources: PolicySources::default(),
        shown: digest(key),
        language: "en".into(),
        state: DelegationState::Active,
    }
}

pub(crate) fn session(key: RowKey) -> Session {
    Session {
        key,
        version: 1,
        project: 1,
        operator: domain(key),
        session_id: format!("task {key}"),
        modes_fixed: false,
        former: Vec::new(),
        user_delegated: true,
        service_account: None,
        delegation: Some(key),
        subject: None,
        receipt: None,
        expansions: Vec::new(),
        earlier_receipts: Vec::new(),
        operator_kid: "k".into(),
        key_seen_at: AT,
        standing: None,
        opened_at: AT,
        state: SessionState::Open,
        jkt: Some(digest(key)),
        tokens: vec![],
    }
}

on_both_stores! {
    async fn delegations_sessions_and_their_rows_are_found(bench) {
        let of_delegation = [
            DelegationById { project: 1, id: "del_000001".into() }.search(),
            DelegationsOfPerson { project: 1, person: 1 }.search(),
        ];
        finds(&bench, [delegation(1), delegation(2)], &of_delegation).await;
        let (operator, session_id) = (domain(1).to_string(), "task 1".to_owned());
        let of_session = [
            SessionById { project: 1, operator, session_id: session_id.clone() }.search(),
            SessionsBySessionId { project: 1, session_id }.search(),
        ];
        finds(&bench, [session(1), session(2)], &of_session).await;
        let token =
            |key| AccessToken { key, version: 1, project: 1, hash: digest(key), session: 1, mode: Default::default(), expires_at: AT, jkt: None };
        finds(&bench, [token(1), token(2)], &[AccessTokenByHash(digest(1)).search()]).await;
        let receipt = |key| RevokedReceipt { key, version: 1, project: 1, sha256: digest(key), at: AT };
        let withdrawn = RevokedReceiptByHash { project: 1, sha256: digest(1) };
        finds(&bench, [receipt(1), receipt(2)], &[withdrawn.search()]).await;
    }

    ///
    async fn delegations_that_end_are_found_from_their_end_on_until_they_are_over(bench) {
        let ends = |key, secs, state| Delegation { policy_expires_at: AT.plus_secs(secs), state, ..delegation(key) };
        let revoked = DelegationState::Revoked { at: AT, reason: RevokeReason::ManualRevoke };
        let ended = DelegationState::AutoRevoked { at: AT, reason: RevokeReason::PolicyExpired };
        let active = DelegationState::Active;
        let rows = [ends(1, 20, active.clone()), ends(2, 10, active), ends(3, 5, revoked), ends(4, 5, ended.clone())];
        for row in rows {
            write(&bench, row).await;
        }
        let due = async |secs| keys(&bench, DelegationsDue { by: AT.plus_secs(secs), limit: 10 }).await;
        assert_eq!((due(9).await, due(10).await, due(20).await), (vec![], vec![2], vec![2, 1]));
        write(&bench, Delegation { version: 2, ..ends(2, 10, ended) }).await;
        assert_eq!(due(20).await, [1]);
    }

    ///
    async fn a_session_is_one_of_its_project_operator_and_id(bench) {
        let again = |key, project, operator, id: &str| {
            put(Session { key, project, operator, session_id: id.into(), ..session(1) })
        };
        assert_eq!(bench.store.commit(again(1, 1, domain(1), "task")).await, Outcome::Committed);
        assert_eq!(bench.store.commit(again(2, 1, domain(1), "task")).await, Outcome::Stale);
        let others = vec![again(3, 2, domain(1), "task"), again(4, 1, domain(2), "task"), again(5, 1, domain(1), "t")];
        assert_eq!(committed(&bench.commit_all(others).await), 3);
    }

    /// AAP-18.1-01
    async fn a_key_belongs_to_one_session_of_a_project_and_a_session_may_have_several(bench) {
        let row = |key, project, session, n| SessionKey { key, version: 1, project, session, jkt: digest(n) };
        for (key, project, session, n) in [(1, 1, 7, 9), (2, 1, 7, 8), (3, 2, 6, 9)] {
            write(&bench, row(key, project, session, n)).await;
        }
        assert_eq!(bench.store.commit(put(row(4, 1, 5, 9))).await, Outcome::Stale);
        let session = async |project, n| {
            let lookup = SessionKeyByJkt { project, jkt: digest(n) };
            let found = store::find_one(&*bench.store, lookup).await.unwrap();
            found.map(|key| key.session)
        };
        assert_eq!((session(1, 9).await, session(1, 8).await), (Some(7), Some(7)));
        assert_eq!((session(2, 9).await, session(1, 7).await), (Some(6), None));
    }

    ///
    async fn a_held_request_is_kept_until_it_is_removed(bench) {
        let held = |key| HeldRequest { key, version: 1, project: 1, sealed: format!("sealed {key}") };
        finds(&bench, [held(1), held(2)], &[Search::by_key(HeldRequest::TABLE, 1)]).await;
        let settled = Effects { removes: vec![(HeldRequest::TABLE, 1)], ..Effects::default() };
        assert_eq!(bench.store.commit(settled).await, Outcome::Committed);
        assert_eq!(store::get::<HeldRequest>(&*bench.store, 1).await.unwrap(), None);
        assert_eq!(store::get(&*bench.store, 2).await.unwrap(), Some(held(2)));
    }

    ///
    async fn keys_and_secrets_are_found_and_made_once(bench) {
        let api_key = |key: RowKey, project| ApiKey {
            key,
            version: 1,
            project,
            id: format!("key_{key}"),
            hash: digest(key),
            kind: ApiKeyKind::Agent,
            principal: "bot".into(),
            responsible: 1,
            actions: vec![],
            asks: vec![],
            jkt: None,
            created_at: AT,
            revoked_at: None,
            suspended_at: None,
        };
        let lookups = [
            ApiKeyByHash(digest(1)).search(),
            ApiKeyById { project: 1, id: "key_1".into() }.search(),
            ApiKeysOfProject(1).search(),
        ];
        finds(&bench, [api_key(1, 1), api_key(2, 2)], &lookups).await;
        let signing = |key: RowKey| SigningKey {
            key,
            version: 1,
            kid: key.to_string(),
            public_jwk: json!({}),
            sealed: "…".into(),
            created_at: AT,
            retires_at: None,
        };
        finds(&bench, [signing(1), signing(2)], &[]).await;
        assert_eq!(store::find_all(&*bench.store, SigningKeys).await.unwrap().len(), 2);
        let mac = |key: RowKey| put(Secret { key, version: 1, name: "mac".into(), sealed: key.to_string() });
        assert_eq!(committed(&bench.commit_all((1..9).map(mac).collect()).await), 1, "all nodes share the first");
    }
}

on_both_stores! {
    ///
    async fn an_unsettled_write_is_found_by_its_route_while_it_is_open_and_an_equal_one_cannot_begin(bench) {
        let write = |key: RowKey| UnsettledWrite {
            key,
            version: 1,
            project: key,
            call_id: format!("call_{key}"),
            delegation: key,
            session: None,
            delegation_id: format!("del_{key}"),
            operator: "acme.test".into(),
            route: "notes".into(),
            action: "notes.write".into(),
            method: "POST".into(),
            target: "/notes".into(),
            fingerprint: Some(WriteFingerprint {
                head: digest(1),
                beginning: None,
                length: Some(2),
                body: Some(digest(2)),
                idempotency_key: None,
                proof: None,
            }),
            same: Some(digest(key)),
            started_at: AT,
            until: AT.plus_secs(86_400),
            state: WriteState::InFlight,
        };
        let by_route = UnsettledWritesOf { delegation: 1, route: "notes".into() }.search();
        let by_id = UnsettledWriteById { project: 1, call_id: "call_1".into() }.search();
        finds(&bench, [write(1), write(2)], &[by_route.clone(), by_id.clone(), UnsettledWritesIn(1).search()]).await;
        let commits = async |write: UnsettledWrite| bench.store.commit(put(write)).await;
        let equal = UnsettledWrite { key: 3, call_id: "call_3".into(), ..write(1) };
        assert_eq!(commits(equal.clone()).await, Outcome::Stale);
        let state = WriteState::Settled { at: AT, ran: true, reason: "seen".into() };
        assert_eq!(commits(UnsettledWrite { version: 2, state, ..write(1) }).await, Outcome::Committed);
        assert_eq!(bench.store.list(by_route).await.unwrap().len(), 0);
        assert_eq!(bench.store.list(by_id).await.unwrap().len(), 1);
        assert_eq!(commits(equal).await, Outcome::Committed);
        let over = AT.plus_secs(2 * 86_400).plus_millis(1);
        assert_eq!(bench.store.sweep(over).await.unwrap(), 3);
    }
}
