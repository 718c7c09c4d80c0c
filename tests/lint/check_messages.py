#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the messages which a document quotes are those that the programs print.

Also that each notice of notice.c is among them, by its key.

Usage: check_messages.py ROOT DOCUMENT. A message is a line of a code block that begins with
"bcs: ", "bcs[rank N]: " or "bcsrun: "; "..." in it stands for what is left out. It must fit
a string of the source, whose conversions (%s and the like) fit anything.
"""

import pathlib
import re
import sys

FOLDERS = ("libbcs", "mds", "mpi_shim", "nic_threads", "apps/tools")
LITERAL = r'"(?:\\.|[^"\\\n])*"'
PRI = r"(?:PRI[a-z]\d+|BCS_[A-Z_]*VERSION)"
STRING = re.compile(rf"{LITERAL}(?:\s*(?:{LITERAL}|{PRI}))*")
CONVERSION = re.compile(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z|j)?[a-zA-Z]")
# What a message may begin with: the option that it is about.
OPTION = re.compile(r"^--[a-z]+: ")
MESSAGE = re.compile(r"^((?:bcsrun|bcs(?:\[rank \d+\])?): )(.*)$")
GAP = None  # in a list of characters: anything may stand here
MIN_LETTERS = 12  # of a message that its string must give
GRAM = 6  # so many of them in one piece, at least


def strings_of(text):
    """The strings of a C file, those side by side as one."""
    for match in STRING.finditer(text):
        joined = re.sub(rf"(?<=\")\s*{PRI}", '"u"', match.group(0))
        joined = "".join(part[1:-1] for part in re.findall(LITERAL, joined))
        yield re.sub(r"\\(.)", r"\1", joined.replace("\\n", " ")).rstrip()


def with_gaps(texts):
    """Texts as one list of characters, with a gap between any two."""
    characters = list(texts[0])
    for text in texts[1:]:
        characters += [GAP, *text]
    return tuple(characters)


def grams_of(texts):
    return {text[i:i + GRAM] for text in texts for i in range(len(text) - GRAM + 1)}


def formats_of(root):
    """The strings that programs may print, by what they have in common with messages."""
    formats = {}
    for folder in FOLDERS:
        for path in (root / folder).rglob("*.[ch]"):
            for string in strings_of(path.read_text(encoding="utf-8")):
                texts = CONVERSION.split(string)
                for gram in grams_of(texts):
                    formats.setdefault(gram, set()).add(with_gaps(texts))
    return formats


def n_common(one, other):
    """How many characters two lists with gaps have in common where they fit each other,
    at most; negative if they do not fit."""
    never = -len(one) - len(other)
    row = [0] + [never] * len(other)
    for j, right in enumerate(other):
        row[j + 1] = row[j] if right is GAP else never
    for left in one:
        above, row = row, [row[0] if left is GAP else never]
        for j, right in enumerate(other):
            best = above[j] + 1 if left == right and left is not GAP else never
            if left is GAP or right is GAP:
                best = max(best, above[j + 1], row[j])
            row.append(best)
    return row[-1]


def notices_of(root):
    """The keys of all that is said once."""
    text = (root / "libbcs/fabric/base/notice.c").read_text(encoding="utf-8")
    return set(re.findall(r'\.key = "([^"]*)"', text))


def is_printed(message, formats):
    """Whether some string of the programs fits a quoted message."""
    texts = message.split("...")
    candidates = set()
    for gram in grams_of(texts):
        candidates |= formats.get(gram, set())
    quote = with_gaps(texts)
    return any(n_common(quote, known) >= MIN_LETTERS for known in candidates)


def messages_of(document):
    """Line number, beginning and text of each message that a document quotes."""
    is_code = False
    for number, line in enumerate(document.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        match = MESSAGE.match(line) if is_code else None
        if match:
            yield number, match.group(1), match.group(2)


def main():
    root, document = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    formats = formats_of(root)
    untold = notices_of(root)
    n_messages = n_wrong = 0
    for number, start, text in messages_of(document.read_text(encoding="utf-8")):
        key = text.split(":")[0]
        is_notice = key in untold
        untold.discard(key)
        n_messages += 1
        told = (text, start + text, OPTION.sub("", text))
        if not is_notice and not any(is_printed(one, formats) for one in told):
            n_wrong += 1
            print(f"{document}:{number}: no program prints this: {text}")
    for key in sorted(untold):
        n_wrong += 1
        print(f"{document}: does not tell of the notice {key}")
    print(f"{n_messages} messages, {n_wrong} wrong")
    return 1 if n_wrong or not n_messages else 0


if __name__ == "__main__":
    sys.exit(main())
