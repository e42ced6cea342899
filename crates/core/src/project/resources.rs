//! Validates what the document says about resources and data subjects (AAP 11.3, 11.4).

use super::{check::Problems, reading::is_header};
use crate::{
    aap::boundary::{can_match, check_pattern},
    held::key_template,
    records::Mode,
};
use countersign_protocol::project::{ProjectDocument, ResourceUsers, Route};
use std::collections::HashSet;

pub(super) fn check(document: &ProjectDocument, found: &mut Problems) {
    let mut seen = HashSet::new();
    for (n, entry) in document.resources.iter().enumerate() {
        let at = format!("resources[{n}].pattern");
        if let Err(why) = check_pattern(document, &entry.pattern) {
            found.demand(false, &at, &why);
        }
        found.demand(seen.insert(entry.pattern.as_str()), &at, "stands twice");
    }
}

pub(super) fn check_route(route: &Route, document: &ProjectDocument, at: &str, found: &mut Problems) {
    let template = route.resource_template().and_then(|text| key_template(text).ok());
    if let Some(template) = &template {
        let why = "resource: use path.NAME and query.NAME only: it is checked before the rest of the request is read";
        found.demand(template.names().all(|name| name.is_in_target()), at, why);
    }
    if let Some(source) = &route.data_subjects {
        let one = source.header.is_some() != source.member.is_some();
        found.demand(one, at, "data_subjects must have either header or member");
        let header = source.header.as_deref().is_none_or(is_header);
        found.demand(header, at, "data_subjects.header must be a header name in lower case");
        let pointer = source.member.as_deref().is_none_or(|member| member.is_empty() || member.starts_with('/'));
        found.demand(pointer, at, "data_subjects.member must be a JSON pointer such as /owner or /items/*/owner");
        let stream = route.stream.is_none() || source.member.is_none();
        found.demand(stream, at, "data_subjects.member cannot be read from a stream: use a header");
        return;
    }
    let offered = document.identity_modes_supported.iter().any(|mode| mode == Mode::ServiceAccount.as_str());
    let many = document.resources.iter().filter(|entry| entry.users == ResourceUsers::Many);
    let shared = template.and_then(|template| many.into_iter().find(|entry| can_match(&entry.pattern, &template)));
    if let (true, Some(entry)) = (offered, shared) {
        let why = format!(
            "data_subjects is required: {} has data of several users, and a service account's calls must name them",
            entry.pattern
        );
        found.demand(false, at, &why);
    }
}
