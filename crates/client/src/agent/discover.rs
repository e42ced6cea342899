//! Discovery: the service's offers and requirements (AAP 3).

use super::{Agent, DiscoverError, MODE, Notice, notice::shown, versions::NoneInCommon};
use countersign_outbound::{Request, Response};
use countersign_protocol::{
    aap::{
        manifest::{self, Manifest},
        version,
    },
    ids::ProjectId,
};
use http::{HeaderValue, StatusCode};
use std::collections::BTreeMap;
use url::Url;

/// The highest tier that this agent can reach: operator, delegation, receipt. It has no provider (AAP 2).
const REACH: u8 = 3;

/// Shown if a service publishes no text of its own.
const DISCLOSURE: &str = "This agent acts as you, with your own access, and can see what you can see.";

/// A checked manifest, and its endpoints as addresses on the service's own origin.
#[derive(Clone, Debug)]
pub(super) struct CheckedManifest {
    pub(super) manifest: Manifest,
    endpoints: BTreeMap<String, Url>,
    base: Url,
}

impl Agent {
    /// Fetches the manifest and agrees on a version. Other operations do this on demand.
    pub async fn discover(&mut self) -> Result<&Manifest, DiscoverError> {
        let answer = self.fetch_manifest().await?;
        let manifest = match answer.status {
            StatusCode::OK => Manifest::parse(&answer.body)?,
            StatusCode::NOT_FOUND if self.config.project.is_some() => return Err(DiscoverError::NoSuchProject),
            status => return Err(DiscoverError::NoManifest { status: status.as_u16() }),
        };
        let known = self.checked(manifest)?;
        self.versions.negotiate(&known.manifest).map_err(|none| self.no_version(none))?;
        Ok(&self.known.insert(known).manifest)
    }

    /// With a known project only its own manifest is requested (AAP 3.1).
    async fn fetch_manifest(&self) -> Result<Response, DiscoverError> {
        let query = self.config.project.as_ref().map(|project| format!("?projectId={project}")).unwrap_or_default();
        let asked = self.versions.requested().map_err(|none| self.no_version(none))?;
        let mut request = Request::get(format!("{}{}{query}", self.config.service, manifest::PATH));
        request.headers.insert(version::HEADER, HeaderValue::from_static(asked));
        let url = request.url.clone();
        let answer = self.transport.send(request).await?;
        self.nonces.store_nonce(&url, &answer);
        Ok(answer)
    }

    fn checked(&self, manifest: Manifest) -> Result<CheckedManifest, DiscoverError> {
        let other = || DiscoverError::OtherService { told: shown(&manifest.service) };
        let base = Url::parse(self.config.service.as_str()).map_err(|_| other())?;
        // An operator JWT is addressed to the manifest's own name of the service: if that were another service, this
        // one could collect JWTs and use them there.
        let told = Url::parse(&manifest.service).map_err(|_| other())?;
        if told.origin() != base.origin() {
            return Err(other());
        }
        let project = self.config.project.as_ref();
        if project.is_some_and(|project| manifest.project_id.as_deref() != Some(project.as_str())) {
            return Err(DiscoverError::OtherProject);
        }
        let endpoints = endpoints(&manifest, &base, project)?;
        Ok(CheckedManifest { manifest, endpoints, base })
    }

    fn no_version(&self, none: NoneInCommon) -> DiscoverError {
        let error = DiscoverError::none_in_common(self.versions.ours(), none);
        self.notify(Notice::ProtocolError { service: self.service(), what: error.to_string() });
        error
    }

    /// The conditions for acting on the person's behalf: the service is known and within reach, and the person has seen
    /// the mode disclosure.
    pub(super) async fn ready(&mut self) -> Result<(), DiscoverError> {
        self.known().await?;
        let Some(known) = &self.known else { return Ok(()) };
        let modes = &known.manifest.identity_modes_supported;
        if !modes.is_empty() && !modes.iter().any(|mode| mode == MODE) {
            return Err(DiscoverError::ModeNotSupported);
        }
        if known.manifest.dpop_required == Some(true) && !self.config.dpop {
            return Err(DiscoverError::ProofOfPossession);
        }
        let needed = known.manifest.minimum_tier;
        if needed > REACH {
            let has = self.tier(false);
            self.notify(Notice::ManualAuthorization { service: self.service(), needed, has });
            return Err(DiscoverError::TierOutOfReach { needed, has: REACH });
        }
        self.disclose();
        Ok(())
    }

    pub(super) async fn known(&mut self) -> Result<(), DiscoverError> {
        if self.known.is_none() {
            self.discover().await?;
        }
        Ok(())
    }

    /// Operator keys make tier 1, a delegation 2, a receipt for it 3.
    pub(super) fn tier(&self, receipt: bool) -> u8 {
        1 + u8::from(self.delegation.is_some()) + u8::from(self.delegation.is_some() && receipt)
    }

    /// Once, and again if the service changed its text (AAP 11.5).
    fn disclose(&mut self) {
        let told = self.manifest().and_then(|manifest| manifest.disclosures.get(MODE));
        let text = told.map(|text| shown(text)).filter(|text| !text.is_empty()).unwrap_or_else(|| DISCLOSURE.into());
        if self.disclosed.as_ref() != Some(&text) {
            let mode = MODE.to_owned();
            self.notify(Notice::ModeDisclosure { service: self.service(), mode, text: text.clone() });
            self.disclosed = Some(text);
        }
    }
}

impl CheckedManifest {
    pub(super) fn endpoint(&self, name: &str) -> Option<Url> {
        self.endpoints.get(name).cloned()
    }

    /// An address given by the service, if it is on the service's own origin.
    pub(super) fn on_origin(&self, address: &str) -> Option<Url> {
        self.base.join(address).ok().filter(|url| url.origin() == self.base.origin())
    }
}

/// Operator JWTs and tokens are sent to endpoints, so each must be on the service's own origin.
fn endpoints(
    manifest: &Manifest,
    base: &Url,
    project: Option<&ProjectId>,
) -> Result<BTreeMap<String, Url>, DiscoverError> {
    let resolve = |(name, reference): (&String, &String)| {
        let reference = match project {
            Some(project) => reference.replace("{projectId}", project.as_str()),
            None if reference.contains("{projectId}") => return Err(DiscoverError::ProjectNeeded),
            None => reference.clone(),
        };
        let url = base.join(&reference).ok().filter(|url| url.origin() == base.origin());
        let url = url.ok_or_else(|| DiscoverError::ForeignEndpoint { name: shown(name) })?;
        Ok((name.clone(), url))
    };
    manifest.endpoints.iter().map(resolve).collect()
}
