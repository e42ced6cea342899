//! A project's published manifest. It claims only what this build and the project's document provide (AAP 15).

use crate::{
    aap::{access::proof_required, scope_expansion::ExpansionMode, texts},
    project::undo,
    records::Mode,
};
use countersign_protocol::{
    aap::{
        manifest::{Conformance, ConformanceTier, Manifest, ScopeEntry},
        version,
    },
    origin::Origin,
    project::{ProjectDocument, Scope},
};
use std::collections::BTreeMap;

const COMPANION: &str = "/.well-known/agent-auth.txt";

/// Undoes a call within its undo window; `{UNDO_ENDPOINT}/{id}` is the undo URL of one call (C-58).
pub const UNDO_ENDPOINT: &str = "/agent/undo";

const ENDPOINTS: &[(&str, &str)] = &[
    ("register", "/agent/register"),
    ("delegate", "/agent/delegate"),
    ("connect", "/agent/delegate/requests"),
    ("exchange", "/agent/delegate/token"),
    ("revoke", "/agent/revoke"),
    ("lift", "/agent/lift"),
    ("audit", "/agent/audit"),
    ("access_summary", "/agent/access-summary"),
    ("cancel", "/agent/cancel"),
    ("task_complete", "/agent/task-complete"),
    ("scope_approval", "/agent/scope-approval"),
];

/// The addressing of a project; its endpoints are published in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addressed {
    /// The only project of a single-tenant installation, at the unscoped paths.
    Alone,
    /// Through `?projectId=` (AAP 3.1, pattern A).
    ByQuery { scoped_paths: bool },
    /// Through its subdomain (pattern B): unscoped paths, its own origin.
    BySubdomain,
}

/// The resolved manifest of one project.
pub fn of_project(document: &ProjectDocument, service: &Origin, addressed: &Addressed) -> Manifest {
    let scoped = matches!(addressed, Addressed::ByQuery { scoped_paths: true });
    let prefix = if scoped { format!("/projects/{}", document.id) } else { String::new() };
    let modes = document.identity_modes_supported.clone();
    Manifest {
        display_name: Some(document.display_name.clone()).filter(|name| !name.is_empty()),
        minimum_tier: document.minimum_tier,
        intent_required: document.intent_required,
        credential_ttl: Some(document.credential_ttl),
        scope_expansion: document.scope_expansion.clone(),
        disclosures: modes
            .iter()
            .filter_map(|mode| Some((mode.clone(), mode_disclosure_in(document, Mode::parse(mode)?, "en"))))
            .collect(),
        identity_modes_supported: modes,
        scopes: document.scopes.iter().map(|scope| scope_entry(document, scope, &prefix)).collect(),
        endpoints: endpoints(&prefix),
        dpop_required: proof_required(document).then_some(true),
        conformance: Conformance {
            tier: document.conformance.tier,
            tested: document.conformance.tested.clone(),
            ..baseline_conformance()
        },
        project_id: (*addressed != Addressed::Alone).then(|| document.id.to_string()),
        companion: document
            .companion
            .as_ref()
            .map(|_| if scoped { format!("{COMPANION}?projectId={}", document.id) } else { COMPANION.to_owned() }),
        ..baseline(service)
    }
}

/// The manifest of a multi-tenant installation: defaults, and templates that require a project.
pub fn of_platform(service: &Origin, display_name: &str) -> Manifest {
    Manifest {
        display_name: Some(display_name.to_owned()),
        endpoints: endpoints("/projects/{projectId}"),
        disclosures: BTreeMap::from([(
            Mode::UserDelegated.as_str().to_owned(),
            texts::user_delegated("en").to_owned(),
        )]),
        identity_modes_supported: vec![Mode::UserDelegated.as_str().to_owned()],
        credential_ttl: Some(3600),
        ..baseline(service)
    }
}

/// The disclosure for a mode (AAP 11.5): the project's own text, untranslated; else ours in `language`.
pub fn mode_disclosure_in(document: &ProjectDocument, mode: Mode, language: &str) -> String {
    let own = document.disclosures.get(mode.as_str()).cloned();
    own.unwrap_or_else(|| match mode {
        Mode::UserDelegated => texts::user_delegated(language).to_owned(),
        Mode::ServiceAccount => texts::service_account(language).to_owned(),
    })
}

/// A service account's disclosure, filled from what was granted.
pub fn service_account_disclosure(document: &ProjectDocument, description: &str, language: &str) -> String {
    mode_disclosure_in(document, Mode::ServiceAccount, language).replace(texts::GRANTED_DESCRIPTION, description)
}

fn baseline(service: &Origin) -> Manifest {
    let named = |v: &&str| format!("aap/{v}");
    Manifest {
        spec: format!("aap/{}", version::PREFERRED),
        service: service.as_str().to_owned(),
        display_name: None,
        minimum_tier: 1,
        intent_required: true,
        credential_ttl: None,
        scope_expansion: ExpansionMode::default().as_str().into(),
        identity_modes_supported: Vec::new(),
        disclosures: BTreeMap::new(),
        scopes: Vec::new(),
        endpoints: BTreeMap::new(),
        conformance: baseline_conformance(),
        spec_versions_accepted: version::ACCEPTED.iter().map(|v| (*v).to_owned()).collect(),
        spec_versions_supported: version::ACCEPTED.iter().map(named).collect(),
        spec_version_preferred: Some(format!("aap/{}", version::PREFERRED)),
        project_id: None,
        dpop_required: None,
        companion: None,
        resource_origin: None,
    }
}

fn baseline_conformance() -> Conformance {
    Conformance { tier: ConformanceTier::Core, spec: format!("aap/{}", version::PREFERRED), tested: None }
}

fn endpoints(prefix: &str) -> BTreeMap<String, String> {
    ENDPOINTS.iter().map(|(name, path)| ((*name).to_owned(), format!("{prefix}{path}"))).collect()
}

fn scope_entry(document: &ProjectDocument, scope: &Scope, prefix: &str) -> ScopeEntry {
    let undo_window_s = undo::scope_window_s(document, scope);
    ScopeEntry {
        id: scope.id.clone(),
        description: scope.description.clone(),
        allows: scope.allows.clone(),
        explicitly_excludes: scope.explicitly_excludes.clone(),
        irreversible: scope.irreversible,
        requires_confirmation: scope.requires_confirmation,
        undo_window_s,
        undo_endpoint: (undo_window_s > 0).then(|| format!("{prefix}{UNDO_ENDPOINT}")),
        intent_types: scope.intent_types.clone(),
    }
}
