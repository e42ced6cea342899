use super::*;

fn route() -> Route {
    Route { path: "/inboxes/{inbox}".into(), headers: vec!["if-match".into()], ..Route::default() }
}

#[test]
fn braces_that_name_nothing_are_refused() {
    let unknown = |name: &str| BadTemplate::Unknown(name.into());
    for (text, why) in [
        ("pay {body.amount", BadTemplate::Open),
        ("pay body.amount}", BadTemplate::Close),
        ("{}", unknown("")),
        ("{amount}", unknown("amount")),
        ("{body}", unknown("body")),
        ("{body.}", unknown("body.")),
        ("{body.a..b}", unknown("body.a..b")),
        ("{cookie.x}", unknown("cookie.x")),
        ("{body.{path.inbox}}", unknown("body.{path.inbox")),
        ("{{{body.a}}", BadTemplate::Close),
    ] {
        assert_eq!(Template::parse(text), Err(why), "{text}");
    }
}

#[test]
fn names_must_be_able_to_have_a_value_by_the_route() {
    let fits = |text: &str| Template::parse(text).unwrap().fits(&route());
    assert_eq!(fits("{path.outbox}"), Err(BadTemplate::NotInPath("outbox".into())));
    assert_eq!(fits("{header.etag}"), Err(BadTemplate::NotAHeader("etag".into())));
    assert_eq!(fits("{header.If-Match}"), Err(BadTemplate::NotAHeader("If-Match".into())));
    assert_eq!(fits("{path.inbox} {header.if-match} {query.any} {body.any.thing}"), Ok(()));
}

#[test]
fn doubled_braces_are_braces() {
    let template = Template::parse("{{{{}} }}{{path.inbox}}").unwrap();
    assert_eq!(template.parts, [TemplatePart::Text("{{} }{path.inbox}".into())]);
}
