//! Tool definitions and refusals, as clients see them.

use super::{
    hints,
    tool::{Hints, ListedTool, ToolCall},
};
use countersign_engine::{Refusal, Scheme};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Marks tools that make plans or attestations (W-26).
const GENERATES: &str = "countersign/generates";

pub(super) fn definition(tool: &ListedTool) -> Tool {
    let definition = Tool::new(tool.name, tool.description, (tool.input)())
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new((tool.output)()))
        .with_annotations(annotations(tool));
    match tool.generates {
        true => definition.with_meta(MetaObject(Map::from_iter([(GENERATES.to_owned(), json!(true))]))),
        false => definition,
    }
}

fn annotations(tool: &ListedTool) -> ToolAnnotations {
    let (reads, repeatable) = match tool.hints {
        Hints::Reads => (true, true),
        Hints::Repeatable => (false, true),
        Hints::Counts => (false, false),
    };
    // Tools raise questions and write records; they never remove anything.
    ToolAnnotations::new().read_only(reads).idempotent(repeatable).destructive(false).open_world(false)
}

/// A refusal: the envelope for programs, and the next step in words.
pub(super) fn refused(call: &ToolCall, refusal: &Refusal) -> CallToolResult {
    call.app.metrics.refused(refusal.code());
    let envelope = countersign_gateway::envelope(refusal, &call.id.0, Scheme::Bearer).into_body();
    let mut envelope: Map<String, Value> = serde_json::from_str(&envelope).unwrap_or_default();
    let (hint, wait) = (hints::after(refusal), refusal.retry_after_s());
    let words = in_words(refusal, &hint, wait);
    envelope.insert("hint".into(), hint.into());
    envelope.extend(wait.map(|seconds| ("retry_after_seconds".to_owned(), json!(seconds))));
    let mut result = CallToolResult::structured_error(Value::Object(envelope));
    result.content = vec![ContentBlock::text(words)];
    result
}

fn in_words(refusal: &Refusal, hint: &str, wait: Option<i64>) -> String {
    let wait = wait.map(|seconds| format!(" Wait {seconds} s before you try again.")).unwrap_or_default();
    format!("Refused ({}): {refusal}. Next step: {hint}.{wait}", refusal.code())
}
