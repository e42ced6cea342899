//! A witness in the configuration: its address, a space, and its verifier key.

use countersign_engine::Witness;
use countersign_evidence::note::{Algorithm, VerifierKey};
use countersign_jose::EvidenceCrypto;
use url::Url;

pub(super) fn parse(text: &str) -> Option<Witness> {
    let (url, key) = text.trim().split_once(' ')?;
    let url = Url::parse(url).ok().filter(|url| url.scheme() == "https" && url.query().is_none())?;
    let key = VerifierKey::parse(&EvidenceCrypto, key.trim()).ok()?;
    let url = url.as_str().trim_end_matches('/').to_owned();
    (key.algorithm == Algorithm::Cosignature).then_some(Witness { url, key })
}
