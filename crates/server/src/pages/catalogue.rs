//! Localised texts, from `locales/*.ftl`.
//!
//! Arguments are wrapped in directional isolates (U+2068 … U+2069), so a name written from right to left cannot
//! rearrange the sentence around it.

use super::Language;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use std::sync::LazyLock;

type Bundle = FluentBundle<FluentResource>;

pub(super) const ENGLISH: &str = include_str!("../../locales/en.ftl");
pub(super) const GERMAN: &str = include_str!("../../locales/de.ftl");

static ENGLISH_WORDS: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::English, ENGLISH));
static GERMAN_WORDS: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::German, GERMAN));

/// The text with this id. An unknown id is returned as it is; a test ensures that there is none.
pub(super) fn say(language: Language, id: &str, args: &[(&str, FluentValue<'_>)]) -> String {
    let bundle = match language {
        Language::English => &ENGLISH_WORDS,
        Language::German => &GERMAN_WORDS,
    };
    let Some(pattern) = bundle.get_message(id).and_then(|m| m.value()) else { return id.to_owned() };
    let args: FluentArgs<'_> = args.iter().map(|(name, value)| (*name, value.clone())).collect();
    bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned()
}

fn bundle(language: Language, source: &str) -> Bundle {
    // Malformed messages are dropped; a test ensures that there is none.
    let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(resource, _)| resource);
    let mut bundle = Bundle::new_concurrent(language.tag().parse().into_iter().collect());
    bundle.set_use_isolating(true);
    bundle.add_resource_overriding(resource);
    bundle
}
