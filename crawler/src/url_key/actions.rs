//! Links that change something on the server: who follows them with a session of the user logs out or deletes.

use super::UrlKey;

/// Names of such actions, without hyphens and underscores.
const ACTIONS: [&str; 9] = [
    "logout",
    "logoff",
    "signout",
    "signoff",
    "delete",
    "remove",
    "trash",
    "addtocart",
    "unsubscribe",
];

/// Names of parameters with a number that is used once, as an action of the user has it.
const NONCES: [&str; 2] = ["nonce", "wpnonce"];

/// Returns whether the name or the value of a parameter, or the last segment of the path without its ending, is the name of an
/// action, or a parameter is a nonce.
pub(crate) fn is_action(url: &UrlKey) -> bool {
    let segment = url.path().rsplit('/').find(|segment| !segment.is_empty());
    let segment = segment.and_then(|segment| segment.split(['.', ';']).next());
    let query = url.path_and_query().get(url.path().len() + 1..);
    let mut parameters = query.unwrap_or_default().split('&').map(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        (plain(name), plain(value))
    });
    let is_known = |word: &str| ACTIONS.contains(&word);
    segment.is_some_and(|segment| is_known(&plain(segment)))
        || parameters.any(|(name, value)| {
            is_known(&name) || is_known(&value) || NONCES.contains(&name.as_str())
        })
}

fn plain(word: &str) -> String {
    let mut word = word.to_ascii_lowercase();
    word.retain(|character| !matches!(character, '-' | '_'));
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_whole_words() {
        let check = |path: &str, expected: bool| {
            let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
            assert_eq!(is_action(&url), expected, "{path}");
        };
        for path in [
            "/logout",
            "/user/sign-out/",
            "/Logout.php",
            "/wp-login.php?action=logout&x=1",
            "/post?id=1&delete",
            "/post?delete=1",
            "/shop?add-to-cart=7",
            "/shop?add_to_cart=7",
            "/mail?a=b&do=unsubscribe",
            "/page?_wpnonce=ab12",
            "/page?nonce=ab12",
        ] {
            check(path, true);
        }
        for path in [
            "/",
            "/docs/delete-a-branch",
            "/logout/help",
            "/deleted",
            "/search?q=how+to+delete",
            "/page?announce=1",
            "/trash-metal",
        ] {
            check(path, false);
        }
    }
}
