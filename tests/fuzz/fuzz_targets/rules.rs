#![doc = "See `toolgate_fuzz::rules`."]
#![no_main]
#![allow(unsafe_code, reason = "the macro names the function that libFuzzer calls")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolgate_fuzz::rules(data));
