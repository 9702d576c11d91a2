//! The values of replies, for clients.

/// The value of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A text, of any bytes.
    Text(Vec<u8>),
    /// A number.
    Integer(i64),
    /// An error: why the request was not executed.
    Error(String),
    /// Values in order.
    List(Vec<Value>),
}

impl Value {
    /// Its values; none, if it is not a list.
    pub fn list(&self) -> &[Value] {
        if let Value::List(values) = self { values } else { &[] }
    }

    /// Its text; empty, if it is not a text.
    pub fn text(&self) -> String {
        if let Value::Text(text) = self { String::from_utf8_lossy(text).into_owned() } else { String::new() }
    }

    /// Its number, if it is one.
    pub const fn integer(&self) -> Option<i64> {
        if let Value::Integer(number) = self { Some(*number) } else { None }
    }

    /// In a list of names, each with a value after it, the value of this name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let mut pairs = self.list().chunks_exact(2);
        pairs.find(|pair| pair[0].text() == name).map(|pair| &pair[1])
    }
}
