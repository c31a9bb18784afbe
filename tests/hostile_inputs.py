"""Inputs that a careless reader would spend minutes on: tests check the answers, a benchmark the time."""

PIECES_OF_MESSAGES = (
    "a", "(", "not ", "gradient ", "loss explodes 0.5 ", '"', "x.y.", "\n", "1,000", "Error: ", "no ", "\x00\x1e",
    "is it ", "'a ", ", ", ".", "loss ", "1 epoch ", "fooError", "a\n", "is my loss nan?\n", "\U0001f525", "\u200b",
    "\u0130", "::::", "the ", "RuntimeError: x", "hidden state ", "a.1.", "between 0.3 and ", "\\", "`", "-", "please ",
    "train val ", "\ud800",
)  # fmt: skip
HOSTILE_YAML = {
    "flow": "[" * 300_000,
    "maps": "{" * 300_000,
    "items": "- " * 300_000,
    "keys": "? " * 300_000,
    "values": "a: " * 100_000,
    "anchors": "&a " * 100_000,
    "lists": "[a, " * 100_000,
}
PICKLE_BOMBS = {
    "marks": b"\x80\x02" + b"(" * 200_000 + b".",
    "cycle": b"\x80\x02]q\x00h\x00a" + b"h\x00a" * 1_000 + b".",  # a list that holds itself
    "doubling": b"\x80\x02]q\x00" + b"".join(b"](h\x00h\x00eq\x00" for _ in range(40)) + b".",  # doubles forty times
    "long": b"\x80\x02" + b"\x8b\xff\xff\xff\x7f",
    "bytes8": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",
    "integer": b"\x80\x02" + b"\x8a\xff" + b"\xff" * 255 + b".",
    "nested": b"\x80\x02" + b")" + b"\x85" * 300_000 + b".",
}
LOOKS_SECRET = [
    "password: " + "a" * 200_000,
    "a_" * 100_000 + "token",
    "://" * 70_000,
    "--a-" * 50_000,
    "eyJ" * 70_000,
    "-----BEGIN PRIVATE KEY-----" * 8_000,
    "curl " * 40_000,
    "login a " * 30_000,
    '"username": ' * 20_000,
    "authorization: bearer " * 10_000,
]
