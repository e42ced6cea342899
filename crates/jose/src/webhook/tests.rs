use super::{WebhookKey, webhook_headers};

const OLD: [u8; 32] = [7; 32];
const NEW: [u8; 32] = [8; 32];
const BODY: &[u8] = br#"{"a":1}"#;

/// The values were computed with Python's hmac module.
///
/// AAP-G-61, AAP-17.8-05
#[test]
fn signatures_are_those_of_another_implementation() {
    assert_eq!(WebhookKey::secret_text(&OLD), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
    let key = WebhookKey::new(&OLD);
    let member = "0d733feec304f131c0dcbceb873c317e2bcc4789397082bd429646222a2eb027";
    assert_eq!(key.body_signature(BODY), member);
    let headers = webhook_headers(&[key], "msg_1", 1_614_265_330, BODY);
    let own = "v1=e71c1c5281473fd157a1f610a283031646f910fcf77c506cc069e0193643b49a";
    let standard = "v1,msJ2Az1Qy8kMjwuvkeK90JarUwpqFGH0hHfkaJBv2gg=";
    let expected = [
        ("x-aap-webhook-timestamp", "1614265330"),
        ("x-aap-webhook-signature", own),
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", standard),
    ];
    assert_eq!(headers.each_ref().map(|(name, value)| (*name, value.as_str())), expected);
}

/// AAP-17.8-07
#[test]
fn two_keys_sign_side_by_side_and_the_first_comes_first() {
    let keys = [NEW, OLD].map(|key| WebhookKey::new(&key));
    let [_, (_, own), _, _, (_, standard)] = webhook_headers(&keys, "msg_1", 1_614_265_330, BODY);
    let of = |key: &[u8; 32]| {
        let [_, (_, own), _, _, (_, standard)] = webhook_headers(&[WebhookKey::new(key)], "msg_1", 1_614_265_330, BODY);
        (own, standard)
    };
    assert_eq!(own, format!("{},{}", of(&NEW).0, of(&OLD).0));
    assert_eq!(standard, format!("{} {}", of(&NEW).1, of(&OLD).1));
}
