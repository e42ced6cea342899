use super::{DigestText, NotAStamp, Stamp};
use crate::time::UnixMillis;

fn stamp(text: &str) -> Stamp {
    text.parse().unwrap()
}

/// WWA-4-06
#[test]
fn only_utc_that_is_written_as_z_is_a_time() {
    for text in [
        "2026-05-10T15:00:00+00:00",
        "2026-05-10T15:00:00-00:00",
        "2026-05-10T17:00:00+02:00",
        "2026-05-10T15:00:00",
        "2026-05-10t15:00:00Z",
        "2026-05-10T15:00:00z",
        "2026-05-10 15:00:00Z",
        "2026-05-10T15:00Z",
        "2026-05-10T15:00:60Z",
        "2026-02-30T15:00:00Z",
        "2026-05-10T15:00:00.Z",
        "2026-05-10T15:00:00.1234567890Z",
        "",
    ] {
        assert_eq!(text.parse::<Stamp>(), Err(NotAStamp), "{text}");
    }
}

/// WWA-4-06
#[test]
fn a_time_stays_as_it_was_written() {
    for text in ["2026-05-10T15:00:00Z", "2026-05-10T15:00:00.000Z", "2026-05-10T15:00:00.123456789Z"] {
        assert_eq!(serde_json::to_value(stamp(text)).unwrap(), text);
    }
    assert!(Stamp::of(UnixMillis(1_778_425_200_007)).as_str().ends_with("15:00:00.007Z"));
}

#[test]
fn times_are_compared_to_the_last_decimal() {
    let ordered =
        ["2026-05-10T14:59:59.9Z", "2026-05-10T15:00:00Z", "2026-05-10T15:00:00.0001Z", "2026-05-10T15:00:00.01Z"];
    for (at, earlier) in ordered.iter().enumerate() {
        for (other, later) in ordered.iter().enumerate() {
            assert_eq!(stamp(earlier).is_before(&stamp(later)), at < other, "{earlier} {later}");
        }
    }
    assert!(!stamp("2026-05-10T15:00:00Z").is_before(&stamp("2026-05-10T15:00:00.000Z")));
    assert!(!stamp("2026-05-10T15:00:00.000Z").is_before(&stamp("2026-05-10T15:00:00Z")));
}

#[test]
fn a_later_time_is_never_written_as_earlier() {
    let answered = stamp("2026-05-10T15:00:00.0001Z");
    assert_eq!(answered.at(), UnixMillis(1_778_425_200_001));
    assert!(!Stamp::of(answered.at()).is_before(&answered));
    assert_eq!(Stamp::not_before(UnixMillis(1_778_425_200_000), &answered), answered);
    let now = UnixMillis(1_778_425_201_000);
    assert_eq!(Stamp::not_before(now, &answered), Stamp::of(now));
}

#[test]
fn a_digest_has_one_spelling() {
    let text = format!("sha256:{}", "ab".repeat(32));
    assert_eq!(text.parse::<DigestText>().unwrap().to_string(), text);
    for text in [text.replace("sha256:", ""), text.to_uppercase(), text.replace("ab", "AB"), format!("{text}ab")] {
        assert!(text.parse::<DigestText>().is_err(), "{text}");
    }
}
