//! File names as `file:` URIs and back.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;

/// The URI of an absolute path. What is not plain is percent-encoded, byte by byte.
pub(super) fn of(path: &Path) -> Uri {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    Uri(uri)
}

/// The path of a `file:` URI. Servers write the same file in other ways than [`of`] does.
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let (mut bytes, mut path) = (rest.get(rest.find('/')?..)?.bytes(), Vec::new());
    while let Some(byte) = bytes.next() {
        path.push(if byte == b'%' { hex(bytes.next()?)? << 4 | hex(bytes.next()?)? } else { byte });
    }
    Some(PathBuf::from(OsString::from_vec(path)))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Uri, of, path};

    #[test]
    fn there_and_back() {
        let cases = [
            ("/a/b.ts", "file:///a/b.ts"),
            ("/a b/[id]@2/x#1?.ts", "file:///a%20b/%5Bid%5D%402/x%231%3F.ts"),
            ("/é\n%41", "file:///%C3%A9%0A%2541"),
        ];
        for (file, uri) in cases {
            assert_eq!(of(Path::new(file)).0, uri);
            assert_eq!(path(&Uri(uri.into())), Some(PathBuf::from(file)));
        }
    }

    #[test]
    fn other_spellings() {
        let cases = [
            ("file:///a/[id]@2/é", Some("/a/[id]@2/é")),
            ("file:///a%2fb", Some("/a/b")),
            ("file://localhost/a", Some("/a")),
            ("file:///%4", None),
            ("file:///%zz", None),
            ("untitled:a", None),
            ("file://", None),
        ];
        for (uri, file) in cases {
            assert_eq!(path(&Uri(uri.into())), file.map(PathBuf::from), "{uri}");
        }
    }
}
