//! Numbers as the bytes of messages: in little-endian order, on every machine.

use endpoint::Message;

/// A value that can be sent in a message.
pub trait Value: Copy {
    /// Its size. [B]
    const BYTES: usize;
    /// Appends its bytes.
    fn write(self, bytes: &mut Vec<u8>);
    /// Reads it from its [`Value::BYTES`] bytes.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($number:ty) => {
        impl Value for $number {
            const BYTES: usize = size_of::<$number>();
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> $number {
                let mut own = [0; size_of::<$number>()];
                own.copy_from_slice(bytes);
                <$number>::from_le_bytes(own)
            }
        }
    };
}

number!(f32);
number!(f64);

impl<T: Value + Default, const N: usize> Value for [T; N] {
    const BYTES: usize = N * T::BYTES;
    fn write(self, bytes: &mut Vec<u8>) {
        self.into_iter().for_each(|value| value.write(bytes));
    }
    fn read(bytes: &[u8]) -> [T; N] {
        std::array::from_fn(|i| T::read(&bytes[i * T::BYTES..(i + 1) * T::BYTES]))
    }
}

/// A message of values.
pub fn packed<T: Value>(values: impl IntoIterator<Item = T>) -> Message {
    let values = values.into_iter();
    let mut bytes = Vec::with_capacity(values.size_hint().0 * T::BYTES);
    values.for_each(|value| value.write(&mut bytes));
    Message::from(bytes)
}

/// The values of a message; none if it carries no bytes, or not a whole number of values.
pub fn unpacked<T: Value>(message: &Message) -> Option<Vec<T>> {
    let bytes = message.content()?;
    bytes.len().is_multiple_of(T::BYTES).then(|| bytes.chunks_exact(T::BYTES).map(T::read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quantities::Bytes;

    #[test]
    fn values_come_out_as_they_went_in() {
        let values = [[1.5f32, -0.0, f32::MAX], [f32::MIN_POSITIVE, 2.0, 3.0]];
        let message = packed(values);
        assert_eq!(message.size(), Bytes(24));
        assert_eq!(unpacked::<[f32; 3]>(&message), Some(values.to_vec()));
        assert_eq!(unpacked::<f64>(&message).map(|values| values.len()), Some(3));
        assert_eq!(unpacked::<[f32; 4]>(&message), None);
        assert_eq!(unpacked::<f64>(&Message::of_size(Bytes(8))), None);
    }
}
