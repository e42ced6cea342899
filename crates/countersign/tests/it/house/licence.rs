//! Licence expressions of Cargo.toml files: SPDX, and the older `MIT/Apache-2.0`.

/// Whether the allowed licences satisfy `expression`.
pub(super) fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), next: 0, allowed };
    let satisfied = words.either();
    satisfied && words.next == words.words.len()
}

struct Words<'a> {
    words: Vec<&'a str>,
    next: usize,
    allowed: &'a [&'a str],
}

impl Words<'_> {
    fn either(&mut self) -> bool {
        let mut satisfied = self.both();
        while self.take("OR") {
            satisfied |= self.both();
        }
        satisfied
    }

    fn both(&mut self) -> bool {
        let mut satisfied = self.one();
        while self.take("AND") {
            satisfied &= self.one();
        }
        satisfied
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let satisfied = self.either();
            return self.take(")") && satisfied;
        }
        let Some(licence) = self.words.get(self.next).copied() else { return false };
        self.next += 1;
        // An exception only adds permissions.
        if self.take("WITH") {
            self.next += 1;
        }
        self.allowed.contains(&licence)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.next) == Some(&word);
        self.next += usize::from(found);
        found
    }
}

#[test]
fn a_licence_expression_is_satisfied_only_by_the_licences_that_it_demands() {
    let allowed = ["MIT", "ISC"];
    for refused in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "MIT GPL-3.0", "(MIT", "MIT)"] {
        assert!(!satisfied(refused, &allowed), "{refused}");
    }
    for granted in ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "ISC AND (GPL-3.0 OR MIT)", "MIT WITH LLVM-exception OR X"]
    {
        assert!(satisfied(granted, &allowed), "{granted}");
    }
}
