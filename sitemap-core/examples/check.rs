//! Lists the URLs of a sitemap, an index, a feed or a text file, and what is wrong with it:
//!
//! ```sh
//! cargo run --example check -- sitemap.xml.gz https://www.example.com/sitemap.xml.gz
//! ```
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example is a program, with files, a clock and a terminal"
)]

use std::{env, error::Error, fs::File, io::BufReader};

use sitemap_core::{
    Limits, Loc,
    read::{Item, Reader},
    validate::{Facts, Options, Validator},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments
        .next()
        .ok_or("expected a file, and perhaps its URL")?;
    let place = arguments.next().map(|url| Loc::parse(&url)).transpose()?;

    // The lenient reading: every entry that can be used.
    let mut reader = Reader::new(BufReader::new(File::open(&path)?), Limits::default());
    for item in &mut reader {
        match item {
            Ok(Item::Url(entry)) => println!("{}", entry.loc),
            Ok(Item::Sitemap(entry)) => println!("sitemap {}", entry.loc),
            // The entry is left out; the strict reading says why.
            Err(_) => {}
        }
    }

    // The strict reading: every rule that the document breaks. Its place decides which URLs it may list.
    let mut validator = Validator::new(Options::new(jiff::Timestamp::now()));
    let mut facts = Facts::new(&path);
    facts.place = place.as_ref();
    let mut print = |finding: sitemap_core::validate::Finding| {
        println!(
            "{}[{}]: {}",
            finding.severity, finding.rule, finding.message
        );
    };
    validator.check(BufReader::new(File::open(&path)?), &facts, &mut print)?;
    let counts = validator.finish(&mut print).counts;
    println!("{} errors, {} warnings", counts.errors, counts.warnings);
    Ok(())
}
