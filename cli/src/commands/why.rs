//! `arpent why`: finds the state of the site that a URL belongs to, lets [`crawler::why`] explain it, with `--live`
//! also by asking for it, and prints that.

use std::{path::PathBuf, sync::Arc};

use crawler::{
    check::{CheckProgress, Network},
    clock::Clock,
    config::Config,
    driver::{Named, SessionSettings, find_state},
    site::Site,
    store::Store,
    url_key::UrlKey,
    why::{Question, UrlExplanation},
};

use super::{
    crawl::{begin_log, load},
    dependencies,
    names::{covering, settings_of},
    requesting::{RequestContext, with_network},
};
use crate::{
    args::WhyArgs,
    exit_code::ExitCode,
    failure::{self, Cause, Context as _, Misuse},
    output::Output,
    print::print_result,
    settings::{CrawlSettings, Environment, Purpose, with_scheme},
};

/// A URL with the site that it is in.
struct AskedUrl {
    url: UrlKey,
    site: Site,
    /// The state of the site; `None`: it was never crawled.
    state: Option<PathBuf>,
    /// The settings of the site.
    config: Config,
}

/// Runs the command.
///
/// # Errors
/// The settings make no sense, no state covers the URL, or the state cannot be read.
pub(super) fn run(
    args: &WhyArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let purpose = if args.live {
        Purpose::Ask
    } else {
        Purpose::Look
    };
    let settings = load(purpose, args.settings.0.clone(), environment)?;
    let asked = asked_url(&args.url, args.site.as_deref(), args.live, &settings)?;
    let clock = dependencies::clock(environment);
    let explanation = if args.live {
        begin_log(&settings.shared, output);
        let (config, progress) = (asked.config.clone(), CheckProgress::default());
        let context = RequestContext::new(
            config,
            Arc::clone(&clock),
            &settings.shared.session.state,
            progress,
        );
        let explained = with_network(context, output, move |mut network| {
            asked.explain(&clock, Some(&mut network))
        });
        match explained? {
            Ok(explanation) => explanation,
            Err(stopped) => return Ok(stopped),
        }
    } else {
        asked.explain(&clock, None)?
    };
    let view = || {
        let mut view = explanation.view();
        let typed = with_scheme(&args.url);
        let [typed, known] = [&*typed, &*explanation.url].map(|url| url.trim_end_matches('/'));
        if !typed.eq_ignore_ascii_case(known) {
            view.title = format!("{} counts as {}", args.url, view.title);
        }
        view
    };
    print_result(args.json, &explanation, view, output)?;
    Ok(ExitCode::Success)
}

/// The URL of the arguments, by the settings of its site.
fn asked_url(
    url: &str,
    wanted: Option<&str>,
    is_live: bool,
    settings: &CrawlSettings,
) -> failure::Result<AskedUrl> {
    let parse = |settings: &SessionSettings, typed: &str| {
        let parsed = settings.config.identity.parse(&with_scheme(typed));
        parsed.map_err(|error| {
            Misuse(format!(
                "{typed}: {error}; expected a whole URL, such as https://www.example.com/about"
            ))
        })
    };
    let typed = parse(&settings.shared.session, url)?;
    let wanted = wanted
        .map(|site| parse(&settings.shared.session, site))
        .transpose()?;
    let (settings, site, state) = match &wanted {
        Some(start) => {
            let settings = settings_of(settings, start);
            let (site, path) = find_state(settings, start).context(start.to_string())?;
            (settings, site, Some(path))
        }
        None => match covering(settings, &typed) {
            Ok((settings, (site, path))) => (settings, site, Some(path)),
            // Its answer needs no state.
            Err(error) if is_live && error.cause() == Cause::Misuse => {
                let settings = settings_of(settings, &typed);
                (settings, Named::as_typed(settings, &typed).site, None)
            }
            Err(error) => return Err(error),
        },
    };
    // Parameters that the site's settings drop.
    let url = parse(settings, url)?;
    Ok(AskedUrl {
        url: site.crawled_key(&url).unwrap_or(url),
        config: settings.places_of(&site)?.config(&settings.config),
        site,
        state,
    })
}

/// Why a URL is listed, or not, by the states alone.
///
/// # Errors
/// No state covers the URL, or the state cannot be read.
#[cfg(feature = "page")]
pub(super) fn view_of(
    settings: &CrawlSettings,
    url: &str,
    site: &str,
    clock: &Arc<dyn Clock>,
) -> failure::Result<crawler::view::View> {
    let asked = asked_url(url, Some(site), false, settings)?;
    Ok(asked.explain(clock, None)?.view())
}

impl AskedUrl {
    /// The stored facts about the URL, and with a `network` its current answer.
    fn explain(
        &self,
        clock: &Arc<dyn Clock>,
        network: Option<&mut Network<'_>>,
    ) -> failure::Result<UrlExplanation> {
        let store = match &self.state {
            Some(path) => Store::open_to_read(path)?.context("the state is gone")?,
            None => Store::in_memory()?,
        };
        let question = Question {
            store: &store,
            site: &self.site,
            config: &self.config,
            clock,
        };
        let explained = question.explain(&self.url).and_then(|mut explanation| {
            if let Some(network) = network {
                question.request_live(&self.url, network, &mut explanation)?;
            }
            Ok(explanation)
        });
        Ok(explained?)
    }
}
