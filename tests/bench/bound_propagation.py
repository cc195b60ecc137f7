"""Tables 3.2 to 3.5 and Figures 3.4 to 3.10 of the dissertation, made again: bound_propagation.py BUILD FOLDER
[PARTS]. Each part runs build/bound_propagation, which says how its lambdas are chosen, prints a table beside the
published one and draws figures into FOLDER. BP_LP_EVERY: linear programmes at every so many of the 51 lambdas."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from chart import draw

build, folder = sys.argv[1:3]
PARTS = ["squared", "logistic", "thirds", "sparse", "plain", "ratios", "lp", "dynamic"]
parts = [p for p in " ".join(sys.argv[3:]).replace(",", " ").split()] or PARTS
EVERY = int(os.environ.get("BP_LP_EVERY", "1"))
PUBLISHED = {  # rate, seconds without, with, of which screening; by the table's rows
    "squared": {2990: (0.897, 950.5, 160.3, 38.2), 2995: (0.878, 983.3, 176.4, 38.7), 2999: (0.940, 1549.9, 137.4, 33.6),
                3300: (0.699, 2344.5, 537.2, 47.7), 3600: (0.495, 2284.6, 924.9, 55.3), 3900: (0.347, 2456.0, 1434.7, 69.3)},
    "logistic": {1499: (0.981, 3648.9, 734.4, 19.4), 1650: (0.611, 4466.2, 2242.7, 24.8), 1800: (0.451, 5167.0, 3023.3, 28.6),
                 1950: (0.319, 5466.0, 3423.9, 28.5)},
    "sparse": {500: (0.962, 1113.8, 230.0, 154.6), 1500: (0.949, 1248.1, 271.0, 181.8), 3000: (0.892, 1584.3, 420.8, 273.1),
               4000: (0.861, 1897.8, 651.4, 313.3), 4999: (0.815, 2038.9, 626.7, 385.9), 6000: (0.744, 2376.1, 842.4, 483.2),
               7500: (0.681, 3954.5, 1087.0, 589.0), 9000: (0.625, 6805.5, 1365.4, 680.1), 10000: (0.567, 9873.0, 1777.2, 761.7)}}
LOOKS = [("#1d4ed8", "circle", False), ("#c2410c", "diamond", True), ("#15803d", "square", False), ("#7e22ce", "triangle", True)]
FIELDS = ["name", "n", "p", "edges", "sparsity", "seed", "plain", "share", "terms", "before", "after", "level", "screening",
          "solving", "without", "difference", "converged"]
LAMBDAS = [(1.0, "1"), (0.5, "0.5"), (0.2, "0.2"), (0.1, "0.1"), (0.05, "0.05")]
wrong = []


def styles(*names, size=2.2):
    return {name: {"color": color, "width": 1.8, "shape": shape, "size": size, "dashed": dashed}
            for name, (color, shape, dashed) in zip(names, LOOKS)}


def rows_of(part):
    """What the program said, by setting."""
    found = {}
    with open(f"{folder}/{part}.tsv") as f:
        for line in f:
            words = line.split()
            row = dict(zip(FIELDS, [words[0], *map(float, words[1:])]))
            found.setdefault((row["name"], int(row["edges"]), row["sparsity"]), []).append(row)
    return found


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def variance(values):
    values = list(values)
    return mean((v - mean(values)) ** 2 for v in values)


def rate(rows, which):
    return [r[which] / r["terms"] for r in rows]


def density(edges, p):
    return f"p - {p - edges}" if 0 < p - edges <= 10 else f"{edges / p:g}p"


def line(name, rows, which):
    return name, [(r["share"], r[which] / r["terms"], True) for r in rows]


def table(part):
    print("| edges | rate before (var.) | in all (var.) | published | sparse level | screening s | with it s | without s | "
          "published, with, without | prim. diff. (var.) |\n|" + " --- |" * 10)
    for (name, edges, _), rows in rows_of(part).items():
        before, after, apart = rate(rows, "before"), rate(rows, "after"), [r["difference"] for r in rows]
        screening, solving = (sum(r[k] for r in rows) for k in ("screening", "solving"))
        without, levels = sum(r["without"] for r in rows), [r["level"] for r in rows]
        published = PUBLISHED[name][edges]
        if screening + solving >= without or not all(r["converged"] for r in rows):
            wrong.append(f"{name}, {edges} edges: slower with screening, or not converged")
        if mean(after) < published[0]:
            wrong.append(f"{name}, {edges} edges: fewer terms than published")
        print(f"| {density(edges, int(rows[0]['p']))} | {mean(before):.3f} ({variance(before):.0e}) | {mean(after):.3f} "
              f"({variance(after):.0e}) | {published[0]:.3f} | [{min(levels):.3f}, {max(levels):.3f}] | {screening:.2f} | "
              f"{screening + solving:.2f} | {without:.2f} | {published[2]:g}, {published[1]:g} | {mean(apart):.0e} "
              f"({variance(apart):.0e}) |")


def thirds():
    print("| problem | edges | rate before | in all | published | sparse level |\n|" + " --- |" * 6)
    for (name, edges, _), rows in rows_of("thirds").items():
        levels = [r["level"] for r in rows]
        print(f"| {name} | {density(edges, int(rows[0]['p']))} | {mean(rate(rows, 'before')):.3f} | "
              f"{mean(rate(rows, 'after')):.3f} | {PUBLISHED[name][edges][0]:.3f} | [{min(levels):.3f}, {max(levels):.3f}] |")


def draw_plain():
    """Figures 3.4 and 3.5, with the paths of the tables."""
    names = ["with transformation", "without"]
    panels, trees = [], []
    print("| problem | edges | rate without transformation | with |\n|" + " --- |" * 4)
    for (name, edges, sparsity), rows in rows_of("plain").items():
        same, p = rows_of(name)[name, edges, sparsity], int(rows[0]["p"])
        panel = {"title": f"{name}, {density(edges, p)}", "xname": "lambda / lambda_max", "ticks": LAMBDAS}
        panels.append(panel | {"lines": [line(names[0], same, "before"), line(names[1], rows, "before")]})
        print(f"| {name} | {density(edges, p)} | {mean(rate(rows, 'before')):.3f} | {mean(rate(same, 'before')):.3f} |")
        if edges == p - 1:
            trees.append(panel | {"lines": [line("before the solver begins", same, "before"), line("by its end", same, "after")]})
    draw(f"{folder}/bp-transform.svg", "Terms known to be 0 before the solver begins", "52 lambdas, a share of the terms",
         "rejection rate", names, panels, styles(*names), logy=False)
    names = ["before the solver begins", "by its end"]
    draw(f"{folder}/bp-trees.svg", "Terms known to be 0 where the graph is a tree", "p - 1 edges, 52 lambdas, a share of the terms",
         "rejection rate", names, trees, styles(*names), logy=False)


def draw_ratios():
    found, lines = rows_of("ratios"), {}
    print("| lambda1 / lambda2 | edges | rate before | in all |\n|" + " --- |" * 4)
    for (_, edges, sparsity), rows in found.items():
        name = density(edges, 5000) + " edges"
        print(f"| {sparsity:g} | {density(edges, 5000)} | {mean(rate(rows, 'before')):.3f} | {mean(rate(rows, 'after')):.3f} |")
        for which, words in (("before", name), ("after", name + ", by the end")):
            lines.setdefault(words, []).append((sparsity, mean(rate(rows, which)), True))
    panel = {"title": "n = 100, p = 5,000", "xname": "lambda1 / lambda2", "lines": list(lines.items()),
             "ticks": [(0.1, "0.1"), (0.2, "0.2"), (0.5, "0.5"), (1, "1"), (2, "2"), (5, "5"), (10, "10")]}
    draw(f"{folder}/bp-ratio.svg", "Sparse fused lasso: terms known to be 0", "mean of 51 lambdas, before the solver begins and by its end",
         "rejection rate", list(lines), [panel], styles(*lines, size=3.4), logy=False)


def programmes():
    """By graph and lambda: share of lambda_max, and of every term our bounds and the programme's."""
    said = [list(map(float, text.split()[1:])) for text in open(f"{folder}/lp.tsv")]
    print("| edges | lambdas | rate, ours | by programmes | bounds s, ours | by programmes | with screening s | looser by | cuts off |"
          "\n|" + " --- |" * 9)
    for edges in (600, 650):
        rows = {int(r[3]): r for r in said if int(r[2]) == edges}
        bounds = {}
        for text in open(f"{folder}/lp-{edges}-bounds.tsv"):
            values = list(map(float, text.split()))
            bounds.setdefault(int(values[0]), []).append(values[2:])
        count, seconds, looser, cut = map(float, open(f"{folder}/lp-{edges}-seconds.tsv").read().split())
        used = [rows[k] for k in bounds]
        yield edges, {rows[k][4]: of for k, of in bounds.items()}
        rates = [mean(rate_of(of, low) for of in bounds.values()) for low in (0, 2)]
        print(f"| {density(edges, 500)} | {count:.0f} | {rates[0]:.3f} | {rates[1]:.3f} | {sum(r[7] for r in used):.4f} | "
              f"{seconds:.1f} | {sum(r[8] for r in used):.2f} | {looser:.0e} | {cut:.0e} |")


def rate_of(bounds, low):
    return mean(b[low] > 1e-9 - 1 and b[low + 1] < 1 - 1e-9 for b in bounds)


def draw_programmes():
    ways, widths = ["bound propagation", "linear programmes"], ["mean", "variance"]
    rates, ends, apart = [], [], []
    for edges, found in programmes():
        panel = {"title": f"{density(edges, 500)} edges", "xname": "lambda / lambda_max", "ticks": LAMBDAS[:3] + [(0.1, "0.1")]}
        rates.append(panel | {"lines": [(name, [(x, rate_of(of, low), True) for x, of in found.items()])
                                        for name, low in zip(ways, (0, 2))]})
        ends.append(panel | {"lines": [(name, [(x, mean(b[low + side] for b in of), True) for x, of in found.items()])
                                       for name, low in zip(ways, (0, 2)) for side in (0, 1)]})
        gaps = {x: [d for b in of for d in (b[2] - b[0], b[1] - b[3])] for x, of in found.items()}
        apart.append(panel | {"lines": [(name, [(x, max(f(v), 1e-12), True) for x, v in gaps.items()])
                                        for name, f in zip(widths, (mean, variance))]})
    size = f"n = 50, p = 500, every {EVERY}th of 51 lambdas" if EVERY > 1 else "n = 50, p = 500, 51 lambdas"
    for name, title, yname, names, panels, logy in (
            ("rates", "Terms known to be 0, by bounds of u", "rejection rate", ways, rates, False),
            ("bounds", "Average upper and lower bounds of u", "bounds", ways, ends, False),
            ("apart", "How much wider bound propagation's bounds are", "difference", widths, apart, True)):
        draw(f"{folder}/bp-lp-{name}.svg", title, size, yname, names, panels, styles(*names, size=3), logy=logy)


def draw_dynamic():
    rows = [list(map(float, text.split()[1:])) for text in open(f"{folder}/dynamic.tsv")]
    print("| lambda / lambda_max | gap | iterations, without | with | terms known | ms without | with |\n|" + " --- |" * 7)
    for _, _, _, share, digits, plain, screened, _, known, without, seconds in rows:
        print(f"| {share:g} | 1e-{digits:.0f} | {plain:.0f} | {screened:.0f} | {known:.0f} | {1e3 * without:.2f} | {1e3 * seconds:.2f} |")
    shares, names = sorted({r[3] for r in rows}), ["without screening", "with dynamic screening"]
    terms = [f"{share:g} of lambda_max" for share in shares]
    panel = {"title": "n = 50, p = 1,500, 1.1p edges", "xname": "iterations of the interior point",
             "ticks": [(k, str(k)) for k in range(4, 15, 2)]}
    panel["lines"] = [(name, sorted({(r[6], r[8], True) for r in rows if r[3] == share})) for name, share in zip(terms, shares)]
    draw(f"{folder}/bp-dynamic-terms.svg", "Dynamic screening: terms known to be 0", "at the end, by gaps from 1e-1 to 1e-9; 1,650 terms",
         "terms", terms, [panel], styles(*terms, size=3.4), logx=False, logy=False)
    panels = [{"title": name, "xname": "gap", "ticks": [(10.0**-k, f"1e-{k}") for k in (1, 3, 5, 7, 9)],
               "lines": [(way, [(10.0 ** -r[4], 1e3 * r[at], True) for r in rows if r[3] == share])
                         for way, at in zip(names, (9, 10))]} for name, share in zip(terms, shares)]
    draw(f"{folder}/bp-dynamic-time.svg", "Dynamic screening: milliseconds to a gap", "n = 50, p = 1,500, 1.1p edges, processor's time",
         "ms", names, panels, styles(*names, size=3), logy=False)


def solve(part):
    with open(f"{folder}/{part}.tsv", "w") as out:
        subprocess.run([build + "/bound_propagation", part, folder], stdout=out, check=True)
    for edges in (600, 650) if part == "lp" else ():
        subprocess.run([sys.executable, os.path.dirname(os.path.abspath(__file__)) + "/bound_lp.py", folder, str(edges),
                        str(EVERY)], check=True)


SHOW = {"thirds": thirds, "plain": draw_plain, "ratios": draw_ratios, "lp": draw_programmes, "dynamic": draw_dynamic}
for part in parts:
    if not os.environ.get("BP_DRAW"):
        solve(part)
    print(f"\n{part}\n")
    SHOW.get(part, lambda: table(part))()
sys.exit("\n".join(wrong) or None)
