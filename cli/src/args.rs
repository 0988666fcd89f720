//! What was typed: names, help and shape of the command line, nothing else. Values stay text here;
//! what they mean and whether they make sense is decided once, in [`crate::settings`], for flags,
//! variables and files alike.

mod build;
mod check;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use self::build::BuildArgs;
pub(crate) use self::check::CheckArgs;
use crate::settings::value::{Item, Value};

/// Walks a live website politely and publishes a standards-perfect set of XML sitemaps.
#[derive(Debug, Parser)]
#[command(
    name = "arpent",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Args {
    /// The job to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl each site and publish its sitemaps
    #[command(long_about = CRAWL_HELP)]
    Crawl(Box<CrawlArgs>),
    /// Publish sitemaps from lists of URLs or folders of HTML, without a request
    #[command(long_about = build::BUILD_HELP)]
    Build(Box<BuildArgs>),
    /// Check sitemaps, indexes, feeds and URL lists: files, folders, or where they are served
    #[command(long_about = check::CHECK_HELP)]
    Check(Box<CheckArgs>),
}

/// What was typed after `arpent crawl`.
#[derive(Debug, Default, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CrawlArgs {
    /// Sites to crawl: the directory of each URL, and everything below it
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Read settings from this TOML file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Where the sitemaps are written [default: sitemaps/SITE]; with several sites, DIR/SITE each
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    output: Option<String>,

    /// Where progress and memory are kept, one SQLite file per site [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    state: Option<String>,

    /// The URL of the directory where the output will be served, on another host too [default: the scope's directory]; with several sites, URL/SITE each
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    /// Write the site as what is at this URL: crawl a staging copy, list production (which is never asked)
    #[arg(id = "as", long = "as", value_name = "URL", help_heading = "Output")]
    written_as: Option<String>,

    /// Every file in the root of the output, or each inside the directory it lists [default: root]
    #[arg(long, value_name = "root|in-place", help_heading = "Output")]
    layout: Option<String>,

    /// Write an index always, or only when one file is not enough [default: always]
    #[arg(long, value_name = "always|auto", help_heading = "Output")]
    index: Option<String>,

    /// The formats: xml, txt (URLs alone), rss and atom (feeds of recent changes) [default: xml]
    #[arg(long, value_name = "xml,txt,rss,atom", help_heading = "Output")]
    format: Vec<String>,

    /// Do not compress the sitemap files
    #[arg(long, help_heading = "Output")]
    no_gzip: bool,

    /// How often matching pages change, e.g. '/news/*=daily' (repeatable, the first that fits counts)
    #[arg(long, value_name = "GLOB=V", help_heading = "Output")]
    changefreq: Vec<String>,

    /// How important matching pages are within the site, e.g. '/shop/*=0.8' (repeatable, the first that fits counts)
    #[arg(long, value_name = "GLOB=V", help_heading = "Output")]
    priority: Vec<String>,

    /// Say in the entries what the pages say of their images, and of their versions in other languages
    #[arg(long, value_name = "images,hreflang", help_heading = "Output")]
    extensions: Vec<String>,

    /// Say in each file where its schemas are, for validators that ask for it
    #[arg(long, help_heading = "Output")]
    schema_location: bool,

    /// Publish even if the guard refuses, and replace files that are not arpent's (after a backup)
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// Crawl and plan, but write no sitemaps
    #[arg(long, help_heading = "Output")]
    dry_run: bool,

    /// Requests per second and host, at most [default: 10]
    #[arg(long, value_name = "N|unlimited", help_heading = "Politeness")]
    rate: Option<String>,

    /// Requests in flight per host, at most [default: 4]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    concurrency: Option<String>,

    /// One request at a time, each this long after the last answer ended, e.g. 2s
    #[arg(long, value_name = "T", help_heading = "Politeness")]
    delay: Option<String>,

    /// Where URLs come from: links on pages, the sitemaps that robots.txt names, feeds that pages name, the
    /// lists of --seeds [default: links,sitemaps,feeds,list]
    #[arg(long, value_name = "SOURCES", help_heading = "Discovery")]
    discover: Vec<String>,

    /// Crawl the URLs in this file too: one absolute URL per line, or a sitemap or feed; - is standard input (repeatable)
    #[arg(long, value_name = "FILE|-", help_heading = "Discovery")]
    seeds: Vec<String>,

    /// Crawl the directory of the URL, or its whole origin [default: dir]
    #[arg(long, value_name = "dir|origin", help_heading = "Scope")]
    scope: Option<String>,

    /// Fetch and list only URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    include: Vec<String>,

    /// Neither fetch nor list URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    exclude: Vec<String>,

    /// Fetch matching URLs for their links, but do not list them (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    follow_only: Vec<String>,

    /// List matching URLs without fetching them (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    list_only: Vec<String>,

    /// For your own site only: ignore its robots.txt, noindex or canonical links (comma-separated, repeatable)
    #[arg(long, value_name = "robots,noindex,canonical", help_heading = "Scope")]
    ignore: Vec<String>,

    /// Stop after this many pages; the same command later goes on [default: 1000000]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_pages: Option<String>,

    /// Stop after this time; the same command later goes on [default: 24h]
    #[arg(long, value_name = "T", help_heading = "Limits")]
    max_time: Option<String>,

    /// Do not fetch pages that are more hops away from the start [default: unlimited]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_depth: Option<String>,

    /// The User-Agent header; its first word is the name robots.txt rules are looked up by [default: arpent/VERSION]
    #[arg(long, value_name = "S", help_heading = "Requests")]
    user_agent: Option<String>,

    /// A header for requests to the start origin, e.g. 'Accept-Language: fr' (repeatable)
    #[arg(long, value_name = "NAME:VALUE", help_heading = "Requests")]
    header: Vec<String>,

    /// Connect to ADDRESS for HOST:PORT instead of asking DNS (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDRESS", help_heading = "Requests")]
    resolve: Vec<String>,

    /// Send requests through this proxy; proxy variables of the environment are ignored
    #[arg(long, value_name = "URL", help_heading = "Requests")]
    proxy: Option<String>,

    /// Trust the certificate authorities in this PEM file as well
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    ca_file: Option<String>,

    /// Forget what is known of the site (the old state is set aside, not deleted)
    #[arg(long, help_heading = "Run")]
    fresh: bool,

    /// What to print on stdout at the end [default: text]
    #[arg(long, value_name = "json|text", help_heading = "Run")]
    summary: Option<String>,

    /// Say nothing on stderr but errors
    #[arg(long, help_heading = "Run")]
    quiet: bool,

    /// Say more on stderr; twice and three times for even more
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Run")]
    verbose: u8,
}

/// Shown above the options by `--help`.
const CRAWL_HELP: &str = "\
Crawl each site and publish its sitemaps

Every option is also a setting of the same name (--max-pages is max_pages) in the settings file, and \
a variable ARPENT_<NAME> (ARPENT_MAX_PAGES). Options win over variables, variables over the file. \
config/default.toml documents all settings, those without an option too.";

/// Shown below the options; [`crate::exit_code`] says the same at length.
const EXIT_CODES: &str = "\
Times are written like 500ms, 2s, 1m, 24h; a number alone is seconds.

Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings
  3    published, but partial: some URLs failed or were not reached
  4    refused to publish, the old sitemaps stand
  5    the site could not be crawled
  6    busy: another run holds the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM); the same command goes on where it stopped";

impl CrawlArgs {
    /// The settings that were typed, by setting name, in the order of the options above.
    pub(crate) fn typed(&self) -> Vec<(&'static str, Value)> {
        let lists = [
            ("urls", &self.urls),
            ("format", &self.format),
            ("changefreq", &self.changefreq),
            ("priority", &self.priority),
            ("extensions", &self.extensions),
            ("discover", &self.discover),
            ("seeds", &self.seeds),
            ("include", &self.include),
            ("exclude", &self.exclude),
            ("follow_only", &self.follow_only),
            ("list_only", &self.list_only),
            ("ignore", &self.ignore),
            ("header", &self.header),
            ("resolve", &self.resolve),
        ];
        let texts = [
            ("output", &self.output),
            ("state", &self.state),
            ("public_url", &self.public_url),
            ("as", &self.written_as),
            ("layout", &self.layout),
            ("index", &self.index),
            ("rate", &self.rate),
            ("concurrency", &self.concurrency),
            ("delay", &self.delay),
            ("scope", &self.scope),
            ("max_pages", &self.max_pages),
            ("max_time", &self.max_time),
            ("max_depth", &self.max_depth),
            ("user_agent", &self.user_agent),
            ("proxy", &self.proxy),
            ("ca_file", &self.ca_file),
            ("summary", &self.summary),
        ];
        let switches = [
            ("no_gzip", self.no_gzip),
            ("schema_location", self.schema_location),
            ("force", self.force),
            ("dry_run", self.dry_run),
            ("fresh", self.fresh),
            ("quiet", self.quiet),
        ];
        typed(lists, texts, switches, self.verbose)
    }
}

/// Values of options by the names of their settings; what was not typed is left out.
fn typed<const L: usize, const T: usize, const S: usize>(
    lists: [(&'static str, &Vec<String>); L],
    texts: [(&'static str, &Option<String>); T],
    switches: [(&'static str, bool); S],
    verbose: u8,
) -> Vec<(&'static str, Value)> {
    let lists = lists
        .into_iter()
        .filter(|(_, items)| !items.is_empty())
        .map(|(name, items)| {
            (
                name,
                Value::List(
                    items
                        .iter()
                        .map(|text| Item::new(Value::Text(text.clone())))
                        .collect(),
                ),
            )
        });
    let texts = texts
        .into_iter()
        .filter_map(|(name, text)| text.as_ref().map(|text| (name, Value::Text(text.clone()))));
    let switches = switches
        .into_iter()
        .filter(|&(_, on)| on)
        .map(|(name, _)| (name, Value::Bare("true".to_owned())));
    let verbose = (verbose > 0).then(|| ("verbose", Value::Bare(verbose.to_string())));
    lists.chain(texts).chain(switches).chain(verbose).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::settings::table::SETTINGS;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    /// The commands whose options are settings.
    const COMMANDS: [&str; 2] = ["crawl", "build"];

    #[test]
    fn every_option_is_a_setting_of_the_same_name() {
        let command = Args::command();
        let names: BTreeSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        for name in COMMANDS {
            let command = command.find_subcommand(name).unwrap();
            for option in command
                .get_arguments()
                .map(|option| option.get_id().as_str())
            {
                assert!(
                    option == "config" || names.contains(option),
                    "{name}: --{option} is no setting"
                );
            }
        }
    }

    #[test]
    fn every_typed_option_arrives_under_its_name() {
        let command = Args::command();
        for command in COMMANDS.map(|name| command.find_subcommand(name).unwrap()) {
            for option in command.get_arguments() {
                let name = option.get_id().as_str();
                let mut line = vec!["arpent".to_owned(), command.get_name().to_owned()];
                match (name, option.get_action()) {
                    ("config", _) => continue,
                    _ if option.is_positional() => line.push("x".to_owned()),
                    (_, clap::ArgAction::Set | clap::ArgAction::Append) => {
                        line.extend([format!("--{}", name.replace('_', "-")), "x".to_owned()]);
                    }
                    (_, _) => line.push(format!("--{}", name.replace('_', "-"))),
                }
                let typed = match Args::try_parse_from(line).unwrap().command {
                    Command::Crawl(args) => args.typed(),
                    Command::Build(args) => args.typed(),
                    Command::Check(_) => unreachable!("no settings are typed there"),
                };
                let names: Vec<_> = typed.into_iter().map(|(name, _)| name).collect();
                assert_eq!(names, [name]);
            }
        }
    }
}
