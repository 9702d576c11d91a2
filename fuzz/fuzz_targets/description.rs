//! No text makes the reader of descriptions panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::Description;

fuzz_target!(|text: &str| {
    if let Ok(mut description) = Description::parse(text, "fuzz.toml") {
        let _ = description.resolve();
        // A setting, with what follows the last line break of the text as its value.
        let value = text.rsplit('\n').next().unwrap_or_default();
        let _ = description.set("channels.buffers", value);
        let _ = description.resolve();
    }
});
