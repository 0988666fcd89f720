#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| arpent_fuzz::fuzz(
    &arpent_fuzz::targets::ENCODING,
    input
));
