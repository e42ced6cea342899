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

#[derive(Deserialize, serde::Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    Yes,
    No,
}

#[test]
fn arguments_are_one_closed_object_with_everything_in_its_place() {
    let schema = Value::Object(of_arguments::<Taken>());
    assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
    assert_eq!(schema["required"], json!(["count"]));
    assert_eq!(schema["properties"]["count"], json!({ "type": "integer", "description": "How many." }));
    assert_eq!(schema["properties"]["text"], json!({ "type": "string" }), "absent, never null");
    assert_eq!(schema["properties"]["inner"]["properties"]["kind"]["enum"], json!(["yes", "no"]));
    assert!(!schema.to_string().contains("$ref"), "{schema}");
    let judge = jsonschema::draft202012::new(&schema).unwrap();
    assert!(judge.is_valid(&json!({ "count": 1, "inner": { "kind": "yes" } })));
    for wrong in [json!({}), json!({ "count": 1, "more": 1 }), json!({ "count": 1, "text": null })] {
        assert!(!judge.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn an_answer_has_the_published_shape_or_is_a_refusal() {
    let judge = jsonschema::draft202012::new(&Value::Object(of_answer::<Inner>())).unwrap();
    assert!(judge.is_valid(&json!({ "kind": "no" })));
    assert!(judge.is_valid(&json!({ "error": "conflict", "error_description": "so", "hint": "look" })));
    for wrong in [json!({}), json!([]), json!({ "kind": "maybe" }), json!({ "error": "conflict" })] {
        assert!(!judge.is_valid(&wrong), "{wrong}");
    }
}

#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Either {
    Left(Left),
    Right(Right),
}

#[derive(serde::Serialize, ToSchema)]
struct Left {
    status: Word,
    /// Anything at all.
    value: Value,
    maybe: Option<Word>,
    #[serde(flatten)]
    more: Flat,
}

#[derive(serde::Serialize, ToSchema)]
struct Flat {
    list: Vec<Word>,
    object: Map<String, Value>,
}

#[derive(serde::Serialize, ToSchema)]
struct Right {
    status: Other,
    value: String,
}

#[derive(serde::Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Other {
    Later,
}

#[test]
fn an_answer_that_is_one_of_several_has_the_members_of_each_and_none_is_promised_too_much() {
    let schema = Value::Object(of_answer::<Either>());
    assert_eq!(schema["properties"]["status"], json!({ "enum": ["yes", "no", "later"] }));
    assert_eq!(schema["properties"]["value"], json!({}));
    assert_eq!(schema["properties"].get("maybe"), None, "it may be absent");
    assert_eq!(schema["properties"].get("list"), None, "only one has it");
    assert_eq!(schema["anyOf"][0]["required"], json!(["status", "value"]));
    let judge = jsonschema::draft202012::new(&schema).unwrap();
    for right in [
        json!({ "status": "later", "value": "x" }),
        json!({ "status": "no", "value": 5, "maybe": null, "list": [], "object": {} }),
    ] {
        assert!(judge.is_valid(&right), "{right}");
    }
    for wrong in [json!({ "status": "never", "value": "x" }), json!({ "status": "no" })] {
        assert!(!judge.is_valid(&wrong), "{wrong}");
    }
}
