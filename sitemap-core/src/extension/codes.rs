//! The code lists of ISO that languages and countries are checked against, and common mistakes in their place.
//!
//! Sorted, so that they can be searched. Scripts (ISO 15924) are checked by their form alone: the list grows with every version of
//! Unicode, and no search engine names more than a few of them.

/// The languages of ISO 639-1, 183 of them. Source: <https://www.loc.gov/standards/iso639-2/php/code_list.php>; `bh` was withdrawn
/// in 2021.
const LANGUAGES: &str = "\
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff \
fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks \
ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps \
pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz \
ve vi vo wa wo xh yi yo za zh zu";

/// The countries of ISO 3166-1 that are officially assigned, 249 of them. Source: <https://www.iso.org/obp/ui/#search>.
const COUNTRIES: &str = "\
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH \
CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN \
GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI \
LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM \
PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD \
TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// Returns whether `code` is a language, in lower case.
pub(super) fn is_language(code: &str) -> bool {
    is_listed(LANGUAGES, code)
}

/// Returns whether `code` is a country, in upper case.
pub(super) fn is_country(code: &str) -> bool {
    is_listed(COUNTRIES, code)
}

/// The language that is usually meant by a code, in lower case, that is none: mostly a country, or an older code.
pub(super) fn intended_language(code: &str) -> Option<&'static str> {
    Some(match code {
        "at" => "de-AT",
        "cn" => "zh-CN",
        "cz" => "cs",
        "dk" => "da",
        "gb" => "en-GB",
        "gr" => "el",
        "in" => "id",
        "iw" => "he",
        "ji" => "yi",
        "jp" => "ja",
        "jw" => "jv",
        "mo" => "ro-MD",
        "mx" => "es-MX",
        "rs" | "sh" => "sr",
        "ua" => "uk",
        "us" => "en-US",
        "vn" => "vi",
        _ => return None,
    })
}

/// The country that is usually meant by a code, in upper case, that is none.
pub(super) fn intended_country(code: &str) -> Option<&'static str> {
    Some(match code {
        "UK" | "EN" => "GB",
        "DA" => "DK",
        "JA" => "JP",
        "KO" => "KR",
        "SP" => "ES",
        "CS" | "YU" => "RS",
        _ => return None,
    })
}

/// All codes have two letters, so the list is a table of three bytes each.
fn is_listed(list: &str, code: &str) -> bool {
    const STEP: usize = 3;
    let code = code.as_bytes();
    let mut range = 0..list.len().div_ceil(STEP);
    while !range.is_empty() {
        let middle = range.start.midpoint(range.end);
        match list.as_bytes()[middle * STEP..middle * STEP + STEP - 1].cmp(code) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => range.start = middle + 1,
            std::cmp::Ordering::Greater => range.end = middle,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_every_code_is_found() {
        let check = |list: &str, count: usize, is_known: fn(&str) -> bool| {
            let codes: Vec<&str> = list.split(' ').collect();
            assert_eq!(codes.len(), count);
            assert!(codes.is_sorted() && codes.iter().all(|code| code.len() == 2));
            assert!(codes.into_iter().all(is_known));
        };
        check(LANGUAGES, 183, is_language);
        check(COUNTRIES, 249, is_country);
    }

    #[test]
    fn other_text_is_no_code() {
        for code in "|e|en |EN|eng|a | a|aa ab|zz|\u{0}\u{0}|ü".split('|') {
            assert!(!is_language(code), "{code:?}");
        }
        for code in ["", "UK", "EU", "gb", "419", "XK", "ZZ", "GBR"] {
            assert!(!is_country(code), "{code:?}");
        }
        for code in ["at", "cn", "gb", "in", "rs", "sh", "us", "iw"] {
            assert!(
                !is_language(code) && intended_language(code).is_some(),
                "{code}"
            );
        }
        for code in ["UK", "EN", "DA", "JA", "KO", "SP", "CS", "YU"] {
            let intended = intended_country(code).unwrap();
            assert!(!is_country(code) && is_country(intended), "{code}");
        }
    }
}
