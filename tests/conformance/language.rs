//! The language of the cases itself: what it refuses, what it fills in, what matches.

use serde_json::{Value, json};

use crate::case::{Case, Step};
use crate::expect::Expect;
use crate::matcher::matches;
use crate::names::Names;

#[test]
fn steps_with_keys_they_do_not_use_are_refused() {
    let unused = [
        json!({"call": "GetSemaphore", "widh": {}}),
        json!({"call": "GetSemaphore", "http": "GET /"}),
        json!({"call": "GetSemaphore", "with": {}, "text": ""}),
        json!({"call": "GetSemaphore", "within": 1}),
        json!({"start": "w", "call": "GetSemaphore", "expect": {}}),
        json!({"pending": "w", "expect": {}}),
        json!({"finish": "w", "call": "GetSemaphore"}),
        json!({"sleep": 1, "settle": 1}),
        json!({"setup": {"permit": 1}}),
        json!({"http": "/healthz"}),
        json!({}),
    ];
    for step in unused {
        let read = serde_json::from_value::<Step>(step.clone());
        assert!(read.is_err(), "{step} reads as {read:?}");
    }
}

#[test]
fn cases_and_expectations_with_unknown_keys_are_refused() {
    let case = json!({"name": "a", "why": "b", "steps": [], "skip": true});
    let case = serde_json::from_value::<Case>(case);
    assert!(case.is_err(), "a case took the key \"skip\"");
    let expect = serde_json::from_value::<Expect>(json!({"stauts": 200}));
    assert!(expect.is_err(), "an expectation took the key \"stauts\"");
}

#[test]
fn names_repetitions_and_maps_are_filled_in() {
    let mut names = Names::new();
    names.save("L1", &json!("ls_1"));
    names.save("token", &json!(9_007_199_254_740_991_i64));
    let sent =
        json!({"a": "$L1/$token", "$repeat:2:k": ["$repeat:3:ab"], "m": {"$map": 2}, "n": 1});
    let filled = json!({
        "a": "ls_1/9007199254740991", "kk": ["ababab"], "m": {"key0": "v", "key1": "v"}, "n": 1
    });
    assert_eq!(names.fill(&sent), filled);
    assert_ne!(names.fill(&json!("$ns")), Names::new().fill(&json!("$ns")));
}

#[test]
fn answers_match_as_subsets_with_exact_numbers() {
    let fitting = [
        (json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 2}, "d": 3})),
        (json!({"a": "$absent"}), json!({})),
        (json!(["$int", "$any"]), json!([1, null])),
        (json!("$gt:9007199254740992"), json!(9_007_199_254_740_993_i64)),
        (json!("$le:1.5"), json!(1)),
        (json!("$re:^not"), json!("not found")),
        (json!("$len:2"), json!([1, 2])),
    ];
    for (want, got) in fitting {
        assert_eq!(matches(&want, &got, "body"), Ok(()));
    }
}

#[test]
fn answers_that_differ_do_not_match() {
    let differing: [(Value, Value); 11] = [
        (json!({"a": 1}), json!({})),
        (json!({"a": "$absent"}), json!({"a": null})),
        (json!({}), json!([])),
        (json!([1]), json!([1, 2])),
        (json!(1), json!("1")),
        (json!(1), json!(true)),
        (json!("$int"), json!(1.5)),
        (json!("$ge:2"), json!("3")),
        (json!("$re:^found"), json!("not found")),
        (json!("$len:1"), json!("a")),
        (json!("$typo"), json!("$typo")),
    ];
    for (want, got) in differing {
        assert!(matches(&want, &got, "body").is_err(), "{want} matches {got}");
    }
}
