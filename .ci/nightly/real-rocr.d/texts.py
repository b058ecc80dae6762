#!/usr/bin/env python3
"""texts.py TEXTS INTENDED: compares, line by line, what programs printed on the stock thunk and on ours.

TEXTS/PROGRAM/FRONT/CASE/KERNEL.{stock,ours}.txt are what each printed. A line that differs must be covered by a [[line]]
of INTENDED (program, key before the colon, both values as patterns, reason), and each of these must be seen. The pair of
each stock.txt must be there.
"""
import difflib
import pathlib
import re
import sys
import tomllib


def parts(line):
    key, _, value = line.partition(":")
    return key.strip(), value.strip()


def covers(entry, program, stock, ours):
    (key, one), (other, two) = parts(stock), parts(ours)
    return (program == entry["program"] and key == other == entry["key"] and re.fullmatch(entry["stock"], one)
            and re.fullmatch(entry["ours"], two))


def main(texts, intended):
    texts = pathlib.Path(texts)
    entries = tomllib.loads(pathlib.Path(intended).read_text()).get("line", [])
    entries = [entry for entry in entries if (texts / entry["program"]).is_dir()]
    used, pairs, lines, wrong = [0] * len(entries), 0, 0, 0
    for stock in sorted(texts.rglob("*.stock.txt")):
        ours = stock.with_name(stock.name.replace(".stock.", ".ours."))
        program = stock.relative_to(texts).parts[0]
        one, two = (path.read_text(errors="replace").splitlines() for path in (stock, ours))
        pairs, lines = pairs + 1, lines + max(len(one), len(two))
        unexplained = len(one) != len(two)
        for a, b in zip(one, two):
            if a != b:
                covering = [i for i, entry in enumerate(entries) if covers(entry, program, a, b)]
                for i in covering:
                    used[i] += 1
                unexplained = unexplained or not covering
        if unexplained:
            wrong += 1
            print(f"{stock.relative_to(texts)} and ours differ in lines that no entry covers:")
            print("\n".join(list(difflib.unified_diff(one, two, "stock", "ours", n=0, lineterm=""))[:40]))
    unseen = [entry for entry, count in zip(entries, used) if pairs and not count]
    for entry in unseen:
        print(f"{entry['program']} {entry['key']}: an intended difference that no run shows: remove it")
    print(f"texts: {pairs} pairs of {lines} lines, {wrong} with unexplained differences, {sum(used)} lines intended")
    return 1 if wrong or unseen or not pairs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
