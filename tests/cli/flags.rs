//! The flags that are in force are kept: from the environment, and from the configuration.

use crate::fixture::{Came, Directory, alone, interleave, run};

/// A package without dependencies whose test says which flags it was built with. It has no model, so `test` ends with 5, or
/// with 101 if the test fails.
fn package(name: &str, config: &str, expected: &str) -> Directory {
    let package = Directory::new(name);
    package
        .write("Cargo.toml", "[package]\nname = \"flags\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n");
    package.write(".cargo/config.toml", config);
    let test = format!(
        "//! ```\n//! {}\n//! ```\n#![allow(unexpected_cfgs)]\n#[test]\nfn flags() {{\n    assert_eq!({FLAGS}, {expected});\n}}\n",
        "assert!(cfg!(interleave));"
    );
    package.write("src/lib.rs", &test);
    package
}

/// Interleave's own flag, the environment's, and those of `build` and `target` in the configuration.
const FLAGS: &str = "[cfg!(interleave), cfg!(from_environment), cfg!(from_build), cfg!(from_target)]";
const BOTH: &str = "[build]\nrustflags = [\"--cfg\", \"from_build\"]\n[target.'cfg(all())']\nrustflags = [\"--cfg\", \"from_target\"]\n";

fn test(package: &Directory, variables: &[(&str, &str)]) -> Came {
    run(interleave(&package.0, &["test", "--no-nextest"]).envs(variables.iter().copied()))
}

#[test]
fn flags_of_the_configuration_are_kept() {
    let _alone = alone();
    let build = package("build", "[build]\nrustflags = [\"--cfg\", \"from_build\"]\n", "[true, false, true, false]");
    test(&build, &[]).with(5, &["test flags ... ok", "1 passed", "no model ran"]);
    let text = package("text", "[build]\nrustflags = \"--cfg from_build\"\n", "[true, false, true, false]");
    test(&text, &[]).with(5, &["test flags ... ok"]);
    // What cargo does without us: those of `target` win over those of `build`.
    let both = package("both", BOTH, "[true, false, false, true]");
    test(&both, &[]).with(5, &["test flags ... ok"]);
}

#[test]
fn flags_of_the_environment_win_and_are_kept() {
    let _alone = alone();
    let both = package("environment", BOTH, "[true, true, false, false]");
    test(&both, &[("RUSTFLAGS", "--cfg from_environment")]).with(5, &["test flags ... ok"]);
    let encoded = [("RUSTFLAGS", "--cfg other"), ("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}from_environment")];
    test(&both, &encoded).with(5, &["test flags ... ok"]);
    let variable = package("variable", "", "[true, true, false, false]");
    test(&variable, &[("CARGO_BUILD_RUSTFLAGS", "--cfg from_environment")]).with(5, &["test flags ... ok"]);
    test(&variable, &[]).with(101, &["assertion `left == right` failed"]);
}

#[test]
fn a_configuration_that_is_not_toml_is_named() {
    let broken = package("broken", "[build\n", "[]");
    let came = test(&broken, &[]);
    assert_eq!(came.code, Some(2), "{}", came.text);
    assert!(came.text.contains("config.toml"), "{}", came.text);
}
