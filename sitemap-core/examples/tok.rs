use sitemap_core::{
    Limits,
    read::Reader,
    validate::{Facts, Options, Validator},
};
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    s.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
fn main() {
    for path in std::env::args().skip(2) {
        let bytes = std::fs::read(&path).unwrap();
        let t = cpu();
        if std::env::args().nth(1).unwrap() == "r" {
            let mut reader = Reader::new(
                &bytes[..],
                Limits {
                    entries: u64::MAX,
                    bytes: u64::MAX,
                },
            );
            let n = reader.by_ref().count();
            println!(
                "{path} read {n} {} {:.2}",
                reader.findings_not_kept(),
                cpu() - t
            );
        } else {
            let mut v = Validator::new(Options::new("2026-03-01T00:00:00Z".parse().unwrap()));
            let mut n = 0;
            let facts = Facts::new("x");
            v.check(&bytes[..], &facts, &mut |_| n += 1).unwrap();
            v.finish(&mut |_| n += 1);
            println!("{path} check {n} {:.2}", cpu() - t);
        }
    }
}
