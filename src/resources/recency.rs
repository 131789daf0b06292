use jiff::{Timestamp, civil, tz::TimeZone};

/// Reads `lastModified` as leniently as is safe: RFC 3339 and ISO 8601 with or without seconds and
/// offset (UTC where none is given), and plain dates. `None` for anything else, and for years
/// before 1970 or after 2200, which are mistakes.
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.len() > 64 {
        return None;
    }
    let utc = |time: civil::DateTime| TimeZone::UTC.to_timestamp(time).ok();
    let time = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<civil::DateTime>().ok().and_then(utc))
        .or_else(|| text.parse::<civil::Date>().ok().and_then(|date| utc(date.at(0, 0, 0, 0))))?;
    let seconds = time.as_second();
    (0..7_258_118_400).contains(&seconds).then_some(time)
}

/// How recent something is, 0 to 1: halves every 30 days. In the future counts as now, since
/// clocks differ. Policies, notes and boards that people attach live for weeks, not for hours.
pub(super) fn recency(modified: Timestamp, now: Timestamp) -> f64 {
    const HALF_LIFE_SECONDS: f64 = 30.0 * 86_400.0;
    let age = (now.as_second() - modified.as_second()).max(0) as f64;
    (-age / HALF_LIFE_SECONDS).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read_leniently() {
        let expected: Timestamp = "2026-09-01T00:00:00Z".parse().unwrap();
        for text in [
            "2026-09-01T00:00:00Z",
            "2026-09-01T02:00:00+02:00",
            "2026-09-01T00:00:00.000Z",
            " 2026-09-01 ",
            "2026-09-01T00:00",
            "2026-09-01 00:00:00Z",
        ] {
            assert_eq!(parse_timestamp(text), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "99999-01-01", "1066-10-14", "9999-12-31", &"2".repeat(1_000)] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn recency_halves_in_a_month() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-10-01T00:00:00Z");
        assert_eq!(recency(now, now), 1.0);
        assert_eq!(recency(at("2026-09-01T00:00:00Z"), now), 0.5);
        assert_eq!(recency(at("2027-01-01T00:00:00Z"), now), 1.0);
    }
}
