use super::{Chunks, Malformed};

fn whole(text: &str) -> Result<(usize, bool), Malformed> {
    let mut chunks = Chunks::new();
    chunks.follow(text.as_bytes()).map(|taken| (taken, chunks.is_over()))
}

#[test]
fn an_ambiguous_length_is_refused() {
    for text in [
        "\r\n",
        " 4\r\n",
        "+4\r\n",
        "0x4\r\n",
        "4 \r\n",
        "4\n",
        "4\rx",
        "4\r\nabcdX",
        "4\r\nabcd\n",
        "g\r\n",
        "-1\r\n",
        "10000000000000000\r\n",
        "0\r\n folded\r\n",
        "0\r\nA: b\n",
        "0\r\n\r\r",
        "4;a\nb\r\n",
        "4;a\0\r\n",
    ] {
        assert_eq!(whole(text), Err(Malformed), "{text:?}");
    }
    assert_eq!(whole(&format!("4;{}", "a".repeat(5000))), Err(Malformed));
    assert_eq!(whole(&format!("0\r\n{}", "A: b\r\n".repeat(2000))), Err(Malformed));
}

#[test]
fn a_body_ends_where_it_ends_however_it_arrives() {
    let text = "4\r\nab\r\n\r\nF;x=\"y\"\r\n0\r\n\r\n0123456789\r\n0\r\nA: b\r\n\r\n";
    let followed_by = format!("{text}GET / HTTP/1.1\r\n");
    assert_eq!(whole(&followed_by), Ok((text.len(), true)));
    for step in 1..7 {
        let mut chunks = Chunks::new();
        let mut taken = 0;
        for piece in followed_by.as_bytes().chunks(step) {
            taken += chunks.follow(piece).unwrap();
        }
        assert_eq!((taken, chunks.is_over()), (text.len(), true), "in steps of {step}");
    }
    assert_eq!(whole("0\r\n\r"), Ok((4, false)));
}
