//! Requests of `countersign project` and `countersign routes`.

use super::{AdminRefusal, AdminRequest};
use countersign_engine::{Applied, Engine, Project, store::project_at};
use countersign_protocol::{ids::ProjectId, project::ProjectDocument};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The actor recorded in the evidence when a project is changed at the command line.
const BY: &str = "command line";

#[derive(Serialize, Deserialize)]
pub struct ListProjects {}

impl AdminRequest for ListProjects {
    const NAME: &'static str = "list-projects";
    type Answer = Vec<Project>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<Project>, AdminRefusal> {
        Ok(engine.projects().await?)
    }
}

/// The project of that id, or the only one.
#[derive(Serialize, Deserialize)]
pub struct ShowProject {
    pub id: Option<String>,
    /// `None`: the version in force.
    pub version: Option<i64>,
}

impl AdminRequest for ShowProject {
    const NAME: &'static str = "show-project";
    type Answer = Project;

    async fn run(self, engine: &Arc<Engine>) -> Result<Project, AdminRefusal> {
        let project = find_project(engine, self.id.as_deref()).await?;
        let Some(version) = self.version else { return Ok(project) };
        let then = project_at(&**engine.store(), project.key, version).await?;
        then.ok_or_else(|| AdminRefusal::UnknownVersion { project: project.id.to_string(), version })
    }
}

/// All versions of the project, oldest first.
#[derive(Serialize, Deserialize)]
pub struct ListProjectVersions {
    pub id: Option<String>,
}

impl AdminRequest for ListProjectVersions {
    const NAME: &'static str = "list-project-versions";
    type Answer = Vec<Project>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<Project>, AdminRefusal> {
        let project = find_project(engine, self.id.as_deref()).await?;
        let store = engine.store();
        let mut found = Vec::new();
        for version in store.project_versions(project.key).await? {
            found.extend(project_at(&**store, project.key, version).await?);
        }
        Ok(found)
    }
}

/// The project with exactly this id, if it exists.
#[derive(Serialize, Deserialize)]
pub struct FindProject {
    pub id: ProjectId,
}

impl AdminRequest for FindProject {
    const NAME: &'static str = "find-project";
    type Answer = Option<Project>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Option<Project>, AdminRefusal> {
        Ok(engine.find_project(&self.id).await?)
    }
}

#[derive(Serialize, Deserialize)]
pub struct ApplyProject {
    pub document: ProjectDocument,
}

impl AdminRequest for ApplyProject {
    const NAME: &'static str = "apply-project";
    type Answer = Applied;

    async fn run(self, engine: &Arc<Engine>) -> Result<Applied, AdminRefusal> {
        Ok(engine.apply_project(self.document, BY).await?)
    }
}

/// The project of that id, or the only one.
pub(super) async fn find_project(engine: &Arc<Engine>, id: Option<&str>) -> Result<Project, AdminRefusal> {
    let all = engine.projects().await?;
    let ids = || all.iter().map(|project| project.id.to_string()).collect();
    match (id, all.as_slice()) {
        (_, []) => Err(AdminRefusal::NoProject),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(AdminRefusal::SeveralProjects(ids())),
        (Some(id), _) => {
            let found = all.iter().find(|project| project.id.as_str() == id);
            found.cloned().ok_or_else(|| AdminRefusal::UnknownProject(ids()))
        }
    }
}
