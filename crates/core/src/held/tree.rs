//! Converts the members of a request to one tree and back, for matching against standing approvals.

use super::{
    Fields, HttpRequest,
    fields::BodyFields,
    json::JsonMember,
    media::{Media, media},
};

impl Fields {
    /// `{path, query, headers, content_type, body}`. A body that cannot be parsed is represented by its digest.
    pub(crate) fn tree(&self, request: &HttpRequest) -> JsonMember {
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), JsonMember::Text(value.clone())));
        let mut members = vec![
            ("path".to_owned(), texts(&self.path)),
            ("query".to_owned(), texts(&self.query)),
            ("headers".to_owned(), JsonMember::Object(headers.collect())),
        ];
        if !request.content_type.is_empty() {
            members.push(("content_type".to_owned(), JsonMember::Text(plain_type(&request.content_type))));
        }
        members.extend(match &self.body {
            BodyFields::Empty => None,
            BodyFields::Json(root) => Some(("body".to_owned(), root.clone())),
            BodyFields::Form(pairs) => Some(("body".to_owned(), texts(pairs))),
            BodyFields::Opaque => Some(("body_sha256".to_owned(), JsonMember::Text(request.body_sha256()))),
        });
        JsonMember::Object(members)
    }

    /// The members of the request that the tree represents.
    pub(crate) fn of_tree(tree: &JsonMember) -> Self {
        let pairs_at = |name: &str| tree.get(name).map(pairs).unwrap_or_default();
        let body = match (tree.get("body"), tree.get("body_sha256")) {
            (Some(body), _) if is_form(tree) => BodyFields::Form(pairs(body)),
            (Some(body), _) => BodyFields::Json(body.clone()),
            (None, Some(_)) => BodyFields::Opaque,
            (None, None) => BodyFields::Empty,
        };
        Self {
            path: pairs_at("path"),
            query: pairs_at("query"),
            headers: pairs_at("headers").into_iter().collect(),
            body,
        }
    }
}

/// JSON has one charset, so naming it is redundant. Every other type stays as sent.
pub(crate) fn plain_type(content_type: &str) -> String {
    let mut parts = content_type.split(';');
    let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let only_charset = parts.all(|part| part.trim().to_ascii_lowercase().starts_with("charset="));
    if media(content_type) == Ok(Media::Json) && only_charset { essence } else { content_type.to_owned() }
}

pub(super) fn is_form(tree: &JsonMember) -> bool {
    matches!(tree.get("content_type"), Some(JsonMember::Text(kind)) if media(kind) == Ok(Media::Form))
}

fn texts(pairs: &[(String, String)]) -> JsonMember {
    JsonMember::Object(pairs.iter().map(|(name, value)| (name.clone(), JsonMember::Text(value.clone()))).collect())
}

fn pairs(member: &JsonMember) -> Vec<(String, String)> {
    let JsonMember::Object(members) = member else { return Vec::new() };
    let text = |(name, value): &(String, JsonMember)| match value {
        JsonMember::Text(text) => Some((name.clone(), text.clone())),
        _ => None,
    };
    members.iter().filter_map(text).collect()
}
