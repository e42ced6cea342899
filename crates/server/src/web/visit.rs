//! The extractor for a page request: session and language.

use crate::{
    App,
    http::{answer::RefusalResponse, at::by_host, caller::Asker},
    pages::{Frame, Language, pick_language},
};
use axum::extract::{FromRequestParts, OriginalUri};
use countersign_engine::{ListenerKind, Project, Refusal, SignedIn};
use http::{HeaderMap, Uri, header, request::Parts};

pub(super) struct Visit {
    pub(super) asker: Asker,
    pub(super) language: Language,
    pub(super) uri: Uri,
}

impl FromRequestParts<App> for Visit {
    type Rejection = RefusalResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, RefusalResponse> {
        let asker = Asker::from_request_parts(parts, app).await?;
        let uri = parts.extensions.get::<OriginalUri>().map_or_else(|| parts.uri.clone(), |uri| uri.0.clone());
        Ok(Self { language: language(&asker.headers), asker, uri })
    }
}

impl Visit {
    pub(super) fn person(&self) -> Result<&SignedIn, Refusal> {
        self.asker.person()
    }

    /// The CSRF token for forms of this sign-in session.
    pub(super) fn csrf(&self, app: &App) -> Result<String, Refusal> {
        app.engine.people().csrf_token(&self.person()?.session)
    }

    /// Checks that a form belongs to this sign-in session and comes from one of Countersign's own pages.
    pub(super) fn own_form(&self, app: &App, csrf: &str) -> Result<(), Refusal> {
        self.asker.own_page(app, Some(csrf))
    }

    /// The frame of a page about one project.
    pub(super) fn frame_of(&self, project: &Project) -> Frame {
        self.named(&name_of(project))
    }

    /// The frame of a page without a project.
    pub(super) async fn frame(&self, app: &App) -> Frame {
        self.named(&service_name(app, &self.asker.headers, &self.uri).await)
    }

    fn named(&self, service: &str) -> Frame {
        let person = self.asker.signed_in.as_ref().map(|who| who.person.display_name.as_str());
        Frame::new(self.language, service, person)
    }
}

pub(super) fn language(headers: &HeaderMap) -> Language {
    pick_language(headers.get(header::ACCEPT_LANGUAGE).and_then(|v| v.to_str().ok()))
}

/// The display name of the service at this URL: the project's name, or the installation's.
pub(super) async fn service_name(app: &App, headers: &HeaderMap, uri: &Uri) -> String {
    match app.engine.project(&by_host(app, headers, uri)).await {
        Ok(at) => name_of(&at.project),
        Err(_) => app.engine.platform_manifest(ListenerKind::Public).display_name.unwrap_or_default(),
    }
}

pub(super) fn name_of(project: &Project) -> String {
    let name = &project.document.display_name;
    if name.is_empty() { project.id.to_string() } else { name.clone() }
}
