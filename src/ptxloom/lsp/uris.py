"""URIs as clients send them, which need not be any: nothing here raises."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit


def path_of(uri: str) -> str:
    """A file's path; any other URI, and what is not a URI, stays as it is."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme != "file":
        return uri
    path = unquote(parts.path)
    return path[1:] if path[2:3] == ":" else path


def is_broken(uri: str) -> bool:
    """Whether a text is no URI, such as one whose host is an address that is not closed."""
    try:
        urlsplit(uri)
    except ValueError:
        return True
    return False
