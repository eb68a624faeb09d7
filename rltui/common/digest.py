"""The hash that names files of the cache and tells texts apart."""

from __future__ import annotations

# `hashlib` would load OpenSSL, which takes 4 MB and is needed for nothing else.
try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256


def digest(text: str | bytes, digits: int = 64) -> str:
    """The first hexadecimal digits, at most 64, of the SHA-256 of a text, for file names and keys."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    hexadecimal: str = sha256(data).hexdigest()
    return hexadecimal[:digits]
