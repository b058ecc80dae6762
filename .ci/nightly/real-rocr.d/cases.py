#!/usr/bin/env python3
"""cases.py FOLDER: writes the machines and topology trees that the nightly suite runs on.

FOLDER/machines/*.toml are the built-in machines and some that only this suite needs. FOLDER/trees/* are the captured
trees as they are and, where a capture is no machine that runs, the same again as NAME+completed: with plausible files
for absent ones, and without nodes that repeat a gpu_id. FOLDER/trees/fault-* are a CPU and two GPUs; the first GPU, node 1,
has the fault.
"""
import pathlib
import re
import shutil
import sys
import tarfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


def adapters(base, count, extra=""):
    """`count` adapters that differ in what tells cards apart; each ends with the lines of `extra`."""
    text = (REPOSITORY / f"fakes/machines/{base}.toml").read_text()
    adapter = text[text.index("[[adapter]]"):]
    copies = []
    for i in range(count):
        copy = re.sub(r"(?m)^luid = .*", f"luid = [{0x8001 + 0x1000 * i:#x}, 0]", adapter)
        copy = re.sub(r"(?m)^pci = .*", f"pci = [{3 + 16 * i}, 0, 0]", copy)
        copy = re.sub(r"(?m)^guid = .*", f'guid = "{{5a0c1f3e-7d21-4b6a-9c40-{0x100 + i:012x}}}"', copy)
        copy = re.sub(r"(?m)^unique_id = .*", f"unique_id = {0x5A0C1F3E00000100 + i:#x}", copy)
        copies.append(copy.rstrip() + "\n" + (extra[i] if isinstance(extra, list) else extra))
    return "\n".join(copies)


def machines(folder):
    folder.mkdir(parents=True)
    for path in sorted((REPOSITORY / "fakes/machines").glob("*.toml")):
        shutil.copy(path, folder)

    def write(name, what, text, host=""):
        (folder / f"{name}.toml").write_text(f'description = "{what}"\n{host}\n{text}')

    sockets = "[host]\nnodes = 2\ncores = 8\n"
    write("two-gfx1030", "Two of gfx1030", adapters("gfx1030", 2))
    write("eight-gfx1030", "Eight of gfx1030", adapters("gfx1030", 8))
    write("hidden-gfx1030", "Three; the device cgroup denies the second",
          adapters("gfx1030", 3, ["", "\n[adapter.kfd]\nhidden = true\n", ""]))
    write("sockets-gfx1030", "Two sockets with two cards each", adapters("gfx1030", 4), sockets)
    write("sockets-gfx1100", "The same, with cards of a small BAR", adapters("gfx1100", 4), sockets)


def key(text, name):
    found = re.search(rf"(?m)^{name} (\d+)", text)
    return int(found.group(1)) if found else 0


def complete(tree):
    """Makes a machine that could run of a capture; True if that took a change."""
    added = []

    def add(path, text):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            added.append(path)

    add(tree / "generation_id", "3\n")
    add(tree / "system_properties", "platform_oem 1\nplatform_id 2\nplatform_rev 3\n")
    add(tree / "nodes/0/properties", "cpu_cores_count 8\nsimd_count 0\nmem_banks_count 1\n")
    seen = set()
    for node in sorted((tree / "nodes").iterdir(), key=lambda node: int(node.name)):
        gpu_id = int((node / "gpu_id").read_text()) if (node / "gpu_id").exists() else 0
        if gpu_id in seen - {0}:
            shutil.rmtree(node)
            added.append(node)
        seen.add(gpu_id)
    numbers = sorted(int(node.name) for node in (tree / "nodes").iterdir())
    for number in numbers:
        node = tree / f"nodes/{number}"
        text = (node / "properties").read_text()
        is_gpu = key(text, "drm_render_minor") != 0
        add(node / "gpu_id", f"{(40000 + number) * is_gpu}\n")
        add(node / "name", "\n")
        for i in range(key(text, "mem_banks_count")):
            add(node / f"mem_banks/{i}/properties",
                f"heap_type {int(is_gpu)}\nsize_in_bytes {64 << 30}\nflags 0\nwidth 64\nmem_clk_max 1600\n")
        for i in range(key(text, "caches_count")):
            add(node / f"caches/{i}/properties",
                f"processor_id_low {key(text, 'simd_id_base') + i}\nlevel 1\nsize 16\ncache_line_size 64\n"
                f"cache_lines_per_tag 1\nassociation 1\nlatency 1\ntype 9\nsibling_map 1,{i % 2},0,1\n")
        others = [other for other in numbers if other != number]
        for kind in "io_links", "p2p_links":
            for i in range(key(text, f"{kind}_count")):
                add(node / f"{kind}/{i}/properties",
                    f"type 2\nversion_major 0\nversion_minor 0\nnode_from {number}\nnode_to {others[i % len(others)]}\n"
                    "weight 20\nmin_latency 0\nmax_latency 0\nmin_bandwidth 312\nmax_bandwidth 31500\n"
                    "recommended_transfer_size 0\nflags 1\n")
    return bool(added)


def trees(folder):
    folder.mkdir(parents=True)
    for source in sorted((REPOSITORY / "tests/data/kfd").iterdir()):
        if source.name == "README.md":
            continue
        name = source.name.removesuffix(".tar.gz")
        for tree in folder / name, folder / f"{name}+completed":
            if source.is_dir():
                shutil.copytree(source, tree)
            else:
                with tarfile.open(source) as archive:
                    archive.extractall(tree, filter="data")
        if not complete(tree):
            shutil.rmtree(tree)


# What is wrong with nodes/1: its properties are rewritten, or files of it removed.
FAULTS = {
    "none": lambda text: text,
    "no-simd-per-cu": lambda text: re.sub(r"(?m)^simd_per_cu .*\n", "", text),
    "long-word": lambda text: text.replace("simd_count", "x" * 400 + " 1\nsimd_count", 1),
    "no-number": lambda text: re.sub(r"(?m)^lds_size_in_kb .*", "lds_size_in_kb many", text),
    "no-version": lambda text: re.sub(r"(?m)^(gfx_target_version|device_id) .*", r"\1 0", text),
    "no-properties": None,
    "no-gpu-id": "gpu_id",
    "no-bank": "mem_banks/0/properties",
    "no-link": "io_links/0/properties",
}


def faults(folder):
    """Trees that no kernel should show."""
    base = folder / "rx7900xtx-partial+completed"
    for name, fault in FAULTS.items():
        tree = folder / f"fault-{name}"
        shutil.copytree(base, tree)
        shutil.copytree(tree / "nodes/1", tree / "nodes/2")
        twin = tree / "nodes/2/properties"
        text = re.sub(r"(?m)^drm_render_minor .*", "drm_render_minor 129", twin.read_text())
        text = re.sub(r"(?m)^unique_id .*", "unique_id 77", re.sub(r"(?m)^location_id .*", "location_id 4864", text))
        twin.write_text(text)
        (tree / "nodes/2/gpu_id").write_text("40002\n")
        for link in (tree / "nodes/2").glob("*_links/*/properties"):
            link.write_text(re.sub(r"(?m)^node_from .*", "node_from 2", link.read_text()))
        first = tree / "nodes/1/properties"
        if fault is None:
            first.unlink()
        elif isinstance(fault, str):
            (tree / "nodes/1" / fault).unlink()
        else:
            first.write_text(fault(first.read_text()))


if __name__ == "__main__":
    machines(pathlib.Path(sys.argv[1]) / "machines")
    trees(pathlib.Path(sys.argv[1]) / "trees")
    faults(pathlib.Path(sys.argv[1]) / "trees")
