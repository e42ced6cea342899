//! The members of a request, parsed unambiguously or refused.

use super::{
    HttpRequest, MAX_BODY_BYTES, UnreadableRequest,
    json::{self, JsonMember},
    media::{Media, media},
    pairs,
};
use countersign_protocol::project::Route;
use std::{borrow::Cow, collections::BTreeMap};

/// The members of a request that templates may name, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    pub(super) path: Vec<(String, String)>,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: BodyFields,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BodyFields {
    Empty,
    Json(JsonMember),
    Form(Vec<(String, String)>),
    /// No member can be named: people see its size, type and digest.
    Opaque,
}

impl Fields {
    /// Parses strictly: a request that two parsers could read differently is refused before anybody is asked.
    pub fn read(route: &Route, request: &HttpRequest) -> Result<Self, UnreadableRequest> {
        Ok(Self {
            path: path(&route.path, request.path())?,
            query: pairs::read(request.query().unwrap_or_default().as_bytes()).map_err(UnreadableRequest::Query)?,
            headers: request.headers.clone(),
            body: body(route, request)?,
        })
    }

    /// Path and query alone.
    pub(super) fn of_target(route: &Route, raw: &str, query: Option<&str>) -> Result<Self, UnreadableRequest> {
        Ok(Self {
            path: path(&route.path, raw)?,
            query: pairs::read(query.unwrap_or_default().as_bytes()).map_err(UnreadableRequest::Query)?,
            headers: BTreeMap::new(),
            body: BodyFields::Empty,
        })
    }

    pub(super) fn in_path(&self, name: &str) -> Option<&str> {
        find(&self.path, name)
    }

    pub(super) fn in_query(&self, name: &str) -> Option<&str> {
        find(&self.query, name)
    }

    /// A member of the body. Names in a form may contain dots; in JSON a dot leads one level down.
    pub(super) fn in_body(&self, name: &str) -> Option<Cow<'_, JsonMember>> {
        match &self.body {
            BodyFields::Json(root) => {
                name.split('.').try_fold(root, |member, step| member.get(step)).map(Cow::Borrowed)
            }
            BodyFields::Form(pairs) => find(pairs, name).map(|value| Cow::Owned(JsonMember::Text(value.to_owned()))),
            BodyFields::Empty | BodyFields::Opaque => None,
        }
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn path(template: &str, path: &str) -> Result<Vec<(String, String)>, UnreadableRequest> {
    if template.split('/').count() != path.split('/').count() {
        return Err(UnreadableRequest::Path);
    }
    let mut named = Vec::new();
    for (wanted, given) in template.split('/').zip(path.split('/')) {
        match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => named.push((name.to_owned(), segment(name, given)?)),
            None if wanted == given => {}
            None => return Err(UnreadableRequest::Path),
        }
    }
    Ok(named)
}

fn segment(name: &str, given: &str) -> Result<String, UnreadableRequest> {
    let value = pairs::decoded(given.as_bytes(), false).ok();
    let sound = |value: &String| !value.is_empty() && !value.chars().any(char::is_control);
    value.filter(sound).ok_or_else(|| UnreadableRequest::Segment(name.to_owned()))
}

fn body(route: &Route, request: &HttpRequest) -> Result<BodyFields, UnreadableRequest> {
    let most = route.max_body_bytes.unwrap_or(MAX_BODY_BYTES);
    if u64::try_from(request.body.len()).map_or(true, |bytes| bytes > most) {
        return Err(UnreadableRequest::TooBig { most });
    }
    if !matches!(request.content_encoding.as_str(), "" | "identity") {
        return Err(UnreadableRequest::Encoded);
    }
    let kind = media(&request.content_type)?;
    if request.body.is_empty() {
        return Ok(BodyFields::Empty);
    }
    match kind {
        Media::Json => json::read(&request.body).map(BodyFields::Json).map_err(UnreadableRequest::Json),
        Media::Form => pairs::read(&request.body).map(BodyFields::Form).map_err(UnreadableRequest::Form),
        Media::Other => Ok(BodyFields::Opaque),
    }
}
