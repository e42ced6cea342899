//! Messages to webhooks and their secrets in both databases.

use crate::{
    store::{Bench, START, on_both_stores},
    store_decisions::{put, write},
    store_retention::{DAY, delegation, remaining, remove},
};
use countersign_core::records::{Delegation, OutboxMessage, OutboxState, RevokeReason, Stored, WebhookEnrolment};
use countersign_engine::store::{
    self, DeadMessagesIn, Lookup, OutboxMessageById, OutboxMessageDueAfter, OutboxMessagesDueAt, OutboxMessagesIn,
    OutboxMessagesOpenOf, Outcome, Retention, WebhookEnrolmentOf, WebhookEnrolmentsIn,
};
use countersign_protocol::{domain::Domain, ids::RowKey, time::UnixMillis};

const AT: UnixMillis = UnixMillis(START);

fn pending(due: i64) -> OutboxState {
    OutboxState::Pending { attempts: 0, due: UnixMillis(due), give_up_at: None, last_error: None }
}

fn dead() -> OutboxState {
    OutboxState::Dead { at: AT, attempts: 15, last_error: "the webhook answered 500".into() }
}

fn message(key: RowKey, delegation: RowKey, state: OutboxState) -> OutboxMessage {
    OutboxMessage {
        key,
        version: 1,
        project: 1,
        id: format!("msg_{key}"),
        operator: Domain::parse("agents.example").unwrap(),
        delegation,
        delegation_id: format!("agt_{delegation}"),
        account_id: "ada".into(),
        trigger: "expires_at".into(),
        triggered_by: "service".into(),
        reason: Some(RevokeReason::PolicyExpired),
        revoked_at: AT,
        state,
    }
}

async fn keys<L: Lookup>(bench: &Bench, lookup: L) -> Vec<RowKey> {
    store::find_all(&*bench.store, lookup).await.unwrap().iter().map(Stored::key).collect()
}

on_both_stores! {
    async fn messages_are_found_by_id_by_delegation_and_by_their_due_time_while_they_are_pending(bench) {
        for (key, of, state) in [(1, 7, pending(START + 5)), (2, 7, pending(START)), (3, 8, dead()), (4, 8, pending(START))] {
            write(&bench, message(key, of, state)).await;
        }
        let at = |operator: &str, by: i64, limit| OutboxMessagesDueAt { operator: operator.into(), by: UnixMillis(by), limit };
        let due = |by, limit| at("agents.example", by, limit);
        assert_eq!(keys(&bench, due(START - 1, 9)).await, [0; 0]);
        assert_eq!(keys(&bench, due(START, 9)).await, [2, 4]);
        assert_eq!(keys(&bench, due(START + 5, 9)).await, [2, 4, 1], "the most overdue first");
        assert_eq!(keys(&bench, due(START + 5, 1)).await, [2]);
        assert_eq!(keys(&bench, at("agents", START + 5, 9)).await, [0; 0]);
        assert_eq!(keys(&bench, OutboxMessagesOpenOf(7)).await, [1, 2], "in the order of their making");
        assert_eq!(keys(&bench, OutboxMessagesOpenOf(8)).await, [4]);
        let page = |before| OutboxMessagesIn { project: 1, before, limit: 3 };
        assert_eq!((keys(&bench, page(None)).await, keys(&bench, page(Some(2))).await), (vec![4, 3, 2], vec![1]));
        assert_eq!(keys(&bench, DeadMessagesIn { project: 1, before: None, limit: 9 }).await, [3]);
        assert_eq!(keys(&bench, DeadMessagesIn { project: 2, before: None, limit: 9 }).await, [0; 0]);
        assert_eq!(keys(&bench, OutboxMessageById { project: 1, id: "msg_3".into() }).await, [3]);
        assert_eq!(keys(&bench, OutboxMessageById { project: 2, id: "msg_3".into() }).await, [0; 0]);
        let delivered = OutboxState::Delivered { at: AT, status: 200, attempts: 1 };
        write(&bench, OutboxMessage { version: 2, ..message(2, 7, delivered) }).await;
        assert_eq!(keys(&bench, OutboxMessagesOpenOf(7)).await, [1]);
    }

    async fn the_first_due_message_of_each_operator_is_found_behind_any_number_of_another_ones(bench) {
        let of = |key, operator: &str, due| {
            OutboxMessage { operator: Domain::parse(operator).unwrap(), ..message(key, key, pending(due)) }
        };
        for key in 1..=300 {
            write(&bench, of(key, "busy.example", START + 300 - key)).await;
        }
        write(&bench, of(400, "calm.example", START + 200)).await;
        let after = |operator: &str, by| OutboxMessageDueAfter { operator: operator.into(), by: UnixMillis(by) };
        assert_eq!(keys(&bench, after("", START + 300)).await, [300], "the most overdue one");
        assert_eq!(keys(&bench, after("busy.example", START + 300)).await, [400]);
        assert_eq!(keys(&bench, after("busy.example", START + 199)).await, [0; 0], "not due yet");
        assert_eq!(keys(&bench, after("calm.example", START + 300)).await, [0; 0]);
    }

    async fn an_operator_has_one_row_of_secrets_a_project(bench) {
        let row = |key, project, operator: &str| {
            let operator = Domain::parse(operator).unwrap();
            WebhookEnrolment { key, version: 1, project, operator, secrets: Vec::new() }
        };
        for (key, project, operator) in [(1, 1, "a.example"), (2, 2, "a.example"), (3, 1, "b.example")] {
            write(&bench, row(key, project, operator)).await;
        }
        assert_eq!(bench.store.commit(put(row(4, 1, "a.example"))).await, Outcome::Stale);
        assert_eq!(keys(&bench, WebhookEnrolmentOf { project: 1, operator: "a.example".into() }).await, [1]);
        assert_eq!(keys(&bench, WebhookEnrolmentsIn(1)).await, [1, 3]);
    }

    async fn messages_go_with_their_delegation_and_a_pending_one_holds_it(bench) {
        for key in [1, 2] {
            write(&bench, delegation(key, Some(START))).await;
        }
        write(&bench, message(11, 1, dead())).await;
        write(&bench, message(12, 2, pending(START + 100 * DAY))).await;
        let usual = Retention::default();
        remove(&bench, 89, &usual).await;
        assert_eq!(remaining::<OutboxMessage>(&bench, [11, 12]).await, [11, 12]);
        remove(&bench, 90, &usual).await;
        assert_eq!(remaining::<OutboxMessage>(&bench, [11, 12]).await, [12]);
        assert_eq!(remaining::<Delegation>(&bench, [1, 2]).await, [2]);
    }
}
