//! RFC 9309 by table, the matcher against an obvious one, and hostile files.

use std::{fmt::Write as _, iter::repeat_n};

use proptest::prelude::*;

use crate::fetch::{BodySink, BodyWish, ResponseHead};

use super::*;

/// Rules for `arpent`.
fn rules(robots: &str) -> Rules {
    Rules::parse(robots.as_bytes(), "arpent")
}

/// One disallowed pattern against one path.
#[track_caller]
fn check_match(pattern: &str, path: &str, matches: bool) {
    let rules = rules(&format!("User-agent: *\nDisallow: {pattern}\n"));
    assert_eq!(!rules.allows(path), matches, "{pattern} on {path}");
}

#[track_caller]
fn check(robots: &str, path: &str, allowed: bool) {
    assert_eq!(
        rules(robots).allows(path),
        allowed,
        "{path} under\n{robots}"
    );
}

/// Checks patterns, each in a line with the paths that it matches and, after `not`, others.
#[track_caller]
fn check_patterns(table: &str) {
    for line in table.lines() {
        let mut words = line.split_whitespace();
        let (pattern, mut matches) = (words.next().unwrap(), true);
        for word in words {
            if word == "not" {
                matches = false;
            } else {
                check_match(pattern, word, matches);
            }
        }
    }
}

#[test]
fn patterns_match_from_the_first_octet() {
    check_patterns(
        "/ / /any?thing
         /fish /fish /fish.html /fish/salmon.html not /Fish /catfish
         /fish/ not /fish
         /a?b=1 /a?b=12 not /a
         /? /?x",
    );
}

#[test]
fn wildcards_match_any_run() {
    check_patterns(
        "* /
         /* /
         /fish* /fish
         /*.php /index.min.php
         /*ab /aab
         /*sort= /?s=1&sort=2
         /fish*.php /fishheads/catfish.php?parameters not /Fish.PHP
         /a*b*c /axxbxxc not /axxcxxb
         /a**b /ab
         *.gif$ /a.gif",
    );
}

#[test]
fn a_dollar_anchors_only_at_the_end() {
    check_patterns(
        "/*.php$ /a.php /a.php.php not /a.php?x
         /fish$ /fish not /fish/
         /$ / not /a
         /a$b /a$b not /a
         /a*$ /a/whatever
         /a$$ /a$
         /*a*a$ not /xa",
    );
}

#[test]
fn a_pattern_without_slash_matches_nothing() {
    check_match("", "/", false);
    check_patterns(
        "$ not /
         fish not /fish
         http://site.test/fish not /fish
         %2Ffish not /fish",
    );
}

#[test]
fn escapes_compare_as_in_rfc_9309() {
    check_patterns(
        "/%61 /a
         /a /%61
         /~mak /%7Emak
         /%7emak /~mak
         /a%3cd /a%3Cd
         /a<d /a%3cd
         /a%3Cd /a<d
         /ツ /%E3%83%84
         /%e3%83%84 /ツ
         /9%2F11 not /9/11
         /9/11 not /9%2F11
         /9%2f11 /9%2F11
         /100% /100%
         /a%zz /a%zz
         /a%zz/%aa /a%zz/%AA
         /%2541 not /%41
         /*% /a%20b",
    );
    check_match("/a b", "/a%20b", true);
}

#[test]
fn escaped_special_characters_are_meant_verbatim() {
    check_patterns(
        "/a-%2A.html /a-*.html /a-%2a.html not /a-foo.html
         /foo-%24 /foo-$ /foo-%24 not /foo-
         /*%2A$ /a* not /a*b
         /a$b not /a%24b
         /*% not /a$b",
    );
}

#[test]
fn the_longest_pattern_wins_then_allow() {
    let two = |first: &str, second: &str| format!("User-agent: *\n{first}\n{second}\n");
    check(&two("Disallow: /a", "Allow: /a/b"), "/a/b/c", true);
    check(&two("Allow: /a", "Disallow: /a/b"), "/a/b/c", false);
    check(&two("Disallow: /a", "Allow: /a"), "/a", true);
    check(&two("Allow: /a", "Disallow: /a"), "/a", true);
    check(&two("Allow: /p", "Disallow: /*.html"), "/p.html", false);
    check(&two("Allow: /$", "Disallow: /"), "/", true);
    check(&two("Allow: /$", "Disallow: /"), "/page", false);
    check(&two("Disallow: /a*", "Allow: /a"), "/ab", false);
    check(&two("Disallow: /*/b/c", "Allow: /a/b/"), "/a/b/c", false);
    // An escape of an unreserved character counts as one octet, any other as three.
    check(&two("Disallow: /%61%62", "Allow: /abc"), "/abcd", true);
    check(&two("Disallow: /%C3", "Allow: /*"), "/%C3", false);
}

#[test]
fn robots_txt_itself_is_always_allowed() {
    let robots = "User-agent: *\nDisallow: /\n";
    check(robots, "/robots.txt", true);
    check(robots, "/robots.txt?x", false);
    check(robots, "/robots.txt.old", false);
    check(robots, "/a/robots.txt", false);
    check(robots, "/ROBOTS.TXT", false);
}

#[test]
fn paths_are_completed_and_lose_their_fragment() {
    let robots = "User-agent: *\nDisallow: /$\nDisallow: /?a\nDisallow: /b$\n";
    check(robots, "", false);
    check(robots, "?a", false);
    check(robots, "/b#c", false);
    check(robots, "#c", false);
    check(robots, "/c", true);
}

/// Checks a path under groups: each word is a user agent, or a path that is disallowed; `-` disallows none.
#[track_caller]
fn check_groups(words: &str, path: &str, allowed: bool) {
    let line = |word: &str| match word {
        "-" => "Disallow:\n".to_owned(),
        path if path.starts_with('/') => format!("Disallow: {path}\n"),
        agent => format!("User-agent: {agent}\n"),
    };
    let robots: String = words.split(' ').map(line).collect();
    check(&robots, path, allowed);
}

#[test]
fn groups_end_at_user_agent_after_a_rule() {
    check("User-agent: arpent\n\n\nDisallow: /a", "/a", false);
    check_groups("arpent other /a", "/a", false);
    check_groups("other arpent /a", "/a", false);
    check_groups("other /a arpent /b", "/a", true);
    check_groups("other - arpent /b", "/b", false);
    check_groups("/a arpent /b", "/a", true);
}

#[test]
fn lines_without_a_rule_separate_no_groups() {
    for line in [
        "Sitemap: http://site.test/s.xml",
        "Crawl-delay: 1",
        "Host: site.test",
        "Unknown: x",
        "nonsense",
        "<p>",
    ] {
        let agents = format!("User-agent: arpent\n{line}\nUser-agent: other\nDisallow: /a");
        check(&agents, "/a", false);
        let rules = format!("User-agent: arpent\nDisallow: /b\n{line}\nDisallow: /a");
        check(&rules, "/a", false);
    }
}

#[test]
fn groups_of_our_token_beat_the_general_ones() {
    for (path, allowed) in [("/a", false), ("/b", false), ("/c", true)] {
        check_groups("arpent /a * /c Arpent /b", path, allowed);
    }
    for (path, allowed) in [("/a", false), ("/b", true), ("/c", false)] {
        check_groups("* /a other /b * /c", path, allowed);
    }
    check_groups("* / arpent", "/a", true);
    check_groups("* arpent /a", "/a", false);
}

#[test]
fn agents_are_compared_as_whole_tokens() {
    let named = |agent: &str| format!("User-agent: {agent}\nDisallow: /\n");
    let ours = "arpent,ARPENT,arpent/1.0,arpent extra,arpent*,arpent<BR>,*,* # all,* all";
    for agent in ours.split(',') {
        check(&named(agent), "/a", false);
    }
    for agent in "arp,arpentbot,arpent-bot,xarpent,*arpent,,1arpent".split(',') {
        check(&named(agent), "/a", true);
    }
    let versioned = Rules::parse(named("arpent").as_bytes(), "arpent/2.0");
    assert!(!versioned.allows("/a"), "a version is ignored");
    let unnamed = Rules::parse(named("").as_bytes(), "");
    assert!(unnamed.allows("/a"), "no token is in no group");
}

#[test]
fn common_misspellings_are_understood() {
    let rules = "Disallow /a,  disallow:/a,DISALLOW : /a,dissallow: /a,disalow: /a,\
                 Disallow:\t/a # why";
    for line in rules.split(',') {
        check(&format!("useragent: arpent\n{line}\n"), "/a", false);
    }
    let agents = "user agent: arpent, \tUser-agent arpent,USER-AGENT:arpent";
    for line in agents.split(',') {
        check(&format!("{line}\nDisallow: /a\n"), "/a", false);
    }
    check("User-agent: *\nDisallow /a b\n", "/a", true);
}

#[test]
fn every_line_end_is_one() {
    for end in ["\n", "\r", "\r\n", "\n\r", "\r\r\n"] {
        let robots = ["User-agent: *", "Disallow: /a", "Allow: /b"].join(end);
        check(&robots, "/a", false);
        check(&robots, "/b", true);
    }
}

#[test]
fn no_byte_stops_the_reading() {
    let with = |before: &[u8], inside: &[u8]| {
        let mut robots = before.to_vec();
        robots.extend(b"User-agent: *\nDisallow: /a");
        robots.extend(inside);
        robots.extend(b"\nDisallow: /b\n");
        Rules::parse(&robots, "arpent")
    };
    assert!(!with(b"\xEF\xBB\xBF", b"").allows("/a"));
    assert!(!with(b"\xEF\xBB", b"").allows("/a"));
    assert!(!with(b"\xFF\xFE\n", b"").allows("/a"));
    assert!(!with(b"", b"\xFC").allows("/a%FC"));
    assert!(!with(b"", b"\xFF\xC3\x28").allows("/b"));
    assert!(!with(b"", b"\0Allow: /").allows("/a/b"), "NUL ends a line");
}

#[test]
fn long_lines_are_cut_wherever_their_characters_end() {
    for filler in ["x", "é", "%", "%e"] {
        let robots = format!(
            "User-agent: *\nDisallow: /a\nDisallow: /{}\nDisallow: /b\n",
            filler.repeat(20_000)
        );
        check(&robots, "/a", false);
        check(&robots, "/b", false);
        check(&robots, "/c", true);
    }
}

#[test]
fn decisions_name_line_and_pattern() {
    #[track_caller]
    fn check(robots: &[u8], path: &str, line: Option<usize>, pattern: Option<&str>) {
        let rules = Rules::parse(robots, "arpent");
        let decision = rules.decide(path);
        assert_eq!((decision.line, decision.pattern), (line, pattern), "{path}");
    }
    let robots = b"# all\r\n\r\n \t\r\nUser-agent: *\r\nDisallow: /a  # not this\r\n  Allow: /a/b*$\r\nDisallow: /%7ex\r\n";
    check(robots, "/a/c", Some(5), Some("/a"));
    check(robots, "/a/b/c", Some(6), Some("/a/b*$"));
    check(robots, "/~x", Some(7), Some("/%7Ex"));
    check(robots, "/c", None, None);
    let marked = b"\xEF\xBB\xBFUser-agent: *\r \rDisallow: /a";
    check(marked, "/a", Some(3), Some("/a"));
    let twice = b"User-agent: *\nAllow: /a\nDisallow: /a\nAllow: /a";
    check(twice, "/a", Some(2), Some("/a"));
}

#[test]
fn crawl_delay_is_the_largest_of_our_groups() {
    #[track_caller]
    fn check(robots: &str, expected: Option<f64>) {
        assert_eq!(
            rules(robots).crawl_delay(),
            expected.map(Duration::from_secs_f64),
            "{robots}"
        );
    }
    let value = |value: &str| format!("User-agent: *\nCrawl-delay: {value}\n");
    for (text, expected) in [
        ("10", 10.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("0,5", 0.5),
        ("2.", 2.0),
        ("0", 0.0),
        ("10s", 10.0),
        ("10<BR>", 10.0),
        ("1.5.2", 1.5),
    ] {
        check(&value(text), Some(expected));
    }
    for text in ["-1", "word", "nan", "inf", "", "."] {
        check(&value(text), None);
    }
    let endless = rules(&value(&"9".repeat(400)));
    assert_eq!(endless.crawl_delay(), Some(Duration::MAX));
    check("User-agent: *\nCRAWL-DELAY : 3\n", Some(3.0));
    check(
        "User-agent: *\nCrawl-delay: 3\nCrawl-delay: 5\nCrawl-delay: 4\n",
        Some(5.0),
    );
    check(
        "User-agent: *\nCrawl-delay: 9\n\nUser-agent: arpent\nCrawl-delay: 2\nDisallow:\n",
        Some(2.0),
    );
    check(
        "User-agent: *\nCrawl-delay: 9\nDisallow: /a\n\nUser-agent: arpent\nDisallow: /b\n",
        None,
    );
    check(
        "User-agent: other\nCrawl-delay: 9\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n",
        None,
    );
    check("Crawl-delay: 9\nUser-agent: *\nDisallow: /b\n", None);
}

#[test]
fn sitemap_lines_are_taken_from_anywhere_once() {
    let robots = "Sitemap: https://site.test/a.xml\nUser-agent: other\nSitemap:https://site.test/a.xml\n\
                  SITE-MAP: /b.xml\nDisallow: /\nsitemap: ftp://site.test/c.xml\nSitemap:\n\
                  Sitemap: https://site.test/b.xml\nSitemap: https://cdn.test/é.xml # here\nSitemap: http://[\n";
    let rules = rules(robots);
    assert_eq!(
        rules.sitemaps(),
        [
            "https://site.test/a.xml",
            "/b.xml",
            "ftp://site.test/c.xml",
            "https://site.test/b.xml",
            "https://cdn.test/%C3%A9.xml",
            "http://["
        ]
    );
    let base = Url::parse("https://site.test/robots.txt").unwrap();
    let urls = rules.sitemap_urls(&base);
    let urls: Vec<&str> = urls.iter().map(Url::as_str).collect();
    assert_eq!(
        urls,
        [
            "https://site.test/a.xml",
            "https://site.test/b.xml",
            "https://cdn.test/%C3%A9.xml"
        ]
    );
}

#[test]
fn product_tokens_are_the_leading_letters() {
    fn check(user_agent: &str, expected: &str) {
        assert_eq!(agent_token(user_agent), expected, "{user_agent:?}");
    }
    check("arpent/1.0 (+https://example.com/bot)", "arpent");
    check("My-Bot_x/2", "My-Bot_x");
    check("Bot2/1.0", "Bot");
    check("two words", "two");
    check("", "arpent");
    check("1bot", "arpent");
    check(" bot", "arpent");
    check("ツ", "arpent");
}

#[test]
fn answers_are_judged_by_status() {
    #[track_caller]
    fn check(status: Option<u16>, end: &BodyEnd, expected: &str) {
        let found = match judge_answer(status, end, b"User-agent: *\nDisallow: /a\n", "arpent") {
            RobotsAnswer::Rules(rules) if !rules.allows("/a") && rules.allows("/b") => "rules",
            RobotsAnswer::Rules(_) => "other rules",
            RobotsAnswer::AllowAll => "allow all",
            RobotsAnswer::Unreachable => "unreachable",
        };
        assert_eq!(found, expected, "{status:?} {end:?}");
    }
    for status in [200, 203, 206, 299] {
        check(Some(status), &BodyEnd::Complete, "rules");
        check(Some(status), &BodyEnd::Skipped, "rules");
        check(Some(status), &BodyEnd::TooLarge, "rules");
        check(Some(status), &BodyEnd::CutShort, "unreachable");
        check(
            Some(status),
            &BodyEnd::Undecodable("br".to_owned()),
            "unreachable",
        );
    }
    for end in [BodyEnd::Complete, BodyEnd::Skipped, BodyEnd::CutShort] {
        for status in [
            301, 302, 304, 308, 400, 401, 403, 404, 410, 418, 428, 430, 451, 499,
        ] {
            check(Some(status), &end, "allow all");
        }
        for status in [429, 500, 502, 503, 504, 520, 599, 0, 100, 600, 999] {
            check(Some(status), &end, "unreachable");
        }
    }
    check(None, &BodyEnd::Skipped, "unreachable");
}

#[test]
fn empty_files_and_web_pages_allow_all() {
    check("", "/a", true);
    check("\n\n# only a comment", "/a", true);
    check(
        "<!DOCTYPE html>\n<html><body style=\"color: red\">\n<p>Not found: /\n</html>",
        "/a",
        true,
    );
    assert!(Rules::allow_all().allows("/a"));
}

#[test]
fn only_whole_lines_within_the_limit_count() {
    #[track_caller]
    fn check(body: &[u8], expected: usize) {
        assert_eq!(cut(body).len(), expected);
        let mut sink = RobotsSink::new();
        let head = ResponseHead {
            status: 200,
            ..ResponseHead::default()
        };
        assert_eq!(sink.head(&head), BodyWish::Read);
        let wishes: Vec<BodyWish> = body.chunks(60_000).map(|chunk| sink.chunk(chunk)).collect();
        assert_eq!(
            wishes.contains(&BodyWish::Stop),
            body.len() > MAX_ROBOTS_BYTES
        );
        assert_eq!(sink.body(), cut(body));
    }
    assert_eq!(MAX_ROBOTS_BYTES, 512_000);
    let lines =
        |line: &str, bytes: usize| -> Vec<u8> { line.bytes().cycle().take(bytes).collect() };
    check(b"", 0);
    check(&lines("Allow: /private\n", 511_999), 511_999);
    check(&lines("Allow: /private\n", 512_000), 512_000);
    check(&lines("Allow: /private\n", 512_001), 512_000);
    check(&lines("Allow: /private/\n", 512_001), 511_989);
    check(&lines("Allow: /private/\r", 2_000_000), 511_989);
    check(&lines("x", 2_000_000), 0);
    let mut exact = lines("x", 512_000);
    exact.extend(b"\nDisallow: /");
    check(&exact, 512_000);
}

#[test]
fn half_a_line_at_the_limit_opens_nothing() {
    let mut robots = b"User-agent: *\nDisallow: /\n".to_vec();
    robots.extend(repeat_n(
        b'#',
        MAX_ROBOTS_BYTES - robots.len() - "\nAllow: /".len(),
    ));
    robots.extend(b"\nAllow: /open\n");
    let read = robots.get(..MAX_ROBOTS_BYTES).unwrap();
    assert_eq!(read.last(), Some(&b'/'));
    assert!(!Rules::parse(&robots, "arpent").allows("/x"));
}

#[test]
fn the_body_of_an_error_is_not_read() {
    let mut sink = RobotsSink::new();
    for status in [301, 404, 500] {
        let head = ResponseHead {
            status,
            ..ResponseHead::default()
        };
        assert_eq!(sink.head(&head), BodyWish::Stop, "{status}");
    }
    assert_eq!(sink.body(), b"");
}

/// Each of these takes a matcher that tries every place for every wildcard longer than anybody waits.
#[test]
fn hostile_patterns_and_paths_end() {
    let disallows = |pattern: &str, path: &str| {
        !rules(&format!("User-agent: *\nDisallow: {pattern}\n")).allows(path)
    };
    let path = format!("/{}", "a".repeat(2_000));
    let slashes = format!("/{}", "a/".repeat(1_000));
    for stars in [40, 100, 2_000] {
        let plain = format!("/{}b", "*a".repeat(stars));
        let anchored = format!("/{}b$", "*a*".repeat(stars));
        for pattern in [&plain, &anchored] {
            assert!(!disallows(pattern, &path), "{stars}");
            assert!(!disallows(pattern, &slashes), "{stars}");
            assert!(disallows(pattern, &format!("{path}b")), "{stars}");
        }
    }
    assert!(disallows(&"*".repeat(16_000), &path));
    assert!(!disallows(&format!("/*{}b$", "a".repeat(1_999)), &path));
}

#[test]
fn files_full_of_rules_are_judged_in_time() {
    let many = |line: &dyn Fn(usize) -> String| -> Rules {
        rules(
            &(0..10_000)
                .map(line)
                .fold("User-agent: *\n".to_owned(), |file, line| file + &line),
        )
    };
    let path = format!("/{}", "ab/".repeat(660));
    let files = [
        many(&|number| format!("Disallow: /section{number}/\n")),
        many(&|number| format!("Disallow: /*{number}*b*x$\n")),
        many(&|number| format!("Disallow: /*a*b*{number}\n")),
        many(&|number| format!("Disallow: /{}x\n", "ab/".repeat(number % 13))),
    ];
    for rules in &files {
        for page in 0..20 {
            assert!(rules.allows(&format!("{path}page-{}", "q".repeat(page))));
        }
    }
    assert!(!files[0].allows("/section9999/page"));
    assert!(files[0].allows("/section10000/page"));
}

/// The obvious matcher: tries every length for every wildcard.
fn obviously_matches(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', after @ ..] => {
            (0..=path.len()).any(|length| obviously_matches(after, path.split_at(length).1))
        }
        [first, after @ ..] => path
            .split_first()
            .is_some_and(|(next, rest)| next == first && obviously_matches(after, rest)),
    }
}

/// The obvious verdict: looks at every rule. Texts without escapes only, so that they compare as they are.
fn obviously_allows(rules: &[(bool, String)], path: &str) -> bool {
    rules
        .iter()
        .filter(|(_, pattern)| {
            pattern.starts_with(['/', '*'])
                && obviously_matches(pattern.as_bytes(), path.as_bytes())
        })
        .max_by_key(|(allow, pattern)| (pattern.len(), *allow))
        .is_none_or(|(allow, _)| *allow)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // No hexadecimal digit among the letters: `%` stays as it is.
    #[test]
    fn verdicts_equal_those_of_an_obvious_matcher(
        lines in proptest::collection::vec((any::<bool>(), "[/x*$%]{0,8}"), 1..6),
        path in "/[/x*$%]{0,10}",
    ) {
        let robots: String = lines
            .iter()
            .flat_map(|(allow, pattern)| [if *allow { "Allow: " } else { "Disallow: " }, pattern, "\n"])
            .collect();
        let robots = format!("User-agent: *\n{robots}");
        prop_assert_eq!(rules(&robots).allows(&path), obviously_allows(&lines, &path), "{} on {}", robots, path);
    }

    #[test]
    fn spelling_a_character_as_an_escape_changes_nothing(pattern in "/[a-c/*]{0,6}", path in "/[a-c/]{0,8}", bits in any::<u32>()) {
        let escape = |text: &str, bits: u32| -> String {
            text.chars().zip(0..32).map(|(character, place)| match character {
                'a'..='c' if bits >> place & 1 == 1 => format!("%{:02x}", u32::from(character)),
                other => other.to_string(),
            }).collect()
        };
        let expected = obviously_allows(&[(false, pattern.clone())], &path);
        let robots = format!("User-agent: *\nDisallow: {}\n", escape(&pattern, bits));
        prop_assert_eq!(rules(&robots).allows(&escape(&path, !bits)), expected, "{} on {}", robots, path);
    }

    #[test]
    fn any_bytes_give_an_answer(body in proptest::collection::vec(any::<u8>(), 0..400), path in any::<String>()) {
        let rules = Rules::parse(&body, "arpent");
        let decision = rules.decide(&path);
        prop_assert!(decision.allowed || decision.line.is_some());
    }

    #[test]
    fn anything_like_a_file_gives_an_answer(
        lines in proptest::collection::vec(("(User-agent|Disallow|Allow|Crawl-delay|Sitemap|)(:| |::)", "[*arpent/$%a\u{e9}\0#\\t 0-9.:]{0,12}", "[\r\n]{1,2}"), 0..12),
        path in "/[arpent/$%*?#\u{e9}]{0,12}",
    ) {
        let file: String = lines.iter().flat_map(|(key, value, end)| [key.as_str(), value, end]).collect();
        let rules = rules(&file);
        prop_assert!(rules.allows("/robots.txt"));
        let decision = rules.decide(&path);
        prop_assert!(decision.line.is_none_or(|line| line >= 1 && line <= 1 + file.matches(['\r', '\n']).count()));
    }
}

#[test]
fn rules_are_read_back_from_the_noted_text() {
    let body = "User-agent: other\nDisallow: /\n\nUser-agent: arpent\nCrawl-delay: 2\nDisallow: /a*b$\nAllow: /a/%41*%2a\n\
                Disallow: /caf\u{e9} au lait # why\nDisallow:\nDisallow: x\nSitemap: https://site.test/s.xml\n\nUser-agent: *\nDisallow: /all\n";
    let rules = Rules::parse(body.as_bytes(), "arpent");
    let text = rules.to_text();
    let again = Rules::from_text(&text);
    assert_eq!(again.to_text(), text);
    assert_eq!([again.group(), rules.group()], ["arpent"; 2]);
    assert_eq!(again.decide("/ab").line, Some(6));
    let paths = "/ /ab /a/x/b /a/xb? /a/A/* /a/A /caf%C3%A9%20au%20lait /all /x";
    for path in paths.split(' ') {
        assert_eq!(again.allows(path), rules.allows(path), "{path}: {text}");
    }
    assert!(!again.allows("/ab") && again.allows("/all"), "{text}");
    // More than a file may have.
    let mut long = "User-agent: *\n".to_owned();
    for number in 0..40_000 {
        writeln!(long, "Disallow: /\u{e9}/{number}/").unwrap();
    }
    let rules = Rules::from_text(&long);
    assert!(!Rules::from_text(&rules.to_text()).allows("/%C3%A9/39999/x"));
    assert!(Rules::from_text(&Rules::allow_all().to_text()).allows("/x"));
}
