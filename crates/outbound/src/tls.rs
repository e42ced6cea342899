//! Trusted roots: the machine's own and those of the configuration.

use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum BadRoots {
    #[error("the extra root certificates are not PEM")]
    NotPem,
    #[error("an extra root certificate cannot be used: {0}")]
    Unusable(rustls::Error),
    #[error("TLS cannot be set up: {0}")]
    Tls(rustls::Error),
}

/// A client configuration for HTTP/1.1, with TLS 1.2 and 1.3.
pub(crate) fn client_config(native_roots: bool, extra_roots_pem: &[u8]) -> Result<ClientConfig, BadRoots> {
    let mut roots = RootCertStore::empty();
    if native_roots {
        // A machine without roots is not an error by itself: an air-gapped one has only its own.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    for certificate in CertificateDer::pem_slice_iter(extra_roots_pem) {
        roots.add(certificate.map_err(|_| BadRoots::NotPem)?).map_err(BadRoots::Unusable)?;
    }
    if roots.is_empty() {
        tracing::warn!("there are no root certificates, so no https server can be verified");
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(BadRoots::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
