use super::{Openers, fitted, open_files, within};
use crate::Limits;

const ALONE: Openers = Openers { gateway: false, store: 12 };
const WITH_GATEWAY: Openers = Openers { gateway: true, store: 12 };

///
#[test]
fn connections_of_all_listeners_fit_into_the_files_that_may_be_open() {
    for open_files in [16, 100, 256, 1024, 4096, 20_000, 1_048_576] {
        for (openers, each) in [(ALONE, 1), (WITH_GATEWAY, 3)] {
            let limits = within(Limits::default(), openers, open_files);
            let connections = limits.max_connections * each;
            assert!(connections < open_files || limits.max_connections == 1, "{connections} of {open_files}");
            assert!(limits.max_connections >= 1 && limits.max_connections_per_address >= 1);
        }
    }
    assert_eq!(within(Limits::default(), ALONE, 1024).max_connections, 884);
    let shared = within(Limits::default(), WITH_GATEWAY, 1024);
    assert_eq!((shared.max_connections, shared.max_connections_per_address), (294, 147));
}

#[test]
fn limits_that_fit_stay_as_they_are_configured() {
    let few = Limits { max_connections: 2, max_connections_per_address: 256, ..Limits::default() };
    let kept = within(few, WITH_GATEWAY, 1024);
    assert_eq!((kept.max_connections, kept.max_connections_per_address), (2, 256));
}

#[test]
fn the_soft_limit_is_read() {
    let text = "Limit                     Soft Limit           Hard Limit           Units\n\
                Max processes             63431                63431                processes\n\
                Max open files            1024                 524288               files\n";
    assert_eq!(open_files(text), Some(1024));
    assert_eq!(open_files(&text.replace("1024  ", "unlimited")), None);
    assert_eq!(open_files(""), None);
    let huge = Limits { max_connections: usize::MAX / 4, ..Limits::default() };
    let here = fitted(huge, ALONE).max_connections;
    assert!(!cfg!(target_os = "linux") || here < huge.max_connections, "{here}");
}
