//! Finding the project of a request, and changing a project's document.

use crate::{
    engine::{Engine, Tenancy},
    store::{AllProjects, MembershipsOfPerson, ProjectById, StoreError},
};
use countersign_core::{
    aap::manifest::{self, Addressed},
    decision::ProjectRef,
    project::{Applied, Apply, ApplyRefusal, ApplyView},
    records::Project,
    refusal::Refusal,
    step::Operation as _,
};
use countersign_jose::peek;
use countersign_protocol::{
    aap::manifest::Manifest,
    ids::{ProjectId, RowKey},
    origin::Origin,
    project::ProjectDocument,
};

/// How a request names its project.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// `/agent/…`: the only project of a single-tenant installation.
    Unscoped,
    /// `/projects/{projectId}/…`
    Scoped(String),
    /// The project's own host.
    Subdomain(String),
}

/// Where a request arrived: each listener has an origin of its own, and refers to itself by that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListenerKind {
    #[default]
    Public,
    Gateway,
}

/// A project as it was addressed.
#[derive(Clone, Debug)]
pub struct ProjectAt {
    pub project: Project,
    /// The base URI at this listener: the required `aud`.
    pub service: Origin,
    /// The origin of its API, if it is a different one.
    pub resources: Option<Origin>,
    pub address: Address,
}

impl ProjectAt {
    pub fn manifest(&self, asked_by_query: bool) -> Manifest {
        let addressed = match &self.address {
            Address::Subdomain(_) => Addressed::BySubdomain,
            Address::Scoped(_) => Addressed::ByQuery { scoped_paths: true },
            Address::Unscoped if asked_by_query => Addressed::ByQuery { scoped_paths: false },
            Address::Unscoped => Addressed::Alone,
        };
        let resource_origin = self.resources.as_ref().map(|origin| origin.as_str().to_owned());
        Manifest { resource_origin, ..manifest::of_project(&self.project.document, &self.service, &addressed) }
    }

    pub(crate) fn project_ref(&self) -> ProjectRef {
        (self.project.key, self.project.id.clone())
    }

    /// The beginning of the path of a scoped endpoint.
    pub fn prefix(&self) -> String {
        match &self.address {
            Address::Scoped(id) => format!("/projects/{id}"),
            _ => String::new(),
        }
    }
}

impl Engine {
    /// The project at an address of the public listener.
    pub async fn project(&self, address: &Address) -> Result<ProjectAt, Refusal> {
        self.project_at(ListenerKind::Public, address).await
    }

    pub async fn project_at(&self, listener: ListenerKind, address: &Address) -> Result<ProjectAt, Refusal> {
        let origin = self.origin_at(listener).clone();
        let (project, service) = match address {
            Address::Unscoped => (self.only_project().await?, origin),
            Address::Scoped(id) => (self.project_by_id(id).await?, origin),
            Address::Subdomain(id) if self.settings.subdomains => {
                (self.project_by_id(id).await?, origin.with_subdomain(id))
            }
            Address::Subdomain(_) => return Err(Refusal::ProjectNotFound),
        };
        let resources = self.resources_of(&project).filter(|origin| *origin != service);
        Ok(ProjectAt { project, service, resources, address: address.clone() })
    }

    /// The manifest of a multi-tenant installation.
    pub fn platform_manifest(&self, listener: ListenerKind) -> Manifest {
        manifest::of_platform(self.origin_at(listener), "Countersign")
    }

    fn origin_at(&self, listener: ListenerKind) -> &Origin {
        match (listener, &self.settings.gateway) {
            (ListenerKind::Gateway, Some(gateway)) => gateway,
            _ => &self.settings.origin,
        }
    }

    /// The gateway's origin for a project: with several projects, only the project's own host.
    pub(crate) fn resources_of(&self, project: &Project) -> Option<Origin> {
        let gateway = self.settings.gateway.as_ref()?;
        match (self.settings.tenancy, self.settings.subdomains) {
            (Tenancy::Single, _) => Some(gateway.clone()),
            (Tenancy::Multi, true) => Some(gateway.with_subdomain(project.id.as_str())),
            (Tenancy::Multi, false) => None,
        }
    }

    /// The base URIs of the public listener and of the gateway.
    fn base_uris(&self) -> impl Iterator<Item = &Origin> {
        std::iter::once(&self.settings.origin).chain(&self.settings.gateway)
    }

    /// Every base URI under which a project's tokens may have been issued.
    pub(crate) fn origins_of(&self, project: &Project) -> Vec<String> {
        let own =
            |base: &Origin| self.settings.subdomains.then(|| base.with_subdomain(project.id.as_str()).to_string());
        self.base_uris().flat_map(|base| std::iter::once(base.to_string()).chain(own(base))).collect()
    }

    /// Whether a token names the host of a project as its issuer, this one's or another's.
    pub(crate) fn is_issued_by_project_host(&self, jwt: &str) -> bool {
        let label = |iss: &str| iss.split_once("://")?.1.split('.').next().map(str::to_owned);
        let on_host = |iss: &str| {
            label(iss).is_some_and(|label| self.base_uris().any(|base| base.with_subdomain(&label).as_str() == iss))
        };
        self.settings.subdomains && peek(jwt).is_ok_and(|token| on_host(&token.iss))
    }

    async fn only_project(&self) -> Result<Project, Refusal> {
        if self.settings.tenancy == Tenancy::Multi {
            return Err(Refusal::ProjectNotFound);
        }
        let all = self.projects().await?;
        all.into_iter().next().ok_or(Refusal::ProjectNotFound)
    }

    async fn project_by_id(&self, id: &str) -> Result<Project, Refusal> {
        let id = ProjectId::parse(id).map_err(|_| Refusal::ProjectNotFound)?;
        self.find_project(&id).await?.ok_or(Refusal::ProjectNotFound)
    }

    pub async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.find_all(AllProjects).await
    }

    /// The projects of which a person is a member.
    pub async fn projects_of(&self, person: RowKey) -> Result<Vec<Project>, Refusal> {
        let places = self.find_all(MembershipsOfPerson(person)).await?;
        let mut found = Vec::new();
        for place in places {
            found.extend(self.get::<Project>(place.project).await?);
        }
        Ok(found)
    }

    pub async fn find_project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        self.find_one(ProjectById(id.to_string())).await
    }

    /// Applies a document; the next request is decided by it.
    pub async fn apply_project(&self, document: ProjectDocument, by: &str) -> Result<Applied, ApplyError> {
        self.run(|| async {
            let all = self.projects().await?;
            let current = all.iter().find(|project| project.id == document.id).cloned();
            let single_tenant = self.settings.tenancy == Tenancy::Single;
            let view = ApplyView { other_projects: all.len() - usize::from(current.is_some()), current, single_tenant };
            let apply = Apply { document: document.clone(), by: by.to_owned() };
            Ok(apply.decide(&view, &self.env()?)?)
        })
        .await
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error(transparent)]
    Refused(#[from] ApplyRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the store could not take the change; try again")]
    Unavailable,
}

impl From<Refusal> for ApplyError {
    fn from(_: Refusal) -> Self {
        Self::Unavailable
    }
}
