//! Trust roots for https upstreams: the machine's, and those added by the configuration.

use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use std::sync::Arc;
use tokio_rustls::TlsConnector;

#[derive(Debug, thiserror::Error)]
pub enum BadRoots {
    #[error("the extra root certificates for upstreams are not PEM")]
    NotPem,
    #[error("an extra root certificate for upstreams cannot be used: {0}")]
    Unusable(rustls::Error),
    #[error("TLS to upstreams cannot be set up: {0}")]
    Tls(rustls::Error),
}

pub(super) fn connector(extra_roots_pem: &[u8]) -> Result<TlsConnector, BadRoots> {
    let mut roots = RootCertStore::empty();
    // A machine without roots is no error by itself: an air-gapped one may have only its own.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for certificate in CertificateDer::pem_slice_iter(extra_roots_pem) {
        roots.add(certificate.map_err(|_| BadRoots::NotPem)?).map_err(BadRoots::Unusable)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(BadRoots::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
