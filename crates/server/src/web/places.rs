//! The projects of a person's connections: the addressed project, or every project the person belongs to.

use super::visit::Visit;
use crate::{App, http::at::by_host};
use countersign_engine::{Address, Project, ProjectAt, Refusal, SignedIn, Tenancy};

/// The projects behind the unscoped `/agents`: in a multi-tenant installation, all those of the person.
pub(super) async fn behind(app: &App, visit: &Visit, who: &SignedIn) -> Result<Vec<ProjectAt>, Refusal> {
    let address = by_host(app, &visit.asker.headers, &visit.uri);
    if address == Address::Unscoped && app.engine.settings().tenancy == Tenancy::Multi {
        let projects = app.engine.projects_of(who.person.key).await?;
        return Ok(projects.into_iter().map(|project| at(app, project)).collect());
    }
    Ok(vec![app.engine.project(&address).await?])
}

/// A project reference as pages on this service's own origin address it.
pub(super) fn at(app: &App, project: Project) -> ProjectAt {
    let settings = app.engine.settings();
    let address = match settings.tenancy {
        Tenancy::Single => Address::Unscoped,
        Tenancy::Multi => Address::Scoped(project.id.to_string()),
    };
    ProjectAt { project, service: settings.origin.clone(), resources: None, address }
}
