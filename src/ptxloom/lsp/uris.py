"""URIs as clients send them, possibly malformed: nothing here raises."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit


def path_of(uri: str) -> str:
    """The path of a file URI; any other text unchanged."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme != "file":
        return uri
    path = unquote(parts.path)
    return path[1:] if path[2:3] == ":" else path


def is_broken(uri: str) -> bool:
    """Whether a text is not a URI, such as one whose host is an unclosed IPv6 address."""
    try:
        urlsplit(uri)
    except ValueError:
        return True
    return False
