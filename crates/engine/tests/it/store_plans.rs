//! Plans and foreign approval records, and paged reads of them and of decisions.

use crate::{
    store::{Bench, committed, on_both_stores},
    store_decisions::{
        AT, NONE, keys, put,
        rows::{decision, digest, expired, pending, raiser},
        settles, write,
    },
};
use countersign_core::records::{Decision, ImportedConfirm, Plan, Raiser};
use countersign_engine::store::{
    self, DecisionsOfPrincipal, DecisionsOfProject, ImportedConfirmById, Lookup, Outcome, PlanById,
    PlansLiveOfDelegation, PlansLiveOfSession, PlansOfPerson, PlansOfPrincipal, PlansOfProject,
};
use countersign_protocol::{
    ids::RowKey,
    mplp::{MplpId, PlanStatus},
};
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn mplp_id(n: RowKey) -> MplpId {
    MplpId::of_hash(&digest(n))
}

pub(crate) fn plan(key: RowKey, version: i64, status: PlanStatus) -> Plan {
    let document = json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "plan_id": mplp_id(key),
        "context_id": mplp_id(1000),
        "title": "Pay",
        "objective": "Everybody is paid",
        "status": status,
        "steps": [{ "step_id": mplp_id(2000), "description": "Pay Ada", "status": "pending" }],
    });
    Plan {
        key,
        version,
        project: 1,
        id: mplp_id(key),
        by: raiser(key),
        document: serde_json::from_value(document).unwrap(),
        actions: BTreeMap::new(),
        lasts_s: 60,
        revision: 1,
        confirm: None,
        asked: None,
        feedback: None,
        clarified: None,
        approved: None,
        until: None,
    }
}

/// The statuses of a plan that is not pending and lets nothing run.
pub(crate) const STILL: [PlanStatus; 4] =
    [PlanStatus::Draft, PlanStatus::Completed, PlanStatus::Cancelled, PlanStatus::Failed];
pub(crate) const LIVE: [PlanStatus; 3] = [PlanStatus::Proposed, PlanStatus::Approved, PlanStatus::InProgress];

on_both_stores! {
    async fn a_plan_is_live_while_it_is_proposed_approved_or_in_progress_and_found_by_its_id_for_ever(bench) {
        let ways = LIVE.iter().flat_map(|live| STILL.iter().map(move |still| (*live, *still)));
        for (key, (live, still)) in (1..).zip(ways) {
            let rows = [plan(key, 1, live), plan(50 + key, 1, live), plan(key, 2, still)];
            let open = [PlansLiveOfDelegation(key).search(), PlansLiveOfSession(key + 10).search()];
            settles(&bench, rows, &open, &[PlanById { project: 1, id: mplp_id(key) }.search()]).await;
            // A plan that returned to draft may be proposed again.
            write(&bench, plan(key, 3, live)).await;
            assert_eq!(keys(&bench, PlansLiveOfDelegation(key)).await, [key]);
            write(&bench, plan(key, 4, still)).await;
        }
    }

    async fn a_plan_of_an_api_key_ends_with_the_key(bench) {
        let by = Raiser { delegation: None, session: None, api_key: Some(77), ..raiser(1) };
        write(&bench, Plan { by, ..plan(1, 1, PlanStatus::Approved) }).await;
        assert_eq!(keys(&bench, PlansLiveOfDelegation(77)).await, [1]);
        assert_eq!(keys(&bench, PlansLiveOfSession(11)).await, NONE);
    }

    ///
    async fn an_id_names_one_plan_of_a_project(bench) {
        let same = |key, project| put(Plan { key, project, ..plan(1, 1, PlanStatus::Draft) });
        let outcomes = bench.commit_all((1..20).map(|key| same(key, 1)).collect()).await;
        assert_eq!(committed(&outcomes), 1);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Committed | Outcome::Stale)));
        assert_eq!(bench.store.commit(same(30, 2)).await, Outcome::Committed, "another project's");
        let by_id = |project| PlanById { project, id: mplp_id(1) };
        assert_eq!(keys(&bench, by_id(2)).await, [30]);
        assert_eq!(keys(&bench, by_id(3)).await, NONE);
    }

    ///
    async fn an_imported_confirm_is_kept_as_it_came_and_once(bench) {
        let document = json!({
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "confirm_id": mplp_id(1),
            "target_type": "plan",
            "target_id": mplp_id(2),
            "status": "approved",
            "requested_by_role": "planner",
            "requested_at": "2025-12-07T00:00:00.000Z",
        });
        let imported = |key, project, id| ImportedConfirm {
            key,
            version: 1,
            project,
            id: mplp_id(id),
            principal: "del_1".into(),
            imported_at: AT,
            document: serde_json::from_value(document.clone()).unwrap(),
        };
        write(&bench, imported(1, 1, 1)).await;
        write(&bench, imported(2, 1, 2)).await;
        assert_eq!(bench.store.commit(put(imported(3, 1, 1))).await, Outcome::Stale);
        write(&bench, imported(4, 2, 1)).await;
        let by_id = |project| ImportedConfirmById { project, id: mplp_id(1) };
        let found = store::find_all(&*bench.store, by_id(1)).await.unwrap();
        assert_eq!(found, [imported(1, 1, 1)]);
        assert_eq!(keys(&bench, by_id(2)).await, [4]);
        assert_eq!(keys(&bench, by_id(3)).await, NONE);
    }
}

/// All pages of `limit` rows, each starting where the previous one ended.
async fn pages<L: Lookup>(bench: &Bench, limit: i64, page: impl Fn(Option<RowKey>, i64) -> L) -> Vec<Vec<RowKey>> {
    let (mut pages, mut before) = (Vec::new(), None);
    loop {
        let found = keys(bench, page(before, limit)).await;
        if found.is_empty() {
            return pages;
        }
        before = found.last().copied();
        pages.push(found);
    }
}

/// Rows 1 to 7 of principal 1 in project 1, except for 3 (another principal's, of the same person), 5 (another project's)
/// and 6 (another person's, of the same principal).
fn spread(key: RowKey) -> (RowKey, Raiser) {
    let principal = if key == 3 { "del_other" } else { "del_1" };
    let person = if key == 6 { 2 } else { 1 };
    let project = if key == 5 { 2 } else { 1 };
    (project, Raiser { principal: principal.into(), person, ..raiser(1) })
}

on_both_stores! {
    ///
    async fn decisions_are_paged_through_by_principal_and_by_project_the_newest_first(bench) {
        for key in 1..=7 {
            let (project, raised_by) = spread(key);
            let state = if key % 2 == 0 { expired() } else { pending(AT.0) };
            write(&bench, Decision { project, raised_by, ..decision(key, 1, state) }).await;
        }
        let of = |project, principal: &str| {
            let principal = principal.to_owned();
            move |before, limit| DecisionsOfPrincipal { project, principal: principal.clone(), before, limit }
        };
        assert_eq!(pages(&bench, 2, of(1, "del_1")).await, [vec![7, 6], vec![4, 2], vec![1]]);
        assert_eq!(pages(&bench, 9, of(1, "del_other")).await, [[3]]);
        assert_eq!(pages(&bench, 9, of(2, "del_1")).await, [[5]]);
        assert_eq!(pages(&bench, 9, of(2, "del_other")).await, Vec::<Vec<RowKey>>::new());
        let all = |project| move |before, limit| DecisionsOfProject { project, before, limit };
        assert_eq!(pages(&bench, 4, all(1)).await, [vec![7, 6, 4, 3], vec![2, 1]]);
        assert_eq!(pages(&bench, 4, all(2)).await, [[5]]);
        assert_eq!(keys(&bench, all(1)(None, 0)).await, NONE);
        assert_eq!(keys(&bench, all(1)(None, -1)).await, NONE);
        assert_eq!(keys(&bench, all(1)(Some(1), 9)).await, NONE);
    }

    ///
    async fn plans_are_paged_through_by_principal_by_person_and_by_project_the_newest_first(bench) {
        for key in 1..=7 {
            let (project, by) = spread(key);
            let status = if key % 2 == 0 { PlanStatus::Completed } else { PlanStatus::Proposed };
            write(&bench, Plan { project, by, ..plan(key, 1, status) }).await;
        }
        let of = |project, principal: &str| {
            let principal = principal.to_owned();
            move |before, limit| PlansOfPrincipal { project, principal: principal.clone(), before, limit }
        };
        assert_eq!(pages(&bench, 2, of(1, "del_1")).await, [vec![7, 6], vec![4, 2], vec![1]]);
        assert_eq!(pages(&bench, 9, of(1, "del_other")).await, [[3]]);
        assert_eq!(pages(&bench, 9, of(2, "del_1")).await, [[5]]);
        let acting_for =
            |project, person| move |before, limit| PlansOfPerson { project, person, before, limit };
        assert_eq!(pages(&bench, 3, acting_for(1, 1)).await, [vec![7, 4, 3], vec![2, 1]]);
        assert_eq!(pages(&bench, 3, acting_for(1, 2)).await, [[6]]);
        assert_eq!(pages(&bench, 3, acting_for(2, 1)).await, [[5]]);
        assert_eq!(pages(&bench, 3, acting_for(2, 2)).await, Vec::<Vec<RowKey>>::new());
        let all = |project| move |before, limit| PlansOfProject { project, before, limit };
        assert_eq!(pages(&bench, 4, all(1)).await, [vec![7, 6, 4, 3], vec![2, 1]]);
        assert_eq!(pages(&bench, 4, all(2)).await, [[5]]);
    }

    async fn paging_goes_on_where_it_was_while_newer_ones_are_raised(bench) {
        let raised = |key| Decision { raised_by: raiser(1), ..decision(key, 1, expired()) };
        for key in 1..=4 {
            write(&bench, raised(key)).await;
        }
        let page = |before| DecisionsOfPrincipal { project: 1, principal: "del_1".into(), before, limit: 2 };
        assert_eq!(keys(&bench, page(None)).await, [4, 3]);
        write(&bench, raised(5)).await;
        assert_eq!(keys(&bench, page(Some(3))).await, [2, 1]);
        assert_eq!(keys(&bench, page(None)).await, [5, 4]);
    }
}
