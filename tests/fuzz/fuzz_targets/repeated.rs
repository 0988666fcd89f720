#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| arpent_fuzz::fuzz_repeated(input));
