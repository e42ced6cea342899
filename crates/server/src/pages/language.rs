//! The languages of the pages, and their negotiation.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    #[default]
    English,
    German,
}

impl Language {
    pub const ALL: [Language; 2] = [Language::English, Language::German];

    /// The value of `lang`, of `Content-Language` and of the language recorded with a consent.
    pub const fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
        }
    }

    /// The language of a tag such as `de-AT`; the region is ignored.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }
}

/// The language of an `Accept-Language` header: the highest weight wins, then the order of the header. English if no
/// listed language is supported.
pub fn pick_language(header: Option<&str>) -> Language {
    let mut best = (0, Language::default());
    for range in header.unwrap_or_default().split(',') {
        let (tag, weight) = parse_range(range);
        let language = if tag == "*" { Some(Language::default()) } else { Language::from_tag(tag) };
        if let Some(language) = language.filter(|_| weight > best.0) {
            best = (weight, language);
        }
    }
    best.1
}

/// The tag and its weight in thousandths. A malformed weight counts as zero.
fn parse_range(range: &str) -> (&str, u32) {
    let mut parts = range.split(';').map(str::trim);
    let tag = parts.next().unwrap_or_default();
    let weight = parts.find_map(|p| p.strip_prefix("q=").or_else(|| p.strip_prefix("Q=")));
    (tag, weight.map_or(1000, thousandths))
}

fn thousandths(weight: &str) -> u32 {
    match weight.trim().parse::<f32>() {
        Ok(q) if (0.0..=1.0).contains(&q) => (q * 1000.0).round() as u32,
        _ => 0,
    }
}
