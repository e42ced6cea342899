//! The frame of every page: language, service name and signed-in person.

use super::{Language, PlainLine, assets, catalogue::say};
use countersign_protocol::time::UnixMillis;
use fluent_bundle::FluentValue;

#[derive(Clone, Debug)]
pub struct Frame {
    pub(super) language: Language,
    pub(super) service: PlainLine,
    pub(super) person: Option<PlainLine>,
}

impl Frame {
    /// `service` is the project's display name, `person` the name of the signed-in person.
    pub fn new(language: Language, service: &str, person: Option<&str>) -> Self {
        Self { language, service: service.into(), person: person.map(PlainLine::from) }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub(super) fn say(&self, id: &str) -> String {
        say(self.language, id, &[])
    }

    pub(super) fn say_of(&self, id: &str, name: &str, value: impl AsRef<str>) -> String {
        say(self.language, id, &[(name, FluentValue::from(value.as_ref()))])
    }

    pub(super) fn say_both(&self, id: &str, one: (&str, &str), other: (&str, &str)) -> String {
        say(self.language, id, &[(one.0, one.1.into()), (other.0, other.1.into())])
    }

    pub(super) fn say_service(&self, id: &str) -> String {
        self.say_of(id, "service", self.service.as_str())
    }

    pub(super) fn say_count(&self, id: &str, count: i64) -> String {
        say(self.language, id, &[("count", FluentValue::from(count))])
    }

    /// Date and time of day in UTC, in words.
    pub(super) fn moment(&self, at: &UnixMillis) -> String {
        let Ok(stamp) = jiff::Timestamp::from_millisecond(at.0) else { return at.to_rfc3339() };
        let at = stamp.to_zoned(jiff::tz::TimeZone::UTC);
        let clock = format!("{:02}:{:02}", at.hour(), at.minute());
        self.dated(&at, clock)
    }

    /// Like [`Self::moment`], to the second: a deadline can be a minute away.
    pub(super) fn exact_moment(&self, at: &UnixMillis) -> String {
        let Ok(stamp) = jiff::Timestamp::from_millisecond(at.0) else { return at.to_rfc3339() };
        let at = stamp.to_zoned(jiff::tz::TimeZone::UTC);
        let clock = format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
        self.dated(&at, clock)
    }

    fn dated(&self, at: &jiff::Zoned, clock: String) -> String {
        let number = |n: i16| FluentValue::from(i64::from(n));
        let (day, month, year) = (number(at.day().into()), number(at.month().into()), number(at.year()));
        say(self.language, "moment", &[("day", day), ("month", month), ("year", year), ("clock", clock.into())])
    }

    /// Date and time in digits, to the second, for a table column.
    pub(super) fn short_moment(&self, at: &UnixMillis) -> String {
        let Ok(stamp) = jiff::Timestamp::from_millisecond(at.0) else { return at.to_rfc3339() };
        let at = stamp.to_zoned(jiff::tz::TimeZone::UTC).datetime();
        format!("{} {:02}:{:02}:{:02}", at.date(), at.hour(), at.minute(), at.second())
    }

    /// A duration in the largest unit that expresses it exactly: consent is not rounded.
    pub(super) fn duration(&self, secs: &i64) -> String {
        let units = [(86_400, "duration-days"), (3600, "duration-hours"), (60, "duration-minutes")];
        let exact = units.into_iter().find(|(size, _)| *secs >= *size && secs % size == 0);
        let (size, id) = exact.unwrap_or((1, "duration-seconds"));
        self.say_count(id, secs / size)
    }

    pub(super) fn stylesheet(&self) -> &'static str {
        assets::stylesheet()
    }

    pub(super) fn script(&self) -> &'static str {
        assets::script()
    }

    pub(super) fn icon(&self) -> &'static str {
        assets::icon()
    }
}
