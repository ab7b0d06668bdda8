"""The end of each verb's `--help`: commands to try, and the meanings of the exit codes."""

from __future__ import annotations

from typing import Final

CLEAN_OR_FOUND: Final = "0 no errors or warnings, 1 some, 2 something could not be done"
DONE: Final = "0 done, 2 it could not be done"

EXAMPLES: Final = {
    "inspect": (
        ("inspect kernel.ptx", "kernels and every matrix move of a file"),
        ("inspect kernel.ptx --profile launch.toml", "beside each line, what it costs in a run"),
    ),
    "check": (
        ("check kernel.ptx --target sm_90a", "is it legal there?"),
        ("check kernels --output-format concise", "every file of a folder, one line per finding"),
        ("check kernel.ptx --ignore 'missing-*'", "without some rules"),
        ("check kernels --statistics", "how often each rule applies"),
        ("nvcc -ptx -o - kernel.cu | ptxloom check -", "what a compiler wrote"),
    ),
    "parse": (
        ("parse kernel.ptx", "memory, registers, instructions, loops, calls"),
        ("parse kernel.ptx --pattern 'ldmatrix.*'", "how some instructions are read"),
        ("parse kernel.ptx --output-format json", "for programs; --tree prints all of it"),
    ),
    "query": (
        ("query 'ldmatrix.*.trans' kernel.ptx", "where such instructions are"),
        ("query 'ld.*' kernel.ptx --count", "how many times each spelling occurs"),
    ),
    "graph": (
        ("graph kernel.ptx", "blocks, edges, loops, dominators"),
        ("graph kernel.ptx -o graph.svg", "the control flow, as a picture"),
    ),
    "fmt": (
        ("fmt kernel.ptx", "the canonical form"),
        ("fmt --check kernels", "which files would change"),
        ("fmt -w kernel.ptx", "rewrite the file"),
    ),
    "diff": (
        ("diff old.ptx new.ptx", "what another compiler, or an edit, changed"),
        ("diff old.ptx new.ptx --output-format concise", "one line per kernel that differs"),
    ),
    "explain": (
        ("explain ldmatrix", "the page of an instruction"),
        ("explain missing-trans", "the page of a rule"),
        ("explain racecheck", "what a tool finds in a run"),
        ("explain %laneid", "a special register"),
        ("explain", "everything that has a page"),
    ),
    "map": (
        ("map ldmatrix.m8n8.x2.b16", "which lane holds what, as a table"),
        ("map mma.m16n8k16.row.col.f32.f16.f16.f32 --operand a", "an operand of a product"),
        ("map ldmatrix.m8n8.x4.b16 -o map.svg", "as a picture"),
    ),
    "where": (
        ("where ldmatrix.m8n8.x4.b16 --lane 5", "what lane 5 holds"),
        ("where ldmatrix.m8n8.x4.b16 --matrix 2 --row 5", "its lanes, and the lane of its address"),
        ("where stmatrix.m8n8.x1.b16 --row 3 --column 1", "which lane holds that element"),
    ),
    "banks": (
        ("banks ldmatrix.m8n8.x4.b16 --pitch 128", "does it conflict?"),
        ("banks ldmatrix.m8n8.x4.b16 --pitch 128 --swizzle 3,3,3", "and with a swizzle?"),
        ("banks ld.shared.v4.b32 --stride 16", "a plain load"),
    ),
    "swizzle": (
        ("swizzle 64x64 f16 cp.async ldmatrix.x4.trans", "layouts for a tile"),
        ("swizzle 32x32 f32 ld.shared.b32 ld.shared.b32@column", "read by rows and by columns"),
    ),
    "atom": (
        ("atom SM75_U16x8_LDSM_T", "an atom's names and layouts"),
        ("atom --mma m16n8k16.row.col.f32.f16.f16.f32 --blas TN", "which atoms load A and B"),
        ("atom", "all copy atoms"),
    ),
    "descriptor": (
        ("descriptor 0x4000004000010040 --tile 64x16", "what the 64 bits say"),
        ("descriptor 0x4000004000010040 -o tile.svg", "as a picture"),
        ("descriptor --tile 128x64 --major mn --swizzle 64B", "the bits for a tile"),
        ("descriptor 0x08100010 --kind f16", "an instruction descriptor"),
        ("descriptor tcgen05.mma.bf16 --with transpose_b", "the one of a product"),
    ),
    "tensormap": (
        ("tensormap map.bin", "read 128 bytes"),
        ("tensormap map.bin --coordinate 16,26 --shared-address 0x400", "what a copy does"),
        ("tensormap --data-type FLOAT16 --global-dim 64,32 --box-dim 64,8", "make a map"),
    ),
    "emit": (
        ("emit SM75_U16x8_LDSM_T --language cuda", "the wrapper to paste"),
        ("emit ldmatrix.m8n8.x4.b16 --language triton", "by the instruction's name"),
    ),
    "web": (
        ("web", "write explorer.html: one file that opens from disk"),
        ("web -o page.html --open", "and show it in the browser"),
    ),
    "run": (
        ("run launch.toml", "run a kernel, compare with NumPy"),
        ("run --init kernel.ptx", "a launch file to fill in"),
        ("run launch.toml --arg A=ones:f16:192x96", "other arguments, in words"),
        ("run launch.toml --checks all", "with racecheck and initcheck"),
        ("run launch.toml --profile", "what each line costs"),
        ("run launch.toml --trace ldmatrix --trace-type f16", "what an instruction sees"),
    ),
    "exec": (
        ("exec -- python train.py", "a program that uses CUDA, without a GPU"),
        ("exec --device sm_90 --checks all -- ./a.out", "another device, all tools watching"),
    ),
    "sweep": (
        ("sweep launch.toml --over A.seed=1,2,3", "other arrays"),
        ("sweep launch.toml --over A.seed/B.seed=1/2,3/4", "values that vary together"),
        ("sweep launch.toml --over seed=0,7 --output-format csv", "for a spreadsheet"),
    ),
    "shared": (
        ("shared launch.toml --at ldmatrix", "which element is in which bank"),
        ("shared launch.toml --at ldmatrix -o shared.svg", "as a picture"),
    ),
    "why": (
        ("why launch.toml", "which operand is wrong, from which line on, and why"),
        ("why launch.toml --try", "does the repair mend the result?"),
        ("why launch.toml -o why.svg", "the operand as it is and as it should be, as a picture"),
        ("why -- python train.py", "the kernels of a program that uses CUDA"),
    ),
    "debug": (
        ("debug plan kernel.ptx", "blocks, and what is known before anything runs"),
        ("debug ir kernel.ptx --checks racecheck", "the input of LLVM"),
        ("debug opcode ldmatrix", "its forms, row, words, effects and modules"),
    ),
    "fuzz": (
        ("fuzz --programs 64 --size 4:12", "run in several ways here"),
        ("fuzz --against gpu:0,gpu:3 --bundle found", "on a GPU, at two levels"),
        ("fuzz 'add.*' 'cvt.*' --against interpreter", "of some instructions alone"),
        ("fuzz --case 7", "the program of a number"),
    ),
    "conform": (
        ("conform --report gpu.json", "does the GPU give ptxloom's bits? a minute"),
        ("conform 'mma.*' --full --cases 4096", "all forms of one instruction"),
        ("conform --judge ptxas 'ldmatrix*'", "does ptxas take every legal form?"),
        ("conform --verify gpu.json", "a report, computed here without a GPU"),
        ("conform --list 'ldmatrix*'", "what would be asked"),
    ),
    "judge": (
        ("judge saxpy.ptx --against saxpy.py", "is it right for any input?"),
        ("judge saxpy.ptx --against saxpy.py --first-seed 4711", "with other seeds"),
        ("judge saxpy.ptx --against saxpy.py --output-format json", "all of it"),
        ("judge saxpy.ptx --against saxpy.py --verify v.json", "is this its verdict?"),
    ),
    "schema": (("schema check", "what `check --output-format json` prints"), ("schema", "every name")),
    "doctor": (("doctor", "as a list"), ("doctor --output-format json", "for programs, and for a report of a fault")),
    "examples": (("examples", "to a folder of this name, here"),),
    "lsp": (("lsp --target sm_90a", "check every file for this target"),),
    "mcp": (
        ("mcp kernels", "check, run, explain and more, of files of this folder"),
        ("mcp kernels --trust --timeout 300", "also judge, by references in Python"),
    ),
}
"""By verb: commands (without the leading `ptxloom`) and their descriptions."""

EXITS: Final = {
    "inspect": CLEAN_OR_FOUND,
    "check": CLEAN_OR_FOUND,
    "parse": CLEAN_OR_FOUND,
    "query": "0 something found, 1 nothing, 2 something could not be read",
    "graph": DONE,
    "fmt": "0 done, 1 syntax errors, or (--check, --diff) some would change, 2 it could not be done",
    "diff": "0 they are the same, 1 they differ, 2 they could not be compared",
    "explain": DONE,
    "map": DONE,
    "where": DONE,
    "banks": "0 no conflicts, 1 some, 2 it could not be done",
    "swizzle": DONE,
    "atom": DONE,
    "descriptor": "0 done, 1 it makes no sense, 2 it could not be done",
    "tensormap": "0 done, 1 it makes no sense, 2 it could not be done",
    "emit": DONE,
    "web": DONE,
    "run": "0 no hazards or differences, 1 some, 2 it could not run",
    "exec": "0 and others are the program's; 2 it did not start, 86 a hazard ended it",
    "sweep": "0 all right, 1 some wrong, with hazards, or not run, 2 it could not be done",
    "shared": DONE,
    "why": "0 no law is broken, 1 one is, or the result is wrong, 2 not all judged, or could not run",
    "debug": DONE,
    "fuzz": "0 all agree, 1 some differ or did not run, 2 no judge was available",
    "conform": "0 all agree, 1 some differ or were refused, 2 no judge was available",
    "judge": "0 all passed, 1 some are refused, 2 it could not be judged",
    "schema": DONE,
    "doctor": DONE,
    "examples": DONE,
    "lsp": "0 the editor shut it down, 1 it left without doing so, 2 the server could not start",
    "mcp": "0 the client hung up, 2 the server could not start",
}


def of_verb(name: str) -> str:
    """The text below a verb's options."""
    return f"{_listed(EXAMPLES[name])}\nexit codes: {EXITS[name]}"


def of_all() -> str:
    """One example of each verb that prints something."""
    first = tuple(shown[0] for name, shown in EXAMPLES.items() if name not in {"lsp", "mcp"})
    return f"{_listed(first)}\nexit codes: 0 clean, 1 findings, 2 could not run. `ptxloom VERB --help` says more."


def _listed(shown: tuple[tuple[str, str], ...]) -> str:
    commands = [command if "ptxloom" in command else f"ptxloom {command}" for command, _ in shown]
    width = max(map(len, commands))
    lines = (f"  {command:{width}}  {what}\n" for command, (_, what) in zip(commands, shown, strict=True))
    return "examples:\n" + "".join(lines)
