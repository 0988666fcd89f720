//! Names of links and images; whole pages are in the tests of [`super::super`].

use super::*;

#[test]
fn images_are_known_by_path_without_versions() {
    #[track_caller]
    fn check(one: &str, other: &str, is_same: bool) {
        assert_eq!(
            asset_name(one) == asset_name(other),
            is_same,
            "{one} {other}"
        );
    }
    check("/img/a.png", "/img/b.png", false);
    check("/img/a.png", "/other/a.png", false);
    check("/img/a.png", "https://cdn1.example.com/img/a.png", true);
    check("//cdn1.example/a.png", "//cdn2.example/a.png#x", true);
    check("/a.png?v=1", "/a.png?v=2", true);
    check("/a.png?v=1", "/a.png", true);
    check("/image?id=1", "/image?id=2", false);
    check("/image?id=1&sig=a&expires=3", "/image?expires=4&id=1", true);
    check("/photo-3f2a9c1b.jpg", "/photo-9d8e7f6a.jpg", true);
    check("/photo.BkD3x9aQ.jpg", "/photo.Zz81kLmp.jpg", true);
    check("/photo-harbour.jpg", "/photo-mountain.jpg", false);
    check("/IMG_20240501.jpg", "/IMG_20240502.jpg", false);
    check("/3f2a9c1b.jpg", "/9d8e7f6a.jpg", false);
    check(
        "/static/version1712345678/a.png",
        "/static/version1799999999/a.png",
        true,
    );
    check("/assets/3f2a9c1b/a.png", "/assets/9d8e7f6a/a.png", true);
    check("/uploads/3f2a9c1b/a.png", "/uploads/9d8e7f6a/a.png", false);
}

#[test]
fn links_are_known_by_target_without_tokens() {
    #[track_caller]
    fn check(one: &str, other: &str, is_same: bool) {
        assert_eq!(link_hash(one) == link_hash(other), is_same, "{one} {other}");
    }
    check("https://h/a", "https://h/b", false);
    check("https://h/a?t=1", "https://h/a?t=2", false);
    check("https://h/a?v=abc", "https://h/a?v=abd", false);
    check("https://h/a?utm_source=x&b=1", "https://h/a?b=1", true);
    check("https://h/a?csrf_token=1", "https://h/a?csrf_token=2", true);
    check("https://h/a?sid=12", "https://h/a?sid=13", false);
    check(
        "https://h/a?sid=0123456789abcdef0123456789abcdef",
        "https://h/a?sid=f123456789abcdef0123456789abcdef",
        true,
    );
}
