//! Parts of the configuration of web servers that serve a published set. All its files have names that begin with `sitemap`. A part
//! (`.xml.gz`) is a gzip file, as the sitemap protocol wants it: its type is `application/gzip`, and it has no `Content-Encoding`,
//! with which a client would unpack it on the way.

use std::path::Path;

use crawler::url_key::UrlKey;

use crate::args::Server;

/// The part for the set in `folder`, which is served at `public_url`.
pub(super) fn snippet(server: Server, folder: &Path, public_url: &UrlKey) -> String {
    let folder = folder.display();
    let path = pattern_of(public_url.path());
    let host = public_url.host_str();
    match server {
        Server::Nginx => format!(
            r#"# Serves the sitemaps in {folder} at {public_url}
# Include this file in the server block of {host}, then: nginx -t && systemctl reload nginx

# Gzip files: they are sent as they are, and not compressed again.
location ~ "^{path}(sitemap[^/]*[.]gz)$" {{
    alias "{folder}/$1";
    types {{ }}
    default_type application/gzip;
    gzip off;
}}

# The index, and files of other formats.
location ~ "^{path}(sitemap[^/]*[.](?:xml|txt|rss|atom))$" {{
    alias "{folder}/$1";
    types {{
        application/xml xml;
        text/plain txt;
        application/rss+xml rss;
        application/atom+xml atom;
    }}
}}
"#
        ),
        Server::Apache => format!(
            r#"# Serves the sitemaps in {folder} at {public_url}
# Include this file in the virtual host of {host}, then: apachectl configtest && apachectl graceful
# It needs the modules alias, mime and setenvif.

AliasMatch "^{path}(sitemap[^/]*[.](?:xml|txt|rss|atom|gz))$" "{folder}/$1"
<Directory "{folder}">
    Require all granted
    AllowOverride None
    # Gzip files: they are sent as they are, and not compressed again.
    RemoveEncoding .gz
    SetEnvIf Request_URI "[.]gz$" no-gzip dont-vary
    <FilesMatch "[.]gz$">
        ForceType application/gzip
    </FilesMatch>
    <FilesMatch "[.]xml$">
        ForceType application/xml
    </FilesMatch>
    AddType application/rss+xml .rss
    AddType application/atom+xml .atom
</Directory>
"#
        ),
    }
}

/// The path of a URL as a regular expression. Servers compare it with the decoded path, byte by byte: an escape matches any byte.
fn pattern_of(path: &str) -> String {
    let mut pattern = String::new();
    let mut bytes = path.chars();
    while let Some(byte) = bytes.next() {
        match byte {
            '.' => pattern.push_str("[.]"),
            '%' => {
                bytes.nth(1);
                pattern.push('.');
            }
            _ if byte.is_ascii_alphanumeric() || "/-_~".contains(byte) => pattern.push(byte),
            _ => pattern.push('.'),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_pattern() {
        assert_eq!(pattern_of("/"), "/");
        assert_eq!(pattern_of("/v1.2/caf%C3%A9/a+b/"), "/v1[.]2/caf../a.b/");
    }
}
