//! Dry runs of routes (AAP 14.1, C-04).

use super::Route;
use serde::{Deserialize, Serialize};

/// Who answers a dry run of a route, if anybody does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "dry_run must be true, false, { upstream = \"query\" } or { upstream = \"header\" }")]
pub enum RouteDryRun {
    /// `true`: the gateway answers with a preview, as without the option. `false`: the route has no dry run.
    Offered(bool),
    Upstream(UpstreamDryRun),
}

/// The upstream has a dry run of its own and answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UpstreamDryRun {
    /// The only spelling that the upstream receives.
    pub upstream: DryRunSpelling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DryRunSpelling {
    /// `dry_run=true` in the query.
    Query,
    /// `X-Agent-Dry-Run: true`.
    Header,
}

impl Route {
    /// A stream has no dry run: nothing of its content is known before it is open.
    pub fn offers_dry_run(&self) -> bool {
        self.stream.is_none() && self.dry_run != Some(RouteDryRun::Offered(false))
    }

    /// The spelling of a dry run that the upstream answers; none if the gateway answers it.
    pub fn upstream_dry_run(&self) -> Option<DryRunSpelling> {
        match &self.dry_run {
            Some(RouteDryRun::Upstream(by)) => Some(by.upstream),
            _ => None,
        }
    }
}
