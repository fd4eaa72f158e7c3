//! Times as people write them: `10m`, `7d`, `2026-01-31`.

use std::time::Duration;

use jiff::{Timestamp, civil, tz::TimeZone};

/// A length of time: a number and one of `s`, `m`, `h`, `d`, `w`.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration like 30s, 10m, 2h, 7d or 4w");
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(wrong()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

/// A moment: so long ago, the start of a day, or a time with its offset.
pub(crate) fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    let wrong = || format!("{text:?} is neither a duration like 7d nor a date like 2026-01-31");
    if let Ok(length) = length(text) {
        return now.checked_sub(length).map_err(|_| wrong());
    }
    if let Ok(day) = text.parse::<civil::Date>() {
        return day.to_zoned(zone.clone()).map(|zoned| zoned.timestamp()).map_err(|_| wrong());
    }
    text.parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now: Timestamp = "2026-01-31T09:00:00Z".parse().expect("a time");
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let cases = [
            ("30s", Some("2026-01-31T08:59:30Z")),
            ("10m", Some("2026-01-31T08:50:00Z")),
            ("7d", Some("2026-01-24T09:00:00Z")),
            ("1w", Some("2026-01-24T09:00:00Z")),
            ("2026-01-31", Some("2026-01-30T22:00:00Z")),
            ("2026-01-31T00:00:00Z", Some("2026-01-31T00:00:00Z")),
            ("", None),
            ("7", None),
            ("7é", None),
            ("-7d", None),
            ("4000000000w", None),
            ("2026-02-31", None),
            ("yesterday", None),
        ];
        for (text, expected) in cases {
            let found = moment(text, now, &zone).ok().map(|time| time.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
