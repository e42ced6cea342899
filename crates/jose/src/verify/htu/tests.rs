use super::{is_same, normal};

/// AAP-18.3-06
#[test]
fn different_resources_stay_different() {
    let pairs = [
        ("https://a.example/x", "https://a.example/x/"),
        ("https://a.example/x", "https://a.example/X"),
        ("https://a.example/x", "https://a.example//x"),
        ("https://a.example/x/y", "https://a.example/x%2Fy"),
        ("https://a.example/x", "https://a.example/x%00"),
        ("https://a.example/x%3Fy", "https://a.example/x?y"),
        ("https://a.example/", "https://a.example:80/"),
        ("http://a.example/", "http://a.example:443/"),
        ("https://a.example/", "http://a.example/"),
        ("https://a.example/", "https://a.example./"),
        ("https://a.example/", "https://user@a.example/"),
        ("https://a.example/x", "https://a.example\\x"),
        ("https://a.example/x", "https:/a.example/x"),
        ("https://a.example/x", "https://a.example/x "),
        ("https://a.example/x", "https://a.example/\tx"),
        ("https://127.0.0.1/", "https://2130706433/"),
        ("https://a.example/x", "https://a%2Eexample/x"),
    ];
    for (left, right) in pairs {
        assert!(!is_same(left, right) && !is_same(right, left), "{left} {right}");
    }
}

/// AAP-18.3-06
#[test]
fn one_resource_may_be_spelt_in_several_ways() {
    let pairs = [
        ("https://a.example/x?q=1", "https://a.example/x?q=2#f"),
        ("https://a.example/x#f?q", "https://a.example/x"),
        ("HTTPS://A.Example/x", "https://a.example/x"),
        ("https://a.example:443/x", "https://a.example/x"),
        ("https://a.example:/x", "https://a.example/x"),
        ("http://localhost:80", "http://localhost/"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("https://a.example", "https://a.example/"),
        ("https://a.example/%7Euser/%41", "https://a.example/~user/A"),
        ("https://a.example/x%2fy", "https://a.example/x%2Fy"),
        ("https://a.example/a/./b/../c", "https://a.example/a/c"),
        ("https://a.example/a/%2E%2e/c", "https://a.example/c"),
    ];
    for (left, right) in pairs {
        assert!(is_same(left, right) && is_same(right, left), "{left} {right}");
    }
}

/// An unparsable URL still equals itself: a path with unusual characters reaches the server unchanged.
#[test]
fn a_text_that_is_no_address_equals_only_itself() {
    for odd in ["", "x", "https://a.example/{x}", "https://a.example/ü", "https://a.example/%", "https://a.example/%4"]
    {
        assert_eq!(normal(odd), None, "{odd}");
        assert!(is_same(odd, odd));
        assert!(!is_same(odd, "https://a.example/x"), "{odd}");
    }
    for other_scheme in ["ftp://a.example/", "file:///x", "https:///x", "javascript://a.example/"] {
        assert_eq!(normal(other_scheme), None, "{other_scheme}");
    }
}

#[test]
fn dot_segments_go_as_rfc_3986_says() {
    let paths = [
        ("", "/"),
        ("/.", "/"),
        ("/..", "/"),
        ("/../../a", "/a"),
        ("/a/b/..", "/a/"),
        ("/a/b/.", "/a/b/"),
        ("/a/..", "/"),
        ("/a/../", "/"),
        ("//..", "/"),
        ("//.", "//"),
        ("/a//b", "/a//b"),
        ("/a/b/c/./../../g", "/a/g"),
        ("/...", "/..."),
    ];
    for (path, expected) in paths {
        assert_eq!(normal(&format!("https://a.example{path}")), Some(format!("https://a.example{expected}")), "{path}");
    }
}
