//! Text as other systems write it: all that is read here is UTF-8 without a mark, and what is not
//! is decoded or named.

const UTF_16: &str = "it is UTF-16 (PowerShell's `>`, in place of -o FILE); convert it: iconv -f UTF-16 -t UTF-8";

/// How a file begins that is not UTF-8 text without a mark, what it is, and how to write it.
const FOREIGN: [(&[u8], &str); 8] = [
    (&[0xef, 0xbb, 0xbf], "it begins with a byte-order mark; write it as UTF-8 without one: tail -c +4 FILE"),
    (&[0xff, 0xfe, 0, 0], "it is UTF-32 text; convert it: iconv -f UTF-32 -t UTF-8"),
    (&[0, 0, 0xfe, 0xff], "it is UTF-32 text; convert it: iconv -f UTF-32 -t UTF-8"),
    (&[0, 0], "it begins with zeros, as a file does that a crash left behind; write it anew"),
    (&[0xff, 0xfe], UTF_16),
    (&[0xfe, 0xff], UTF_16),
    (&[0x1f, 0x8b], "it is compressed; unpack it with gunzip first"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "it is compressed; unpack it with unzstd first"),
];

/// What bytes that begin so are instead of plain UTF-8, and how to write them: a clause.
#[must_use]
pub fn foreign(begin: &[u8]) -> Option<&'static str> {
    let unmarked = matches!(begin, [a, b, ..] if (*a == 0) != (*b == 0)).then_some(UTF_16);
    FOREIGN.into_iter().find(|(mark, _)| begin.starts_with(mark)).map(|(_, what)| what).or(unmarked)
}

/// A whole text, whether in UTF-8, with a mark or without, or in UTF-16 with one.
///
/// # Errors
/// What it is instead: a clause.
pub fn decoded(bytes: &[u8]) -> Result<String, String> {
    let what = foreign(bytes);
    let text = match bytes {
        [mark, 0xff | 0xfe, rest @ ..] if what == Some(UTF_16) && rest.len() % 2 == 0 => {
            let pair =
                |pair: &[u8; 2]| if *mark == 0xff { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) };
            String::from_utf16(&rest.as_chunks().0.iter().map(pair).collect::<Vec<_>>()).ok()
        }
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok().filter(|_| what.is_none()),
    };
    text.ok_or_else(|| what.unwrap_or("it is not UTF-8 text; convert it: iconv -f LATIN1 -t UTF-8").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_other_systems_is_decoded_or_named() {
        let wide = |text: &str, order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        let plain = "n1\r\nknöten 🦀\r\n";
        let marked = format!("\u{feff}{plain}");
        for bytes in [
            plain.as_bytes().to_vec(),
            marked.as_bytes().to_vec(),
            wide(&marked, u16::to_le_bytes),
            wide(&marked, u16::to_be_bytes),
        ] {
            assert_eq!(decoded(&bytes).as_deref(), Ok(plain), "{bytes:?}");
        }
        assert_eq!(decoded(b"").as_deref(), Ok(""));
        for (bytes, word) in [
            (wide(plain, u16::to_le_bytes), "UTF-16"),
            (wide(plain, u16::to_be_bytes), "UTF-16"),
            (wide(&marked, u16::to_le_bytes)[..7].to_vec(), "UTF-16"),
            (vec![0xff, 0xfe, 0, 0, b'a', 0, 0, 0], "UTF-32"),
            (vec![0, 0, 0xfe, 0xff, 0, 0, 0, b'a'], "UTF-32"),
            (vec![0; 8], "zeros"),
            (vec![0x1f, 0x8b, 8, 0], "gunzip"),
            (b"caf\xe9".to_vec(), "not UTF-8"),
        ] {
            let error = decoded(&bytes).unwrap_err();
            assert!(error.contains(word), "{bytes:?}: {error}");
        }
        assert_eq!(foreign(b"{\"t\":\"run\""), None);
    }
}
