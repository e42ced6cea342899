use super::DryRun;

fn read<'q>(query: Option<&'q str>, headers: &[&str]) -> (DryRun, Option<std::borrow::Cow<'q, str>>) {
    let headers: Vec<&[u8]> = headers.iter().map(|value| value.as_bytes()).collect();
    DryRun::read(query, &headers)
}

/// AAP-14.1-12, R-20
#[test]
fn anything_but_one_well_formed_spelling_is_unclear() {
    let unclear = |query: Option<&str>, headers: &[&str]| {
        let (marker, rest) = read(query, headers);
        assert!(matches!(marker, DryRun::Unclear(_)), "{query:?} {headers:?}: {marker:?}");
        assert_eq!(rest.as_deref(), query, "an unclear request stays as it is");
    };
    for odd in [
        "dry_run",
        "dry_run=",
        "dry_run=1",
        "dry_run=TRUE",
        "dry_run=True",
        "dry_run=true%20",
        "dry_run=%74rue",
        "dry_run=no",
        "Dry_Run=true",
        "dry%5Frun=true",
        "DRY%5frun=1",
        "%64ry_run=true",
        "dry_run%20=true",
        "+dry_run=true",
        "a=1;dry_run=true",
        "dry_run=true;a=1",
        "dry_run=true&dry_run=true",
        "dry_run=true&dry_run=false",
        "dry_run=true&Dry_Run=true",
        "dry_run=false&a=1&dry_run=false",
        "dry_run=true=true",
    ] {
        unclear(Some(odd), &[]);
        unclear(Some(odd), &["true"]);
    }
    for odd in ["", "1", "TRUE", "True", "yes", "true, true", "true,false", "\"true\"", " true", "?1"] {
        unclear(None, &[odd]);
        unclear(Some("a=1"), &[odd]);
        unclear(Some("dry_run=true"), &[odd]);
    }
    unclear(None, &["true", "true"]);
    unclear(None, &["false", "true"]);
    unclear(Some("dry_run=true"), &["false"]);
    unclear(Some("dry_run=false"), &["true"]);
}

///
#[test]
fn a_well_formed_marker_is_read_and_taken_out_of_the_query() {
    for (query, headers, marker, rest) in [
        (None, &[][..], DryRun::No, None),
        (Some(""), &[], DryRun::No, Some("")),
        (Some("b=dry_run&dry-run=true&mydry_run=true"), &[], DryRun::No, Some("b=dry_run&dry-run=true&mydry_run=true")),
        (Some("dry_run=true"), &[], DryRun::Requested, None),
        (Some("dry_run=false"), &[], DryRun::No, None),
        (Some("a=1&dry_run=true"), &[], DryRun::Requested, Some("a=1")),
        (Some("dry_run=true&a=1"), &[], DryRun::Requested, Some("a=1")),
        (Some("a=1&dry_run=true&b=%20"), &["true"], DryRun::Requested, Some("a=1&b=%20")),
        (Some("a=1&dry_run=false"), &["false"], DryRun::No, Some("a=1")),
        (Some("a=%GG"), &["true"], DryRun::Requested, Some("a=%GG")),
        (None, &["true"], DryRun::Requested, None),
        (None, &["false"], DryRun::No, None),
    ] {
        let (found, left) = read(query, headers);
        assert_eq!((found, left.as_deref()), (marker, rest), "{query:?} {headers:?}");
    }
}
