use super::samples::{domain, frame};
use crate::pages::{Language, PlainLine, Warning, examine};

fn warnings(of: &str, connected: &[&str]) -> Vec<Warning> {
    let connected: Vec<_> = connected.iter().map(|c| domain(c)).collect();
    examine(&domain(of), &PlainLine::default(), &connected, Some(&domain("meridian.example")))
}

#[test]
fn a_cyrillic_letter_among_latin_ones_is_pointed_out_by_number() {
    let found = warnings("xn--cme-5cd.com", &[]);
    assert_eq!(found, [Warning::MixedScripts { label: "аcme".into() }]);
    assert!(found[0].text(&frame(Language::English)).contains("а (U+0430)"));
}

#[test]
fn a_label_wholly_of_another_alphabet_that_reads_as_latin_is_pointed_out() {
    let found = warnings("xn--80ak6aa92e.com", &[]);
    assert_eq!(found, [Warning::ReadsAsLatin { label: "аррӏе".into(), reads_as: "apple".into() }]);
}

#[test]
fn a_domain_that_reads_like_one_already_connected_is_pointed_out() {
    for (fake, known) in [
        ("paypa1.com", "paypal.com"),
        ("login.paypa1.com", "paypal.com"),
        ("paypa1.com", "agents.paypal.com"),
        ("g00gle.example", "google.example"),
        ("rnicrosoft.example", "microsoft.example"),
        ("vvhite.example", "white.example"),
        ("xn--cme-5cd.com", "acme.com"),
    ] {
        let expected = Warning::LooksLikeConnected { connected: domain(known) };
        assert!(warnings(fake, &["other.example", known]).contains(&expected), "{fake} beside {known}");
    }
}

#[test]
fn a_domain_that_reads_like_the_service_itself_is_pointed_out() {
    let expected = Warning::LooksLikeService { service: domain("meridian.example") };
    assert_eq!(warnings("rneridian.example", &[]), [expected]);
}

#[test]
fn a_trusted_domain_in_front_of_a_foreign_one_is_pointed_out() {
    let expected = Warning::Embeds { trusted: domain("paypal.com") };
    assert_eq!(warnings("paypal.com.evil.test", &["paypal.com"]), std::slice::from_ref(&expected));
    assert_eq!(warnings("login.paypal.com.evil.test", &["paypal.com"]), [expected]);
}

#[test]
fn a_name_that_is_another_domain_is_pointed_out() {
    for name in ["paypal.com", "Official PayPal.com Agent", "(https://paypal.com/help)", "paypal.com."] {
        let found = examine(&domain("evil.test"), &name.into(), &[], None);
        assert_eq!(found, [Warning::NameClaimsDomain { claimed: "paypal.com".into() }], "{name}");
    }
}

#[test]
fn honest_domains_raise_no_warning() {
    let honest =
        ["agents.paypal.com", "paypal.com", "xn--mller-kva.example", "xn--wgv71a119e.example", "xn--e1afmkfd.example"];
    for of in honest {
        assert_eq!(warnings(of, &["paypal.com", "unrelated.example"]), [], "{of}");
    }
    let own_name = examine(&domain("agents.acme.com"), &"Acme (acme.com) v2.0".into(), &[], None);
    assert_eq!(own_name, []);
}
