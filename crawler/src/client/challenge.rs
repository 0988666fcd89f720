//! The signs of a challenge: an answer 403, 429 or 503 of a protection against programs, which a browser passes and a crawler
//! does not. Such an answer counts as a failure of the host, as 503 does.

use crate::fetch::ResponseHead;

/// Bytes of the body that are looked at.
pub(crate) const MAX_BYTES: usize = 16 * 1024;

/// Header fields that protections send with a challenge, and what their values begin with: Cloudflare, AWS WAF, `DataDome`,
/// Sucuri, DDoS-Guard.
const FIELDS: [(&str, &str); 6] = [
    ("cf-mitigated", ""),
    ("x-amzn-waf-action", ""),
    ("x-datadome", ""),
    ("x-dd-b", ""),
    ("x-sucuri-block", ""),
    ("server", "ddos-guard"),
];

/// Text of their pages: Cloudflare, `DataDome`, Imperva, HUMAN, AWS WAF.
const TEXTS: [&[u8]; 9] = [
    b"/cdn-cgi/challenge-platform/",
    b"_cf_chl_opt",
    b"cf-browser-verification",
    b"<title>Just a moment...</title>",
    b"captcha-delivery.com",
    b"_Incapsula_Resource",
    b"px-captcha",
    b"awsWafCookieDomainList",
    b"gokuProps",
];

/// Returns whether answers of this status may be challenges.
pub(crate) fn may_be(status: u16) -> bool {
    matches!(status, 403 | 429 | 503)
}

/// Returns whether the head of such an answer has a sign.
pub(crate) fn is_in_head(head: &ResponseHead) -> bool {
    FIELDS.iter().any(|(name, start)| {
        let value = head.headers.text(name);
        value.is_some_and(|value| value.to_ascii_lowercase().starts_with(start))
    })
}

/// Returns whether the begin of its body has one.
pub(crate) fn is_in_body(body: &[u8]) -> bool {
    TEXTS
        .iter()
        .any(|text| memchr::memmem::find(body, text).is_some())
}
