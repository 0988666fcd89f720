//! Reads the page of a generator so many times: `.ci/instructions` counts what one time takes.

mod reading;

use std::{env, hint::black_box};

use reading::{GENERATORS, Reader, page};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // Without a generator each page is read once.
    let (generators, times) = match &arguments[..] {
        [generator, times, ..] if GENERATORS.contains(&&**generator) => {
            (vec![&**generator], times.parse().expect("a number"))
        }
        _ => (GENERATORS.to_vec(), 1),
    };
    let reader = Reader::new();
    for generator in generators {
        let page = page(generator, 0).into_bytes();
        for _ in 0..times {
            let facts = reader.facts(black_box(&page));
            assert!(facts.content_hash.is_some() && !facts.links.is_empty());
        }
    }
}
