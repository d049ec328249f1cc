"""What documents print: their blocks of text, each with where it stands."""

import re
from dataclasses import dataclass


@dataclass
class Block:
    place: object
    line: int
    language: str
    text: str

    def kinds(self):
        """Of the objects that it has, as YAML."""
        return set(re.findall(r"^kind: *(\w+)", self.text, re.MULTILINE))


def blocks(place, language=None):
    found, open_at, lines = [], 0, place.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("```"):
            continue
        if open_at:
            said = lines[open_at - 1][3:].strip()
            text = "\n".join(lines[open_at:number - 1]) + "\n"
            found.append(Block(place, open_at, said, text))
        open_at = 0 if open_at else number
    return [block for block in found if language in (None, block.language)]
