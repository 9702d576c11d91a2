//! The text of a description with settings in it, and everything else unchanged.

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// `text` with the values that `table` has at `paths`: comments, order and spaces stay. Fields next to these that
/// `table` lacks, since another took their place, are removed.
///
/// `text` and `table` have both been parsed as TOML before; returns none if the result can't be written as well.
pub(super) fn with_settings<'a>(
    text: &str,
    table: &toml::Table,
    paths: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    for path in paths {
        let (tables, last) = path.rsplit_once('.').unwrap_or(("", path));
        let mut wanted = table;
        let mut written: &mut dyn TableLike = document.as_table_mut();
        for name in tables.split('.').filter(|name| !name.is_empty()) {
            wanted = wanted.get(name)?.as_table()?;
            written = written.entry(name).or_insert_with(|| Item::Table(Table::new())).as_table_like_mut()?;
        }
        let gone: Vec<String> =
            written.iter().map(|(key, _)| key.to_string()).filter(|key| !wanted.contains_key(key)).collect();
        for key in gone {
            written.remove(&key);
        }
        put(written, last, wanted.get(last)?.to_string().parse().ok()?);
    }
    Some(document.to_string())
}

/// Writes `value` in place of the old value of `name`, with the comments and spaces around it.
fn put(table: &mut dyn TableLike, name: &str, mut value: Value) {
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}
