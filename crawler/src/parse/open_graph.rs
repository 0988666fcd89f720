//! Open Graph tags of a page (<https://ogp.me/>): its statements about itself and its videos, as they are written.

/// Videos of one page that are taken. Most pages have one, as a player and as a file.
const MAX_TAGGED_VIDEOS: usize = 8;

/// The tags of a page; of each the first counts.
#[derive(Debug, Default)]
pub(super) struct OpenGraph {
    pub(super) site_name: Option<String>,
    pub(super) title: Option<String>,
    /// `og:description`, or the description of the page.
    pub(super) description: Option<String>,
    pub(super) image: Option<String>,
    /// Seconds.
    pub(super) duration: Option<String>,
    pub(super) release_date: Option<String>,
    videos: Vec<TaggedVideo>,
}

/// A form of the video of a page.
#[derive(Debug, Default)]
struct TaggedVideo {
    url: Option<String>,
    secure_url: Option<String>,
    media_type: Option<String>,
}

impl TaggedVideo {
    fn address(&self) -> Option<&str> {
        self.secure_url.as_deref().or(self.url.as_deref())
    }

    /// A file with the video; otherwise a player of it.
    fn is_file(&self) -> bool {
        let media_type = self.media_type.as_deref().unwrap_or_default();
        media_type.trim().to_ascii_lowercase().starts_with("video/")
    }
}

impl OpenGraph {
    /// Takes a meta.
    pub(super) fn meta(&mut self, name: &str, content: &str) {
        let content = content.trim();
        if content.is_empty() {
            return;
        }
        let place = match name.trim().to_ascii_lowercase().as_str() {
            "og:site_name" => &mut self.site_name,
            "og:title" => &mut self.title,
            "og:description" | "description" => &mut self.description,
            "og:image" | "og:image:url" | "og:image:secure_url" => &mut self.image,
            "og:video:duration" | "video:duration" => &mut self.duration,
            "og:video:release_date" | "video:release_date" => &mut self.release_date,
            "og:video" | "og:video:url" => {
                // Both name one video.
                let is_same = |video: &TaggedVideo| video.url.as_deref() == Some(content);
                if self.videos.len() < MAX_TAGGED_VIDEOS && !self.videos.last().is_some_and(is_same)
                {
                    self.videos.push(TaggedVideo::default());
                }
                match self.videos.last_mut() {
                    Some(video) => &mut video.url,
                    None => return,
                }
            }
            "og:video:secure_url" => match self.open_video() {
                Some(video) => &mut video.secure_url,
                None => return,
            },
            "og:video:type" => match self.open_video() {
                Some(video) => &mut video.media_type,
                None => return,
            },
            _ => return,
        };
        place.get_or_insert_with(|| content.to_owned());
    }

    /// The video that its further tags are about.
    fn open_video(&mut self) -> Option<&mut TaggedVideo> {
        if self.videos.is_empty() {
            self.videos.push(TaggedVideo::default());
        }
        self.videos.last_mut()
    }

    /// The address of a file with the video.
    pub(super) fn file(&self) -> Option<&str> {
        let mut files = self.videos.iter().filter(|video| video.is_file());
        files.find_map(TaggedVideo::address)
    }

    /// The address of a player of the video.
    pub(super) fn player(&self) -> Option<&str> {
        let mut players = self.videos.iter().filter(|video| !video.is_file());
        players.find_map(TaggedVideo::address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    #[test]
    fn tags_of_a_video_belong_together() {
        let rows = [
            " => none, none",
            "og:video  => none, none",
            "og:video /p => none, /p",
            "OG:Video /p, og:video:url /p => none, /p",
            "og:video http://h/a, og:video:secure_url https://h/a, og:video:type video/mp4 => https://h/a, none",
            "og:video:url /p, og:video:type text/html, og:video:url /f, og:video:type video/mp4 => /f, /p",
            "og:video:secure_url /p => none, /p",
        ];
        check_rows(&rows, |metas| {
            let mut tags = OpenGraph::default();
            for (name, content) in metas.split(", ").filter_map(|meta| meta.split_once(' ')) {
                tags.meta(name, content);
            }
            [tags.file(), tags.player()]
                .map(|url| url.unwrap_or("none"))
                .join(", ")
        });
    }

    #[test]
    fn the_first_of_several_tags_counts() {
        let mut tags = OpenGraph::default();
        for content in ["", "a", "b"] {
            tags.meta("og:title", content);
            tags.meta("description", content);
            tags.meta("og:image:url", content);
        }
        let found = [&tags.title, &tags.description, &tags.image];
        assert_eq!(found.map(Option::as_deref), [Some("a"); 3]);
    }
}
