"""What all messages have, and the types of their fields."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

VERSION = 1  # the newest ``v`` that is understood here

Id = Annotated[str, Meta(min_length=1, max_length=255)]
Jid = Annotated[str, Meta(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$")]
Word = Annotated[str, Meta(max_length=255)]
Text = Annotated[str, Meta(max_length=8192)]
Digest = Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$")]
Nonce = Annotated[str, Meta(max_length=64)]
Key = Annotated[bytes, Meta(min_length=32, max_length=32)]
Signature = Annotated[bytes, Meta(min_length=64, max_length=64)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=0)]
Status = Literal["returned", "failed", "refused", "expired", "cancelled", "indeterminate"]


class Message(Struct, frozen=True, kw_only=True):
    """What all messages have."""

    v: Annotated[int, Meta(ge=1)] = 1
