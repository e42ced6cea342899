//! The service, the token, and the trusted keys and agents.

use crate::{
    clock::system_now,
    context::Context,
    failure::Failure,
    service::{NOT_REACHED, Service, secret, transport},
};
use clap::ValueEnum;
use countersign_client::{
    ServiceError,
    aaep::{
        ManifestKeys, Manifests, QuestionsError, Replier, SubscribeError, SubscriberClient, SubscriberConfig, Trust,
        UnknownProducers, system_dice,
    },
    mplp::Mplp,
    transport::WithLoopback,
};
use countersign_protocol::{aaep::handshake::ReasonCode, time::UnixMillis};
use std::{path::PathBuf, sync::Arc};

const TOKEN_VARIABLE: &str = "COUNTERSIGN_TOKEN";

#[derive(Debug, clap::Args)]
pub(super) struct InboxClient {
    #[command(flatten)]
    service: Service,

    /// Read the token from this file instead of the variable COUNTERSIGN_TOKEN.
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Connect only to a service that proves its identity with a signed manifest.
    #[arg(long, global = true)]
    signed_only: bool,

    /// With --signed-only: trust the keys in this JWK set, and not those that the service publishes.
    #[arg(long, global = true, value_name = "FILE", requires = "signed_only")]
    pin_keys: Option<PathBuf>,

    /// An agent that you know, by its id; may be given several times. Without it: all agents that the service admits.
    #[arg(long = "known", global = true, value_name = "AGENT")]
    known: Vec<String>,

    /// How to treat questions of unknown agents.
    #[arg(long, global = true, value_name = "WHAT", default_value = "mark", requires = "known")]
    unknown: Unknown,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Unknown {
    /// Show and mark them.
    Mark,
    /// Hide them.
    Refuse,
}

/// The resolved settings of a connection.
pub(super) struct Connected {
    pub(super) config: SubscriberConfig,
    pub(super) trust: Trust,
    token: String,
    transport: Arc<WithLoopback>,
}

impl InboxClient {
    pub(super) fn resolve(self, context: &Context) -> Result<Connected, Failure> {
        let (origin, token) = (self.service.origin(context)?, self.token(context)?);
        let mut config = SubscriberConfig::new(origin, &token);
        config.project = self.service.project.clone();
        config.subscriber_id = "countersign-inbox".into();
        config.manifests = self.manifests()?;
        let unknown = match self.unknown {
            Unknown::Mark => UnknownProducers::ShowMarked,
            Unknown::Refuse => UnknownProducers::Refuse,
        };
        let trust = Trust { known: (!self.known.is_empty()).then_some(self.known), unknown };
        Ok(Connected { config, trust, token, transport: Arc::new(transport()?) })
    }

    fn token(&self, context: &Context) -> Result<String, Failure> {
        secret(self.token_file.as_deref(), TOKEN_VARIABLE, context)?.ok_or_else(|| {
            let hint = format!("set {TOKEN_VARIABLE} or use --token-file; `countersign token add` makes a token");
            Failure::new("there is no token").hint(hint)
        })
    }

    fn manifests(&self) -> Result<Manifests, Failure> {
        let Some(file) = &self.pin_keys else {
            return Ok(if self.signed_only { Manifests::SignedOnly(ManifestKeys::Published) } else { Manifests::Any });
        };
        let cannot = |why: String| Failure::new(format!("{}: {why}", file.display()));
        let bytes = std::fs::read(file).map_err(|why| cannot(format!("cannot be read: {why}")))?;
        let keys = ManifestKeys::pinned(&bytes).map_err(|why| cannot(why.to_string()))?;
        Ok(Manifests::SignedOnly(keys))
    }
}

impl Connected {
    pub(super) async fn subscribe(&self) -> Result<(SubscriberClient, ServiceClock), Failure> {
        let subscriber = SubscriberClient::connect(self.config.clone(), self.transport.clone(), system_dice()).await;
        let subscriber = subscriber.map_err(not_subscribed)?;
        let clock = ServiceClock::by(subscriber.producer_date());
        Ok((subscriber, clock))
    }

    pub(super) fn replier(&self) -> Replier {
        Replier::without_subscription(&self.config, self.transport.clone())
    }

    /// The client for the person's approvals and allowances.
    pub(super) fn mplp(&self) -> Mplp {
        let (service, project) = (&self.config.service, self.config.project.as_ref());
        Mplp::new(service, project, &self.token, self.transport.clone())
    }
}

/// Whether the token is listen-only: the service accepts no answers from this subscriber.
pub(super) fn only_listens(subscriber: &SubscriberClient) -> bool {
    subscriber.accepted().honored_capabilities.supports_confirmation_reply == Some(false)
}

/// This machine's clock, corrected by its skew to the service's: deadlines follow the service's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceClock {
    ahead_ms: i64,
}

impl ServiceClock {
    fn by(producer: Option<UnixMillis>) -> Self {
        // The service sends whole seconds.
        let ahead_ms = producer.map_or(0, |date| date.millis_since(system_now()));
        Self { ahead_ms: if ahead_ms.abs() > 2_000 { ahead_ms } else { 0 } }
    }

    pub(super) fn now(self) -> UnixMillis {
        system_now().plus_millis(self.ahead_ms)
    }
}

pub(super) fn not_subscribed(why: SubscribeError) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        SubscribeError::Unreachable(_) => failure.hint(NOT_REACHED),
        SubscribeError::Refused(refused) if refused.status == 401 => failure.hint(UNKNOWN_TOKEN),
        SubscribeError::Rejected(rejected) if rejected.reason_code == ReasonCode::AuthenticationRequired => {
            failure.hint(UNKNOWN_TOKEN)
        }
        _ => failure,
    }
}

pub(super) fn not_answered(why: QuestionsError) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        QuestionsError::Unreachable(_) => failure.hint(NOT_REACHED),
        QuestionsError::Refused(refused) if refused.status == 401 => failure.hint(UNKNOWN_TOKEN),
        _ => failure,
    }
}

pub(super) fn not_approved(why: ServiceError) -> Failure {
    let failure = Failure::new(why.to_string());
    match why {
        ServiceError::Unreachable(_) => failure.hint(NOT_REACHED),
        ServiceError::Refused(refused) if refused.status == 401 => failure.hint(UNKNOWN_TOKEN),
        _ => failure,
    }
}

const UNKNOWN_TOKEN: &str = "the token may have been revoked: `countersign token list` shows it";
