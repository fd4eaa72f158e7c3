//! Names and addresses that every machine has for itself.

use std::net::{IpAddr, Ipv4Addr};

use toolgate_shell_syntax::word::Value;

/// Names in the host files of systems; what ends in `.localhost` is the machine itself too (RFC 6761).
const NAMES: &[&str] =
    &["localhost", "localhost.localdomain", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback"];

/// Whether a host, without a user and a port, is the machine that it is named on.
///
/// ```text
/// localhost, LOCALHOST., 127.1, 0x7f000001, ::1, ::ffff:127.0.0.1, ::1%lo: yes
/// example.org, 10.0.0.1: no
/// ```
pub(crate) fn is_own(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if NAMES.contains(&host.as_str()) || host.ends_with(".localhost") {
        return true;
    }
    let address = host.split('%').next().unwrap_or_default();
    let own = |address: Ipv4Addr| address.is_loopback() || address.is_unspecified();
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unspecified() || address.to_ipv4_mapped().is_some_and(own)
        }
        Ok(IpAddr::V4(address)) => own(address),
        Err(_) => numbers(address).is_some_and(own),
    }
}

/// The same of a host that may be known in part: `$HOSTNAME`.
pub(crate) fn names_own(host: &Value) -> bool {
    match host {
        Value::Known(host) => is_own(host),
        Value::Unknown { why, shape } => why.variable() == Some("HOSTNAME") && shape.chars().eq([Value::HOLE]),
        _ => false,
    }
}

/// The address that C's `inet_aton` reads: one to four numbers with dots between them, each decimal, octal or
/// hexadecimal, of which the last fills what is left.
fn numbers(text: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| match part.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if part.len() > 1 && part.starts_with('0') => u32::from_str_radix(part, 8).ok(),
        None => part.parse().ok(),
    };
    let parts: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 32 - 8 * u32::try_from(first.len()).ok()?;
    let high = first.iter().zip([24, 16, 8]).map(|(part, shift)| part << shift).sum::<u32>();
    (u64::from(*last) < 1_u64 << room).then(|| Ipv4Addr::from_bits(high | last))
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn a_machine_has_many_names_for_itself() {
        let own = "localhost LocalHost localhost. a.localhost localhost6 127.0.0.1 127.1 127.9.9.9 0 0.0.0.0 0x7f000001 \
                   0177.0.0.1 2130706433 ::1 :: 0:0:0:0:0:0:0:1 ::1%lo ::ffff:127.0.0.1 ip6-loopback";
        let others =
            "example.org localhost.example.org 10.0.0.1 128.0.0.1 ::2 1 127.0.0.1.example.org 256.0.0.1 1.2.3.4.5 09";
        for host in own.split_ascii_whitespace() {
            assert!(is_own(host), "{host}");
        }
        for host in others.split_ascii_whitespace().chain([""]) {
            assert!(!is_own(host), "{host}");
        }
    }
}
