//! Subscribing, renegotiating and closing (AAEP 5). The row is the subscription; the hub only serves it.

use super::{
    hub::{CLOSED, Delivery, IMPLICIT},
    subscribers::Listener,
    terms::{MOST_OF_A_PERSON, manifest_uri, offer, producer},
};
use crate::{projects::ProjectAt, runner::TRIES, services::Events, store::SubscriptionById};
use countersign_core::{
    aaep::{
        negotiate::{self, Offer, SubscriptionTerms, negotiate},
        subscriptions::{ChangeTerms, Close, OpenSubscription, OpenView},
    },
    records::{Project, Subscription},
    refusal::Refusal,
    step::{Operation as _, Step},
};
use countersign_protocol::{
    aaep::handshake::{ReasonCode, Renegotiate, SubscriptionAccepted, SubscriptionRejected, SubscriptionRequest},
    ids::RowKey,
};
use std::sync::Arc;

impl Events<'_> {
    /// Answers a subscription request. Once accepted, events are buffered until its stream is opened.
    pub async fn subscribe(
        self,
        at: &ProjectAt,
        listener: &Listener,
        request: &SubscriptionRequest,
    ) -> Result<SubscriptionAccepted, SubscriptionRejected> {
        let terms = negotiate(request, &self.offer_to(at, listener))
            .map_err(|rejection| rejection.document(Some(manifest_uri(at))))?;
        let terms = self.hub.known_terms.shared(terms);
        let row = self.open_subscription(at, listener, &request.subscriber_id, &terms).await.map_err(rejected)?;
        self.accepted(at, &terms, row.id).await
    }

    /// A subscription for a connection without a handshake: all events, and replies if the subscriber may answer (C15).
    pub async fn subscribe_implicitly(self, at: &ProjectAt, listener: &Listener) -> Result<String, Refusal> {
        let offer = self.offer_to(at, listener);
        if offer.is_full {
            return Err(Refusal::TooManyAttempts { retry_after_s: 60 });
        }
        let terms = self.hub.known_terms.shared(SubscriptionTerms::implicit(&offer));
        Ok(self.open_subscription(at, listener, IMPLICIT, &terms).await?.id)
    }

    /// Changes the terms of an open subscription. A rejection ends it (AAEP 5.7).
    pub async fn renegotiate(
        self,
        at: &ProjectAt,
        listener: &Listener,
        message: &Renegotiate,
    ) -> Result<SubscriptionAccepted, SubscriptionRejected> {
        // Not the runner's loop: its errors are rejections, and a stream must expect the change before the commit.
        for _ in 0..TRIES {
            let row = self.own_subscription(at, listener, &message.subscription_id).await.map_err(rejected)?;
            let current = self.terms_of(&at.project, &row).map_err(rejected)?;
            let offer = Offer { is_full: false, may_answer: row.may_answer, ..self.offer_to(at, listener) };
            let terms = match negotiate::renegotiate(&current, &message.capabilities, &offer) {
                Ok(terms) => self.hub.known_terms.shared(terms),
                Err(rejection) => {
                    self.close_row(&at.project, row.key).await.map_err(rejected)?;
                    return Err(rejection.document(Some(manifest_uri(at))));
                }
            };
            if self.change_terms(&row, &terms).await.map_err(rejected)? {
                return self.accepted(at, &terms, row.id).await;
            }
        }
        Err(rejected(Refusal::Unavailable))
    }

    /// Ends a subscription. Its questions stay pending, unless the project wants early rejection and nobody is
    /// left to answer.
    pub async fn close_subscription(self, at: &ProjectAt, listener: &Listener, id: &str) -> Result<(), Refusal> {
        let row = self.own_subscription(at, listener, id).await?;
        self.close_row(&at.project, row.key).await
    }

    /// An open subscription of this person; another person's is reported as not found.
    pub(super) async fn own_subscription(
        self,
        at: &ProjectAt,
        listener: &Listener,
        id: &str,
    ) -> Result<Subscription, Refusal> {
        let row = self.find_one(SubscriptionById { project: at.project.key, id: id.to_owned() }).await?;
        let own = row.filter(|row| {
            row.project == listener.project && row.person == listener.person_key() && row.closed_at.is_none()
        });
        own.ok_or_else(|| Refusal::NotFound("there is no such subscription".into()))
    }

    /// Closes a row and its outlet on this node; other nodes learn of it by signal.
    pub(super) async fn close_row(self, project: &Project, key: RowKey) -> Result<(), Refusal> {
        let close = || async {
            let row: Option<Subscription> = self.get(key).await?;
            let Some(row) = row else { return Ok(Step::answer(None)) };
            let step = Close.decide(&row, &self.env()?)?;
            Ok::<_, Refusal>(step.map(|_| Some((row.project, row.person))))
        };
        if let Some(place) = self.run(close).await? {
            self.hub.end(key, CLOSED, self.now());
            self.hub.remove_closed(place, key);
            self.settle_if_unanswerable(project, place.1).await;
        }
        Ok(())
    }

    fn offer_to(self, at: &ProjectAt, listener: &Listener) -> Offer {
        Offer {
            may_answer: listener.may_answer(),
            is_full: self.hub.count(at.project.key, listener.person_key()) >= MOST_OF_A_PERSON,
            ..offer(&at.project)
        }
    }

    async fn open_subscription(
        self,
        at: &ProjectAt,
        listener: &Listener,
        subscriber_id: &str,
        terms: &Arc<SubscriptionTerms>,
    ) -> Result<Subscription, Refusal> {
        let mut listener = listener.clone();
        self.clean_up_subscriptions(&at.project, listener.person_key());
        // Not the runner's loop: the outlet is listed before the commit and removed unless that succeeds.
        for _ in 0..TRIES {
            let view = OpenView {
                project: listener.project,
                person: listener.person_key(),
                owner: listener.owner,
                may_answer: listener.may_answer,
                guards: listener.guards.clone(),
            };
            let open = OpenSubscription { subscriber_id: subscriber_id.to_owned(), terms: Arc::clone(terms) };
            let step = open.decide(&view, &self.env()?)?;
            // Listed before it is durable, so that no event after the commit is missed.
            let outlet = Arc::new(Delivery::new(&step.answer, Arc::clone(terms), self.now()));
            outlet.expect_own_signal();
            self.hub.add(&outlet, listener.member.roles(), self.now());
            match self.finish(step).await {
                Ok(Some(row)) => return Ok(row),
                Ok(None) => self.hub.end(outlet.key, CLOSED, self.now()),
                Err(refusal) => {
                    self.hub.end(outlet.key, CLOSED, self.now());
                    return Err(refusal);
                }
            }
            let again = self.reload_subscriber(&at.project, listener.owner).await?;
            listener = again.ok_or_else(|| {
                Refusal::NotAuthorized("the subscriber is no longer entitled to this subscription".into())
            })?;
        }
        Err(Refusal::Unavailable)
    }

    /// False if the row changed meanwhile.
    async fn change_terms(self, row: &Subscription, terms: &Arc<SubscriptionTerms>) -> Result<bool, Refusal> {
        let step = ChangeTerms { terms: Arc::clone(terms) }.decide(row, &self.env()?)?;
        let outlet = self.hub.get(row.key);
        outlet.iter().for_each(|outlet| outlet.expect_own_signal());
        let changed = self.finish(step).await;
        match (&outlet, &changed) {
            // Before the response: the new terms bind every later event.
            (Some(outlet), Ok(Some(_))) => outlet.renegotiate(Arc::clone(terms), row.may_answer, self.now()),
            (Some(outlet), _) => outlet.cancel_own_signal(),
            (None, _) => {}
        }
        if changed.is_ok() {
            self.hub.set_time_extension((row.project, row.person), row.key, terms.time_extension);
        }
        changed.map(|done| done.is_some())
    }

    async fn accepted(
        self,
        at: &ProjectAt,
        terms: &SubscriptionTerms,
        id: String,
    ) -> Result<SubscriptionAccepted, SubscriptionRejected> {
        let signed_only = terms.requested().accept_signed_manifests_only == Some(true);
        let signed_manifest = match signed_only {
            true => Some(self.aaep_manifest(at).await.map_err(rejected)?.1),
            false => None,
        };
        let manifest_uri = Some(manifest_uri(at));
        Ok(SubscriptionAccepted { manifest_uri, signed_manifest, ..terms.accepted(id, producer(at)) })
    }
}

/// A refusal as a document of the handshake.
fn rejected(refusal: Refusal) -> SubscriptionRejected {
    let code = match &refusal {
        Refusal::NotAuthorized(_) | Refusal::NotFound(_) => ReasonCode::AuthorizationDenied,
        Refusal::TooManyAttempts { .. } => ReasonCode::RateLimit,
        Refusal::Unavailable => ReasonCode::TransportUnavailable,
        _ => ReasonCode::Unknown,
    };
    SubscriptionRejected {
        retry_after_seconds: refusal.retry_after_s(),
        ..SubscriptionRejected::new(code, refusal.to_string())
    }
}
