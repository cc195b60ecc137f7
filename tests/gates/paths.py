"""Paths in docs/layout.md: every file and folder that it names is there. Usage: paths.py TREE"""
import os
import re
import sys

top = sys.argv[1]
# files that a change would add, in the words of the table; *name* stands for a name
TO_BE_MADE = {"slope.c", "sorted_l1.c"}
there = set()
for folder in ("src", "include", "tests", "docs", "examples", "atlases"):
    for at, folders, files in os.walk(os.path.join(top, folder)):
        there.update(os.path.relpath(os.path.join(at, name), top) for name in files + folders)
there.update(f for f in os.listdir(top))
endings = {"/" + os.path.basename(p) for p in there} | {"/" + "/".join(p.split("/")[k:]) for p in there for k in range(p.count("/") + 1)}
with open(os.path.join(top, "docs/layout.md"), encoding="utf-8") as f:
    text = f.read()
wrong = set()
for word in re.findall(r"[\w*./-]*[\w*]", text):
    named = word.strip("./") if word.startswith("./") else word.lstrip("/")
    if "*" in named or named in TO_BE_MADE or "://" in word:
        continue
    is_source = re.search(r"\w\.(c|h|py|sh|mk|svg|map)$", named)
    is_path = re.match(r"(src|include|tests|docs|examples|atlases)/\w", named) and not named.endswith("_")
    if (is_source or is_path) and "/" + named not in endings:
        wrong.add(named)
for named in sorted(wrong):
    print(f"docs/layout.md names '{named}', which is not there")
sys.exit(len(wrong) > 0)
