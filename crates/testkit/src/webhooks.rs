//! The receiving end of webhooks: a path on an operator's own host.

use crate::{
    Plane, TestOperator,
    operator_host::{Answer, Received},
};
use http::StatusCode;
use serde_json::json;

pub const HOOK: &str = "/hooks/countersign";

impl TestOperator {
    /// Publishes a webhook that acknowledges every message.
    pub fn publish_webhook(&self) {
        let mut identity = self.identity();
        identity["webhook_url"] = json!(format!("https://{}{HOOK}", self.domain()));
        self.publish_identity(&identity);
        self.webhook_answers(StatusCode::OK);
    }

    pub fn webhook_answers(&self, status: StatusCode) {
        self.host.set_answer(HOOK, Answer::status(status));
    }

    /// The received messages, in order.
    pub fn webhooks(&self) -> Vec<Received> {
        self.host.received().into_iter().filter(|request| request.path == HOOK).collect()
    }
}

impl Plane {
    /// Advances the clock, settles everything due, and makes every delivery attempt that is due.
    pub async fn advance_and_deliver(&self, secs: i64) -> usize {
        self.advance_secs(secs).await;
        self.engine.agents().deliver_webhooks().await.expect("a store")
    }
}
