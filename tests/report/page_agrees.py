"""Reports: pages that are whole, need nothing, and hold no markup that comes from data; their numbers are those
of the files. Then, in headless Chromium, nothing sticks out, on a screen and on a telephone. Runs in an empty
directory; its argument is the examples folder, and perhaps a folder for screenshots."""
import base64
import html
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
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(59)
EVIL = "<script>alert('1')</script> & \"so\""


class Page(html.parser.HTMLParser):
    """Tags must close in order; everything a page loads is noted."""

    def __init__(self, path):
        super().__init__()
        self.open, self.tags, self.loads, self.drawn, self.text = [], [], [], [], ""
        self.source = open(path, encoding="utf-8").read()
        self.feed(self.source)
        check(path + " closes what it opens", not self.open, self.open)
        check(path + " is small", len(self.source) < 3e6)
        check(path + " needs nothing", all(u.startswith("data:image/png;base64,") for u in self.loads + self.drawn), [u[:40] for u in self.loads + self.drawn])
        check(path + " has no script", "script" not in self.tags and not re.search(r"\son\w+=", self.source.replace(EVIL, "")))
        check(path + " loads nothing by style", not re.search(r"url\(|@import", self.source))
        cited, listed = {int(n) for n in re.findall(r" \[(\d+)\]", self.text.replace(EVIL, ""))}, self.source.count("<li>")
        check(path + " cites what it lists", cited == set(range(1, listed + 1)), (cited, listed))
        self.lead = self.between("lead")
        self.bars = [[float(v) for v in bar[:4]] + [html.unescape(bar[4])] for bar in re.findall(
            r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)" [^>]*><title>(.*?)</title></rect>', self.source)]
        self.marks = [float(x) for x in re.findall(r'<path d="M(\S+) \S+?V\S+" class="mark"/>', self.source)]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        self.loads += [v for k, v in attrs if k in ("src", "href", "data", "srcset")]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.drawn += [v for k, v in attrs if k in ("src", "href", "data", "xlink:href")]  # in figures

    def handle_endtag(self, tag):
        check("tags close in order", self.open and self.open.pop() == tag, tag)

    def handle_data(self, data):
        self.text += data

    def between(self, kind):
        """The text of the first paragraph of a kind."""
        found = re.search(rf'<p class="{kind}">(.*?)</p>', self.source)
        return html.unescape(re.sub("<[^>]*>", "", found.group(1))) if found else ""

    def axis(self, tick, log=False):
        """From places on an axis to its values, by its first and last tick."""
        ticks = re.findall(r'<path d="M(\S+) (\S+?)' + tick + r'" class="axis"/><text [^>]*>([^<]*)</text>', self.source)
        at = [float(t[tick == "h-4"]) for t in ticks]
        value = [np.log10(float(t[2])) if log else float(t[2]) for t in ticks]
        slope = (value[-1] - value[0]) / (at[-1] - at[0])
        return lambda place: 10 ** (value[0] + slope * (place - at[0])) if log else value[0] + slope * (place - at[0])


def g(value):
    """As a page has a number."""
    return f"{value:.0f}" if value == int(value) else f"{value:.3g}"


def v(value):
    """As it has a score, a p value or a weight."""
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:#.3g}"


def tenths(value):
    text = f"{value:.1f}"
    return "0.0" if text == "-0.0" else text


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
                          "dx": np.where(score > 0, EVIL, "no"), "kind": np.where(score > 0.5, "a", np.where(score > -0.5, "b", "c")),
                          "long": np.where(score > 0.5, 2 * EVIL, np.where(score > -0.5, 80 * "W", 80 * "\u00e9")),
                          "pair": np.arange(n) // 2, "site": np.where(np.arange(n) % 2, EVIL, "b")})
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
    about = json.load(open(name + "-cv/cv.json"))
    for metric, words in (("r", "correlation r"), ("r2", "R\u00b2"), ("mae", "mean absolute error"), ("rmse", "root mean square error")):
        row = re.search(f"<tr><th>{words}</th>(.*?)</tr>", page.source).group(1)
        shown = [v(about['outer'][metric]['pooled'])]
        for b in about["baseline"]:
            shown += [v(about['baseline'][b][metric]), *(v(about['difference'][b][metric][k]) for k in ("value", "low", "high"))]
        got = re.sub("<[^>]*>|\\(| to |\\)", " ", row).split()
        check("its " + metric + " beside baselines, as in cv.json", got[:1] + got[3:] == shown, (got, shown))
    paper = page.text.split("Methods paragraph")[1]
    best = max((b for b in about["baseline"].items() if b[0] != "dense"), key=lambda b: b[1]["r"])[0]
    dense = about["difference"]["dense"]["r"]
    check("and the dense baseline", f"all features weighed (dense linear): {v(about['baseline']['dense']['r'])}; difference {v(dense['value'])} "
          f"(95 % interval {v(dense['low'])} to {v(dense['high'])})" in paper, paper)
    check("the paragraph has the same numbers", all(v(x) in paper for x in (about["outer"]["r"]["pooled"], about["outer"]["r"]["low"],
          about["baseline"][best]["r"], about["difference"][best]["r"]["value"], about["difference"][best]["r"]["low"]))
          and f"{about['comparison']['pairs_within_folds']:.0f} pairs in 5 folds" in paper, paper)
    check("a score has no probabilities to calibrate", "learned and the choice of lambda used the training subjects alone" in paper and "probabilities" not in paper, paper)
for words in ([], ["--underlay", "icbm152", "--atlas", "schaefer100"], ["--underlay", "none"]):
    run("report", "las-cv", "-o", "u.html", "--force", *words)
    page = Page("u.html")
    check("names of regions", ("7Networks" in page.text) == ("--atlas" in words))
    check("under two headings", ("label at the peak" in page.text and "label with the largest overlap" in page.text) == ("--atlas" in words))
    if "--atlas" in words:
        where = json.loads(run("regions", "las-cv/weights_mean.nii.gz", "--atlas", "schaefer100", "--json")[0])["clusters"]
        where = [c["atlases"]["schaefer100"] for c in where][:15]
        rows = [re.findall("<td[^>]*>(.*?)</td>", r)[6:] for r in re.findall("<tr>(<td>.*?)</tr>", page.source.split("label at the peak")[1].split("</table>")[0])]
        check("which are those of 'voxsift regions'", rows == [[c["peak_label"] or "none", c["overlap_label"] or "none",
              f"{int((c['overlap_percent'] or 0) + 0.5)}&nbsp;%"] for c in where], (rows[:3], where[:3]))

# ---- Who was analysed ------------------------------------------------------------------------------------
rows = [line.rstrip("\n").split("\t") for line in open("ras.tsv")]
rows[4][rows[0].index("score")] = "n/a"
rows[6][rows[0].index("site")] = ""
open("flow.tsv", "w").write("".join("\t".join(r) + "\n" for r in rows + [["s98", "", *rows[1][2:]]]))
run("cohort", "flow.tsv", "--image-column", "image", "--drop-bad", "-q", "-o", "flow-c")
short = ["--target", "score", "--confounds", "site"]
for name, command in (("flow-cv", ["cv", "--inner-folds", "0", "--folds", "3"]), ("flow-m", ["fit"]), ("flow-s", ["stability", "--pairs", "2"]),
                      ("flow-p", ["permute", "--permutations", "2", "--nlambda", "3", "--inner-folds", "2"])):
    run(command[0], "flow-c", *short, *command[1:], "-q", "-o", name)
    run("report", name, "-o", name + ".html")
    told = [f for f in os.listdir(name) if f in ("cv.json", "model.json", "stability.json", "permute.json")][0]
    flow = json.load(open(f"{name}/{told}"))["flow"]
    check(name + ": flow", [flow[k] for k in ("read", "refused", "in_cohort", "without_target", "without_covariate", "analysed")] == [n + 1, 1, n, 1, 1, n - 2]
          and [k["id"] for k in flow["left_out"]] == ["s03", "s05"], flow)
    said = Page(name + ".html").text
    check(name + ": on the page", all(x in said for x in (f"Subjects read: {n + 1}", "1 left out: unusable data", "s98 (the table names no image)",
          f"In the cohort: {n}", "1 left out: no value of the target", "s03 (score)", "1 left out: no value of a covariate", "s05 (site)", f"Analyzed: {n - 2}")), said)

# ---- Classes, hostile names, models, tables --------------------------------------------------------------
run("cv", "ras-c", "--target", "dx", "--nlambda", "8", "--folds", "3", "-q", "-o", "evil-cv")
run("report", "evil-cv", "-o", "evil.html")
page = Page("evil.html")
about = json.load(open("evil-cv/cv.json"))
positive, other = about["positive"], ({"no", EVIL} - {about["positive"]}).pop()
check("classes of metrics have names", all(w in page.text for w in (f"AUC of {positive} against {other}", f"sensitivity ({positive})", f"specificity ({other})", f"F1 ({positive})")), page.text)
check("and signs", f"Red to yellow: positive weight: more {positive}. Blue to cyan: negative weight: more {other}." in page.text and f"Positive class{positive}, against {other}" in page.text)
check("probabilities of classes are calibrated", "the choice of lambda and the calibration of probabilities used the training subjects alone" in page.text)
check("names are text", EVIL in page.text and EVIL not in page.source)
run("cv", "ras-c", "--target", "kind", "--nlambda", "8", "--folds", "3", "-q", "-o", "three-cv")
run("report", "three-cv", "-o", "three.html")
page, about = Page("three.html"), json.load(open("three-cv/cv.json"))
check("a map a class", len(page.loads) == 18)
rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr><th>[abc]</th>(.*?)</tr>", page.source.split("Confusion matrix")[1].split("</table>")[0])]
check("confusion matrix", [[re.sub(" .*", "", c) for c in row[:4]] for row in rows] == [[g(x) for x in (*about["confusion"][c].values(), about["each_class"][c]["subjects"])] for c in "abc"]
      and [row[4] for row in rows] == [v(about["each_class"][c]["sensitivity"]) for c in "abc"] and [row[6] for row in rows] == [v(about["each_class"][c]["auc"]) for c in "abc"], rows)
check("per cents of a row", all(f"({100 * about['confusion'][c][d] / about['each_class'][c]['subjects']:.0f}&nbsp;%)" in rows["abc".index(c)]["abc".index(d)] for c in "abc" for d in "abc"
      if abs((100 * about["confusion"][c][d] / about["each_class"][c]["subjects"]) % 1 - 0.5) > 1e-9), rows)
check("no rows of dashes", not re.search(r"<tr><th>(sensitivity|specificity|calibration)", page.source) and "mean AUC of classes against the rest" in page.text)
check("what signs mean", all(f"Red to yellow: positive {what}: more {c}. Blue to cyan: negative {what}: less {c}." in page.text for c in "abc" for what in ("weight", "pattern")))
run("fit", "ras-c", "--target", "dx", "-q", "-o", "m")
run("report", "m", "-o", "m.html")
page, about = Page("m.html"), json.load(open("m/model.json"))["outputs"][0]
check("a model's certificate", v(about["primal"]) in page.text and len(page.loads) == 2)
check("who set its lambda", f"Set beforehand: lambda ({v(about['lambda'] / about['lambda_max'])} of lambda_max)." in page.text, page.text)
run("fit", "ras-c", "--target", "score", "--choose-lambda", "3", "--nlambda", "4", "-q", "-o", "chosen")
run("report", "chosen", "-o", "chosen.html")
check("or chose it", "Cross-validation in the same subjects chose lambda (" in Page("chosen.html").text)
run("fit", "ras-c", "--target", "dx", "--lambda-ratio", "2", "-q", "-o", "empty")
run("report", "empty", "-o", "empty.html")
check("an empty model", "All values are 0" in Page("empty.html").text)
write("x.tsv", {"participant_id": ids, **{f"{EVIL} {j}": rng.normal(size=n) for j in range(5)}})
run("cohort", "--feature-table", "x.tsv", "--participants", "ras.tsv", "-q", "-o", "t")
printed = run("cv", "t", "--target", "score", "--inner-folds", "0", "-q", "-o", "t-cv")[0]
run("report", "t-cv", "-o", "t.html")
# five columns of noise: a baseline is as good, and terminal and page have one sentence for it
verdict = re.search("^  (By correlation r the baseline .* predicts as well; the features add nothing to it here|The interval of the difference in correlation r to the baseline .* includes 0: .*)\\.$", printed, re.M)
check("the verdict on baselines, on terminal and page", verdict and verdict.group(1) in html.unescape(Page("t.html").source) and
      ("adds? nothing" in verdict.group(1) or "add nothing" in verdict.group(1)) == (json.load(open("t-cv/cv.json"))["difference"][re.search('"(.*)"', verdict.group(1)).group(1).replace(" ", "_")]["r"]["value"] <= 0),
      (printed, verdict))
check("a table has no maps", not Page("t.html").loads)
# figures of single subjects are of the first repeat, and say so where there are others
for target, repeats in (("score", 1), ("score", 2), ("dx", 1), ("dx", 2)):
    run("cv", "t", "--target", target, "--inner-folds", "0", "--repeats", str(repeats), "-q", "-o", "t-r", "--force")
    run("report", "t-r", "-o", "t-r.html", "--force")
    figure = next(f for f in re.findall("<svg.*?</svg>", Page("t-r.html").source) if "ROC" in f or "Predicted against" in f)
    check("which repeat a figure shows", ("first repeat" in re.search('aria-label="(.*?)"', figure).group(1)) == (repeats > 1), figure[:200])
    told = table(open("t-r/predictions.tsv"))
    first = np.array(told["repeat"]) == "1"
    check("and it does", target == "dx" or figure.count("<circle") == first.sum(), figure.count("<circle"))
    if target == "dx":
        positive = json.load(open("t-r/cv.json"))["positive"]
        held, truth = np.array(told["score_" + positive], float)[first], np.array(told["truth"])[first] == positive
        spots = np.array([p.split() for p in re.findall(r"[ML]([\d.]+ [\d.]+)", re.search('stroke-width="1.6" d="(.*?)"', figure).group(1))], float)
        spots = abs(spots - spots[0]) / abs(spots[-1] - spots[0])
        area = ((spots[1:, 0] - spots[:-1, 0]) * (spots[1:, 1] + spots[:-1, 1]) / 2).sum()
        check("the curve is that of the first repeat", near(area, np.mean([(x > z) + 0.5 * (x == z) for x in held[truth] for z in held[~truth]]), 1e-3), area)
for graph, words, by in (([], "a fused lasso on a spanning tree of neighboring features with squared loss [1], solved by safe active", True),
                         (["--graph", "precision:0.2"], "on the graph of a sparse inverse covariance of training subjects [", False),
                         (["--graph", "correlation:0.2"], "on the graph of the strongest correlations among training subjects with", False)):
    run("fit", "t", "--target", "score", "--method", "fused", *graph, "-q", "-o", "graph", "--force")
    run("report", "graph", "-o", "graph.html", "--force")
    page = Page("graph.html")
    check("the graph in words", words in page.text and ("(SAIF)" in page.text) == by and ("Friedman" in page.text) == ("precision:0.2" in graph), page.text)
with open("terms.tsv", "w") as file:
    names = [line.split("\t")[0].strip() for line in open("t/features.tsv")][1:]
    file.write("term\tfeature\tvalue\n" + "".join(f"{k}\t{name}\t0.5\n" for k, name in enumerate(names)))
for penalty, words, paper in (("trend", "with a trend filter [1] on second differences of the features in their order with squared loss, solved", "Gorinevsky"),
                              ("matrix:terms.tsv", "with a generalized lasso [1] on a user-defined analysis operator with squared loss, solved", "Taylor")):
    run("fit", "t", "--target", "score", "--method", "fused", "--penalty", penalty, "-q", "-o", "graph", "--force")
    run("report", "graph", "-o", "graph.html", "--force")
    page = Page("graph.html")
    check("penalties of other terms in words", words in page.text and paper in page.text and "fused lasso" not in page.text and
          "fused region" not in page.text and "(SAIF)" not in page.text, page.text)
for sparsity in ("0", "1"):
    run("fit", "ras-c", "--target", "score", "--method", "fused", "--graph", "grid6", "--sparsity", sparsity, "-q", "-o", "grid", "--force")
    run("report", "grid", "-o", "grid.html", "--force")
    page, about = Page("grid.html"), json.load(open("grid/model.json"))["outputs"][0]
    flat = nib.load("grid/weights.nii.gz").get_fdata()
    rows = re.findall(r"<tr><td>([^<]*)</td><td>[^<]*</td><td>([^<]*)</td><td>[^<]*</td><td>[^<]*</td><td>[^<]*</td></tr>", page.source)
    sizes = sorted((int((flat == w).sum()) for w in set(flat[flat != 0])), reverse=True)
    check("the pieces of a map", 1 <= about["fused_regions"] == len(sizes) and [int(r[0]) for r in rows] == sizes[:15] and
          all(np.isclose(float(r[1]), [w for w in set(flat[flat != 0])], rtol=6e-3).any() for r in rows), (about, rows, sizes))
    check("of what they are", ("Without --sparsity" in page.text) == (sparsity == "0") and "Graphgrid6" in page.text)
run("report", "t-cv", "-o", "t.html", code=73)
run("report", "t", "-o", "x.html", code=66)
run("report", "t-cv", "-o", "no/where.html", code=73)
run("report", "las-cv", "-o", "x.html", "--atlas", "nowhere", code=66)
shutil.copytree("t-cv", "broken")
open("broken/predictions.tsv", "w").write("participant_id\trepeat\nx\t1\n")
run("report", "broken", "-o", "x.html", code=65)
check("nothing half made", not os.path.exists("x.html") and not [f for f in os.listdir(".") if "part" in f])

# ---- What is selected round by round -----------------------------------------------------------------------


def rows_after(page, heading):
    """The cells of the tables of a section, labels of the atlas left out."""
    part = page.source.split(f"<h2>{heading}</h2>")[1].split("<h2>")[0]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", part)]
    return part, [[html.unescape(re.sub(r"<br>.*", "", c)) for c in row] for row in cells if row]


def generated(name, cohort, *words, cites, report=()):
    run("fit", cohort, *words, "-q", "-o", name)
    run("report", name, "-o", name + ".html", *report)
    page, about = Page(name + ".html"), json.load(open(name + "/model.json"))
    check(name + ": no lambda, and no other method", not re.search("lambda|SAIF|lasso", page.text.replace(about["command"], "")), page.text)
    check(name + ": cites", cites in page.text and page.source.count("<li>") == 1)
    _, rows = rows_after(page, "Optimality certificate (duality gap)")
    wanted = [[o["name"], *(g(o[k]) for k in ("outer_iterations", "selected", "nonzero")), v(o["primal"]), v(o["dual"]), g(o["gap"]), g(o["gap_of_selected"])] for o in about["outputs"]]
    check(name + ": its certificate", rows == wanted, (rows, wanted))
    closed = all(o["gap"] <= o["tol"] for o in about["outputs"])
    check(name + ": what the gap says", ("no other selection and no other weights" in page.text) == closed and ("It is no error of the weights" in page.text) != closed)
    return page, about


def pairs(name, cohort, *words, places=None, **more):
    page, about = generated(name, cohort, *words, "--feature-map", "poly2", **more)
    part, shown = rows_after(page, "Selected pairs")
    columns = table(open(name + "/pairs.tsv"))
    check(name + ": as many as the model says", len(columns["kind"]) == sum(o["selected"] for o in about["outputs"]))
    voxels, classes = about["features_are"] == "voxels", about["classes"] if "class" in columns else [None]
    wanted, titles, ends = [], [], []
    for c in classes:
        of = [k for k in range(len(columns["kind"])) if c is None or columns["class"][k] == c]
        of.sort(key=lambda k: -abs(float(columns["weight"][k])))
        for k in of:
            row = [v(float(columns["weight"][k])), columns["kind"][k]]
            for end in ("first", "second"):
                there = end == "first" or columns["kind"][k] == "pair"
                row += [columns[end][k] if there else ""]
                row += [", ".join(tenths(float(columns[end + '_' + d][k])) for d in "xyz") if there else ""] if voxels else []
            wanted.append(row)
        for k in reversed(of):
            two = columns["kind"][k] == "pair"
            titles.append(f"{columns['first'][k]} and {columns['second'][k]}: {v(float(columns['weight'][k]))}" if two else
                          f"{columns['first'][k]}, {columns['kind'][k]}: {v(float(columns['weight'][k]))}")
            ends += [(k, end) for end in ("first", "second")] * two
    check(name + ": its table is that of the file", shown == wanted, (shown, wanted))
    views = 1 if about["features_are"] == "columns" else 3
    check(name + ": a head seen from three sides", len(page.drawn) == (0 if views == 1 else 3 * len(classes)), len(page.drawn))
    told = [html.unescape(t) for t in re.findall(r'class="pair".*?<title>(.*?)</title>', part, re.S)]
    check(name + ": each is in the figure", sorted(told) == sorted(titles * views) and (len(classes) > 1 or told == titles * views), (told, titles))
    if views == 3 and len(classes) == 1 and ends:
        at = np.array([places[columns[end][k]] if places else [float(columns[f"{end}_{d}"][k]) for d in "xyz"] for k, end in ends])
        lines = np.array([[float(v) for v in line] for line in re.findall(r'class="pair" d="M(\S+) (\S+)L(\S+) (\S+)"', part)]).reshape(3, -1, 2)
        for view, (across, up) in zip(lines, ((0, 1), (0, 2), (1, 2))):
            for drawn, mm, sign in ((view[:, 0], at[:, across], 1), (view[:, 1], at[:, up], -1)):
                a = np.stack([mm, np.ones(len(mm))], 1)
                (slope, _), *_ = np.linalg.lstsq(a, drawn, rcond=None)
                check(name + ": lines end where features are", np.allclose(a @ np.linalg.lstsq(a, drawn, rcond=None)[0], drawn, atol=0.2) and
                      (np.ptp(mm) == 0 or slope * sign > 1), (drawn, mm, slope))
    return page, about


JMLR, TNNLS = "Towards ultrahigh dimensional feature selection", "Minimax sparse logistic regression for very"
_, about = pairs("las-pairs", "las-c", "--target", "dx", "--method", "fgm", "--per-iteration", "3", "--iterations", "4", cites=JMLR, report=("--underlay", "none"))
page, _ = pairs("kind-pairs", "las-c", "--target", "kind", "--method", "mslr", "--per-iteration", "3", "--iterations", "2", cites=TNNLS, report=("--atlas", "schaefer100"))
check("weights have no sign, and were refit", "without sign" in page.text and "weights refit with C = 5" in page.text)
page, _ = pairs("t-pairs", "t", "--target", "dx", "--method", "fgm", "--per-iteration", "8", "--iterations", "1", cites=JMLR)
check("names of pairs are text", EVIL + " " in page.text and EVIL not in page.source and not page.loads + page.drawn)
octants = (at > 0) @ [1, 2, 4] + 1  # of the last one, which is ras
image = nib.Nifti1Image(octants.reshape(shape).astype("i4"), affine)
nib.save(image, "octants.nii.gz")
run("cohort", "ras.tsv", "--image-column", "image", "--regions", "--atlas", "octants.nii.gz", "-q", "-o", "regions-c")
inside = np.asarray(nib.load("ras-c/mask.nii.gz").dataobj).ravel() > 0
regions = table(open("regions-c/regions.tsv"))
center = {f: at[(octants == int(i)) & inside].mean(0) for f, i in zip(regions["feature"], regions["index"])}
pairs("region-pairs", "regions-c", "--target", "dx", "--method", "fgm", "--per-iteration", "12", "--iterations", "2", cites=JMLR, places=center)
for target, words in (("dx", []), ("kind", ["--by-size"])):
    name = target + "-groups"
    page, about = generated(name, "ras-c", "--target", target, "--method", "fgm", "--groups", "tree:octree", "--per-iteration", "2", "--nselect", "3", *words, cites=JMLR)
    columns, (_, shown) = table(open(name + "/selected.tsv")), rows_after(page, "Selected groups")
    wanted = [[columns["group"][k], columns["features"][k], v(float(columns["weight"][k])), f"{int(100 * float(columns['share'][k]) + 0.5)}\u00a0%"]
              for c in (about["classes"] if target == "kind" else [None])
              for k in sorted((k for k in range(len(columns["group"])) if c is None or columns["class"][k] == c), key=lambda k: -float(columns["weight"][k]))]
    check(name + ": its table is that of the file", shown == wanted and len(wanted) == sum(o["selected"] for o in about["outputs"]), (shown, wanted))
    check(name + ": by size or not", ("root of their group's size" in page.text) == bool(words))
# ---- Groups that overlap are latent; of a table the page leaves it open -------------------------------
write("overlapping.tsv", {"group": ["a", "a", "b", "b"], "feature": ["x100", "x200", "x200", "x300"]})
for groups, words in (("file:overlapping.tsv", "in its latent form where groups overlap [2]"), ("patches:5", "in its latent form [2]")):
    run("fit", "ras-c", "--target", "dx", "--method", "group-lasso", "--groups", groups, "--force", "-q", "-o", "latent")
    run("report", "latent", "-o", "latent.html", "--force")
    check(groups + ": latent", words in Page("latent.html").text and "Obozinski" in Page("latent.html").text, Page("latent.html").text)
for name, words, label, points in (("iterations", ["--iterations", "4"], "iterations", [1, 2, 3, 4]), ("nselect", ["--nselect", "2,4,8"], "features to select", [2, 4, 8])):
    page, about = generated(name, "ras-c", "--target", "dx", "--method", "fgm", "--per-iteration", "2", "--choose-lambda", "3", *words, cites=JMLR)
    lines = [np.array([[float(v) for v in p.split(" ")] for p in d.split("L")]) for d in
             re.findall(r'<path fill="none" stroke="[^"]*" stroke-width="1.6" d="M(.*?)"', page.source)]
    check(name + ": figures are of what was tried", f">{label}</text>" in page.source and about[name] == points and len(lines) == 2 and
          all(np.allclose(page.axis("v4")(line[:, 0]), points, atol=0.02) for line in lines), lines)
run("cv", "ras-c", "--target", "dx", "--method", "fgm", "--per-iteration", "2", "--iterations", "3", "--folds", "3", "-q", "-o", "rounds-cv")
run("report", "rounds-cv", "-o", "rounds-cv.html")
page = Page("rounds-cv.html")
check("iterations of a cross-validation", "the number of iterations chosen by 5-fold inner CV" in page.text and "lambda" not in page.text and
      "How the number of iterations was chosen" in page.text and "(SAIF)" not in page.text and JMLR in page.text)
run("report", "las-pairs", "-o", "x.html", "--underlay", "nowhere", code=66)

# ---- Permutations ------------------------------------------------------------------------------------------
FACTS = ("method", "loss", "target", "subjects", "classes", "class_weights", "features", "features_are", "grid", "preprocessing", "dropped_list")
WORDS = {"r": "correlation r", "mae": "mean absolute error", "brier": "Brier score"}
quick = ["--nlambda", "5", "--folds", "3", "--inner-folds", "2", "-q"]


def facts(name, about, like):
    """Whom a run was on, as the cross-validation on the same cohort says, and the cohort."""
    other, cohort = json.load(open(like + "/cv.json")), json.load(open(about["cohort"] + "/cohort.json"))
    check(name + ": the facts of its cohort", all(about.get(k, "") == cohort.get(k) for k in FACTS[6:]), about)
    check(name + ": the facts of a cross-validation", all(about.get(k) == other.get(k) for k in FACTS if k in about or k in other),
          {k: (about.get(k), other.get(k)) for k in FACTS})


def permutations(name, *words, like):
    run("permute", *words, *quick, "-o", name)
    run("report", name, "-o", name + ".html")
    page, about = Page(name + ".html"), json.load(open(name + "/permute.json"))
    facts(name, about, like)
    null = np.array(table(open(name + "/null.tsv"))[about["metric"]], float)
    good = null <= about["observed"] if about["metric"] in ("mae", "brier") else null >= about["observed"]
    check(name + ": as many as good", good.sum() == about["exceedances"] and len(null) == about["permutations"], about)
    classes = list(about.get("classes", []))
    metric = f"AUC of {classes[1]} against {classes[0]}" if about["metric"] == "auc" else WORDS[about["metric"]]
    check(name + ": the lead", page.lead == f"{'Label' if classes else 'Target'} permutation test, {len(null)} permutations of the complete nested CV: "
          f"{metric} {v(about['observed'])}, p = {v(about['p'])}.", page.lead)
    check(name + ": and below it", f"{about['target']}, {about['subjects']} subjects. {good.sum()} of {len(null)} permutations reach the observed value." in page.text and
          f"Smallest possible p: {v(about['smallest_p'])}." in page.text, page.text)
    stopped = f"before {about['requested']} permutations (Besag" in page.text
    check(name + ": stopped early or not", stopped == (len(null) < about["requested"]), page.lead)
    check(name + ": no maps", not page.loads)
    check(name + ": a certificate of nothing", "Optimality certificate" not in page.text)
    check(name + ": bars hold them all", sum(int(b[4].split(": ")[1]) for b in page.bars) == len(null), page.bars)
    across, up = page.axis("v4"), page.axis("h-4")
    for x, y, width, height, title in page.bars:
        low, high = across(x), across(x + width)
        edge = 5e-3 * (high - low)  # coordinates have four digits, and empty models lie on 0.5 exactly
        inside = (null > low + edge) & (null < high - edge)
        check(name + ": a bar", abs(inside.sum() - int(title.split(": ")[1])) <= (abs(null[:, None] - [low, high]) < 1.2 * edge).sum() and
              abs(up(y) - up(y + height) - int(title.split(": ")[1])) < 0.02, (title, inside.sum()))
    check(name + ": a line at the observed value", len(page.marks) == 1 and abs(across(page.marks[0]) - about["observed"]) < 2e-3 * (across(348) - across(56)),
          (page.marks, about["observed"]))
    check(name + ": cites", ("Besag" in page.text) == ("--stop-at" not in words or words[words.index("--stop-at") + 1] != "0") and "Phipson" in page.text)
    return page, about


page, about = permutations("evil-p", "ras-c", "--target", "dx", "--permutations", "30", "--blocks", "site", like="evil-cv")
check("blocks", "Targets are exchanged within blocks (site)" in page.text and EVIL in page.text and EVIL not in page.source)
check("enough of them", about["smallest_p"] < 0.05 and not page.between("warn"))
page, about = permutations("early-p", "t", "--target", "score", "--permutations", "90", "--stop-at", "3", like="t-cv")
check("stops", about["permutations"] < 90 and about["exceedances"] == 3 and "stops early after 3 that reach the observed value" in page.text)
page, about = permutations("whole-p", "ras-c", "--target", "score", "--permutations", "12", "--stop-at", "0", "--blocks", "pair", "--whole-blocks", "--metric", "mae",
                           like="ras-cv")
check("whole blocks", "Blocks (pair) are exchanged whole" in page.text)
check("too few to tell anything", f"p cannot be below {v(about['smallest_p'])}" in page.between("warn"))
run("permute", "ras-c", "--target", "score", "--permutations", "4", "--folds-from", "site", "--nlambda", "4", "-q", "-o", "site-p")
run("report", "site-p", "-o", "site-p.html")
check("folds that are given", "cross-validation (folds from site, 5 inner folds with a tolerance of 1e-05)" in Page("site-p.html").text)
about["permutations"], about["observed"] = 5, 0.5
for name, values in (("same", ["0.5"] * 5), ("zero", ["0"] * 5), ("far", ["-1e300", "0", "1e300", "1", "2"]), ("near", [repr(1 + k * 2**-52) for k in range(5)])):
    shutil.copytree("whole-p", name)
    json.dump(about, open(name + "/permute.json", "w"))
    write(name + "/null.tsv", {"permutation": range(1, 6), "mae": values})
    run("report", name, "-o", name + ".html")
    page = Page(name + ".html")
    check("odd values: " + name, sum(int(b[4].split(": ")[1]) for b in page.bars) == 5, page.bars)
# numbers so large that one more is no more: the axis ends
shutil.copytree("t-cv", "large")
rows = [line.split("\t") for line in open("t-cv/predictions.tsv").read().splitlines()]
open("large/predictions.tsv", "w").write("\t".join(rows[0]) + "\n" + "".join("\t".join(r[:3] + [str(10**17 + 16 * k)] * 2) + "\n" for k, r in enumerate(rows[1:3])))
run("report", "large", "-o", "large.html")
check("an axis of large numbers", os.path.getsize("large.html") < 1e5)

# ---- Stability ---------------------------------------------------------------------------------------------


def stairs(page, log):
    """What each line of the figure says: (share, how many reach it)."""
    across, up = page.axis("v4"), page.axis("h-4", log)
    for d in re.findall(r'<path fill="none" stroke="[^"]*" stroke-width="1.6" d="M(.*?)"', page.source):
        corner = np.array([[float(v) for v in point.split(" ")] for point in d.split("L")])
        yield across(corner[1::2, 0]), up(corner[1::2, 1])


def stability(name, *words, like):
    run("stability", *words, "--nlambda", "12", "-q", "-o", name)
    run("report", name, "-o", name + ".html")
    page, about = Page(name + ".html"), json.load(open(name + "/stability.json"))
    facts(name, about, like)
    rows = table(open(name + "/frequencies.tsv"))
    shares = np.array([[float(v) for v in rows[c]] for c in rows if c.startswith("frequency")])
    stable = (shares >= about["threshold"]).sum(1)
    said = list(about["selected"].values()) if isinstance(about["selected"], dict) else [about["selected"]]
    check(name + ": stable", said == list(stable), (said, stable))
    kind = {"columns": "features"}.get(about["features_are"], about["features_are"])
    wanted = [f"(selection frequency of at least {g(about['threshold'])} in {about['halves']} halves", f"alsely selected {kind}", f": at most {g(about['error_bound'])} (Shah",
              f"two halves: {v(about['dice'])}", f"index: {v(about['nogueira'])} (", f"{about['target']}, {about['subjects']} subjects"]
    if len(said) > 1:
        wanted += [f" {x} for {k}" for k, x in about["selected"].items()] + [f"of {about['features']} {kind} are stable"]
    else:
        wanted += [f": {said[0]} of {about['features']} {kind} {'is' if said[0] == 1 else 'are'} stable"]
    check(name + ": the lead", all(w in page.lead for w in wanted), (page.lead, wanted))
    for row, (share, reach) in zip(shares, stairs(page, (shares > 0).sum(1).max() > 100), strict=True):
        levels = np.unique(row[row > 0])
        check(name + ": how many reach a share", np.allclose(share, levels, atol=2e-3) and np.allclose(reach, [(row >= x).sum() for x in levels], rtol=0.02, atol=0.02),
              (share, levels, reach))
    check(name + ": a line at the threshold", abs(page.axis("v4")(page.marks[0]) - about["threshold"]) < 2e-3, page.marks)
    cells = [[html.unescape(c) for c in re.findall(r"<td.*?>(.*?)</td>", row)] for row in re.findall(r'<tr>(<td class="t">.*?)</tr>', page.source.split("<h2>Selection frequencies")[1])]
    order = np.lexsort((np.arange(shares.shape[1]), -shares.max(0)))[:15]
    places = [[rows[d][k] for d in "xyz"] if "x" in rows else [] for k in order]
    check(name + ": the most frequent features", [[rows["feature"][k], *map(tenths, map(float, p)), *(f"<b>{v(x)}</b>" if x >= about["threshold"] else v(x) for x in shares[:, k])]
                                                  for k, p in zip(order, places)] == cells, cells)
    maps = [np.asarray(nib.load(f"{name}/{f}.nii.gz").dataobj).reshape(*shape, -1) for f in ("stable", "frequency") if about["features_are"] == "voxels"]
    check(name + ": two pictures of each map in which something is", len(page.loads) == 2 * sum((m > 0).any((0, 1, 2)).sum() for m in maps), len(page.loads))
    check(name + ": cites", all(w in page.text for w in ("Shah RD", "Meinshausen N", "Nogueira S")))
    return page, about


words = ["--pairs", "6", "--threshold", "0.7", "--select-features", "6"]
page, about = stability("las-s", "las-c", "--target", "score", *words, like="las-cv")
check("the voxel that counts is stable", about["selected"] >= 1)
values = {f: np.asarray(nib.load(f"las-s/{f}.nii.gz").dataobj) for f in ("mask", "frequency", "stable")}
check("its mask is the cohort's", np.array_equal(values["mask"], np.asarray(nib.load("las-c/mask.nii.gz").dataobj)))
check("all stable voxels are in a region", sum(map(int, re.findall(r"<tr><td>(\d+)</td>", page.source))) == about["selected"])
check("its certificate", "Every fit ended" in page.text)
page, about = stability("evil-s", "ras-c", "--target", "dx", *words, "--group", "pair", like="evil-cv")
check("groups", "subjects of one pair stay together" in page.text and EVIL in page.text and EVIL not in page.source)
page, about = stability("t-s", "t", "--target", "score", *words[:4], "--select-features", "2", like="t-cv")
check("names of features are text", EVIL + " 0" in page.text and EVIL not in page.source)
run("cv", "ras-c", "--target", "long", "--nlambda", "5", "--folds", "3", "-q", "-o", "long-cv")
run("report", "long-cv", "-o", "long.html")
page, about = stability("long-s", "ras-c", "--target", "long", *words[:4], like="long-cv")
run("stability", "ras-c", "--target", "score", "--pairs", "2", "--nlambda", "2", "--select-features", "1", "-q", "-o", "none")
run("report", "none", "-o", "none.html")
check("nothing selected", "No half selected any feature." in Page("none.html").text)
about = json.load(open("las-s/stability.json"))
about["converged"] = False
shutil.copytree("las-s", "unfinished")
json.dump(about, open("unfinished/stability.json", "w"))
run("report", "unfinished", "-o", "unfinished.html")
check("unfinished fits are told", "Some fits did not reach the tolerance" in Page("unfinished.html").text)

# ---- Damaged ones: tests/cli/test_report.sh sees what is said of them ---------------------------------------
for name, like, file, change in (
        ("cut-p", "early-p", "null.tsv", lambda t: t[:-1]), ("word-p", "early-p", "null.tsv", lambda t: t[:2] + ["2\tmany\n"] + t[3:]),
        ("lost-p", "early-p", "null.tsv", lambda t: t[:2] + ["2\tn/a\n"] + t[3:]), ("other-p", "early-p", "null.tsv", lambda t: ["permutation\tauc\n"] + t[1:]),
        ("cut-s", "t-s", "frequencies.tsv", lambda t: t[:-1]), ("few-s", "las-s", "frequencies.tsv", lambda t: [t[0]] + [x.replace("\t1\n", "\t0.5\n") for x in t[1:]]), ("word-s", "t-s", "frequencies.tsv", lambda t: t[:1] + ["0\tx\toften\n"] + t[2:]),
        ("other-s", "t-s", "frequencies.tsv", lambda t: ["index\tfeature\tfrequency_a\n"] + t[1:]),
        ("cut-pairs", "t-pairs", "pairs.tsv", lambda t: t[:-1]), ("far-pairs", "las-pairs", "pairs.tsv", lambda t: [t[0], "\t".join(t[1].split("\t")[:3] + ["99"] + t[1].split("\t")[4:])] + t[2:]),
        ("word-groups", "dx-groups", "selected.tsv", lambda t: [t[0], "\t".join(t[1].split("\t")[:1] + ["many"] + t[1].split("\t")[2:])] + t[2:]),
        ("cut-groups", "dx-groups", "selected.tsv", lambda t: t[:-1])):
    shutil.copytree(like, name)
    lines = change(open(f"{like}/{file}").readlines())
    open(f"{name}/{file}", "w").writelines(lines)

# ---- As a browser shows them -------------------------------------------------------------------------------
LOOK = """<iframe src="%s" width="%d" height="600" onload="
const d = this.contentDocument, w = d.documentElement.clientWidth, bad = [];
for (const e of d.body.querySelectorAll('*')) {
  const r = e.getBoundingClientRect();
  if (r.right > w + 1 && !e.closest('table') && getComputedStyle(e).position !== 'absolute') bad.push(e.tagName + r.right);
}
if (d.documentElement.scrollWidth > w + 1) bad.push('the page');
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
    for name in ("las", "evil", "three", "m", "t", "evil-p", "early-p", "whole-p", "las-s", "evil-s", "t-s", "long", "long-s", "las-pairs", "kind-pairs", "t-pairs", "region-pairs", "dx-groups", "iterations"):
        open("look.html", "w").write(LOOK % (name + ".html", width))
        seen = re.search(r"seen (\d+) (\w+) \[(.*?)\]", chromium("--dump-dom", "file://" + os.path.abspath("look.html")))
        images = len(Page(name + ".html").loads)
        check(f"{name} at {width}: all pictures, and nothing sticks out", seen and seen.groups() == (str(images), "true" if images else "true", ""),
              seen and seen.groups())
run("cv", "ras-c", "--target", "score", "--confounds", "site", "--nlambda", "4", "--folds", "3", "-q", "-o", "broad-cv")
run("report", "broad-cv", "-o", "broad.html")
open("look.html", "w").write("""<iframe src="broad.html" width="1100" height="600" onload="
document.body.append('cut: ' + [...this.contentDocument.querySelectorAll('table')].filter(t => t.scrollWidth > t.clientWidth + 1).length)"></iframe>""")
seen = chromium("--dump-dom", "file://" + os.path.abspath("look.html"))
check("no table with all baselines is cut", "cut: 0" in seen and "covariates + dense linear" in Page("broad.html").text, seen)
chromium("--screenshot=" + os.path.abspath("las.png"), "--window-size=1000,1600", "file://" + os.path.abspath("las.html"))
check("a screenshot", os.path.getsize("las.png") > 20000)
finish()
