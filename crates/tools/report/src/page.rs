//! The whole page.

use super::markup::{Element, element};
use super::style_sheet::{DRAWINGS, PALETTE};

/// The style sheet, the only part of the page besides its markup.
const STYLE: [&str; 3] = [PALETTE, DRAWINGS, include_str!("style.css")];

/// A page: a heading, an introduction, and its sections.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its introduction, in a sentence or two.
    pub lead: String,
    /// Its sections.
    pub sections: Vec<Element>,
    /// The last line, if there is one.
    pub foot: String,
}

impl Page {
    /// The whole file.
    pub fn html(&self) -> String {
        self.file("default-src 'none'; style-src 'unsafe-inline'; img-src data:", Vec::new())
    }

    /// A page that is served, with a script and a style of its own: it requests more data from its own server only.
    pub(super) fn live_html(&self, script: &'static str, style: &'static str) -> String {
        let policy =
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'self'; connect-src 'self'";
        let script = element("script").attribute("src", script).attribute("defer", "");
        self.file(policy, vec![element("style").verbatim(style), script])
    }

    fn file(&self, policy: &str, more: Vec<Element>) -> String {
        let head = element("head")
            .child(element("meta").attribute("charset", "utf-8"))
            .child(
                element("meta")
                    .attribute("name", "viewport")
                    .attribute("content", "width=device-width, initial-scale=1"),
            )
            .child(element("meta").attribute("http-equiv", "Content-Security-Policy").attribute("content", policy))
            .child(element("meta").attribute("name", "color-scheme").attribute("content", "light dark"))
            // An icon of no bytes, so that no browser asks for one.
            .child(element("link").attribute("rel", "icon").attribute("href", "data:,"))
            .child(element("title").text(&self.title))
            .child(STYLE.iter().fold(element("style"), |style, sheet| style.verbatim(sheet)))
            .children(more);
        let header = element("header").child(element("h1").text(&self.title)).child(element("p").text(&self.lead));
        let body = element("body")
            .child(header)
            .child(element("main").children(self.sections.iter().cloned()))
            .children((!self.foot.is_empty()).then(|| element("footer").child(element("p").text(&self.foot))));
        let mut out = String::from("<!doctype html>\n");
        element("html").attribute("lang", "en").child(head).child(body).write(&mut out);
        out.push('\n');
        out
    }
}
