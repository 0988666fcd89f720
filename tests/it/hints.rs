//! Reports of a crawl that lists nothing, or little: on stderr, and as notes in the summary, for cron jobs and hooks.

use std::{fs, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

/// Few tries and short waits.
const QUICK: &str = "limits.max_tries = 2\ntesting.retry_delays = [\"10ms\"]\n";

fn crawl(bench: &Bench, url: &str, options: &[&str]) -> Ran {
    let config = bench.settings(QUICK);
    bench.crawl(url, &[&["--config", &config], options].concat())
}

/// The codes of the notes in a summary.
fn codes(summary: &Value) -> Vec<&str> {
    let notes = summary["notes"].as_array().expect("notes");
    notes
        .iter()
        .filter_map(|note| note["code"].as_str())
        .collect()
}

/// Checks that there is no crawl: the first message is the reason, and so is a note.
#[track_caller]
fn check_no_crawl(url: &str, code: &str, begins: &str, contains: &str) {
    let ran = crawl(&Bench::new(), url, &[]).expect_code(5);
    let summary = ran.summary();
    assert_eq!(codes(&summary), [code], "{summary}");
    let note = &summary["notes"][0];
    assert_eq!(note["text"], summary["message"]);
    assert_eq!(note["count"], 1);
    let mut lines = ran.stderr.lines();
    let error = lines.find_map(|line| line.split_once("error: "));
    let (_, error) = error.expect("an error");
    // The message may begin with the site.
    let text = error.strip_prefix(&format!("{url}: ")).unwrap_or(error);
    assert!(text.starts_with(begins), "{}", ran.stderr);
    assert!(text.contains(contains), "{}", ran.stderr);
}

/// The TLS settings of a server, and its certificate: self-signed, as an authority or not.
pub(crate) fn self_signed(is_authority: bool) -> (Arc<ServerConfig>, String) {
    let mut params =
        CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("the name of a host");
    if is_authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    let key = KeyPair::generate().expect("keys can be made");
    let certificate = params.self_signed(&key).expect("it may sign itself");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("a usable certificate");
    (Arc::new(tls), certificate.pem())
}

fn secure(tls: Arc<ServerConfig>) -> Site {
    Site::start_tls(tls, |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/a"]),
        _ => Response::html("<title>a</title>"),
    })
}

#[test]
fn an_untrusted_certificate_is_reported_with_its_option() {
    let (tls, certificate) = self_signed(false);
    let site = secure(tls);
    let begins = "certificate of 127.0.0.1 is self-signed, or of an authority that this machine";
    check_no_crawl(&site.url("/"), "tls-failed", begins, "--ca-file");
    // The option works.
    let bench = Bench::new();
    fs::write(bench.path().join("ca.pem"), certificate).expect("written");
    crawl(&bench, &site.url("/"), &["--ca-file", "ca.pem"]).expect_code(0);
    // As `openssl req -x509` makes them.
    let (tls, certificate) = self_signed(true);
    let site = secure(tls);
    let begins = "certificate of 127.0.0.1 is that of an authority";
    check_no_crawl(&site.url("/"), "tls-failed", begins, "--ca-file");
    let bench = Bench::new();
    fs::write(bench.path().join("ca.pem"), certificate).expect("written");
    crawl(&bench, &site.url("/"), &["--ca-file", "ca.pem"]).expect_code(0);
}
