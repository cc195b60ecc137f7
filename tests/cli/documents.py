#!/usr/bin/env python3
"""Run the commands of the documents, and compare the excerpts of their output.

  documents.py [DOCUMENT...]             check
  documents.py --update [DOCUMENT...]    rewrite the excerpts from what the program prints

Fenced blocks of a document mean:
  ```sh        run, top to bottom, in one scratch directory a document that has a copy of examples/
  ```console   for another machine (Slurm, apt): not run, but options of voxsift in it must exist
  ```text      after '<!-- output: LINES -->': an excerpt of what the ```sh block before it printed
LINES are lines of the output: 'all', ranges such as 1-9, and /patterns/, with commas between;
'stderr:' in place of 'output:' takes standard error. '<!-- exit: 65 -->' before a ```sh block of one
command is the exit code that it has. Numbers of an excerpt may differ by one in the last digit that is
printed if they have a decimal point (types of processor round differently); seconds and passes are not compared.

Also checked: every --option that a document names is one of voxsift's (or listed below as another
program's), relative links lead to a file and a heading, and the other blocks have a language.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MARK = "@@ block"
NOT_OURS = {"--array", "--dependency", "--parsable", "--cpus-per-task", "--job-name", "--output",
            "--time", "--cflags", "--libs", "--static", "--update", "--prefix", "--rebase", "--bind",
            "--partition", "--use-local"}
RUN = ["README.md", "examples/README.md"]
READ_ONLY = ["CONTRIBUTING.md", "docs/benchmarks.md", "docs/layout.md",
             "docs/debugging.md"]
OF_OTHERS = ["CONTRIBUTING.md", "docs/layout.md", "docs/debugging.md"]


class Block:
    """A fenced block: its language, its lines, and where they are in the document."""

    def __init__(self, language, start, lines, note):
        self.language, self.start, self.lines, self.note = language, start, lines, note


def blocks_of(text):
    """The fenced blocks of a document; note is the comment on the line above."""
    found, lines, k = [], text.split("\n"), 0
    while k < len(lines):
        opening = re.match(r"^(\s*)```(\w*)$", lines[k])
        if opening:
            end = next(e for e in range(k + 1, len(lines)) if lines[e].strip() == "```")
            above = re.match(r"^\s*<!-- *(\w+): *(.*?) *-->$", lines[k - 1]) if k else None
            found.append(Block(opening[2], k + 1, lines[k + 1:end], above.groups() if above else None))
            k = end
        k += 1
    return found


def run_blocks(blocks):
    """What each ```sh block printed, as (output, error) by its place; and what failed."""
    script = ["set -u"]
    for b in blocks:
        if b.language != "sh":
            continue
        wanted = b.note[1] if b.note and b.note[0] == "exit" else "0"
        body = "\n".join(b.lines)
        script += [f"echo '{MARK} {b.start}'; echo '{MARK} {b.start}' >&2"]
        if wanted == "0":
            script += ["set -e", body, "set +e"]
        else:
            script += [f"code=0; {body} || code=$?",
                       f"[ $code = {wanted} ] || {{ echo \"exit $code, not {wanted}\" >&2; exit 1; }}"]
    work = tempfile.mkdtemp()
    try:
        shutil.copytree(os.path.join(TOP, "examples"), os.path.join(work, "examples"))
        build = os.path.abspath(os.environ.get("BUILD", os.path.join(TOP, "build")))
        done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=work, stdin=subprocess.DEVNULL,
                              env=os.environ | {"PATH": build + ":" + os.environ["PATH"]},
                              capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    out, err = ({int(part.split("\n", 1)[0]): part.split("\n", 1)[1].rstrip("\n").split("\n")
                 for part in stream.split(MARK + " ")[1:]} for stream in (done.stdout, done.stderr))
    failed = None
    if done.returncode != 0:
        place = max(err)
        failed = f"line {place}: exit {done.returncode}: " + " | ".join(err[place][-3:])
    return out, err, failed


def excerpt(lines, wanted):
    """The lines that 'wanted' names, with '...' where others are between them."""
    chosen = set()
    for item in re.findall(r"/(?:[^/\\]|\\.)*/|[^,\s]+", wanted):
        if item == "all":
            chosen.update(range(len(lines)))
        elif item.startswith("/"):
            chosen.update(k for k, line in enumerate(lines) if re.search(item[1:-1], line))
        else:
            first, _, last = item.partition("-")
            chosen.update(range(int(first) - 1, min(int(last or first), len(lines))))
    result, before = [], None
    for k in sorted(chosen):
        if before is not None and k > before + 1:
            result.append("...")
        result.append(lines[k].rstrip())
        before = k
    return result


NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
UNTIMED = re.compile(r"\d[\d.e+-]* (?=s\b|ms\b|passes\b|rounds?\b|iterations?\b)|(?<=took )\S+|\S+/s\b")


def unit_of(text):
    """One in the last digit of a number as it is printed; 0 of a whole number, which must be equal."""
    digits, _, power = text.partition("e")
    if not power and "." not in digits:
        return 0.0
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def alike(a, b):
    """Whether two lines are the same but for rounding and time."""
    a, b = (re.sub(r"\s+", " ", UNTIMED.sub("# ", line)).strip() for line in (a, b))
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    return all(abs(float(x) - float(y)) <= 1.001 * max(unit_of(x), unit_of(y))
               for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def check_excerpts(name, text, update):
    """Runs a document; returns its faults and its text, with new excerpts when updating."""
    blocks, faults = blocks_of(text), []
    lines = text.split("\n")
    if not any(b.language == "sh" for b in blocks):
        return [], text
    out, err, failed = run_blocks(blocks)
    if failed:
        return [f"{name} {failed}"], text
    last, changes = None, []
    for b in blocks:
        if b.language == "sh":
            last = b
        if not (b.note and b.note[0] in ("output", "stderr")):
            continue
        printed = (out if b.note[0] == "output" else err)[last.start]
        now = excerpt(printed, b.note[1])
        if not now:
            faults.append(f"{name} line {b.start}: '{b.note[1]}' names no line of the output")
        elif len(now) != len(b.lines) or not all(map(alike, now, b.lines)):
            differ = next((f"'{x}', printed is '{y}'" for x, y in zip(b.lines, now)
                           if not alike(x, y)), "other numbers of lines")
            changes.append((b, now))
            if not update:
                faults.append(f"{name} line {b.start}: {differ}; documents.py --update rewrites it")
    for b, now in reversed(changes) if update else []:
        lines[b.start:b.start + len(b.lines)] = now
    return faults, "\n".join(lines)


# ---- What needs no run ---------------------------------------------------------------------------

def options_by_command():
    """The options of each command, from its manual page."""
    folder, options = os.path.join(TOP, "docs", "man"), {}
    for page in sorted(os.listdir(folder)):
        if page.endswith(".1"):
            with open(os.path.join(folder, page), encoding="utf-8") as file:
                found = set(re.findall(r"--[A-Za-z][\w-]*", file.read().replace("\\-", "-")))
            options[page[:-2].replace("voxsift-", "", 1)] = found
    return options


def check_options(name, text, options):
    """Every option that is named exists; after 'voxsift COMMAND', in that command."""
    faults = []
    every = set().union(*options.values()) | NOT_OURS
    for number, line in enumerate(re.sub(r"\\\n\s*", " ", text).split("\n"), 1):
        for used in re.findall(r"(?<![\w-])--[A-Za-z][\w-]*", line):
            if used not in every:
                faults.append(f"{name}: no command has {used}: {line.strip()[:70]}")
        for command, rest in re.findall(r"\bvoxsift ([a-z-]+) ([^`|;>&]*)", line):
            for used in re.findall(r"(?<![\w-])--[A-Za-z][\w-]*", rest):
                if command in options and used not in options[command]:
                    faults.append(f"{name} near line {number}: '{command}' has no {used}")
    return faults


def heading_ids(text):
    """Anchors that GitHub gives to headings."""
    plain = re.sub(r"```.*?```", "", text, flags=re.S)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-")
            for h in re.findall(r"^#+ (.*)$", plain, flags=re.M)}


def check_links(name, text):
    """Relative links lead to files, and to headings of documents."""
    faults, folder = [], os.path.dirname(os.path.join(TOP, name))
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.S)):
        if re.match(r"^\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        whole = os.path.normpath(os.path.join(folder, path)) if path else os.path.join(TOP, name)
        if not os.path.exists(whole):
            faults.append(f"{name}: the link {target} leads nowhere")
        elif anchor and whole.endswith(".md"):
            with open(whole, encoding="utf-8") as file:
                if anchor not in heading_ids(file.read()):
                    faults.append(f"{name}: the link {target} leads to no heading")
    return faults


def check_languages(name, text):
    """A block without a language, or with one that says nothing, would never be run."""
    known = ("sh", "console", "text", "c", "r", "python", "bibtex")
    return [f"{name} line {b.start}: a block of '{b.language}'" for b in blocks_of(text)
            if b.language not in known]


def look_at(name, update, options):
    """Faults of a document, and its text, with new excerpts when updating."""
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        text = file.read()
    faults, changed = check_links(name, text), text
    if name not in OF_OTHERS: # these name options of git, gdb and the test runner
        faults += check_options(name, text, options)
    if name not in READ_ONLY:
        wrong, changed = check_excerpts(name, text, update)
        faults += check_languages(name, text) + wrong
    if changed != text:
        with open(os.path.join(TOP, name), "w", encoding="utf-8") as file:
            file.write(changed)
    return faults, changed != text


def main(arguments):
    """Checks or updates, two documents at a time; the exit code is 1 when something is wrong."""
    update = "--update" in arguments
    named = [a for a in arguments if not a.startswith("--")]
    documents = sorted(os.path.join("docs", f) for f in os.listdir(os.path.join(TOP, "docs"))
                       if f.endswith(".md"))
    chosen = named or RUN + [d for d in documents if d not in READ_ONLY] + READ_ONLY
    options = options_by_command()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: look_at(name, update, options), chosen))
    for name, (faults, changed) in zip(chosen, found):
        if changed:
            print(f"{name}: excerpts rewritten")
        if not update:
            print(f"{'FAIL' if faults else 'ok'} {name}")
        for fault in faults:
            print("     " + fault, file=sys.stderr)
    return 1 if any(faults for faults, _ in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
