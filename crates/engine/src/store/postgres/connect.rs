//! Connecting to the database: its address, TLS, the connection pool, and the connection for notifications.

use super::connection::failure;
use crate::store::{PostgresLocation, StoreError, error::StoreFailure};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use futures_util::{StreamExt as _, stream};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Notify,
};
use tokio_postgres::{Client, Config, NoTls, config::SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

const PATIENCE: Duration = Duration::from_secs(5);

/// No statement may wait for ever, and a node that stops in the middle must not hold up the others.
const SESSION: &str = "SET lock_timeout = '2s'; SET statement_timeout = '5s'; \
     SET idle_in_transaction_session_timeout = '10s'";

#[derive(Clone)]
pub(super) struct Dialer {
    config: Config,
    /// None without TLS.
    tls: Option<MakeRustlsConnect>,
}

impl Dialer {
    pub(super) fn new(place: &PostgresLocation) -> Result<Self, StoreError> {
        let config = config(place)?;
        if config.get_ssl_mode() != SslMode::Require {
            return Ok(Self { config, tls: None });
        }
        let Some(path) = &place.root_certificates else {
            return Err(StoreError::Options(
                "TLS to PostgreSQL needs the certificates of its authorities; name a PEM file \
                 (on Debian, /etc/ssl/certs/ca-certificates.crt has the public ones)"
                    .into(),
            ));
        };
        Ok(Self { config, tls: Some(MakeRustlsConnect::new(tls(path)?)) })
    }

    pub(super) fn pool(&self, connections: usize) -> Result<Pool, StoreError> {
        let pool = Pool::builder(self.manager())
            .max_size(connections.max(2))
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE))
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
            }))
            .build();
        pool.map_err(|why| StoreError::Options(why.to_string()))
    }

    fn manager(&self) -> Manager {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        match &self.tls {
            None => Manager::from_config(self.config.clone(), NoTls, recycling),
            Some(tls) => Manager::from_config(self.config.clone(), tls.clone(), recycling),
        }
    }

    /// A connection outside the pool that wakes `heard` at a notification, and when it is lost.
    pub(super) async fn listen(&self, heard: Arc<Notify>) -> Result<Client, StoreFailure> {
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(failure)?;
                tokio::spawn(drive_connection(connection, heard));
                Ok(client)
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(failure)?;
                tokio::spawn(drive_connection(connection, heard));
                Ok(client)
            }
        }
    }
}

/// Drives a connection until its client is dropped or it is lost.
async fn drive_connection<S, T>(mut connection: tokio_postgres::Connection<S, T>, heard: Arc<Notify>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let mut messages = stream::poll_fn(|context| connection.poll_message(context));
    while let Some(Ok(_notified)) = messages.next().await {
        heard.notify_one();
    }
    heard.notify_one();
}

fn config(place: &PostgresLocation) -> Result<Config, StoreError> {
    // With every TLS mode the certificate and the name in it are verified.
    let url = ["verify-full", "verify-ca"]
        .iter()
        .fold(place.url.clone(), |url, mode| url.replace(&format!("sslmode={mode}"), "sslmode=require"));
    let mut config: Config = url.parse().map_err(|why| {
        StoreError::Options(format!(
            "the address of PostgreSQL cannot be read: {why}; it is like postgres://user@host/database"
        ))
    })?;
    if place.root_certificates.is_some() && config.get_ssl_mode() == SslMode::Prefer {
        config.ssl_mode(SslMode::Require);
    }
    config.connect_timeout(PATIENCE).tcp_user_timeout(PATIENCE * 2).keepalives_idle(PATIENCE * 2);
    if config.get_application_name().is_none() {
        config.application_name("countersign");
    }
    Ok(config)
}

fn tls(path: &Path) -> Result<ClientConfig, StoreError> {
    let wrong = |why: String| StoreError::Options(format!("cannot use the certificates in {}: {why}", path.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|why| wrong(why.to_string()))? {
        roots.add(certificate.map_err(|why| wrong(why.to_string()))?).map_err(|why| wrong(why.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("there are none".into()));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(builder.map_err(|why| wrong(why.to_string()))?.with_root_certificates(roots).with_no_client_auth())
}
