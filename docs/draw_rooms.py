"""Draws docs/rooms.svg: the rooms of the engine, stacked as floors, with their imports, from the import graph.

`--check` compares instead of writing and fails when the picture is stale.
"""

import ast
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "rooms.svg"
PACKAGE = "traindx"
ROW, TOP, LEFT, WIDTH, NAME = 46, 46, 150, 1060, 128
# What a newcomer has to keep apart: rooms that one name covers share a box.
GROUPS = {
    "surfaces": (
        "What people and agents touch: commands, the server for agent hosts, chat, a running job, reports",
        ("cli", "mcp", "hosts", "chat", "evaluation", "runner", "watch", "report"),
    ),
    "investigators": (
        "Who investigates: the specialists, and the minds that play them, a local one and one with a model",
        ("brains", "agents"),
    ),
    "entry points": ("The Python API, and the program of the sandboxed worker", ("api", "worker")),
    "ground": (
        "Contract, front matter and rules in files, secrets, errors, the scripted server for tests",
        ("definitions", "contract", "redaction", "errors", "testing"),
    ),
}
MOST_BOXES = 12


def floors() -> list[str]:
    """The rooms from top to bottom, as pyproject.toml declares them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = text.split("layers = [", 1)[1].split("]", 1)[0]
    return [name.strip().strip('"') for name in listed.split(",") if name.strip()]


def purpose(room: str) -> str:
    """The first sentence of the room's docstring."""
    home = ROOT / "orchestrator" / PACKAGE / room
    path = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.split("\n\n", 1)[0].replace("\n", " ").rstrip(".")


def boxes() -> dict[str, tuple[str, tuple[str, ...]]]:
    """What is drawn, from top to bottom: a name, its purpose, the rooms in it."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for room in floors():
        name = next((name for name, (_, inside) in GROUPS.items() if room in inside), room)
        found[name] = GROUPS[name] if name in GROUPS else (purpose(room), (room,))
    return found


def imports(rooms: list[str]) -> list[tuple[str, str]]:
    """Which room imports which."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    pairs = set()
    for module in graph.modules:
        parts = module.split(".")
        if len(parts) < 2 or parts[1] not in rooms:
            continue
        for other in graph.find_modules_directly_imported_by(module):
            target = other.split(".")
            if len(target) > 1 and target[1] in rooms and target[1] != parts[1]:
                pairs.add((parts[1], target[1]))
    return sorted(pairs)


def escaped(text: str) -> str:
    """Text for XML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def draw() -> str:
    """The picture: a box for each room or group of rooms, an arc for every import (all of them run downwards)."""
    shown = boxes()
    home = {room: name for name, (_, inside) in shown.items() for room in inside}
    at = {name: TOP + index * ROW for index, name in enumerate(shown)}
    height = TOP + len(shown) * ROW + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="16" y="24" font-size="13" fill="#555555">'
        "The rooms of the engine: each imports only rooms below it (arcs on the left, top to bottom).</text>",
    ]
    pairs = sorted({(home[upper], home[lower]) for upper, lower in imports(list(home)) if home[upper] != home[lower]})
    for upper, lower in pairs:
        start, end = at[upper] + 22, at[lower] + 14
        reach = min(LEFT - 12, 14 + (end - start) * 0.24)
        parts.append(
            f'<path d="M{LEFT} {start} C{LEFT - reach:.0f} {start}, {LEFT - reach:.0f} {end}, {LEFT} {end}" fill="none"'
            ' stroke="#0072b2" stroke-opacity="0.35" stroke-width="1.2"/>'
        )
    for name, (words, inside) in shown.items():
        y, text = at[name], LEFT + NAME + 14
        rooms = f"{', '.join(inside)}" if len(inside) > 1 else ""
        parts.append(
            f'<rect x="{LEFT}" y="{y}" width="{NAME}" height="34" rx="4" fill="#eef4f8" stroke="#0072b2"/>'
            f'<text x="{LEFT + 10}" y="{y + 22}" font-size="13" font-weight="bold" fill="#10364d">{name}</text>'
            f'<text x="{text}" y="{y + (15 if rooms else 22)}" font-size="12" fill="#333333">{escaped(words)}</text>'
        )
        if rooms:
            parts.append(f'<text x="{text}" y="{y + 31}" font-size="11" fill="#777777">{rooms}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Write the picture, or compare it."""
    if len(boxes()) > MOST_BOXES:
        sys.stderr.write(f"{len(boxes())} boxes are more than a newcomer keeps apart: group some of them\n")
        return 1
    drawn = draw()
    if "--check" not in sys.argv:
        PICTURE.write_text(drawn, encoding="utf-8")
        return 0
    if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == drawn:
        return 0
    sys.stderr.write("docs/rooms.svg is out of date: run `make picture` and commit it\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
