//! The stored inputs of the fuzz targets in `tests/fuzz`, through the same functions. The fuzzer needs
//! another compiler and much time; these tests need neither, and show that targets and inputs still work.

use std::{fs, path::Path};

use crawler::testing::is_full;

#[expect(
    unreachable_pub,
    reason = "what the targets offer is public to the fuzzer"
)]
#[path = "../fuzz/src/targets/mod.rs"]
mod targets;

use self::targets::Target;

/// Each target has written inputs, and may have inputs that the fuzzer found.
fn check(target: &Target) {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fuzz"));
    let seeds = run_all(target, &root.join("seeds").join(target.name));
    assert!(seeds > 0, "{} has no seeds", target.name);
    let corpus = root.join("corpus").join(target.name);
    if corpus.is_dir() {
        run_all(target, &corpus);
    }
}

#[expect(
    clippy::print_stdout,
    reason = "a test that fails shows which input it was"
)]
fn run_all(target: &Target, folder: &Path) -> usize {
    let files =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut count = 0;
    for file in files {
        let path = file.expect("a file").path();
        let input = fs::read(&path).expect("a file that can be read");
        println!("{}", path.display());
        (target.run)(&input);
        count += 1;
    }
    count
}

#[test]
fn stored_inputs_pass_their_targets() {
    for target in [
        targets::SITEMAP,
        targets::ENCODING,
        targets::GZIP,
        targets::VALIDATE,
        targets::LIST,
        targets::PAGE,
        targets::ROBOTS,
    ] {
        check(&target);
    }
}

#[test]
fn repeated_inputs_come_to_an_end() {
    check(if is_full() {
        &targets::REPEATED
    } else {
        &targets::REPEATED_SHORT
    });
}
