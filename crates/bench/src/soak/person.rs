//! The person behind all agents: connects them, and answers their questions by a subscriber token.

use super::{
    http::{self, Answer, Listener, NoAnswer, Request},
    program::PASSWORD,
    record::{SoakRecord, SoakReply},
    setup::PERSON,
};
use anyhow::{Context as _, bail, ensure};
use countersign_protocol::mplp::MplpId;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::sync::Mutex;

const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(250);

pub(super) struct SoakPerson {
    record: Arc<SoakRecord>,
    /// Replaced after a restore, which ends sign-in sessions and tokens.
    proofs: Mutex<Proofs>,
}

#[derive(Clone, Debug, Default)]
struct Proofs {
    cookie: String,
    csrf: String,
    subscriber: String,
}

/// The end of a question for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replied {
    Counted,
    /// It was settled before: by an answer with a lost response, or otherwise.
    SettledBefore,
    /// It no longer exists, or no node could be reached.
    GaveUp,
}

impl SoakPerson {
    pub(super) async fn sign_in(record: &Arc<SoakRecord>, at: &Listener) -> anyhow::Result<Self> {
        let proofs = Proofs::fetch(at).await?;
        Ok(Self { record: Arc::clone(record), proofs: Mutex::new(proofs) })
    }

    /// Consents to an operator's request; returns the code for the operator.
    pub(super) async fn connects(&self, at: &Listener, request_id: &str) -> anyhow::Result<String> {
        let shown = self.post(at, "/agent/delegate", &json!({ "request_id": request_id })).await?;
        let yes = json!({
            "request_id": request_id,
            "disclosure_id": shown["disclosure_id"],
            "acknowledged_disclosure": true,
        });
        let agreed = self.post(at, "/agent/delegate", &yes).await?;
        Ok(agreed["code"].as_str().context("no code")?.to_owned())
    }

    /// A page of a delegation's audit.
    pub(super) async fn reads_audit(
        &self,
        at: &Listener,
        delegation: &str,
        cursor: Option<&str>,
    ) -> anyhow::Result<Value> {
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let path = format!("/agent/audit?delegation_id={delegation}&event_type=call&limit=200{cursor}");
        self.ask(at, |proofs| Request::get(path.as_str()).with("cookie", &proofs.cookie)).await
    }

    async fn post(&self, at: &Listener, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.ask(at, |proofs| {
            Request::post(path).json(body).with("cookie", &proofs.cookie).with("x-csrf-token", &proofs.csrf)
        })
        .await
    }

    /// Signs in again if the sign-in session has ended.
    async fn ask(&self, at: &Listener, request: impl Fn(&Proofs) -> Request) -> anyhow::Result<Value> {
        for _ in 0..3 {
            let proofs = self.proofs.lock().await.clone();
            match expect(http::send(at, request(&proofs), PATIENCE).await)? {
                answer if (200..300).contains(&answer.status) => return Ok(answer.json()),
                answer if answer.status == 401 => self.renew(at, &proofs).await?,
                answer => bail!("{}: {}", answer.status, answer.json()),
            }
        }
        bail!("the person is not let in")
    }

    /// One at a time, and only if it was not done meanwhile.
    async fn renew(&self, at: &Listener, known: &Proofs) -> anyhow::Result<()> {
        let mut proofs = self.proofs.lock().await;
        if proofs.cookie == known.cookie {
            *proofs = Proofs::fetch(at).await?;
        }
        Ok(())
    }

    /// Answers a question, and retries until an answer is known to count.
    pub(super) async fn replies(&self, at: impl Fn() -> Listener, decision: &str, accepts: bool) -> Replied {
        let Some(confirm) = decision.strip_prefix("dec_").and_then(MplpId::from_simple) else { return Replied::GaveUp };
        let path = format!("/mplp/v1/confirms/{confirm}/decisions");
        let body = json!({ "status": if accepts { "approved" } else { "rejected" } });
        let (mut was_refused, mut was_lost) = (false, false);
        for _ in 0..80 {
            let (at, proofs) = (at(), self.proofs.lock().await.clone());
            let invoked = self.record.now();
            let sent =
                http::send(&at, Request::post(path.as_str()).json(&body).bearer(&proofs.subscriber), PATIENCE).await;
            let note = |is_sure| {
                let (decision, returned) = (decision.to_owned(), self.record.now());
                self.record.pages().replies.push(SoakReply { decision, accepts, invoked, returned, is_sure });
            };
            match sent {
                Ok(answer) if answer.status == 201 => {
                    note(true);
                    return Replied::Counted;
                }
                Ok(answer) if answer.status == 409 => {
                    if was_refused && !was_lost {
                        self.record.trouble(&"an answer that a 503 called not carried out seems to have counted");
                    }
                    return Replied::SettledBefore;
                }
                Ok(answer) if answer.status == 404 => return Replied::GaveUp,
                // An ended token is reported as one without entitlement.
                Ok(answer) if [401, 403].contains(&answer.status) => {
                    if let Err(why) = self.renew(&at, &proofs).await {
                        self.record.trouble(&why);
                    }
                }
                Ok(answer) => {
                    self.record.trouble(&format!("/mplp/v1/confirms: {} {}", answer.status, answer.json()));
                    // A 503 may follow a commit with an unknown result.
                    if answer.status >= 500 {
                        note(false);
                        was_refused = true;
                    }
                }
                Err(NoAnswer::Lost(_)) => {
                    note(false);
                    was_lost = true;
                }
                Err(NoAnswer::NotSent(_)) => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
        Replied::GaveUp
    }
}

impl Proofs {
    async fn fetch(at: &Listener) -> anyhow::Result<Self> {
        let body = json!({ "name": PERSON, "password": PASSWORD });
        let answer = expect(http::send(at, Request::post("/session").json(&body), PATIENCE).await)?;
        ensure!(answer.status == 201, "sign-in: {} {}", answer.status, answer.json());
        let cookie = answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
        let csrf = answer.json()["csrf_token"].as_str().unwrap_or_default().to_owned();
        let new = json!({ "name": "soak", "approves_high_risk": true });
        let request = Request::post("/aaep/v1/subscriber-tokens").json(&new);
        let request = request.with("cookie", &cookie).with("x-csrf-token", &csrf);
        let made = expect(http::send(at, request, PATIENCE).await)?;
        ensure!(made.status == 201, "subscriber token: {} {}", made.status, made.json());
        let subscriber = made.json()["token"].as_str().unwrap_or_default().to_owned();
        Ok(Self { cookie, csrf, subscriber })
    }
}

fn expect(answer: Result<Answer, NoAnswer>) -> anyhow::Result<Answer> {
    answer.map_err(|why| anyhow::anyhow!("{why}"))
}
