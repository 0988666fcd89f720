//! Messages to people: one when a site begins to fail, one when it is good again.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use super::ONE_TRY;
use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

/// A mail server on loopback, which takes everything.
struct MailServer {
    port: u16,
    mails: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mails = Arc::<Mutex<Vec<String>>>::default();
        let taken = Arc::clone(&mails);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that leaves early has sent no mail.
                drop(take_mail(&stream, &taken));
            }
        });
        Self { port, mails }
    }

    fn mails(&self) -> Vec<String> {
        std::mem::take(&mut self.mails.lock().expect("no panic"))
    }
}

/// The side of the server in one conversation (RFC 5321).
fn take_mail(mut stream: &TcpStream, mails: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    stream.write_all(b"220 mail.test\r\n")?;
    while let Some(line) = lines.next() {
        let answer = match line?.get(..4).unwrap_or_default() {
            "DATA" => {
                stream.write_all(b"354 go on\r\n")?;
                let mut mail = String::new();
                for line in lines.by_ref() {
                    let line = line?;
                    if line == "." {
                        break;
                    }
                    mail.push_str(&line);
                    mail.push('\n');
                }
                mails.lock().expect("no panic").push(mail);
                "250 taken\r\n"
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n")?;
                return Ok(());
            }
            _ => "250 fine\r\n",
        };
        stream.write_all(answer.as_bytes())?;
    }
    Ok(())
}

/// A site that answers with a status, and services that take messages.
struct World {
    bench: Bench,
    site: Site,
    status: Arc<AtomicUsize>,
    chat: Site,
    chat_status: Arc<AtomicUsize>,
    mail: MailServer,
}

impl World {
    fn new() -> Self {
        let status = Arc::new(AtomicUsize::new(200));
        let answers = Arc::clone(&status);
        let site = Site::start(move |request| match answers.load(Ordering::SeqCst) {
            200 if request.target == "/" => Response::linking(["/a"]),
            200 => Response::html("<title>a</title>"),
            status => Response::status(u16::try_from(status).expect("a status")),
        });
        let chat_status = Arc::new(AtomicUsize::new(200));
        let of_chat = Arc::clone(&chat_status);
        let chat = Site::start(move |_| {
            let status = of_chat.load(Ordering::SeqCst);
            Response::status(u16::try_from(status).expect("a status"))
        });
        Self {
            bench: Bench::new(),
            site,
            status,
            chat,
            chat_status,
            mail: MailServer::start(),
        }
    }

    fn settings(&self, messages: &str) -> String {
        let (chat, mail) = (self.chat.port(), self.mail.port);
        let messages = messages
            .replace("CHAT", &format!("http://chat.test:{chat}"))
            .replace("MAIL", &format!("smtp://127.0.0.1:{mail}"));
        self.bench.settings(&format!(
            "{ONE_TRY}requests.resolve = [\"chat.test:{chat}:127.0.0.1\"]\n{messages}"
        ))
    }

    fn crawl(&self, settings: &str, status: usize, ahead: &str) -> Ran {
        self.status.store(status, Ordering::SeqCst);
        let options = ["--config", settings, "-vvv"];
        let ran = (self.bench).crawl_ahead(ahead, &self.site.url("/"), &options);
        ran.expect_code(if status == 200 { 0 } else { 5 })
    }

    /// What the services got since the last call: the path and the body.
    fn posts(&self) -> Vec<(String, Value)> {
        let log = self.chat.log();
        self.chat.clear_log();
        let posts = log.into_iter();
        let posts = posts.map(|seen| {
            let body = serde_json::from_str(&seen.body).expect("JSON");
            (seen.target, body)
        });
        posts.collect()
    }
}

#[test]
fn each_service_gets_failure_and_end_once() {
    let world = World::new();
    let settings = world.settings(
        "[[notify.message]]\nto = \"ntfy:CHAT/alerts\"\n\
         [[notify.message]]\nto = \"slack:CHAT/slack-secret\"\n\
         [[notify.message]]\nto = \"teams:CHAT/teams-secret\"\n\
         [[notify.message]]\nto = \"matrix:CHAT/!room:chat.test\"\ntoken = \"matrix-secret\"\n\
         [[notify.message]]\nto = \"mailto:web@example.com\"\nserver = \"MAIL\"\nfrom = \"arpent@example.com\"\n",
    );
    world.crawl(&settings, 200, "0s");
    assert_eq!(
        (world.posts(), world.mail.mails()),
        (Vec::new(), Vec::new())
    );
    let ran = world.crawl(&settings, 503, "0s");
    assert!(!ran.stderr.contains("-secret"), "{}", ran.stderr);
    let start = world.site.url("/");
    let posts = world.posts();
    let text = posts[0].1["message"].as_str().expect("text").to_owned();
    assert!(
        text.starts_with(&format!("{start}: the crawl failed: ")),
        "{text}"
    );
    assert!(text.contains("the published set stays: 2 URLs"), "{text}");
    assert_eq!(posts[0].0, "/");
    assert_eq!(
        (&posts[0].1["topic"], &posts[0].1["priority"]),
        (&json!("alerts"), &json!(4))
    );
    assert_eq!(
        (posts[1].0.as_str(), &posts[1].1),
        ("/slack-secret", &json!({ "text": text }))
    );
    assert_eq!(posts[2].0, "/teams-secret");
    let card = &posts[2].1["attachments"][0]["content"]["body"][0]["text"];
    assert!(card.as_str().expect("text").starts_with(&start), "{card}");
    let room = "/_matrix/client/v3/rooms/!room:chat.test/send/m.room.message/";
    assert!(posts[3].0.starts_with(room), "{}", posts[3].0);
    assert_eq!(posts[3].1, json!({ "msgtype": "m.text", "body": text }));
    assert_eq!(posts.len(), 4);
    let mails = world.mail.mails();
    assert_eq!(mails.len(), 1);
    assert!(
        mails[0].contains("To: web@example.com\nFrom: arpent@example.com")
            || mails[0].contains("From: arpent@example.com\nTo: web@example.com"),
        "{}",
        mails[0]
    );
    assert!(
        mails[0].contains("the published set stays: 2 URLs"),
        "{}",
        mails[0]
    );
    world.crawl(&settings, 503, "25h");
    assert_eq!(
        (world.posts(), world.mail.mails()),
        (Vec::new(), Vec::new())
    );
    world.crawl(&settings, 200, "2d");
    let posts = world.posts();
    let text = posts[0].1["message"].as_str().expect("text");
    assert!(
        text.contains(": good again after 2 d, 2 URLs listed"),
        "{text}"
    );
    assert_eq!((posts.len(), world.mail.mails().len()), (4, 1));
}

#[test]
fn a_flapping_site_sends_two_messages() {
    let world = World::new();
    let settings = world.settings("notify.message = [\"slack:CHAT/hook\"]\n");
    for day in 0..10 {
        world.crawl(&settings, 200, &format!("{day}d"));
        world.crawl(&settings, 503, &format!("{}h", day * 24 + 12));
    }
    assert_eq!(world.posts().len(), 2);
}

#[test]
fn a_message_that_failed_is_sent_later() {
    let world = World::new();
    let settings = world.settings("notify.message = [\"slack:CHAT/hook\"]\n");
    world.crawl(&settings, 200, "0s");
    world.chat_status.store(403, Ordering::SeqCst);
    let ran = world.crawl(&settings, 503, "0s");
    let problem = "message not sent: slack http://chat.test";
    assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    assert!(!ran.stderr.contains("/hook"), "{}", ran.stderr);
    assert_eq!(world.posts().len(), 1);
    world.chat_status.store(200, Ordering::SeqCst);
    world.crawl(&settings, 503, "1h");
    assert_eq!(world.posts().len(), 1);
    world.crawl(&settings, 503, "2h");
    assert_eq!(world.posts().len(), 0);
}

#[test]
fn test_messages_show_who_is_reached() {
    let world = World::new();
    let settings = world.settings(
        "notify.message = [\"slack:CHAT/hook\", \"slack:CHAT/hook\", \"ntfy:CHAT/alerts\"]\n",
    );
    let url = world.site.url("/");
    let test = |settings: &str| {
        let mut command = world.bench.program();
        command.args(["notify", &url, "--config", settings, "--test-messages"]);
        Ran::of(command)
    };
    let ran = test(&settings).expect_code(0);
    let port = world.chat.port();
    let said = format!(
        "sent to slack http://chat.test:{port}/...\nsent to ntfy http://chat.test:{port}/\n"
    );
    assert_eq!((ran.stdout, world.posts().len()), (said, 2));
    assert_eq!(world.site.log().len(), 0);
    world.chat_status.store(403, Ordering::SeqCst);
    let ran = test(&settings).expect_code(3);
    let problem = "message not sent: slack http://chat.test";
    assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    let ran = test(&world.settings("")).expect_code(2);
    assert!(
        ran.stderr.contains("nobody gets messages"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_weekly_summary_has_the_counts() {
    let world = World::new();
    let settings = world.settings("[[notify.message]]\nto = \"slack:CHAT/hook\"\ndigest = true\n");
    for (ahead, messages) in [("0s", 1), ("1d", 0), ("8d", 1)] {
        world.crawl(&settings, 200, ahead);
        let posts = world.posts();
        assert_eq!(posts.len(), messages, "{ahead}");
        for (_, post) in posts {
            let text = post["text"].as_str().expect("text");
            assert!(text.contains("the last week\n2 URLs listed"), "{text}");
        }
    }
}
