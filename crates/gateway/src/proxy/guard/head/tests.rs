use super::{Framing, MAX_HEADERS, Odd, read};

fn head(lines: &[&str]) -> Result<Framing, Odd> {
    read(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes())
}

fn post(headers: &[&str]) -> Result<Framing, Odd> {
    let mut lines = vec!["POST /a HTTP/1.1", "Host: api.bank.test"];
    lines.extend(headers);
    head(&lines)
}

#[test]
fn a_message_that_could_end_in_two_places_is_refused() {
    let twice = ["Content-Length: 4", "content-length: 4"];
    assert_eq!(post(&twice), Err(Odd::ContentLength));
    for length in ["+4", "4, 4", "0x4", "-1", "", "4 4", "99999999999999999999", "9223372036854775808"] {
        assert_eq!(post(&[&format!("Content-Length: {length}")]), Err(Odd::ContentLength), "{length}");
    }
    assert_eq!(post(&["Content-Length: 4", "Transfer-Encoding: chunked"]), Err(Odd::TwoLengths));
    assert_eq!(post(&["Transfer-Encoding: chunked", "Content-Length: 0"]), Err(Odd::TwoLengths));
    for coding in ["gzip, chunked", "chunked, identity", "xchunked", "identity", "", "chunked,chunked", "\"chunked\""] {
        assert_eq!(post(&[&format!("Transfer-Encoding: {coding}")]), Err(Odd::TransferEncoding), "{coding}");
    }
    assert_eq!(post(&["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]), Err(Odd::TransferEncoding));
    assert_eq!(head(&["POST /a HTTP/1.0", "Transfer-Encoding: chunked"]), Err(Odd::TransferEncoding));
}

#[test]
fn a_header_that_is_hidden_from_some_readers_is_refused() {
    assert_eq!(post(&["X-A: 1", " Content-Length: 4"]), Err(Odd::Folded));
    assert_eq!(post(&["X-A: 1", "\tfolded"]), Err(Odd::Folded));
    for line in ["Content-Length : 4", ": 4", "Content Length: 4", "no colon", "X\u{e4}: 1", "X\0: 1"] {
        assert_eq!(post(&[line]), Err(Odd::HeaderName), "{line:?}");
    }
    assert_eq!(post(&["X-A: a\0b"]), Err(Odd::HeaderValue));
    assert_eq!(post(&["X-A: a\u{b}b"]), Err(Odd::HeaderValue));
    assert_eq!(post(&["X-A: a\nContent-Length: 4"]), Err(Odd::BareLineBreak));
    assert_eq!(post(&["X-A: a\rContent-Length: 4"]), Err(Odd::BareLineBreak));
    assert_eq!(read(b"GET / HTTP/1.1\nHost: a\n\n"), Err(Odd::BareLineBreak));
}

#[test]
fn a_request_line_has_three_words_and_a_target_that_can_be_forwarded_as_it_is() {
    let line = |line: &str| head(&[line, "Host: a"]);
    for bad in
        ["GET /a", "GET  /a HTTP/1.1", "GET /a b HTTP/1.1", "G@T /a HTTP/1.1", "GET /a HTTP/2.0", " GET / HTTP/1.1"]
    {
        assert_eq!(line(bad), Err(Odd::RequestLine), "{bad}");
    }
    for bad in ["/a#b", "/\u{e4}", "/a\tb", "/a\u{7f}", "/<", "/a>b", "/`", "/?\""] {
        assert_eq!(line(&format!("GET {bad} HTTP/1.1")), Err(Odd::TargetCharacter), "{bad:?}");
    }
    for bad in ["api.bank.test:443", "a", "?x", "ftp://a/b", "\\a"] {
        assert_eq!(line(&format!("GET {bad} HTTP/1.1")), Err(Odd::TargetForm), "{bad}");
    }
    assert_eq!(line("CONNECT api.bank.test:443 HTTP/1.1"), Err(Odd::Method));
    assert_eq!(line("TRACE / HTTP/1.1"), Err(Odd::Method));
    assert_eq!(line(&format!("GET /{} HTTP/1.1", "a".repeat(9000))), Err(Odd::TargetTooLong));
}

#[test]
fn hosts_expectations_counts_and_bodies_are_checked() {
    assert_eq!(head(&["GET / HTTP/1.1"]), Err(Odd::Host));
    assert_eq!(head(&["GET / HTTP/1.1", "Host: a", "host: a"]), Err(Odd::Host));
    assert_eq!(post(&["Expect: 200-ok"]), Err(Odd::Expect));
    assert_eq!(post(&vec!["X-A: 1"; MAX_HEADERS]), Err(Odd::TooManyHeaders));
    for method in ["GET", "HEAD"] {
        let line = format!("{method} / HTTP/1.1");
        assert_eq!(head(&[&line, "Host: a", "Content-Length: 1"]), Err(Odd::Body));
        assert_eq!(head(&[&line, "Host: a", "Transfer-Encoding: chunked"]), Err(Odd::Body));
        assert_eq!(head(&[&line, "Host: a", "Content-Length: 0"]), Ok(Framing::Sized(0)));
    }
    assert_eq!(post(&["Upgrade: h2c", "Content-Length: 1"]), Err(Odd::Body));
}

#[test]
fn sound_heads_say_how_their_body_ends() {
    assert_eq!(post(&[]), Ok(Framing::Sized(0)));
    assert_eq!(post(&["content-LENGTH:  12 ", "Expect: 100-Continue"]), Ok(Framing::Sized(12)));
    assert_eq!(post(&["Transfer-Encoding: Chunked"]), Ok(Framing::Chunked));
    assert_eq!(head(&["GET /a HTTP/1.1", "Host: a", "Upgrade: websocket"]), Ok(Framing::Upgrade));
    assert_eq!(head(&["GET / HTTP/1.0"]), Ok(Framing::Sized(0)));
    assert_eq!(head(&["OPTIONS * HTTP/1.1", "Host: a", "X-A: b\u{e4}\tc"]), Ok(Framing::Sized(0)));
    assert_eq!(head(&["GET HTTPS://api.bank.test/a HTTP/1.1", "Host: a"]), Ok(Framing::Sized(0)));
}
