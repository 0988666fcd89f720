//! Writes the URLs of standard input, one per line, as a set of sitemaps with an index:
//!
//! ```sh
//! cargo run --example write_set -- https://www.example.com/ sitemaps < urls.txt
//! ```
#![expect(
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "an example is a program, with files and a terminal"
)]

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::{self, BufWriter},
    path::PathBuf,
};

use sitemap_core::{Loc, SetWriter, UrlEntry};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(base), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("expected the URL where the sitemaps will be served, and a folder".into());
    };
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;

    let base = Loc::parse(&base)?;
    let open = |name: &str| Ok(BufWriter::new(File::create(folder.join(name))?));
    let mut set = SetWriter::new(&base, open);
    for line in io::stdin().lines() {
        set.push(&UrlEntry::new(Loc::parse(line?.trim())?))?;
    }
    for index in set.finish()?.indexes {
        println!("Sitemap: {index}");
    }
    Ok(())
}
