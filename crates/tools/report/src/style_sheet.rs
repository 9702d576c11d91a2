//! The style sheet of drawings, and drawings that need none.
//!
//! On a page, the style sheet colours drawings, so that they follow the reader's light or dark theme. A drawing by
//! itself has no page: there, what the style sheet says of each element is written into its attributes, by the same
//! rules, so that both look alike.

use std::collections::BTreeMap;

use simplecss::{AttributeOperator, PseudoClass, StyleSheet};

use super::markup::Element;

/// The colours, by name, in the light and in the dark theme.
pub(super) const PALETTE: &str = include_str!("palette.css");
/// What drawings look like.
pub(super) const DRAWINGS: &str = include_str!("drawings.css");

/// What of a style an SVG drawing can have as attributes.
const PRESENTATION: [&str; 9] = [
    "fill",
    "font-size",
    "font-weight",
    "shape-rendering",
    "stroke",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-width",
    "text-anchor",
];

/// What the names of variables begin with in place of two hyphens, which the parser of style sheets does not take.
const VARIABLE: &str = "variable-";

/// Colours and other values by name, without the two hyphens before it.
type Variables = BTreeMap<String, String>;

/// The colours of the light theme.
fn light() -> Variables {
    let root = PALETTE.split_once(":root {").and_then(|(_, after)| after.split_once('}')).map_or("", |(root, _)| root);
    let declaration = |text: &str| {
        let (name, value) = text.trim().strip_prefix("--")?.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    };
    root.split(';').filter_map(declaration).collect()
}

/// `drawing` with its styles as attributes.
pub(super) fn with_styles_inside(drawing: Element) -> Element {
    let text = DRAWINGS.replace("--", VARIABLE);
    styled(drawing, None, &StyleSheet::parse(&text), &light())
}

/// The colour of the palette that is called `name`, in the light theme.
pub(super) fn colour(name: &str) -> String {
    light().remove(name).unwrap_or_default()
}

fn styled(drawing: Element, parent: Option<&Ancestor<'_>>, sheet: &StyleSheet<'_>, inherited: &Variables) -> Element {
    let shallow = drawing.without_children();
    let this = Ancestor { element: &shallow, parent };
    let mut variables = inherited.clone();
    let mut declared: BTreeMap<&str, &str> = BTreeMap::new();
    // The rules are in order of specificity: the last that matches counts.
    for rule in sheet.rules.iter().filter(|rule| rule.selector.matches(&this)) {
        for declaration in &rule.declarations {
            match declaration.name.strip_prefix(VARIABLE) {
                Some(name) => {
                    let value = resolved(declaration.value, &variables);
                    variables.insert(name.to_owned(), value);
                }
                None => {
                    declared.insert(declaration.name, declaration.value);
                }
            }
        }
    }
    // What an element says itself counts more.
    let styles = PRESENTATION.into_iter().filter(|name| shallow.value_of(name).is_none());
    let styles = styles.filter_map(|name| Some((name, resolved(declared.get(name)?, &variables))));
    let drawing = styles.fold(drawing, |drawing, (name, value)| drawing.attribute(name, value));
    drawing.map_children(|child| styled(child, Some(&this), sheet, &variables))
}

/// A value in which `var(--name)` stands for a variable's.
fn resolved(value: &str, variables: &Variables) -> String {
    let name = value.strip_prefix("var(").and_then(|rest| rest.strip_suffix(')'));
    let name = name.and_then(|name| name.strip_prefix(VARIABLE));
    name.and_then(|name| variables.get(name)).map_or(value, String::as_str).to_owned()
}

/// An element on the way down to the one that is styled.
#[derive(Clone, Copy)]
struct Ancestor<'a> {
    element: &'a Element,
    parent: Option<&'a Ancestor<'a>>,
}

impl simplecss::Element for Ancestor<'_> {
    fn parent_element(&self) -> Option<Self> {
        self.parent.copied()
    }

    /// No rule asks for it.
    fn prev_sibling_element(&self) -> Option<Self> {
        None
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.element.name() == name
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        self.element.value_of(name).is_some_and(|value| operator.matches(value))
    }

    /// Nothing happens to a drawing that would need one.
    fn pseudo_class_matches(&self, _: PseudoClass<'_>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::element;

    fn written(drawing: Element) -> String {
        let mut out = String::new();
        with_styles_inside(drawing).write(&mut out);
        out
    }

    #[test]
    fn a_style_sheet_of_a_page_becomes_attributes() {
        let channel = element("path").class("channel heat7").attribute("d", "M0 0");
        let label = element("text").class("tick end").text("5");
        let drawing = element("svg").child(element("g").class("channels").child(channel)).child(label);
        let text = written(drawing);
        assert!(text.contains("stroke=\"#6b0f36\""), "{text}");
        assert!(text.contains("stroke-width=\"3.4\"") && text.contains("fill=\"none\""), "{text}");
        assert!(text.contains("font-size=\"11.5px\"") && text.contains("text-anchor=\"end\""), "{text}");
        assert!(!text.contains("var("), "{text}");
    }

    #[test]
    fn every_colour_that_drawings_name_is_in_the_palette() {
        let known = light();
        let named = DRAWINGS.split("var(--").skip(1).filter_map(|text| text.split_once(')')).map(|(name, _)| name);
        for name in named.filter(|name| !["colour", "heat"].contains(name)) {
            assert!(known.contains_key(name), "{name}");
        }
    }
}
