use super::*;

#[test]
fn well_known_paths_of_every_origin_are_reserved_and_nothing_beside_them() {
    for path in [
        "/.well-known/agent-auth.json",
        "/.well-known/agent-jwks.json",
        "/agent/register",
        "/agent/delegate/token",
        "/agent/",
        "/projects/north/agent/register",
        "/.countersign/decisions/dec_1/redeem",
    ] {
        assert!(reserved(path).is_some(), "{path}");
    }
    for path in [
        "/",
        "/agent",
        "/agents/register",
        "/.well-known/openid-configuration",
        "/.well-known/agent-auth.json/x",
        "/projects/north/agent",
        "/projects/north/tasks/agent",
        "/projects/agent/register",
        "/v1/agent/register",
        "/{any}/register",
    ] {
        assert_eq!(reserved(path), None, "{path}");
    }
}

#[test]
fn a_template_overlaps_every_path_that_it_could_match() {
    for template in [
        "/agent/register",
        "/{tenant}/register",
        "/{tenant}/{thing}",
        "/agent/{thing}/more",
        "/projects/{id}/agent/audit",
        "/projects/{id}/{kind}/{thing}",
        "/.well-known/{name}",
    ] {
        assert!(overlaps_reserved(template).is_some(), "{template}");
    }
    for template in
        ["/orders/{order}", "/projects/{id}/tasks", "/projects/{id}/tasks/{task}", "/agents/{agent}", "/{thing}"]
    {
        assert_eq!(overlaps_reserved(template), None, "{template}");
    }
}
