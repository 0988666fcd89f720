//! References to entities and raw characters: those that are read, those that cost a value, and the position of each finding.

use super::{check_reading, check_row, problems, reading, urlset};

#[test]
fn name_after_an_ampersand_is_an_entity() {
    for name in ["own", "_own", "o-w.n_1", "o:n"] {
        let file = urlset(&format!("<url><loc>http://host/?a&{name};</loc></url>"));
        check_reading(file, &["- R22"], &[]);
    }
    for other in ["a=1", "1a", "-a", "a/b", "a+b"] {
        let url = format!("http://host/?a&{other};");
        let file = urlset(&format!("<url><loc>{url}</loc></url>"));
        check_reading(file, &[&format!("{url}|||")], &["Error R3"]);
    }
}

#[test]
fn undefined_entity_matters_in_values() {
    let image = "<urlset xmlns:image='http://www.google.com/schemas/sitemap-image/1.1' ";
    for row in [
        "&own;<url><loc>http://host/</loc></url> => http://host/||| => Error R22",
        "<url>&own;<loc>http://host/</loc></url> => http://host/||| => Error R22",
        "<url><loc>http://host/<b>&own;</b></loc></url> => http://host/||| => Warning R6, Error R22",
        "<url><loc>http://host/</loc><image:image>&own;<image:loc>http://host/i</image:loc></image:image></url> => http://host/||| => Error R22",
        "<url><loc>http://host/</loc><image:image><image:loc>http://host/i</image:loc>&own;</image:image></url> => http://host/||| => Error R22",
        "<url><loc>http://host/</loc><image:image><image:loc>http://host/i<b>&own;</b></image:loc></image:image></url> \
         => http://host/||| => Warning R6, Error R22",
    ] {
        check_row(row, |content| urlset(content).replace("<urlset ", image));
    }
    for row in [
        "&own;<item><link>http://host/</link></item> => http://host/||| => Error R22",
        "<item><title>&own;</title><link>http://host/</link></item> => http://host/||| => Error R22",
        "<item><link>http://host/<b>&own;</b></link></item> => http://host/||| => Error R22",
        "<item><link>http://host/&own;</link></item> => - R22",
    ] {
        check_row(row, |content| {
            format!("<rss version='2.0'><channel>{content}</channel></rss>")
        });
    }
}

#[test]
fn raw_character_is_reported_once() {
    for (character, entity) in [('"', "&quot;"), ('\'', "&apos;"), ('>', "&gt;")] {
        let loc = format!("http://host/?{character}{character}");
        let found = problems(&urlset(&format!("<url><loc>{loc}</loc></url>")));
        let about = found.iter().filter(|problem| problem.contains(entity));
        assert_eq!(about.count(), 1, "{entity}: {found:?}");
    }
}

#[test]
fn raw_character_matters_in_values_only() {
    for row in [
        "it's<url><loc>http://host/</loc></url> => http://host/||| => Warning R6",
        "<url>it's<loc>http://host/</loc></url> => http://host/||| => Warning R6",
        "<url><loc>http://host/<b>it's</b></loc></url> => http://host/||| => Warning R6",
        "<url><loc>http://host/'</loc></url><url><loc>http://host/'</loc></url> => http://host/'|||, http://host/'||| => Note R20",
    ] {
        check_row(row, urlset);
    }
}

#[test]
fn end_of_a_section_in_text_is_reported() {
    let (items, findings) = reading(urlset("<url><loc>http://host/]]></loc></url>").as_bytes());
    assert_eq!(items, ["http://host/%5D%5D%3E|||"]);
    assert!(findings.contains(&"Error R1".to_owned()), "{findings:?}");
    let (_, findings) = reading(urlset("<url><loc>http://host/]]</loc></url>").as_bytes());
    assert!(!findings.contains(&"Error R1".to_owned()), "{findings:?}");
}
