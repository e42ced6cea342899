//! Applies a project document: the only way to create or change a project.

use super::{DocumentProblem, check};
use crate::{
    env::Env,
    evidence::DraftEntry,
    records::{Project, Record},
    step::{Effects, Once, Operation, Step},
};
use countersign_protocol::{canonical, hash::Digest, project::ProjectDocument, time::UnixMillis};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub struct Apply {
    pub document: ProjectDocument,
    /// The actor: a person's subject, a key's principal, or `node` for the configuration file.
    pub by: String,
}

pub struct ApplyView {
    pub current: Option<Project>,
    /// With single tenancy there is exactly one project.
    pub single_tenant: bool,
    pub other_projects: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    pub project: Project,
    /// False if the document is already in force; then there is no new version.
    pub changed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyRefusal {
    #[error("the project document has {} problem(s)", .0.len())]
    Problems(Vec<DocumentProblem>),
    #[error("this installation serves one project (tenancy = \"single\") and has one already")]
    SecondProject,
    #[error("the document has no canonical form")]
    NotCanonical,
}

impl Operation for Apply {
    type View = ApplyView;
    type Answer = Applied;
    type Refusal = ApplyRefusal;

    fn decide(self, view: &ApplyView, env: &Env) -> Result<Step<Applied>, ApplyRefusal> {
        let problems = check(&self.document);
        if !problems.is_empty() {
            return Err(ApplyRefusal::Problems(problems));
        }
        match &view.current {
            Some(current) if *current.document == self.document => {
                Ok(Step::answer(Applied { project: current.clone(), changed: false }))
            }
            Some(current) => {
                let project = Project { version: current.version + 1, changed_at: env.now, ..current.clone() };
                self.write(project, env)
            }
            None if view.single_tenant && view.other_projects > 0 => Err(ApplyRefusal::SecondProject),
            None => {
                let key = env.mint().key();
                let (id, document) = (self.document.id.clone(), Arc::new(self.document.clone()));
                let project = Project { key, version: 1, id, created_at: env.now, changed_at: env.now, document };
                let mut step = self.write(project, env)?;
                // Of two first projects applied at the same instant, only one can become the single project.
                if view.single_tenant {
                    step.effects.once.push(Once { key: "node:only-project".into(), until: UnixMillis(i64::MAX) });
                }
                Ok(step)
            }
        }
    }
}

impl Apply {
    fn write(self, project: Project, env: &Env) -> Result<Step<Applied>, ApplyRefusal> {
        let document = canonical::to_vec(&self.document).map_err(|_| ApplyRefusal::NotCanonical)?;
        let project = Project { document: Arc::new(self.document), ..project };
        let mut mint = env.mint();
        let entry = DraftEntry::new((project.key, &project.id), "project_applied", env.now)
            .open("version", project.version)
            .open("document_sha256", Digest::of(&document).hex())
            .hidden("by", self.by)
            .seal(&mut mint)
            .map_err(|_| ApplyRefusal::NotCanonical)?;
        let effects =
            Effects { puts: vec![Record::Project(project.clone())], evidence: vec![entry], ..Effects::default() };
        Ok(Step { answer: Applied { project, changed: true }, effects })
    }
}
