#!/usr/bin/env python3
"""differ.py DUMPS INTENDED: compares what two thunks said (dump.c), byte by byte.

DUMPS/PEER/FRONT/CASE/KERNEL.{stock,ours}.json and .rc are what the stock thunk of the release PEER and ours said of the
same machine or tree. Each difference must be covered by an entry of INTENDED, which says why it is meant; each entry
must cover one. DUMPS must not be incomplete: a run of the one without a run of the other is an error.
"""
import json
import pathlib
import struct
import sys
import tomllib

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
STRUCTS = {"system": "HsaSystemProperties", "node": "HsaNodeProperties", "memory": "HsaMemoryProperties",
           "cache": "HsaCacheProperties", "link": "HsaIoLinkProperties"}
SIZES = {"system": 16, "node": 356, "memory": 32, "cache": 1056, "link": 48}
MMIO_REMAP = 7
CODES = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


def layouts():
    """(name, offset, size) of every field, for a caller of 5.2 and 6.2; every byte belongs to one."""
    abi = json.loads((REPOSITORY / "tests/data/abi.json").read_text())
    old = abi["historical_structs"]["6.2.4"]
    found = {}
    for kind, struct_name in STRUCTS.items():
        source = old.get(struct_name) or abi["structs"][struct_name]
        fields = [f for f in source["fields"] if f["offset"] < SIZES[kind]]
        named = [(f["name"] or f["fields"][0]["name"], f["offset"], f["size"]) for f in fields]
        end = 0
        for name, offset, size in named:
            assert offset == end, f"{struct_name}.{name}: bytes {end} to {offset} belong to no field"
            end = offset + size
        assert end == SIZES[kind], f"{struct_name}: {end} of {SIZES[kind]} bytes are described"
        found[kind] = named
    return found


LAYOUTS = layouts()


def decode(kind, text):
    """The fields of a record: numbers, text for names, bytes for the rest."""
    data = bytes.fromhex(text)
    assert len(data) == SIZES[kind], f"{kind}: {len(data)} bytes"
    values = {}
    for name, offset, size in LAYOUTS[kind]:
        part = data[offset:offset + size]
        if name in ("MarketingName", "AMDName"):
            codec = "utf-16-le" if name == "MarketingName" else "latin-1"
            whole = part.decode(codec, "replace")
            text = whole.split("\0")[0]
            # What follows the zero is part of the record too.
            values[name] = text if not whole[len(text):].strip("\0") else part
        else:
            values[name] = struct.unpack(CODES[size], part)[0] if size in CODES else part
    if kind == "memory" and values["HeapType"] == MMIO_REMAP and values["VirtualBaseAddress"] % 4096 == 0:
        # Where the system mapped a page of the device: no two processes agree.
        values["VirtualBaseAddress"] = "mapped" if values["VirtualBaseAddress"] else "not mapped"
    return values


class Run:
    """One dump; `outcome` is "ok" or how the program ended."""

    def __init__(self, path):
        code = int(path.with_suffix(".rc").read_text())
        if code == 0:
            self.outcome, self.data = "ok", json.loads(path.read_text())
        else:
            self.outcome, self.data = (f"signal {code - 128}" if code > 128 else f"exit {code}"), None


def differences(stock, ours):
    """(structure, field, value of the stock, value of ours, facts) of each difference of two runs."""
    # Two programs that end alike and badly have said nothing.
    if stock.outcome != ours.outcome or ours.outcome != "ok":
        yield "run", "outcome", stock.outcome, ours.outcome, {}
    if stock.data is None or ours.data is None:
        return
    one, two = stock.data, ours.data
    for call in sorted(one["calls"].keys() | two["calls"].keys()):
        a, b = one["calls"].get(call), two["calls"].get(call)
        if a != b and a is not None and b is not None:
            yield "call", call, a, b, {}
    yield from statuses("system", one["system"], two["system"], {})
    if one["system"]["status"] == two["system"]["status"]:
        yield from record("system", one["system"]["properties"], two["system"]["properties"], {})
    elif one["system"]["status"] and two["system"]["status"]:
        return
    for number in range(max(len(one["nodes"]), len(two["nodes"]))):
        if number >= min(len(one["nodes"]), len(two["nodes"])):
            has = number < len(one["nodes"])
            yield "node", "presence", has, not has, {"number": number}
            continue
        a, b = one["nodes"][number], two["nodes"][number]
        facts = {"number": number, "s": decode("node", a["properties"]), "o": decode("node", b["properties"])}
        facts["kind"] = "GPU" if facts["s"]["NumFComputeCores"] else "CPU"
        yield from statuses("node", a, b, facts)
        yield from record("node", a["properties"], b["properties"], facts)
        for kind in "memory", "cache", "link":
            for suffix in "", "-more", "-fewer":
                yield from lists(kind, suffix, a.get(kind + suffix), b.get(kind + suffix), facts)


def statuses(structure, a, b, facts):
    if a["status"] != b["status"]:
        yield structure, "status", a["status"], b["status"], facts


def record(kind, a, b, facts):
    if a == b:
        return
    one, two = decode(kind, a), decode(kind, b)
    for name, _, _ in LAYOUTS[kind]:
        if one[name] != two[name]:
            yield kind, name, one[name], two[name], facts


def lists(kind, suffix, a, b, facts):
    """A list of records; those that only one side has are a difference each."""
    if a is None and b is None:
        return
    a, b = (side or {"status": None, "records": []} for side in (a, b))
    yield from statuses(kind + suffix, a, b, facts)
    if a["records"] == b["records"]:
        return
    name = kind + suffix
    for index in range(max(len(a["records"]), len(b["records"]))):
        here = facts | {"index": index}
        if index >= min(len(a["records"]), len(b["records"])):
            has = index < len(a["records"])
            side = a if has else b
            yield name, "presence", has, not has, here | {"record": decode(kind, side["records"][index])}
        else:
            r = {"sr": decode(kind, a["records"][index]), "or_": decode(kind, b["records"][index])}
            for structure, field, one, two, more in record(kind, a["records"][index], b["records"][index], here | r):
                yield name, field, one, two, more


class Entry:
    """One intended difference: where (`peer`, `in`, `field`), when (`when`, over the values), why (`reason`)."""

    KEYS = {"id", "peer", "in", "field", "when", "reason", "item"}

    def __init__(self, table):
        assert table.keys() <= self.KEYS and {"id", "in", "field", "when", "reason"} <= table.keys(), table
        assert len(table["reason"]) > 20, f"{table['id']}: a reason is a sentence"
        self.id, self.peers = table["id"], table.get("peer")
        self.structures, self.fields = table["in"], table["field"]
        self.when = compile(table["when"], f"{self.id}: when", "eval")
        self.used = 0

    def covers(self, peer, case, kernel, structure, field, stock, ours, facts):
        if self.peers is not None and peer not in self.peers:
            return False
        if structure not in self.structures or field not in self.fields:
            return False
        names = {"case": case, "kernel": kernel, "stock": stock, "ours": ours, "any": any, "all": all, "len": len,
                 "isinstance": isinstance, "int": int, "str": str, "range": range, "number": None, "index": None, "s": None, "o": None}
        return bool(eval(self.when, {"__builtins__": {}}, names | facts))


def shown(value):
    if isinstance(value, bytes):
        return f"{len(value)} bytes {value[:64].hex()}" + ("..." if len(value) > 64 else "")
    return f"{value:#x}" if isinstance(value, int) and value > 0xFFFF else repr(value)


def pairs(dumps):
    stocks = {path.with_name(path.name.replace(".stock.", ".ours.")): path for path in dumps.rglob("*.stock.json")}
    missing = set(stocks) ^ set(dumps.rglob("*.ours.json"))
    assert stocks and not missing, f"runs without a partner: {sorted(map(str, missing)) or 'no runs at all'}"
    for ours, stock in sorted(stocks.items()):
        peer, front, *case, name = ours.relative_to(dumps).parts
        yield peer, front, "/".join(case), name.split(".ours.")[0], stock, ours


def fronts_disagree(dumps):
    """Lines about runs of ours that the second way to serve the fake makes different; none may be."""
    seen, lines = {}, []
    for peer, front, case, kernel, _, ours in pairs(dumps):
        seen.setdefault((peer, case, kernel), []).append((front, ours))
    for (peer, case, kernel), runs in sorted(seen.items()):
        (first, one), *others = runs
        for front, two in others:
            for structure, field, a, b, facts in list(differences(Run(one), Run(two)))[:3]:
                # The launcher does not see the open of /dev/kfd: a driver without GPUs refuses the first call after it.
                if field.startswith("OpenKFD") and {a, b} == {1, 20}:
                    continue
                lines.append(f"ours, {case}, kernel {kernel}, beside {peer}: {structure}.{field} is {shown(a)} under "
                             f"{first} and {shown(b)} under {front}, node {facts.get('number')}")
    return lines


def main(dumps, intended):
    entries = [Entry(table) for table in tomllib.loads(pathlib.Path(intended).read_text()).get("difference", [])]
    assert len({entry.id for entry in entries}) == len(entries), "two entries have one id"
    runs = found = alike = 0
    unexplained, example = {}, {}
    for peer, front, case, kernel, stock, ours in pairs(pathlib.Path(dumps)):
        runs += 1
        before = found
        for structure, field, one, two, facts in differences(Run(stock), Run(ours)):
            found += 1
            covering = [e for e in entries if e.covers(peer, case, kernel, structure, field, one, two, facts)]
            for entry in covering[:1]:
                entry.used += 1
            if not covering:
                place = "".join(f", {key} {facts[key]}" for key in ("kind", "number", "index") if key in facts)
                line = f"{case}, kernel {kernel}, {front}{place}: stock {shown(one)}, ours {shown(two)}"
                unexplained.setdefault((peer, structure, field), []).append(line)
        alike += found == before
    for (peer, structure, field), lines in sorted(unexplained.items()):
        print(f"{structure}.{field} differs from {peer} ({len(lines)} times) and no entry says why:")
        for line in lines[:6]:
            print(f"    {line}")
    disagreements = fronts_disagree(pathlib.Path(dumps))
    print("".join(f"{line}\n" for line in disagreements), end="")
    unused = [entry.id for entry in entries if not entry.used]
    for name in unused:
        print(f"{name}: an intended difference that no run shows: remove it")
    for entry in entries:
        print(f"    {entry.used:7} {entry.id}")
    unknown = sum(map(len, unexplained.values()))
    print(f"differ: {runs} pairs of runs, {alike} equal in every byte, {found} differences, {unknown} unexplained, "
          f"{len(entries)} intended kinds, {len(unused)} unused")
    return 1 if unexplained or unused or disagreements else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
