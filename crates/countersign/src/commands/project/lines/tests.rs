use super::compare;

fn marked(before: &str, after: &str) -> String {
    compare(before, after).iter().map(|line| line.marked()).collect()
}

#[test]
fn nothing_is_removed_or_added_where_both_say_the_same() {
    assert_eq!(marked("", ""), "");
    assert_eq!(marked("a\nb\n", "a\nb\n"), "  a\n  b\n");
}

#[test]
fn lines_of_only_one_text_are_marked_and_the_rest_is_kept() {
    assert_eq!(marked("", "a\nb\n"), "+ a\n+ b\n");
    assert_eq!(marked("a\nb\n", ""), "- a\n- b\n");
    assert_eq!(marked("a\nb\nc\nd\n", "a\nc\nx\nd\n"), "  a\n- b\n  c\n+ x\n  d\n");
    assert_eq!(marked("a\nb\nc\n", "a\nx\nc\n"), "  a\n- b\n+ x\n  c\n");
}

#[test]
fn both_texts_can_be_read_back_from_the_comparison() {
    let texts = ["", "a\n", "a\nb\na\n", "b\na\nb\nb\n", "c\na\nb\nc\n", "a\na\na\nb\n"];
    for before in texts {
        for after in texts {
            let all = marked(before, after);
            let side = |sign: char| -> String {
                let own = all.lines().filter(|line| line.starts_with([' ', sign]));
                own.map(|line| format!("{}\n", &line[2..])).collect()
            };
            assert_eq!((side('-').as_str(), side('+').as_str()), (before, after));
        }
    }
}
