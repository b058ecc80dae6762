#!/usr/bin/env python3
"""expect.py PROGRAM THUNK MACHINE IDS OUTPUT: holds what a program printed against the file of the machine.

PROGRAM is rocminfo-5.2.3, rocminfo-6.1.2 or hip-5.2.3, THUNK the release of the stock thunk or "ours", MACHINE the
TOML file that the fake served, IDS the amdgpu.ids that libdrm reads. What is expected comes from the machine alone. GFX
in the environment is the version that HSA_OVERRIDE_GFX_VERSION asked for.
"""
import os
import pathlib
import re
import sys
import tomllib

# Where the machine file is silent: the defaults of fakes/gpu/src/machine.rs.
HOST = {"nodes": 1, "cores": 16, "bytes": 64 << 30, "clock_mhz": 5083}


class Checks:
    def __init__(self):
        self.count, self.wrong = 0, []

    def equal(self, what, found, wanted):
        self.count += 1
        if found != wanted:
            self.wrong.append(f"{what}: {found!r}, the machine file says {wanted!r}")


def sections(text):
    """Agents of rocminfo: {key: value}; what is indented below a key has the name KEY/... ."""
    agents, path = [], []
    for line in text.splitlines():
        # Some lines have two colons, some values have one.
        found = re.match(r"( *)([^:]+?)(?::+\s*(.*?))?\s*$", line)
        if re.match(r"Agent \d+", line):
            agents.append({})
            path = []
        elif agents and found and not line.startswith("*"):
            depth, key, value = len(found[1]), found[2].strip(), found[3] or ""
            path = [(d, k) for d, k in path if d < depth] + [(depth, key)]
            agents[-1].setdefault("/".join(k for _, k in path), value)
    return agents


def number(text):
    found = re.match(r"\d+", text or "")
    return int(found[0]) if found else text


class Card:
    """A GPU of the machine as the programs should show it."""

    def __init__(self, adapter, ids):
        self.chip, self.device, self.revision = adapter["private"], adapter["device"], adapter["revision"]
        self.pci = adapter["pci"]
        version = os.environ.get("GFX") or ".".join(str(self.chip[f"gfx_{p}"]) for p in ("major", "minor", "stepping"))
        major, minor, stepping = map(int, version.split("."))
        self.gfx, self.major = f"gfx{major}{minor}{stepping:x}", major
        self.vram = sum(s["bytes"] for s in adapter["segment"] if s["kind"].startswith("local"))
        # The name that libdrm has when its list does not have the card.
        self.name = "AMD Radeon Graphics"
        for line in pathlib.Path(ids).read_text(errors="replace").splitlines():
            fields = [field.strip() for field in line.split(",", 2)]
            if len(fields) == 3 and fields[:2] == [f"{self.device:04X}", f"{self.revision:02X}"]:
                self.name = fields[2]


def rocminfo(release, thunk, cards, host, text, checks):
    agents = sections(text)
    checks.equal("agents", len(agents), host["nodes"] + len(cards))
    for i, agent in enumerate(agents[:host["nodes"]]):
        name = f"CPU agent {i}"
        checks.equal(f"{name}, Device Type", agent.get("Device Type"), "CPU")
        checks.equal(f"{name}, Compute Unit", number(agent.get("Compute Unit")), host["cores"])
        checks.equal(f"{name}, Max Clock", number(agent.get("Max Clock Freq. (MHz)")), host["clock_mhz"])
        checks.equal(f"{name}, Pool 1", number(agent.get("Pool Info/Pool 1/Size")), host["bytes"] >> 10)
    for i, (agent, card) in enumerate(zip(agents[host["nodes"]:], cards)):
        chip, node = card.chip, host["nodes"] + i
        engines = chip["shader_engines"]
        if thunk == "5.2.3":
            engines *= chip["arrays_per_engine"]  # That thunk counts the arrays.
        texts = {"Name": card.gfx, "Uuid": f"GPU-{chip['unique_id']:016x}", "Marketing Name": card.name,
                 "Vendor Name": "AMD", "Device Type": "GPU", "Feature": "KERNEL_DISPATCH",
                 "ISA Info/ISA 1/Name": f"amdgcn-amd-amdhsa--{card.gfx}"}
        numbers = {"Node": node, "Internal Node ID": node, "Chip ID": card.device,
                   "BDFID": card.pci[0] << 8 | card.pci[1] << 3 | card.pci[2],
                   "Max Clock Freq. (MHz)": chip["engine_clock_mhz"], "Compute Unit": chip["compute_units"],
                   "SIMDs per CU": chip["simd_per_cu"], "Shader Engines": engines,
                   "Shader Arrs. per Eng.": chip["arrays_per_engine"], "WatchPts on Addr. Ranges": chip["watch_points"],
                   "Wavefront Size": chip["wavefront_size"], "Max Waves Per CU": chip["waves_per_cu"],
                   "Cache Info/L1": chip["l1_bytes"] >> 10, "Cache Info/L2": chip["l2_bytes"] >> 10,
                   "Cache Info/L3": chip["l3_bytes"] >> 10}
        if release == "6.1.2":
            numbers |= {"ASIC Revision": chip["asic_revision"], "Packet Processor uCode": chip["mec_firmware"],
                        "SDMA engine uCode": chip["sdma_firmware"]}
        for key, wanted in texts.items():
            checks.equal(f"GPU agent {i}, {key}", agent.get(key), wanted)
        for key, wanted in numbers.items():
            checks.equal(f"GPU agent {i}, {key}", number(agent.get(key)), wanted)
        pools = [("GLOBAL; FLAGS: COARSE GRAINED", card.vram, 4)]
        if release == "6.1.2":
            pools.append(("GLOBAL; FLAGS: EXTENDED FINE GRAINED", card.vram, 4))
        pools.append(("GROUP", chip["lds_bytes"], 0))
        found = [(agent.get(f"Pool Info/Pool {p}/Segment"), number(agent.get(f"Pool Info/Pool {p}/Size")),
                  number(agent.get(f"Pool Info/Pool {p}/Alloc Granule"))) for p in range(1, len(pools) + 2)]
        wanted = [(segment, size >> 10, granule) for segment, size, granule in pools] + [(None, None, None)]
        for p, (one, two) in enumerate(zip(found, wanted), 1):
            checks.equal(f"GPU agent {i}, Pool {p} (segment, KB, granule)", one, two)
    checks.equal("last line", text.rstrip().splitlines()[-1:], ["*** Done ***"])


def hip(cards, text, checks):
    lines = [line.strip() for line in text.splitlines()]
    wanted = [f"devices {len(cards)}"]
    for i, card in enumerate(cards):
        chip = card.chip
        # From gfx10 on, HIP counts pairs of compute units.
        processors = chip["compute_units"] // (2 if card.major >= 10 else 1)
        wanted += [f"device {i}", f"name {card.name}", f"gcnArchName {card.gfx}", f"multiProcessorCount {processors}",
                   f"totalGlobalMem {card.vram}", f"warpSize {chip['wavefront_size']}", f"pciBusID {card.pci[0]}",
                   f"clockRate {chip['engine_clock_mhz'] * 1000}", f"memoryBusWidth {chip['memory_bus_bits']}",
                   f"l2CacheSize {chip['l2_bytes']}", f"sharedMemPerBlock {chip['lds_bytes']}",
                   f"hipMemGetInfo total {card.vram}"]
        wanted += [f"hipMalloc {bytes_} given, counted" for bytes_ in (4096, 100000, 64 << 20, 1 << 30)]
        wanted += ["hipFree gave everything back"]
        wanted += [f"hipHostMalloc {bytes_} holds what is written" for bytes_ in (4096, 8 << 20)]
    checks.equal("lines", len(lines), len(wanted))
    for one, two in zip(lines, wanted):
        checks.equal("a line", one, two)


def main(program, thunk, machine, ids, output):
    data = tomllib.loads(pathlib.Path(machine).read_text())
    visible = [a for a in data.get("adapter", [])
               if a["vendor"] == 0x1002 and "private" in a and not a.get("kfd", {}).get("hidden")]
    cards, host = [Card(adapter, ids) for adapter in visible], HOST | data.get("host", {})
    text, checks = pathlib.Path(output).read_text(errors="replace"), Checks()
    name, release = program.split("-")
    if name == "hip":
        hip(cards, text, checks)
    else:
        rocminfo(release, thunk, cards, host, text, checks)
    for line in checks.wrong:
        print(f"    {line}")
    print(f"checks {checks.count}")
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
