//! The published OpenAPI description as an oracle: every response of Countersign's own endpoints, and every body that
//! such an endpoint accepted, matches its published schema. It checks the traffic of every test.

use crate::Answer;
use axum::body::Body;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex},
};

/// The parts of a request that the description covers.
pub(crate) struct JudgedRequest {
    method: Method,
    path: String,
    body: Option<Value>,
}

impl JudgedRequest {
    /// Reads a body of known length; a streaming one is passed on unread.
    pub(crate) async fn of(request: Request<Body>) -> (Self, Request<Body>) {
        let (parts, body) = request.into_parts();
        let mut sent = Self { method: parts.method.clone(), path: parts.uri.path().to_owned(), body: None };
        if body.size_hint().exact().is_none() {
            return (sent, Request::from_parts(parts, body));
        }
        let bytes = body.collect().await.expect("a body in memory").to_bytes();
        sent.body = serde_json::from_slice(&bytes).ok();
        (sent, Request::from_parts(parts, Body::from(bytes)))
    }

    /// Fails if the description promises something else.
    pub(crate) fn judge(&self, answer: &Answer) {
        let Some(operation) = DESCRIBED.operation(&self.method, &self.path) else { return };
        let place = format!("{} {} ({})", self.method, self.path, answer.status);
        DESCRIBED.judge_answer(operation, &place, answer);
        let request = operation.pointer("/requestBody/content/application~1json/schema");
        if let (Some(schema), Some(body), true) = (request, &self.body, answer.is_success()) {
            let found = DESCRIBED.problems(schema, body);
            assert!(found.is_empty(), "{place} accepted a body that is not as described: {found:#?}\n{body:#}");
        }
    }
}

static DESCRIBED: LazyLock<DescribedApi> = LazyLock::new(DescribedApi::read);

struct DescribedApi {
    document: Value,
    /// By schema, as text.
    schemas: Mutex<BTreeMap<String, Arc<Validator>>>,
}

impl DescribedApi {
    fn read() -> Self {
        Self { document: countersign_server::openapi_description(), schemas: Mutex::default() }
    }

    /// The operation with a matching path and the fewest parameters.
    fn operation(&self, method: &Method, path: &str) -> Option<&Value> {
        let method = method.as_str().to_ascii_lowercase();
        let paths = self.document["paths"].as_object()?;
        let fitting = paths.iter().filter(|(template, _)| fits(template, path));
        let (_, item) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
        item.get(&method)
    }

    fn judge_answer(&self, operation: &Value, place: &str, answer: &Answer) {
        let responses = &operation["responses"];
        let class = format!("{}XX", answer.status / 100);
        let response = responses.get(answer.status.to_string()).or_else(|| responses.get(class));
        let response = response.unwrap_or_else(|| panic!("{place}: no such status is described"));
        let kind = answer.header("content-type").unwrap_or_default();
        let Some(content) = response["content"].as_object() else {
            assert!(answer.body.is_empty(), "{place}: no body is described, and this came: {}", answer.text());
            return;
        };
        let kind = kind.split(';').next().unwrap_or_default();
        // Signed and textual forms of a document are described in words; only JSON has a schema.
        if kind == "application/json" {
            let described = content.get(kind).unwrap_or_else(|| panic!("{place}: {kind:?} is not described"));
            let found = self.problems(&described["schema"], &answer.json());
            assert!(found.is_empty(), "{place} is not as described: {found:#?}\n{}", answer.text());
        }
    }

    fn problems(&self, schema: &Value, document: &Value) -> Vec<String> {
        let judge = self.judge(schema);
        judge.iter_errors(document).map(|why| format!("{}: {why}", why.instance_path())).collect()
    }

    fn judge(&self, schema: &Value) -> Arc<Validator> {
        let mut schemas = self.schemas.lock().expect("no test fails while it holds this");
        let judge = schemas.entry(schema.to_string()).or_insert_with(|| Arc::new(self.compiled(schema)));
        Arc::clone(judge)
    }

    fn compiled(&self, schema: &Value) -> Validator {
        let mut whole: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
        whole.insert("components".into(), json!({ "schemas": self.document["components"]["schemas"] }));
        let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(true);
        options.build(&Value::Object(whole)).expect("a sound schema")
    }
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len() && template.iter().zip(path).all(|(want, got)| want.starts_with('{') || *want == got)
}
