use super::Mac;

#[test]
fn a_tag_is_good_for_its_key_its_context_and_its_bytes_only() {
    let mac = Mac::new(&[1; 32]);
    let tag = mac.tag("reply token", b"decision 1");
    assert!(!mac.verify("reply token", b"decision 2", &tag));
    assert!(!mac.verify("cursor", b"decision 1", &tag));
    assert!(!mac.verify("reply token", b"decision 1", &tag[..31]));
    assert!(!mac.verify("reply token", b"decision 1", &[]));
    assert!(!Mac::new(&[2; 32]).verify("reply token", b"decision 1", &tag));
    assert!(
        !mac.verify("reply token decision", b" 1", &mac.tag("reply token", b" decision 1")),
        "where a context ends counts"
    );
    assert!(mac.verify("reply token", b"decision 1", &tag));
}
