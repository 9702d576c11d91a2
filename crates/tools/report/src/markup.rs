//! A tree of markup, escaped when it is written.

/// An element of HTML or SVG.
#[derive(Clone, Debug)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<MarkupNode>,
}

#[derive(Clone, Debug)]
enum MarkupNode {
    Element(Element),
    Text(String),
    /// Written unescaped; only for text that is compiled in.
    Verbatim(&'static str),
}

/// Elements that have no content and no end tag in HTML.
const VOID: [&str; 4] = ["meta", "link", "br", "col"];

/// Elements that begin on a line of their own, so that a person can read the file.
const BLOCKS: [&str; 24] = [
    "head",
    "body",
    "title",
    "style",
    "meta",
    "link",
    "header",
    "main",
    "footer",
    "section",
    "div",
    "figure",
    "figcaption",
    "table",
    "thead",
    "tbody",
    "tr",
    "ul",
    "li",
    "p",
    "svg",
    "g",
    "nav",
    "details",
];

/// An element called `name`, empty.
pub fn element(name: &'static str) -> Element {
    Element { name, attributes: Vec::new(), children: Vec::new() }
}

impl Element {
    /// With an attribute.
    pub fn attribute(mut self, name: &'static str, value: impl ToString) -> Element {
        self.attributes.push((name, value.to_string()));
        self
    }
    /// With a class, or several in one string.
    pub fn class(self, value: impl ToString) -> Element {
        self.attribute("class", value)
    }
    /// With this value of an attribute, in place of the one that it has, if any.
    pub(crate) fn set(mut self, name: &'static str, value: impl ToString) -> Element {
        self.attributes.retain(|(other, _)| *other != name);
        self.attribute(name, value)
    }
    /// The name of its kind.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }
    /// The value of an attribute, if it has it.
    pub(crate) fn value_of(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }
    /// The same without what is in it.
    pub(crate) fn without_children(&self) -> Element {
        Element { name: self.name, attributes: self.attributes.clone(), children: Vec::new() }
    }
    /// The same with each element directly in it replaced.
    pub(crate) fn map_children(mut self, mut replace: impl FnMut(Element) -> Element) -> Element {
        let one = |child| match child {
            MarkupNode::Element(child) => MarkupNode::Element(replace(child)),
            text @ (MarkupNode::Text(_) | MarkupNode::Verbatim(_)) => text,
        };
        self.children = self.children.into_iter().map(one).collect();
        self
    }
    /// With text at its end.
    pub fn text(mut self, text: impl ToString) -> Element {
        self.children.push(MarkupNode::Text(text.to_string()));
        self
    }
    /// With another element at its end.
    pub fn child(mut self, child: Element) -> Element {
        self.children.push(MarkupNode::Element(child));
        self
    }
    /// With more elements at its end.
    pub fn children(mut self, children: impl IntoIterator<Item = Element>) -> Element {
        self.children.extend(children.into_iter().map(MarkupNode::Element));
        self
    }
    /// With text at its end that is written unescaped, such as a style sheet.
    pub fn verbatim(mut self, text: &'static str) -> Element {
        self.children.push(MarkupNode::Verbatim(text));
        self
    }

    /// Appends it and everything within it to `out`.
    pub fn write(&self, out: &mut String) {
        if BLOCKS.contains(&self.name) && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push('<');
        out.push_str(self.name);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
        out.push('>');
        if VOID.contains(&self.name) {
            return;
        }
        for child in &self.children {
            match child {
                MarkupNode::Element(child) => child.write(out),
                MarkupNode::Text(text) => escape(text, out),
                MarkupNode::Verbatim(text) => out.push_str(text),
            }
        }
        out.push_str("</");
        out.push_str(self.name);
        out.push('>');
    }
}

/// Writes `text` so that it is read literally, both between tags and within a quoted attribute.
fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML allows no control character except tab and newline.
            '\t' | '\n' => out.push(letter),
            other if other.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::element;

    fn written(built: super::Element) -> String {
        let mut out = String::new();
        built.write(&mut out);
        out
    }

    #[test]
    fn text_and_attributes_mean_themselves() {
        let hostile = "</p><script>alert('1' & \"2\")</script>\u{0}";
        let page = written(element("p").attribute("title", hostile).text(hostile));
        assert!(!page.contains("<script"));
        assert_eq!(page.matches('"').count(), 2, "only the attribute's own quotes: {page}");
        assert_eq!(page.matches("&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)").count(), 2);
        assert!(!page.contains('\u{0}'));
    }

    #[test]
    fn void_elements_have_no_end() {
        assert_eq!(written(element("meta").attribute("charset", "utf-8")), "<meta charset=\"utf-8\">");
    }
}
