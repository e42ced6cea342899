use super::{AuditRecord, csv_head};
use crate::time::UnixMillis;
use serde_json::{Value, json};

fn record(members: &Value) -> AuditRecord {
    AuditRecord {
        timestamp: UnixMillis(0),
        event_type: "call".into(),
        result: "done".into(),
        evidence_fault: None,
        erased: false,
        lane: 0,
        seq: 7,
        leaf_hash: "ab".into(),
        members: members.as_object().unwrap().clone(),
    }
}

#[test]
fn no_member_forges_a_column_a_line_or_a_formula() {
    let head = csv_head();
    let columns = head.trim_end().split(',').count();
    let plain = record(&json!({ "path": "/a", "decided_by": "alice" })).csv_line();
    assert_eq!(plain.trim_end().split(',').count(), columns, "{plain}");
    assert!(plain.ends_with("0,7,ab\r\n"), "{plain}");
    for (path, cell) in [
        ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
        ("+1", "\"'+1\""),
        ("a,b", "\"a,b\""),
        ("a\"b", "\"a\"\"b\""),
        ("a\r\nb", "\"a\r\nb\""),
    ] {
        let line = record(&json!({ "path": path })).csv_line();
        assert!(line.contains(&format!(",{cell},")), "{line}");
    }
}
