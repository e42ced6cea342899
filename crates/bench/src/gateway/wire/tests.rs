use super::whole;

#[test]
fn an_incomplete_head_has_no_status() {
    for part in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfour"] {
        assert_eq!(whole(part.as_bytes()).unwrap(), None, "{part:?}");
    }
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n";
    assert_eq!(whole(chunked.as_bytes()).unwrap(), None);
}

#[test]
fn an_answer_is_whole_by_its_length_its_last_chunk_or_its_head_alone() {
    let whole_ones = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour", 200),
        ("HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 401),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204),
    ];
    for (text, status) in whole_ones {
        assert_eq!(whole(text.as_bytes()).unwrap(), Some(status), "{text:?}");
    }
    assert!(whole(b"garbage\r\n\r\n").is_err());
}
