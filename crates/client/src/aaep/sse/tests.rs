use super::*;

const TWO: &str = "\u{feff}: hello\nevent: aaep.event\nid: evt_1\ndata: {\"a\":\ndata: 1}\n\n:\n\ndata:x\nid: bad\0\n\nretry: 5\nid\n\n";

fn decoded(parts: impl Iterator<Item = Vec<u8>>) -> Vec<SseMessage> {
    let mut decoder = Decoder::default();
    parts.flat_map(|part| decoder.push(&part).unwrap()).collect()
}

fn expected() -> Vec<SseMessage> {
    let id = Some("evt_1".to_owned());
    let named = SseMessage { id: id.clone(), event: "aaep.event".into(), data: "{\"a\":\n1}".into() };
    vec![named, SseMessage { id, event: "message".into(), data: "x".into() }]
}

#[test]
fn a_message_without_an_end_is_refused_and_not_kept() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.push(&vec![b'x'; MAX_MESSAGE + 1]), Err(TooLarge));
    let mut decoder = Decoder::default();
    let line = [b"data: ".as_slice(), &vec![b'x'; 1024], b"\n"].concat();
    assert!((0..=2 * MAX_MESSAGE / 1024).any(|_| decoder.push(&line).is_err()));
}

#[test]
fn messages_are_the_same_wherever_the_network_cuts_and_however_lines_end() {
    for ends in ["\n", "\r\n", "\r"] {
        let text = TWO.replace('\n', ends);
        for size in [1, 2, 3, 7, 1000] {
            let parts = text.as_bytes().chunks(size).map(<[u8]>::to_vec);
            assert_eq!(decoded(parts), expected(), "{ends:?} {size}");
        }
    }
}

#[test]
fn a_comment_is_a_sign_of_life_and_no_message() {
    assert_eq!(decoded([b":\n\n: still here\n\nevent: x\n\n".to_vec()].into_iter()), []);
}
