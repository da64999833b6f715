use core::str::FromStr;
use core::time::Duration;
use std::time::{SystemTime, SystemTimeError};

use http::{HeaderMap, HeaderValue};
use retry_vocabulary::duration;

use crate::text::date::date;
use crate::text::wait;
use crate::verdict::LONGEST_HINT;

/// The format of a header's value.
#[derive(Clone, Copy)]
enum Format {
    Milliseconds,
    WholeMilliseconds,
    /// A number of seconds, a duration in another notation, or a point in time.
    DelayOrDate,
}

/// The headers that ask for a wait. The first one with a usable value decides.
const HEADERS: [(&str, Format); 6] = [
    ("retry-after-ms", Format::Milliseconds),
    ("x-ms-retry-after-ms", Format::Milliseconds),
    ("retry-after", Format::DelayOrDate),
    ("x-retry-after", Format::DelayOrDate),
    ("x-rate-limit-retry-after-seconds", Format::DelayOrDate),
    ("x-amz-retry-after", Format::WholeMilliseconds),
];

/// The lower bound of Unix timestamps. Smaller numbers are durations.
const TIMESTAMP: f64 = 1e9;
/// The lower bound of Unix timestamps in a unit smaller than seconds.
const FINER_TIMESTAMP: f64 = 1e11;

/// The wait that a server asks for in the headers of its response.
///
/// The first of these headers with a usable value decides:
///
/// | header | value | published in |
/// |---|---|---|
/// | `retry-after-ms` | milliseconds, fractions allowed | the `openai` and `anthropic` SDKs |
/// | `x-ms-retry-after-ms` | milliseconds, fractions allowed | Azure SDKs, `RetryPolicy` |
/// | `retry-after` | seconds, fractions allowed, or an HTTP date | RFC 9110, section 10.2.3; fractions as in the SDKs |
/// | `x-retry-after` | like `retry-after` | gateways that don't forward `retry-after` |
/// | `x-rate-limit-retry-after-seconds` | seconds | Bucket4j's starter for Spring |
/// | `x-amz-retry-after` | whole milliseconds | AWS SDKs, "Retry Behavior 2.1" |
///
/// `retry-after` is also read in non-standard formats: `1m0s` (Go), `PT1M` (ISO 8601), `00:01:00` (.NET), `30 seconds`,
/// dates that end in `UTC` or `+0000` or follow RFC 3339, and Unix timestamps in seconds or smaller units.
///
/// A date is compared with the server's own clock, [`server_time`], so this machine's clock may be wrong. The wait
/// is from zero to 365 days. A value that doesn't parse, is negative, not a number, infinite, in the past or longer
/// than 365 days is skipped, and the next header is read. Malformed headers never cause an error or a panic.
///
/// ```
/// use std::time::Duration;
/// use http::HeaderMap;
/// use retry_runtime::retry_after;
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(retry_after(&headers), None);
///
/// headers.insert("retry-after", "1.5".parse()?);
/// assert_eq!(retry_after(&headers), Some(Duration::from_millis(1500)));
///
/// headers.insert("retry-after-ms", "250".parse()?);
/// assert_eq!(retry_after(&headers), Some(Duration::from_millis(250)));
///
/// headers.insert("retry-after-ms", "soon".parse()?);
/// assert_eq!(retry_after(&headers), Some(Duration::from_millis(1500)));
/// # Ok::<_, http::header::InvalidHeaderValue>(())
/// ```
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    retry_after_at(headers, system_time())
}

/// The time on the clock of the server that responded, from its header `date` (RFC 9110, section 6.6.1), or the system
/// time if that header is missing or doesn't parse.
///
/// Use it with an API's own headers that contain a point in time, such as GitHub's `x-ratelimit-reset`.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use http::HeaderMap;
/// use retry_runtime::server_time;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("date", "Sun, 06 Nov 1994 08:49:37 GMT".parse()?);
/// let reset = UNIX_EPOCH + Duration::from_secs(784_111_807);
/// let wait = reset.duration_since(server_time(&headers));
/// assert_eq!(wait.ok(), Some(Duration::from_secs(30)));
/// # Ok::<_, http::header::InvalidHeaderValue>(())
/// ```
pub fn server_time(headers: &HeaderMap) -> SystemTime {
    server_time_or(headers, system_time())
}

/// The system time. In a web page, it comes from JavaScript, because the standard library has no clock for web pages.
fn system_time() -> SystemTime {
    #[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
    return web_time::web::SystemTimeExt::to_std(web_time::SystemTime::now());
    #[cfg(not(all(feature = "browser", target_family = "wasm", target_os = "unknown")))]
    SystemTime::now()
}

fn server_time_or(headers: &HeaderMap, now: SystemTime) -> SystemTime {
    let mut dates = headers.get_all(http::header::DATE).iter();
    dates
        .find_map(|date| httpdate::parse_http_date(date.to_str().ok()?.trim()).ok())
        .unwrap_or(now)
}

fn retry_after_at(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let now = server_time_or(headers, now);
    HEADERS.iter().find_map(|(name, format)| {
        first_value(headers, name, |value| match format {
            Format::Milliseconds => seconds(f64::from_str(value).ok()? / 1000.0),
            Format::WholeMilliseconds => value.parse().ok().map(Duration::from_millis),
            Format::DelayOrDate => wait_time(value, now)?.ok(),
        })
    })
}

/// The first header that asks for a wait, even if its value can't be read.
pub(super) fn wait_header(headers: &HeaderMap) -> Option<(&'static str, &HeaderValue)> {
    HEADERS
        .iter()
        .find_map(|(name, _)| Some((*name, headers.get(*name)?)))
}

/// The first value that `parse` accepts. A header can occur several times, for example with a malformed value first.
pub(super) fn first_value(
    headers: &HeaderMap,
    name: &str,
    parse: impl Fn(&str) -> Option<Duration>,
) -> Option<Duration> {
    headers.get_all(name).iter().find_map(|value| {
        let wait = parse(value.to_str().ok()?.trim())?;
        (wait <= LONGEST_HINT).then_some(wait)
    })
}

fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// Parses a duration in seconds, or the time from `now` until a point in time. Returns `Some(Err(_))` if that point has
/// passed. The size of a number without a unit determines its meaning: a duration, or a timestamp in seconds,
/// milliseconds, microseconds or nanoseconds since 1970.
pub(super) fn wait_time(value: &str, now: SystemTime) -> Option<Result<Duration, SystemTimeError>> {
    let time = match f64::from_str(value) {
        Ok(number) if number < TIMESTAMP => return seconds(number).map(Ok),
        Ok(number) => {
            let mut units = [1.0, 1e3, 1e6, 1e9].map(|unit| number / unit).into_iter();
            let number = units.find(|unit| *unit < FINER_TIMESTAMP)?;
            SystemTime::UNIX_EPOCH.checked_add(seconds(number)?)?
        }
        Err(_) => match parse_span(value) {
            Some(wait) => return Some(Ok(wait)),
            None => date(value)?,
        },
    };
    Some(time.duration_since(now))
}

/// A duration written as `1m0s` (Go), `PT1M` (ISO 8601) or `00:01:00` (.NET).
fn parse_span(value: &str) -> Option<Duration> {
    if let Some((_, unit)) = value.split_once(' ') {
        // A unit after a space must be a word, such as `seconds`: a symbol could mean anything.
        let is_word = unit.len() > "ms".len();
        return wait::duration(&value.to_ascii_lowercase()).filter(|_| is_word);
    }
    let Some(iso) = value.strip_prefix('P') else {
        return duration::parse(value).ok().or_else(|| parse_hms(value));
    };
    let (days, time) = iso.split_once('T').unwrap_or((iso, ""));
    // Before the `T`, `M` means months.
    if days.contains('M') {
        return None;
    }
    duration::parse(&format!("{days}{time}").to_ascii_lowercase()).ok()
}

/// Parses hours, minutes and seconds.
fn parse_hms(value: &str) -> Option<Duration> {
    let mut parts = value.split(':').map(|part| part.parse::<u32>().ok());
    let mut next = || parts.next()?.map(u64::from);
    let seconds = next()? * 3600 + next()? * 60 + next()?;
    parts.next().is_none().then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
    const NOW: Duration = Duration::from_secs(784_111_777);

    const MINUTE: Duration = Duration::from_secs(60);

    fn at_now(value: &'static str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", value.parse().unwrap());
        retry_after_at(&headers, UNIX_EPOCH + NOW)
    }

    #[test]
    fn dates_count_from_now() {
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(at_now("Sun, 06 Nov 1994 08:49:37 GMT"), seconds(0));
        assert_eq!(at_now("Sun, 06 Nov 1994 08:49:38 GMT"), seconds(1));
        assert_eq!(at_now("Sunday, 06-Nov-94 08:50:37 GMT"), seconds(60));
        assert_eq!(at_now("Sun Nov  6 09:49:37 1994"), seconds(3600));
        assert_eq!(at_now("Mon, 06 Nov 1995 08:49:37 GMT"), Some(LONGEST_HINT));
    }

    #[test]
    fn dates_that_are_past_or_far_away_are_ignored() {
        assert_eq!(at_now("Sun, 06 Nov 1994 08:49:36 GMT"), None);
        assert_eq!(at_now("Mon, 06 Nov 1995 08:49:38 GMT"), None);
        assert_eq!(at_now("Fri, 31 Dec 9999 23:59:59 GMT"), None);
    }

    #[test]
    fn a_date_is_compared_with_the_server_s_clock() {
        let date = |text: &'static str| text.parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", date("Sun, 06 Nov 1994 08:50:07 GMT"));
        let mut waits = |server: &'static str| {
            headers.insert("date", date(server));
            // This machine's clock is a minute slow, right, and a minute fast.
            [NOW.saturating_sub(MINUTE), NOW, NOW + MINUTE].map(|now| {
                let wait = retry_after_at(&headers, UNIX_EPOCH + now);
                wait.map(|wait| wait.as_secs())
            })
        };
        assert_eq!(waits("Sun, 06 Nov 1994 08:49:37 GMT"), [Some(30); 3]);
        // A date that can't be read is ignored.
        assert_eq!(waits("yesterday"), [Some(90), Some(30), None]);
    }

    #[test]
    fn a_clock_before_1970_is_accepted() {
        let mut headers = HeaderMap::new();
        headers.insert(
            "retry-after",
            "Thu, 01 Jan 1970 00:00:01 GMT".parse().unwrap(),
        );
        let now = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(retry_after_at(&headers, now), Some(Duration::from_secs(2)));
    }
}
