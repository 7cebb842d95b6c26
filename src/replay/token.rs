//! Tokens: `il1:<test>:<payload>`, a whole execution on one line, to be pasted into a terminal or a bug report.
//!
//! The payload is base64url without padding of the packed decisions and a CRC-32 (little endian) of everything before it: the
//! text up to the second separator, then the packed decisions.

use data_encoding::BASE64URL_NOPAD;

use super::checksum::crc32;
use super::decision::{Decision, pack, unpack};
use super::error::ReplayError;

const VERSION: u32 = 1;

/// The token of an execution of `test`.
pub(crate) fn token(test: &str, decisions: &[Decision]) -> String {
    let head = format!("il{VERSION}:{}:", escaped(test));
    let mut bytes = pack(decisions);
    bytes.extend(checksum(&head, &bytes).to_le_bytes());
    head + &BASE64URL_NOPAD.encode(&bytes)
}

/// Whether `text` means to be a token (a path can be written so that it does not).
pub(crate) fn is_token(text: &str) -> bool {
    version(text).is_some()
}

/// The test and the decisions of a token.
pub(crate) fn read(text: &str) -> Result<(String, Vec<Decision>), ReplayError> {
    let damaged = |what: &'static str| ReplayError::DamagedToken { what };
    let version = version(text).ok_or(damaged("it does not start with `il1:`"))?;
    if version > VERSION {
        return Err(ReplayError::NewerToken { version });
    }
    let (start, payload) = text.rsplit_once(':').ok_or(damaged("it has no payload"))?;
    let head = format!("{start}:");
    let name = head.strip_prefix("il1:").and_then(|rest| rest.strip_suffix(':'));
    let name = name.ok_or(damaged("it names no test"))?;
    let bytes = BASE64URL_NOPAD.decode(payload.as_bytes()).map_err(|_| damaged("its payload is not base64url"))?;
    let (packed, sum) = bytes.split_last_chunk::<4>().ok_or(damaged("its payload is too short"))?;
    if checksum(&head, packed) != u32::from_le_bytes(*sum) {
        return Err(damaged("its checksum does not match"));
    }
    let decisions = unpack(packed).ok_or(damaged("its payload is not a list of decisions"))?;
    let test = unescaped(name).ok_or(damaged("the name of its test is not UTF-8"))?;
    Ok((test, decisions))
}

fn version(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("il")?.split_once(':')?.0;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn checksum(head: &str, packed: &[u8]) -> u32 {
    crc32(&[head.as_bytes(), packed].concat())
}

/// The name of a test without anything a shell would take for itself; other bytes are written `%xx`.
fn escaped(test: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    test.bytes().fold(String::with_capacity(test.len()), |mut out, byte| {
        if plain(byte) {
            out.push(char::from(byte))
        } else {
            out.push_str(&format!("%{byte:02x}"))
        }
        out
    })
}

fn unescaped(name: &str) -> Option<String> {
    let mut parts = name.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).ok()
}
