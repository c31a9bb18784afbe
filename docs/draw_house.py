"""Draws docs/house.svg: the rooms of the engine, stacked as floors, with their imports, from the import graph.

`--check` compares instead of writing and fails when the picture is stale.
"""

import ast
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "house.svg"
PACKAGE = "traindx"
ROW, TOP, LEFT, WIDTH, NAME = 40, 46, 190, 1010, 118


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
    """The picture: one box a room, an arc for every import (all of them run downwards)."""
    rooms = floors()
    at = {room: TOP + index * ROW for index, room in enumerate(rooms)}
    height = TOP + len(rooms) * ROW + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="16" y="24" font-size="13" fill="#555555">'
        "The rooms of the engine: each imports only rooms below it (arcs on the left, top to bottom).</text>",
    ]
    for upper, lower in imports(rooms):
        start, end = at[upper] + 20, at[lower] + 12
        reach = min(LEFT - 12, 14 + (end - start) * 0.24)
        parts.append(
            f'<path d="M{LEFT} {start} C{LEFT - reach:.0f} {start}, {LEFT - reach:.0f} {end}, {LEFT} {end}" fill="none"'
            ' stroke="#0072b2" stroke-opacity="0.35" stroke-width="1.2"/>'
        )
    for room in rooms:
        y = at[room]
        parts.append(
            f'<rect x="{LEFT}" y="{y}" width="{NAME}" height="30" rx="4" fill="#eef4f8" stroke="#0072b2"/>'
            f'<text x="{LEFT + 10}" y="{y + 20}" font-size="13" font-weight="bold" fill="#10364d">{room}</text>'
            f'<text x="{LEFT + NAME + 14}" y="{y + 20}" font-size="12" fill="#333333">{escaped(purpose(room))}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Write the picture, or compare it."""
    drawn = draw()
    if "--check" not in sys.argv:
        PICTURE.write_text(drawn, encoding="utf-8")
        return 0
    if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == drawn:
        return 0
    sys.stderr.write("docs/house.svg is stale: run `make house` and commit it\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
