//! A deserializer around another, which keeps its errors and notes beside them what was wrong.
//!
//! A parser's error is made by the type that is read (`E::unknown_field(found, known)`), and adds to it where that was.
//! So the type is given an error of ours, [`Noted`], that takes down what it is told; the parser gets its own back, and
//! what was noted waits in a cell until the parser returns.

use std::cell::Cell;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::{Mistake, Noted, PRIVATE};

/// A name in the program.
type Name = &'static str;

/// Something of serde's, observed: a deserializer, a visitor, a seed, or what gives access to parts.
pub(super) struct Observed<'last, X> {
    inner: X,
    last: &'last Cell<Option<Mistake>>,
}

impl<'last, X> Observed<'last, X> {
    pub(super) fn new(inner: X, last: &'last Cell<Option<Mistake>>) -> Self {
        Observed { inner, last }
    }

    fn around<Y>(&self, inner: Y) -> Observed<'last, Y> {
        Observed { inner, last: self.last }
    }
}

/// To the parser: its own error. What is wrong waits.
fn to_parser<E>(last: &Cell<Option<Mistake>>, error: Noted<E>) -> E {
    last.set(error.mistake);
    error.cause
}

/// From the parser: its error, with what is wrong.
fn from_parser<E>(last: &Cell<Option<Mistake>>, cause: E) -> Noted<E> {
    Noted { cause, mistake: last.take() }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Observed<'_, D> {
    type Error = Noted<D::Error>;

    // A parser that is told of a type makes the errors about it itself; one that isn't lets the type make them.
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_any(visitor).map_err(|error| from_parser(self.last, error))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_option(visitor).map_err(|error| from_parser(self.last, error))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: Name, visitor: V) -> Result<V::Value, Self::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_newtype_struct(name, visitor).map_err(|error| from_parser(self.last, error))
    }

    fn deserialize_struct<V>(self, name: Name, fields: &'static [Name], visitor: V) -> Result<V::Value, Self::Error>
    where
        V: Visitor<'de>,
    {
        if !name.starts_with(PRIVATE) {
            return self.deserialize_any(visitor);
        }
        let visitor = self.around(visitor);
        self.inner.deserialize_struct(name, fields, visitor).map_err(|error| from_parser(self.last, error))
    }

    fn deserialize_enum<V>(self, name: Name, variants: &'static [Name], visitor: V) -> Result<V::Value, Self::Error>
    where
        V: Visitor<'de>,
    {
        let visitor = self.around(visitor);
        self.inner.deserialize_enum(name, variants, visitor).map_err(|error| from_parser(self.last, error))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let visitor = self.around(visitor);
        self.inner.deserialize_ignored_any(visitor).map_err(|error| from_parser(self.last, error))
    }
}

macro_rules! visit {
    ($($method:ident($type:ty);)+) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$method(value).map_err(|error| to_parser(self.last, error))
        }
    )+};
}

macro_rules! visit_parts {
    ($($method:ident: $access:ident;)+) => {$(
        fn $method<A: $access<'de>>(self, parts: A) -> Result<V::Value, A::Error> {
            let parts = self.around(parts);
            self.inner.$method(parts).map_err(|error| to_parser(self.last, error))
        }
    )+};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Observed<'_, V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.expecting(out)
    }

    visit! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit().map_err(|error| to_parser(self.last, error))
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none().map_err(|error| to_parser(self.last, error))
    }

    visit_parts! {
        visit_some: Deserializer;
        visit_newtype_struct: Deserializer;
        visit_seq: SeqAccess;
        visit_map: MapAccess;
        visit_enum: EnumAccess;
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Observed<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        let from = self.around(from);
        self.inner.deserialize(from).map_err(|error| to_parser(self.last, error))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Observed<'_, A> {
    type Error = Noted<A::Error>;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Self::Error> {
        let seed = self.around(seed);
        self.inner.next_element_seed(seed).map_err(|error| from_parser(self.last, error))
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Observed<'_, A> {
    type Error = Noted<A::Error>;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Self::Error> {
        let seed = self.around(seed);
        self.inner.next_key_seed(seed).map_err(|error| from_parser(self.last, error))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Self::Error> {
        let seed = self.around(seed);
        self.inner.next_value_seed(seed).map_err(|error| from_parser(self.last, error))
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, 'last, A: EnumAccess<'de>> EnumAccess<'de> for Observed<'last, A> {
    type Error = Noted<A::Error>;
    type Variant = Observed<'last, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), Self::Error> {
        let seed = self.around(seed);
        let Observed { inner, last } = self;
        let (name, variant) = inner.variant_seed(seed).map_err(|error| from_parser(last, error))?;
        Ok((name, Observed { inner: variant, last }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Observed<'_, A> {
    type Error = Noted<A::Error>;

    fn unit_variant(self) -> Result<(), Self::Error> {
        self.inner.unit_variant().map_err(|error| from_parser(self.last, error))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Self::Error> {
        let seed = self.around(seed);
        self.inner.newtype_variant_seed(seed).map_err(|error| from_parser(self.last, error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Self::Error> {
        let visitor = self.around(visitor);
        self.inner.tuple_variant(length, visitor).map_err(|error| from_parser(self.last, error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let visitor = self.around(visitor);
        self.inner.struct_variant(fields, visitor).map_err(|error| from_parser(self.last, error))
    }
}
