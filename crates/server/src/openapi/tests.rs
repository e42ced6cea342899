use super::*;
use std::collections::BTreeMap;

/// Every operation, with its method and path.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, item)| {
            let operations = item.as_object().unwrap().iter().filter(|(_, value)| value.get("responses").is_some());
            operations.map(move |(method, operation)| (format!("{method} {path}"), operation))
        })
        .collect()
}

fn document() -> Value {
    description()
}

#[test]
fn every_operation_has_an_id_of_its_own_that_generators_can_use() {
    let document = document();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    for (place, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{place} has no id")).to_owned();
        assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{id}");
        if let Some(other) = places.insert(id.clone(), place.clone()) {
            panic!("{id} is both {other} and {place}");
        }
    }
    assert_eq!(places["post_v1_decisions_decision_claim"], "post /v1/decisions/{decision}/claim");
}

/// Two types with one name would become one schema, which is wrong for one of them.
#[test]
fn every_reference_leads_somewhere_and_no_two_types_share_a_name() {
    let document = document();
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(document["components"]["schemas"].get(name).is_some(), "{name} is not there");
    }
    for (name, schema) in described_types() {
        let published = &document["components"]["schemas"][&name];
        let mut schema = schema;
        descriptions::tidy(&mut schema);
        assert_eq!(*published, schema, "{name} is the name of two types");
    }
}

/// Every type that an operation takes or returns, with its own schema, including those with the same name.
fn described_types() -> Vec<(String, Value)> {
    macro_rules! of {
        ($($kind:ty),+ $(,)?) => {{
            let mut found = Vec::new();
            $(
                found.push((<$kind as utoipa::ToSchema>::name().into_owned(), <$kind as utoipa::PartialSchema>::schema()));
                <$kind as utoipa::ToSchema>::schemas(&mut found);
            )+
            found
        }};
    }
    use countersign_protocol as protocol;
    let found = of![
        protocol::aap::manifest::Manifest,
        protocol::aaep::manifest::Manifest,
        protocol::aap::error::ErrorEnvelope,
        protocol::decisions::DecisionDocument,
        protocol::project::ProjectDocument,
        protocol::mplp::PlanSubmission,
        protocol::mplp::PlanActions,
        protocol::mplp::Confirm,
        protocol::mplp::Trace,
        protocol::clarification::Audit,
        crate::aaep::subscriber_tokens::Tokens,
        crate::project::AppliedDocument,
        crate::people::session::SignInSession,
        crate::people::agents::Agents,
    ];
    found.into_iter().map(|(name, schema)| (name, json!(schema))).collect()
}

#[test]
fn descriptions_name_no_rule_of_ours() {
    assert!(json!(OpenApiPatch::openapi()).to_string().contains("(R-"), "comments name rules");
    let text = document().to_string();
    for id in ["(R-", "(C-", "(W-", "(M-", "(E-", "(AAP ", "(AAEP "] {
        assert!(!text.contains(id), "{id} stands in the description");
    }
}
