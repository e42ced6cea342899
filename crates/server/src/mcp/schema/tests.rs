use super::*;
use serde::Deserialize;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Taken {
    /// How many.
    count: i64,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    inner: Option<Inner>,
}

#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Inner {
    kind: Word,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    Yes,
    No,
}

#[test]
fn arguments_are_one_closed_object_with_everything_that_it_refers_to() {
    let schema = Value::Object(of_arguments::<Taken>());
    assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
    assert_eq!(schema["required"], json!(["count"]));
    assert_eq!(schema["properties"]["count"], json!({ "type": "integer", "description": "How many." }));
    assert_eq!(schema["properties"]["text"], json!({ "type": "string" }), "absent, never null");
    assert_eq!(schema["properties"]["inner"], json!({ "$ref": "#/$defs/Inner" }));
    assert_eq!(schema["$defs"]["Word"]["enum"], json!(["yes", "no"]));
    let judge = jsonschema::draft202012::new(&schema).unwrap();
    assert!(judge.is_valid(&json!({ "count": 1, "inner": { "kind": "yes" } })));
    for wrong in [json!({}), json!({ "count": 1, "more": 1 }), json!({ "count": 1, "text": null })] {
        assert!(!judge.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn an_answer_is_what_was_promised_or_a_refusal() {
    let judge = jsonschema::draft202012::new(&Value::Object(of_answer::<Inner>())).unwrap();
    assert!(judge.is_valid(&json!({ "kind": "no" })));
    assert!(judge.is_valid(&json!({ "error": "conflict", "error_description": "so", "hint": "look" })));
    for wrong in [json!({}), json!([]), json!({ "kind": "maybe" }), json!({ "error": "conflict" })] {
        assert!(!judge.is_valid(&wrong), "{wrong}");
    }
}
