use super::{super::*, Folder, read, the_problem};
use node::{CredentialConfig, Gateway, SecretSource};
use secret::ConfigSecret;

const LISTENS: &str = "[gateway]\nlisten = \"127.0.0.1:8422\"\n";

fn gateway(text: &str) -> Gateway {
    read(text).expect("a sound configuration").config.gateway.expect("a gateway")
}

#[test]
fn without_a_listener_there_is_no_gateway_and_its_settings_are_warned_about() {
    let loaded = read("[gateway]\ndrain_seconds = 3").expect("sound");
    assert_eq!(loaded.config.gateway, None);
    assert_eq!(loaded.warnings[0].key, "gateway.drain_seconds");
    assert_eq!(read("").expect("sound").config.gateway, None);
}

///
#[test]
fn the_origin_that_proofs_are_for_is_guessed_on_loopback_only() {
    let open = the_problem(read("[gateway]\nlisten = \"0.0.0.0:8422\""));
    assert_eq!(open.key, "gateway.public_origin");
    let near = gateway(LISTENS);
    assert_eq!(near.origin_at(near.listen).unwrap().as_str(), "http://127.0.0.1:8422");
    let named = gateway("[gateway]\nlisten = \"0.0.0.0:8422\"\npublic_origin = \"https://bank.example\"");
    assert_eq!(named.origin_at(named.listen).unwrap().as_str(), "https://bank.example");
}

#[test]
fn a_gateway_on_the_port_of_another_listener_is_refused() {
    for taken in ["127.0.0.1:8420", "127.0.0.1:8421"] {
        assert_eq!(the_problem(read(&format!("[gateway]\nlisten = {taken:?}"))).key, "gateway.listen");
    }
    let any = "[listen]\npublic = \"127.0.0.1:0\"\n[gateway]\nlisten = \"127.0.0.1:0\"";
    assert!(read(any).is_ok());
}

///
#[test]
fn with_several_tenants_no_list_of_upstreams_means_none_and_with_one_it_means_any() {
    assert_eq!(gateway(LISTENS).upstreams, None);
    let several = read(&format!("tenancy = \"multi\"\n{LISTENS}")).expect("sound");
    assert_eq!(several.config.gateway.expect("a gateway").upstreams, Some(Vec::new()));
    assert_eq!(several.warnings[0].key, "gateway.upstreams");
    let listed = gateway(&format!("tenancy = \"multi\"\n{LISTENS}upstreams = [\"http://10.0.0.1:9000\"]"));
    assert_eq!(listed.upstreams, Some(vec!["http://10.0.0.1:9000".to_owned()]));
}

#[test]
fn an_upstream_that_is_more_or_less_than_scheme_host_and_port_is_refused() {
    for wrong in ["http://host/path", "ftp://host", "host:80", "http://user@host", "http://host?x"] {
        let problem = the_problem(read(&format!("{LISTENS}upstreams = [{wrong:?}]")));
        assert_eq!(problem.key, "gateway.upstreams", "{wrong}");
    }
}

#[test]
fn a_credential_has_a_header_and_exactly_one_secret() {
    let with = |members: &str| read(&format!("{LISTENS}[gateway.credentials.bank]\n{members}"));
    for (members, key, says) in [
        ("", "gateway.credentials.bank", "has no one secret"),
        ("value = \"a\"\nenv = \"B\"", "gateway.credentials.bank", "has no one secret"),
        ("value = 3", "gateway.credentials.bank.value", "invalid type"),
        ("value = \"a\"\nheader = \"not one\"", "gateway.credentials.bank.header", "is not the name of a header"),
        ("value = \"a\"\nheader = \"Host\"", "gateway.credentials.bank.header", "sets itself"),
    ] {
        let problem = the_problem(with(members));
        assert_eq!(problem.key, key, "{members}");
        assert!(problem.wrong.contains(says), "{problem}");
    }
    let sound = with("file = \"bank.token\"\nheader = \"X-Api-Key\"").expect("sound").config.gateway.unwrap();
    let expected = CredentialConfig {
        header: "x-api-key".into(),
        value: SecretSource::File("node/bank.token".into()),
        projects: None,
    };
    assert_eq!(sound.credentials["bank"], expected);
    let plain = with("value = \"Bearer a\"").expect("sound").config.gateway.unwrap();
    let expected = CredentialConfig {
        header: "authorization".into(),
        value: SecretSource::Value(ConfigSecret::new("Bearer a")),
        projects: None,
    };
    assert_eq!(plain.credentials["bank"], expected);
}

#[test]
fn an_unknown_member_of_a_credential_is_refused_with_its_line_and_the_nearest_name() {
    let problem = the_problem(read(&format!("{LISTENS}[gateway.credentials.bank]\nvalue = \"a\"\nheadr = \"b\"")));
    assert_eq!(problem.key, "gateway.credentials.bank.headr");
    assert_eq!(problem.hint, "did you mean `header`?");
    assert!(problem.to_string().starts_with("node/countersign.toml:5: "), "{problem}");
}

///
#[test]
fn the_secret_of_a_credential_is_neither_explained_nor_printed() {
    let loaded = read(&format!("{LISTENS}[gateway.credentials.bank]\nvalue = \"hunter2\"")).expect("sound");
    let said = format!("{}{}{loaded:?}", explain(&loaded), explain_json(&loaded));
    assert!(said.contains("bank") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_variable_that_holds_a_credential_may_begin_like_ours() {
    let text = format!("{LISTENS}[gateway.credentials.bank]\nenv = \"COUNTERSIGN_BANK\"");
    let variables = super::environment(&[("COUNTERSIGN_BANK", "x")]);
    assert!(from_text(Some((std::path::Path::new("x.toml"), &text)), &variables).is_ok());
    assert!(from_text(None, &variables).is_err());
}

#[test]
fn files_that_a_gateway_needs_are_looked_for() {
    let folder = Folder::new("gateway");
    let text = format!("{LISTENS}upstream_ca_file = \"no.pem\"\n[gateway.credentials.bank]\nfile = \"no.token\"");
    let path = folder.write("countersign.toml", &text);
    let problems = load(Some(&path), &Environment::new()).expect_err("files that are not there").problems;
    let keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(keys, ["gateway.upstream_ca_file", "gateway.credentials"]);
    folder.write("no.pem", "");
    folder.write("no.token", "");
    assert!(load(Some(&path), &Environment::new()).is_ok());
}
