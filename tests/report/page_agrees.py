"""Reports: pages that are whole, need nothing, and hold no markup that comes from data; their numbers are those
of the files. Then, in headless Chromium, nothing sticks out, on a screen and on a telephone. Runs in an empty
directory; its argument is the examples folder, and perhaps a folder for screenshots."""
import base64
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

import nibabel as nib
import numpy as np
from oracle import check, finish, run, table, write

rng = np.random.default_rng(59)
EVIL = "<script>alert('1')</script> & \"so\""


class Page(html.parser.HTMLParser):
    """Tags must close in order; everything a page loads is noted."""

    def __init__(self, path):
        super().__init__()
        self.open, self.tags, self.loads, self.text = [], [], [], ""
        self.source = open(path, encoding="utf-8").read()
        self.feed(self.source)
        check(path + " closes what it opens", not self.open, self.open)
        check(path + " is small", len(self.source) < 3e6)
        check(path + " needs nothing", all(u.startswith("data:image/png;base64,") for u in self.loads), [u[:40] for u in self.loads])
        check(path + " has no script", "script" not in self.tags and not re.search(r"\son\w+=", self.source.replace(EVIL, "")))
        check(path + " loads nothing by style", not re.search(r"url\(|@import", self.source))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "img", "path", "circle", "br"):
            self.open.append(tag)
        self.loads += [v for k, v in attrs if k in ("src", "href", "data", "srcset")]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        check("tags close in order", self.open and self.open.pop() == tag, tag)

    def handle_data(self, data):
        self.text += data


def pixels(url):
    """The rows of a PNG, by the standard."""
    data, at, chunks = base64.b64decode(url.split(",")[1]), 8, {}
    check("a PNG", data[:8] == b"\x89PNG\r\n\x1a\n")
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        check("its sums", zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0])
        chunks[kind], at = body, at + 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), "u1").reshape(height, 3 * width + 1)
    check("its filters", (raw[:, 0] == 2).all())
    return np.cumsum(raw[:, 1:], 0, "u1").reshape(height, width, 3)


# ---- A brain with one voxel that counts, on the left ----------------------------------------------------
shape, n = (20, 22, 18), 40
for name, affine in (("las", np.diag([-4.0, 4, 4, 1])), ("ras", np.diag([4.0, 4, 4, 1]))):
    affine[:3, 3] = [38 if name == "las" else -38, -44, -36]
    at = nib.affines.apply_affine(affine, np.indices(shape).reshape(3, -1).T)
    mask = ((at / [34, 40, 32]) ** 2).sum(1) < 1
    left = np.argmin(((at - [-22, 12, 4]) ** 2).sum(1))
    score = rng.normal(size=n)
    os.makedirs(name)
    for k in range(n):
        data = mask * (100 + rng.normal(size=len(mask)))
        data[left] += 4 * score[k]
        image = nib.Nifti1Image(data.reshape(shape).astype("f4"), affine)
        image.set_sform(affine, 4)
        nib.save(image, f"{name}/s{k:02}.nii.gz")
    ids = [f"s{k:02}" for k in range(n)]
    write(f"{name}.tsv", {"participant_id": ids, "image": [f"{name}/{i}.nii.gz" for i in ids], "score": score,
                          "dx": np.where(score > 0, EVIL, "no"), "kind": np.where(score > 0.5, "a", np.where(score > -0.5, "b", "c"))})
    run("cohort", f"{name}.tsv", "--image-column", "image", "-q", "-o", name + "-c")
    run("cv", name + "-c", "--target", "score", "--nlambda", "10", "-q", "-o", name + "-cv")
    run("report", name + "-cv", "-o", name + ".html")
    page = Page(name + ".html")
    three, mosaic = [pixels(u) for u in page.loads[:2]]
    check("three maps, two pictures each", len(page.loads) == 6)
    axial = three[:, :(three.shape[1] * 10) // 32].astype(int)  # the first of three views
    hot = ((axial[:, :, 1] > 200) & (axial[:, :, 2] < 50)).nonzero()  # the largest weight is yellow
    check(name + ": the weight is on the left of the picture, in front of the middle",
          len(hot[0]) and hot[1].mean() < axial.shape[1] * 0.4 and hot[0].mean() < axial.shape[0] * 0.5, hot)
    scores = json.load(open(name + "-cv/cv.json"))["outer"]
    for metric in ("r", "r2", "mae", "rmse"):
        check("its " + metric, f"{scores[metric]['pooled']:.4g}" in page.text and f"{scores[metric]['sd']:.4g}" in page.text)
for words in ([], ["--underlay", "icbm152", "--atlas", "schaefer100"], ["--underlay", "none"]):
    run("report", "las-cv", "-o", "u.html", "--force", *words)
    page = Page("u.html")
    check("names of regions", ("7Networks" in page.text) == ("--atlas" in words))

# ---- Classes, hostile names, models, tables --------------------------------------------------------------
run("cv", "ras-c", "--target", "dx", "--nlambda", "8", "--folds", "3", "-q", "-o", "evil-cv")
run("report", "evil-cv", "-o", "evil.html")
page = Page("evil.html")
check("names are text", EVIL in page.text and EVIL not in page.source)
run("cv", "ras-c", "--target", "kind", "--nlambda", "8", "--folds", "3", "-q", "-o", "three-cv")
run("report", "three-cv", "-o", "three.html")
check("a map a class", len(Page("three.html").loads) == 18)
run("fit", "ras-c", "--target", "dx", "-q", "-o", "m")
run("report", "m", "-o", "m.html")
page, about = Page("m.html"), json.load(open("m/model.json"))["outputs"][0]
check("a model's certificate", f"{about['primal']:.4g}" in page.text and len(page.loads) == 2)
run("fit", "ras-c", "--target", "dx", "--lambda-ratio", "2", "-q", "-o", "empty")
run("report", "empty", "-o", "empty.html")
check("an empty model", "Nothing is there" in Page("empty.html").text)
write("x.tsv", {"participant_id": ids, **{f"{EVIL} {j}": rng.normal(size=n) for j in range(5)}})
run("cohort", "--features", "x.tsv", "--participants", "ras.tsv", "-q", "-o", "t")
run("cv", "t", "--target", "score", "--inner-folds", "0", "-q", "-o", "t-cv")
run("report", "t-cv", "-o", "t.html")
check("a table has no maps", not Page("t.html").loads)
run("report", "t-cv", "-o", "t.html", code=73)
run("report", "t", "-o", "x.html", code=66)
run("report", "t-cv", "-o", "no/where.html", code=73)
run("report", "las-cv", "-o", "x.html", "--atlas", "nowhere", code=66)
shutil.copytree("t-cv", "broken")
open("broken/predictions.tsv", "w").write("participant_id\trepeat\nx\t1\n")
run("report", "broken", "-o", "x.html", code=65)
check("nothing half made", not os.path.exists("x.html") and not [f for f in os.listdir(".") if "part" in f])

# ---- As a browser shows them -------------------------------------------------------------------------------
LOOK = """<iframe src="%s" width="%d" height="600" onload="
const d = this.contentDocument, w = d.documentElement.clientWidth, bad = [];
for (const e of d.body.querySelectorAll('*')) {
  const r = e.getBoundingClientRect();
  if (r.right > w + 1 && !e.closest('table') && getComputedStyle(e).position !== 'absolute') bad.push(e.tagName + r.right);
}
for (const t of d.querySelectorAll('svg text')) {
  const r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
  if (r.left < s.left - 1 || r.right > s.right + 1 || r.bottom > s.bottom + 1) bad.push('text ' + t.textContent);
}
document.title = 'seen ' + d.images.length + ' ' + [...d.images].every(i => i.naturalWidth > 0) + ' [' + bad + ']';
document.body.append(document.title)"></iframe>"""


def chromium(*words):
    return subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files",
                           "--user-data-dir=" + os.path.abspath("browser"), "--virtual-time-budget=5000", *words],
                          capture_output=True, text=True, timeout=120).stdout


open("wide.html", "w").write(open("t.html").read().replace("<h1>", "<p style=\"width:3000px\">wide</p><h1>"))
open("look.html", "w").write(LOOK % ("wide.html", 1100))
seen = re.search(r"seen (\d+) (\w+) \[(.*?)\]", chromium("--dump-dom", "file://" + os.path.abspath("look.html")))
check("what sticks out is seen", seen and seen.group(3).startswith("P3"), seen and seen.groups())
for width in (1100, 400):
    for name in ("las", "evil", "three", "m", "t"):
        open("look.html", "w").write(LOOK % (name + ".html", width))
        seen = re.search(r"seen (\d+) (\w+) \[(.*?)\]", chromium("--dump-dom", "file://" + os.path.abspath("look.html")))
        images = len(Page(name + ".html").loads)
        check(f"{name} at {width}: all pictures, and nothing sticks out", seen and seen.groups() == (str(images), "true" if images else "true", ""),
              seen and seen.groups())
chromium("--screenshot=" + os.path.abspath("las.png"), "--window-size=1000,1600", "file://" + os.path.abspath("las.html"))
check("a screenshot", os.path.getsize("las.png") > 20000)
finish()
