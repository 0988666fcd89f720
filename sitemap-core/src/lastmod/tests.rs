//! Valid dates, as a table of forms that the protocol, its schema and people use.

use super::*;
use proptest::prelude::*;

#[test]
fn value_matches_note_and_schema() {
    let check = |texts: &str, expected: Option<LastModError>| {
        for text in texts.split('|') {
            assert_eq!(LastMod::parse(text).err(), expected, "{text:?}");
        }
    };
    check("2005-01-01|2004-02-29|0001-01-01|9999-12-31", None);
    check(
        "2004-12-23T18:00:15+00:00|2004-12-23T18:00:15Z|2004-12-23T18:00:15.5Z|2004-12-23T18:00:15.123456789Z\
         |2004-12-23T00:00:00-14:00|2004-12-23T23:59:59+14:00|2004-12-23T18:00:15-00:00|9999-12-31T23:59:59-14:00\
         |0001-01-01T00:00:00+14:00",
        None,
    );
    check(
        "2005|2005-01|2004-12-23T18:00+00:00|2004-12-23T18:00Z",
        Some(LastModError::Precision),
    );
    check(
        "2004-12-23T18:00:15|2004-12-23T18:00|2004-12-23T18:00:15.5",
        Some(LastModError::ZoneMissing),
    );
    check(
        "2005-01-01Z|2005-01-01+02:00",
        Some(LastModError::ZoneWithoutTime),
    );
    check(
        "2005-01-01T24:00:00Z|2004-12-23T23:59:60Z|2004-12-23T23:60:00Z|2004-12-23T18:00:15+24:00|2004-12-23T18:00:15+01:60\
         |2005-02-30|2005-02-29|2005-13-01|2005-00-01|2005-01-00|2005-13|0000-01-01|0000",
        Some(LastModError::Range),
    );
    check(
        "2004-12-23T18:00:15+14:30|2004-12-23T18:00:15+23:59|2004-12-23T18:00:15-14:01",
        Some(LastModError::ZoneRange),
    );
    check(
        "-2005-01-01|12005-01-01|2005-01-01 10:00:00|20050101|01/02/2005|Thu, 23 Dec 2004 18:00:15 GMT|1103824815\
         |2004-12-23T18:00:15+0000|2004-12-23T18:00:15+00|2004-12-23t18:00:15Z|2004-12-23T18:00:15z|2004-12-23T18:00:15.Z\
         |2004-12-23T18:00:15.123456789012345678901234567890123Z|2004-12-23T18:00:15,5Z|2004-12-23T18:00:15 Z\
         |2004-12-23T18:00:15ZZ|2004-12-23T18Z|2004-12-23T|2004-1-1|2005-01T10:00:00Z|2005-|٢٠٠٥-٠١-٠١|AAAA-MM-JJ",
        Some(LastModError::Shape),
    );
    check("", Some(LastModError::Empty));
    let padded = Some(LastModError::Padded);
    check(" 2005-01-01|2005-01-01\n| ", padded);
}

#[test]
fn latest_instant_is_the_last_possible_one() {
    let check = |text: &str, expected: &str| {
        let latest = LastMod::parse(text).unwrap().latest_instant();
        assert_eq!(latest.to_string(), expected, "{text}");
    };
    check("2005-01-01", "2005-01-01T23:59:59.999999999Z");
    check("2004-12-23T18:00:15Z", "2004-12-23T18:00:15Z");
    check("2004-12-23T18:00:15.5+01:00", "2004-12-23T17:00:15.5Z");
    check(
        "2004-12-23T18:00:15.000000001-14:00",
        "2004-12-24T08:00:15.000000001Z",
    );
    check("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z");
    check("9999-12-31", &Timestamp::MAX.to_string());
}

#[test]
fn instant_is_written_in_whole_seconds_and_utc() {
    let check = |instant: &str, expected: &str| {
        let lastmod = LastMod::from_timestamp(instant.parse().unwrap());
        assert_eq!(lastmod.as_str(), expected);
        assert_eq!(LastMod::parse(expected), Ok(lastmod), "{expected}");
    };
    check("2026-03-02T04:00:11Z", "2026-03-02T04:00:11Z");
    check("2026-03-02T04:00:11.999999999Z", "2026-03-02T04:00:11Z");
    check("2026-03-02T04:00:11+02:00", "2026-03-02T02:00:11Z");
    check("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z");
    check("-000500-01-01T00:00:00Z", "0001-01-01T00:00:00Z");
}

proptest! {
    #[test]
    fn every_instant_can_be_written_and_read(seconds in Timestamp::MIN.as_second()..Timestamp::MAX.as_second(), nanosecond in 0..1_000_000_000_i32) {
        let instant = Timestamp::new(seconds, nanosecond).unwrap();
        let lastmod = LastMod::from_timestamp(instant);
        prop_assert_eq!(LastMod::parse(lastmod.as_str()), Ok(lastmod));
    }

    #[test]
    fn any_text_is_kept_or_refused(
        text in any::<String>(),
        date in "[0-9]{4}-[01][0-9]-[0-3][0-9](T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][01][0-9]:[0-5][0-9]))?",
    ) {
        for text in [&text, &date] {
            if let Ok(lastmod) = LastMod::parse(text) {
                prop_assert_eq!(lastmod.as_str(), text);
            }
        }
    }
}
