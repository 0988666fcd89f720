//! `arpent audit`: finds the state of a site, lets [`crawler::audit`] compare it with sitemaps, feeds and logs, and prints the findings.

use std::{
    fs::File,
    io::{self, BufReader},
    path::Path,
    sync::Arc,
};

use crawler::{
    audit::{Audit, AuditError, AuditGroup, AuditKind, AuditOutcome, AuditedSite},
    check::{CheckProgress, Network},
    sitemap_set::SetPlace,
    store::Store,
};
use sitemap_core::read::Source;

use super::{
    check::url_of,
    crawl::{begin_log, load},
    dependencies,
    findings::{FindingPrinter, MoreFindings, PrintedFinding, PrintedRule},
    names::covering,
    requesting::{RequestContext, with_network},
};
use crate::{
    args::AuditArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Misuse},
    output::Output,
    print::print_view,
    settings::{Environment, Purpose, with_scheme},
};

/// Runs the command.
///
/// # Errors
/// The settings make no sense, no state is that of the site, or it cannot be read; a log cannot be read; the site has no sitemap.
pub(super) fn run(
    args: &AuditArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    if args.settings.0.has("quiet") {
        output.be_quiet();
    }
    let settings = load(Purpose::Ask, args.settings.0.clone(), environment)?;
    begin_log(&settings.shared, output);
    let url = settings
        .shared
        .session
        .config
        .identity
        .parse(&with_scheme(&args.site));
    let url = url.map_err(|error| Misuse(format!("{}: {error}", args.site)))?;
    let (settings, (site, path)) = covering(&settings, &url)?;
    let config = settings.places_of(&site)?.config(&settings.config);
    let mut printer = FindingPrinter::new(&args.findings, output)?;
    let clock = dependencies::clock(environment);
    let (args, progress) = (args.clone(), CheckProgress::default());
    let states = &settings.state;
    let context = RequestContext::new(config.clone(), Arc::clone(&clock), states, progress.clone());
    let audited = with_network(context, output, move |network| {
        let store = Store::open_to_read(&path)?.context("the state is gone")?;
        let of = AuditedSite {
            store: &store,
            site: &site,
            config: &config,
            clock: &clock,
        };
        audit(&args, of, network, progress)
    });
    match audited? {
        Err(stopped) => Ok(stopped),
        Ok(outcome) => Ok(print(&outcome, &mut printer, output)),
    }
}

/// Reads the sources, the logs first, and compares.
fn audit(
    args: &AuditArgs,
    of: AuditedSite<'_>,
    network: Network<'_>,
    progress: CheckProgress,
) -> failure::Result<AuditOutcome> {
    let identity = network.identity.clone();
    let mut audit = Audit::new(of, network, progress)?;
    for path in &args.log {
        read_log(&mut audit, path)?;
    }
    for path in &args.sitemap {
        let place = match url_of(path) {
            Some(url) => SetPlace::Url(identity.parse(&url)?),
            None => SetPlace::Path(path.clone()),
        };
        let name = path.display().to_string();
        audit.source(&name, &place)?;
    }
    if args.sitemap.is_empty() {
        audit.own_sources()?;
    }
    Ok(audit.finish(args.findings.repeats)?)
}

fn read_log(audit: &mut Audit<'_, '_>, path: &Path) -> failure::Result<()> {
    let read = if path == Path::new("-") {
        audit.log(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(AuditError::Log);
        file.and_then(|file| audit.log(BufReader::new(file)))
    };
    read.map_err(|error| match error {
        AuditError::Log(error) => Misuse(format!("--log {}: {error}", path.display())).into(),
        error => error.into(),
    })
}

/// Prints the findings and the sums; returns the exit code.
fn print(outcome: &AuditOutcome, printer: &mut FindingPrinter<'_>, output: &Output) -> ExitCode {
    for group in &outcome.groups {
        print_group(group, printer);
    }
    printer.finish(
        |output| print_view(&outcome.view(), output),
        |output| output.data_json(&format!("],\"summary\":{}}}", outcome.document())),
    );
    for reason in &outcome.unread {
        output.warn(&format!("not read, or not whole: {reason}"));
    }
    let codes = [
        (!outcome.unread.is_empty(), ExitCode::NotCrawled),
        (printer.fails(), ExitCode::Invalid),
    ];
    let codes = codes.into_iter().filter(|(is_so, _)| *is_so);
    codes.fold(ExitCode::Success, |worst, (_, code)| worst.worse(code))
}

fn print_group(group: &AuditGroup, printer: &mut FindingPrinter<'_>) {
    let rule = rule_of(group.kind);
    for finding in &group.shown {
        printer.finding(&PrintedFinding {
            document: None,
            rule: rule.clone(),
            severity: group.kind.severity(),
            source: Source::Rule,
            position: None,
            excerpt: None,
            url: Some(&finding.url),
            named_by: finding.named_by.as_deref(),
            message: &finding.message,
            help: group.kind.help(),
        });
    }
    let count = group.count - group.shown.len() as u64;
    if count > 0 {
        printer.more(&MoreFindings {
            document: None,
            rule,
            severity: group.kind.severity(),
            source: Source::Rule,
            count,
        });
    }
}

fn rule_of(kind: AuditKind) -> PrintedRule {
    PrintedRule {
        id: kind.code().to_owned(),
        title: kind.title().to_owned(),
        help: kind.help().to_owned(),
    }
}
