class device:  # noqa: N801
    def __init__(self, type: str) -> None: ...  # noqa: A002
