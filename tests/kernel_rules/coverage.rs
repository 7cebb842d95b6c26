//! The list of known rules of the kernel: each is a script here, or it is not modelled, for a reason.

use std::collections::HashSet;

use crate::observe::Rule;
use crate::shim::{abstract_names, backlog, datagrams, directories, files, locks, sockets, streams, symlinks, tcp};

const LIST: &str = include_str!("coverage.tsv");

const SCRIPTS: [&[Rule]; 10] = [
    abstract_names::RULES,
    backlog::RULES,
    datagrams::RULES,
    directories::RULES,
    files::RULES,
    locks::RULES,
    sockets::RULES,
    streams::RULES,
    symlinks::RULES,
    tcp::RULES,
];

#[test]
fn every_known_rule_is_a_script_or_there_is_a_reason() {
    let scripts: HashSet<&str> = SCRIPTS.into_iter().flatten().map(|rule| rule.name).collect();
    let mut seen = HashSet::new();
    for line in LIST.lines().skip(1) {
        let [rule, how, text] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line:?} has three columns");
        };
        assert!(seen.insert(rule), "{rule} is there twice");
        match how {
            "script" => assert!(scripts.contains(text), "{rule}: there is no script called {text}"),
            "not modelled" => assert!(!text.is_empty(), "{rule}: no reason"),
            _ => panic!("{rule}: {how:?} is neither a script nor not modelled"),
        }
    }
    assert_eq!(seen.len(), 156);
}
