//! The rules of each project, compiled once per version.

use crate::services::Clarifications;
use countersign_core::{clarification::rules::Rules, records::Project, refusal::Refusal};
use countersign_protocol::ids::RowKey;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Number of projects with cached rules.
const PROJECTS: usize = 256;

pub(crate) struct RuleBooks(Cache<(RowKey, i64), Arc<Rules>>);

impl Default for RuleBooks {
    fn default() -> Self {
        Self(Cache::new(PROJECTS))
    }
}

impl Clarifications<'_> {
    pub(crate) fn rules_of(self, project: &Project) -> Result<Arc<Rules>, Refusal> {
        let name = (project.key, project.version);
        if let Some(known) = self.rule_books.0.get(&name) {
            return Ok(known);
        }
        let rules = Rules::compile(&project.document.clarification).map_err(|why| {
            tracing::error!(%why, project = %project.id, "the rules of a project that was checked do not compile");
            Refusal::Internal
        })?;
        let rules = Arc::new(rules);
        self.rule_books.0.insert(name, Arc::clone(&rules));
        Ok(rules)
    }
}
