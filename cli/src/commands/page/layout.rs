//! The frame of all pages: head, navigation, style sheet, script and headers.

use axum::http::{HeaderName, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

/// The style sheet of all pages.
pub(super) const STYLE: &str = include_str!("page.css");

/// What keeps the live parts of a page current. All of it works without.
pub(super) const SCRIPT: &str = include_str!("page.js");

/// The headers of all answers: nothing comes from elsewhere, and no other page shows this one in a frame.
pub(super) const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// What the head of the page offers.
pub(super) enum Bar {
    /// Nothing is known of who asks.
    Plain,
    /// There is no token: nobody logs in.
    ReadOnly,
    /// Somebody has logged in; the token of the form that logs out.
    LoggedIn { token: String },
}

/// A page.
pub(super) fn page(title: &str, bar: &Bar, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · arpent" }
                link rel="stylesheet" href="/page.css";
                link rel="alternate" type="application/atom+xml" title="Events" href="/events.atom";
                script src="/page.js" defer {}
            }
            body {
                a .skip href="#main" { "To the content" }
                header {
                    nav aria-label="Pages" {
                        a href="/" { "arpent" }
                        a href="/events.atom" { "Events" }
                        a href="/status.json" { "JSON" }
                    }
                    @match bar {
                        Bar::Plain => {},
                        Bar::ReadOnly => p .quiet { "Read only" },
                        Bar::LoggedIn { token } => form method="post" action="/logout" {
                            input type="hidden" name="token" value=(token);
                            button { "Log out" }
                        },
                    }
                }
                main #main { (main) }
            }
        }
    };
    page.into_string()
}

/// The page of a request that is refused.
pub(super) fn refusal(status: StatusCode, text: &str) -> String {
    let reason = status.canonical_reason().unwrap_or("Error");
    let main = html! {
        h1 { (reason) }
        p { (text) }
        p { a href="/" { "All sites" } }
    };
    page(reason, &Bar::Plain, &main)
}
