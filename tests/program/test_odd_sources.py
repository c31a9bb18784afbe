"""Programs that nobody would write: broken, mutated, endless. The analysis ends, and raises nothing."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from tests.program.samples import PRELUDE, followed, samples
from traindx.program.analysis import analyse
from traindx.program.rules import review
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.units import traits

WORDS = """loss|model|x|None|()|[0]|.detach()|.step()|for|if|in|1|-|+=|=|,|:|self|lambda: 0|*args|yield|await|torch
|nn.LSTM(1, 2)|{}|not|is|del|global loss""".replace("\n", "").split("|")


def unit(text: str) -> CodeUnit:
    tree = ast.parse(text)
    return CodeUnit("train.py", tree, traits(tree), frozenset({"entry-point"}), (), True, None, text)


def mutated(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(lines))
        kind = rng.randrange(5)
        if kind == 0:
            lines[at] = ""
        elif kind == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif kind == 2:
            words = lines[at].split(" ")
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            lines[at] = " ".join(words)
        elif kind == 3:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = lines[at].replace("(", f"({rng.choice(WORDS)}, ", 1)
    return "\n".join(lines)


@pytest.mark.slow
def test_mutated_programs_are_followed_without_a_fault() -> None:
    rng, parsed = random.Random(7), 0
    texts = [PRELUDE + row.code for row in samples()]
    for _ in range(1500):
        text = mutated(rng.choice(texts), rng)
        try:
            made = unit(text)
        except (SyntaxError, ValueError):
            continue
        parsed += 1
        analysis = analyse([made], steps=4_000)
        review(analysis)
        assert analysis.faults == []
    assert parsed > 200


@pytest.mark.parametrize(
    "text",
    [
        "def a(): return b()\ndef b(): return a()\na()\n",
        "class A(A): pass\nA()\n",
        "x = x.y.z[0](1)(2)\n",
        "for x in x: x = x\n",
        "import a.b.c as d, e\nfrom . import f\nfrom ..g import *\nd(e, f)\n",
        "class M:\n    def __getattr__(self, n): return self\nM()()()\n",
        "f = lambda f: f(f)\nf(f)\n",
        "a = b = c = []\na.append(a)\nprint(a[0][0], *a, **{'x': a})\n",
        "x = " + "+".join(["1"] * 500) + "\n",
        "x = " + "[" * 60 + "]" * 60 + "\n",
        "\n".join(f"if x{i}:\n    y = {i}" for i in range(500)) + "\n",
        "match x:\n    case [a, *b]: a = b\n    case _: pass\n",
        "def g():\n    yield from g()\nfor x in g(): pass\n",
        "with a as (b, c), d: e = yield_\n",
    ],
)
def test_odd_programs_end(text: str) -> None:
    assert review(analyse([unit(text)])) == []


def test_a_long_program_ends(tmp_path: Path) -> None:
    body = "".join(
        f"def f{i}(x):\n    for a in x:\n        y = f{i - 1}(a) if a else x\n    return y\n" for i in range(1, 400)
    )
    assert followed(f"def f0(x):\n    return x\n{body}f399(X)\n", tmp_path).trace is not None
