//! TLS: certificates, and connections that break off.

use std::{
    io::{Read as _, Write as _},
    path::PathBuf,
    sync::Arc,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::{
    ServerConfig, ServerConnection,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tempfile::TempDir;

use super::{
    HELLO, SHORT, Script, failure, get, get_text,
    server::{Connection, Server},
    settings,
};
use crate::{
    config::{FetchConfig, Resolve},
    fetch::{FetchErrorKind, http::HttpFetch},
    page::BodyEnd,
};

type ChangeOfCertificate = fn(&mut CertificateParams);

pub(super) const HOST: &str = "site.example";

/// A certificate authority, and its certificate in a file.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    pub(super) fn new() -> Self {
        Self::named("test authority")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Settings of a server with a certificate for `names`.
    pub(super) fn server(
        &self,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> ServerConfig {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        server_config(certificate.der().clone(), &key)
    }
}

fn server_config(certificate: CertificateDer<'static>, key: &KeyPair) -> ServerConfig {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap()
}

/// A client that reaches [`HOST`] on this machine and trusts `authority`.
pub(super) fn client(authority: Option<&Authority>, server: &Server) -> FetchConfig {
    FetchConfig {
        ca_file: authority.map(Authority::file),
        resolve: vec![Resolve {
            host: HOST.to_owned(),
            port: server.address.port(),
            address: server.address.ip(),
        }],
        start_host: HOST.to_owned(),
        ..settings()
    }
}

pub(super) fn url(server: &Server) -> String {
    format!("https://{HOST}:{}/", server.address.port())
}

/// A server that answers one request of each connection; with or without a proper end of TLS.
fn start(config: ServerConfig, answer: &'static str, ends_properly: bool) -> Server {
    let config = Arc::new(config);
    Server::start(move |connection: &mut Connection| {
        let mut tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = rustls::Stream::new(&mut tls, &mut connection.stream);
        let mut byte = [0];
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        stream.write_all(answer.as_bytes()).unwrap();
        if ends_properly {
            tls.send_close_notify();
            let _ = tls.complete_io(&mut connection.stream);
        }
    })
}

const UNTRUSTED: &str = "certificate of site.example is self-signed, or of an authority that this machine does not know; \
    if it is to be trusted, name its certificate in PEM format with --ca-file FILE";

async fn check_refused(authority: Option<&Authority>, server: &Server, expected: &str) {
    let fetch = HttpFetch::new(&client(authority, server)).unwrap();
    let (kind, message) = failure(&fetch, &url(server)).await;
    assert_eq!(kind, FetchErrorKind::Tls, "{message}");
    let port = server.address.port().to_string();
    assert_eq!(message, expected.replace("PORT", &port));
}

#[tokio::test]
async fn unknown_authority_is_refused() {
    let authority = Authority::new();
    let server = start(authority.server(&[HOST], |_| {}), HELLO, true);
    let alone = "certificate of site.example is of an issuer that this machine does not know, and the server sends no \
        intermediate certificate: let it send the whole chain, or name the certificate of a private authority in PEM format with \
        --ca-file FILE";
    check_refused(None, &server, alone).await;
    check_refused(Some(&Authority::named("another")), &server, alone).await;
    let expected = "certificate of site.example was not signed by the authority of this machine that it names; if it is self-signed and to be \
         trusted, name it in PEM format with --ca-file FILE";
    check_refused(Some(&Authority::new()), &server, expected).await;
}

#[tokio::test]
async fn named_certificate_of_an_authority_is_trusted() {
    let as_made_by_openssl = |name: &str, year: i32| {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let server = start(server_config(certificate.der().clone(), &key), HELLO, true);
        (certificate, server)
    };
    for (name, year, expected) in [
        (HOST, 2100, "hello"),
        (
            "other.example",
            2100,
            "certificate is for other.example, not for site.example",
        ),
        (
            HOST,
            2021,
            "certificate of site.example expired on 2021-01-01",
        ),
    ] {
        let (certificate, server) = as_made_by_openssl(name, year);
        let folder = tempfile::tempdir().unwrap();
        let ca_file = folder.path().join("ca.pem");
        std::fs::write(&ca_file, certificate.pem()).unwrap();
        let settings = FetchConfig {
            ca_file: Some(ca_file),
            ..client(None, &server)
        };
        let fetch = HttpFetch::new(&settings).unwrap();
        if expected == "hello" {
            assert_eq!(get_text(&fetch, &url(&server)).await, expected);
        } else {
            assert_eq!(failure(&fetch, &url(&server)).await.1, expected);
        }
    }
}

#[tokio::test]
async fn self_signed_certificate_is_refused() {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![HOST.to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let server = start(server_config(certificate.der().clone(), &key), HELLO, true);
    check_refused(Some(&Authority::new()), &server, UNTRUSTED).await;
}

#[tokio::test]
async fn certificates_out_of_date_are_refused() {
    let authority = Authority::new();
    let changes: [(ChangeOfCertificate, &str); 2] = [
        (
            |params| {
                params.not_before = date_time_ymd(2020, 1, 1);
                params.not_after = date_time_ymd(2021, 2, 3);
            },
            "certificate of site.example expired on 2021-02-03",
        ),
        (
            |params| params.not_before = date_time_ymd(2999, 1, 1),
            "certificate of site.example is not valid before 2999-01-01",
        ),
    ];
    for (change, expected) in changes {
        let server = start(authority.server(&[HOST], change), HELLO, true);
        check_refused(Some(&authority), &server, expected).await;
    }
}

#[tokio::test]
async fn certificates_for_other_names_are_refused() {
    let authority = Authority::new();
    let many: Vec<String> = (1..9).map(|number| format!("n{number}.example")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let names: [(&[&str], &str); 3] = [
        (
            &["www.site.example", "*.other.example"],
            "www.site.example, *.other.example",
        ),
        (
            &many,
            "n1.example, n2.example, n3.example, n4.example, n5.example and others",
        ),
        (&[], "no name at all"),
    ];
    for (names, shown) in names {
        let server = start(authority.server(names, |_| {}), HELLO, true);
        let expected = format!("certificate is for {shown}, not for site.example");
        check_refused(Some(&authority), &server, &expected).await;
    }
}

#[tokio::test]
async fn connections_that_end_before_tls_are_reported() {
    let scripts: [(Script, FetchErrorKind, &str); 2] = [
        (
            |connection| {
                connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
                connection.hold();
            },
            FetchErrorKind::Protocol,
            "does not use TLS",
        ),
        (
            |connection| connection.stream.read_exact(&mut [0; 50]).unwrap(),
            FetchErrorKind::Reset,
            "closed the connection during the TLS handshake",
        ),
    ];
    for (script, expected, reason) in scripts {
        let server = Server::start(script);
        let fetch = HttpFetch::new(&client(None, &server)).unwrap();
        let (kind, message) = failure(&fetch, &url(&server)).await;
        assert_eq!(kind, expected, "{message}");
        let port = server.address.port();
        assert_eq!(message, format!("site.example:{port} {reason}"));
    }
}

#[tokio::test]
async fn tls_on_the_plain_port_is_not_http() {
    let authority = Authority::new();
    let server = start(authority.server(&[HOST], |_| {}), HELLO, true);
    let fetch = HttpFetch::new(&client(Some(&authority), &server)).unwrap();
    let (kind, message) = failure(&fetch, &url(&server).replace("https", "http")).await;
    assert!(
        matches!(kind, FetchErrorKind::Protocol | FetchErrorKind::Reset),
        "{message}"
    );
}

#[tokio::test]
async fn handshakes_have_the_connect_limit() {
    let server = Server::start(Connection::hold);
    let config = FetchConfig {
        connect_timeout: SHORT,
        ..client(None, &server)
    };
    let (kind, message) = failure(&HttpFetch::new(&config).unwrap(), &url(&server)).await;
    assert_eq!(kind, FetchErrorKind::Timeout, "{message}");
    let port = server.address.port();
    assert_eq!(
        message,
        format!("no connection to site.example:{port} within 150ms")
    );
}

#[tokio::test]
async fn handshakes_may_outlast_the_head_limit() {
    let authority = Authority::new();
    let config = Arc::new(authority.server(&[HOST], |_| {}));
    let server = Server::start(move |connection: &mut Connection| {
        // Longer than the limit of the head, shorter than that of the handshake; data is waiting, so no pause().
        connection.stream.peek(&mut [0; 1]).unwrap();
        std::sync::mpsc::channel::<()>()
            .1
            .recv_timeout(2 * SHORT)
            .unwrap_err();
        let mut tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = rustls::Stream::new(&mut tls, &mut connection.stream);
        stream.read_exact(&mut [0; 50]).unwrap();
        stream.write_all(HELLO.as_bytes()).unwrap();
    });
    let config = FetchConfig {
        head_timeout: SHORT,
        ..client(Some(&authority), &server)
    };
    assert_eq!(
        get_text(&HttpFetch::new(&config).unwrap(), &url(&server)).await,
        "hello"
    );
}

/// Without a length only the end of TLS distinguishes a whole body from a cut one.
#[tokio::test]
async fn missing_close_notify_cuts_bodies_without_length() {
    let authority = Authority::new();
    let check = async |answer: &'static str, ends_properly: bool, expected: BodyEnd| {
        let server = start(authority.server(&[HOST], |_| {}), answer, ends_properly);
        let fetch = HttpFetch::new(&client(Some(&authority), &server)).unwrap();
        let answer = get(&fetch, &url(&server)).await.unwrap();
        assert_eq!(answer.body, b"hello");
        assert_eq!(answer.fetched.end, expected, "{ends_properly}");
    };
    check("HTTP/1.1 200 OK\r\n\r\nhello", true, BodyEnd::Complete).await;
    check("HTTP/1.1 200 OK\r\n\r\nhello", false, BodyEnd::CutShort).await;
    check(HELLO, false, BodyEnd::Complete).await;
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello";
    check(short, true, BodyEnd::CutShort).await;
}

#[test]
fn unusable_ca_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, text: Option<&str>, expected: &str| {
        let path = folder.path().join(name);
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let error = HttpFetch::new(&FetchConfig {
            ca_file: Some(path.clone()),
            ..settings()
        })
        .unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with(&expected.replace("FILE", &path.display().to_string())),
            "{message}"
        );
    };
    check("missing.pem", None, "cannot read CA file FILE: ");
    let without = "CA file FILE holds no certificate in PEM format";
    check("empty.pem", Some(""), without);
    check("text.pem", Some("no certificate"), without);
    let broken = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
    check("broken.pem", Some(broken), "cannot read CA file FILE: ");
    let nonsense = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    check("nonsense.pem", Some(nonsense), "cannot use the CA file");
}
