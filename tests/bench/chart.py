"""Lines on logarithmic or plain axes, side by side on one scale, written as SVG: as much as docs/benchmarks.md needs."""
from html import escape
from math import ceil, floor, log10

WIDE = {1: 560, 2: 390, 3: 260, 4: 215}  # a panel, by how many there are
HEIGHT, LEFT, TOP, GAP, BELOW = 230, 66, 112, 18, 66
SHAPES = {  # of radius 1
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    "triangle": [(0, -1.2), (1.2, 0.9), (-1.2, 0.9)],
}


def text(x, y, words, size=12, anchor="middle", color="#333", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}"{more}>{escape(words)}</text>'


def rule(x1, y1, x2, y2, color, width=1, more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"{more}/>'


def mark(x, y, style, whole=True):
    """Filled when whole, else open."""
    paint = f'fill="{style["color"] if whole else "#fff"}" stroke="{style["color"]}" stroke-width="1.8"'
    radius = style["size"]
    if style["shape"] == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {paint}/>'
    corners = " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in SHAPES[style["shape"]])
    return f'<polygon points="{corners}" {paint}/>'


def dashes(style):
    return ' stroke-dasharray="6 4"' if style["dashed"] else ""


def legend(names, styles):
    out, x = [], LEFT
    for name in names:
        out += [rule(x, TOP - 40, x + 30, TOP - 40, styles[name]["color"], styles[name]["width"], dashes(styles[name])),
                mark(x + 15, TOP - 40, styles[name]), text(x + 37, TOP - 36, name, anchor="start")]
        x += 37 + 6.6 * len(name) + 24
    return out


def lines_of(panel, at, height_of, styles):
    out = []
    for name, points in panel["lines"]:
        style, places = styles[name], [(at(x), height_of(y), whole) for x, y, whole in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{style["color"]}" stroke-width="{style["width"]}"'
                   f'{dashes(style)}/>')
        out += [mark(x, y, style, whole) for x, y, whole in places]
    return out


def itself(x):
    return x


def plain_ticks(low, high):
    """Some five round values between."""
    step = 10.0 ** floor(log10(high - low))
    step *= next(f for f in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (f * step) <= 7)
    return [(k * step, True) for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def decade_ticks(low, high):
    """Each digit of each decade, and whether it is a 1."""
    every = [(digit * 10.0**decade, digit == 1) for decade in range(floor(low), ceil(high) + 1) for digit in range(1, 10)]
    return [(y, whole) for y, whole in every if low <= log10(y) <= high]


def draw(path, title, notes, yname, names, panels, styles, logx=True, logy=True):
    """Names: of the legend. Each panel: title, xname, ticks (values and words, from left to right), lines: name and
    points (x, y, reached)."""
    values = [y for p in panels for _, points in p["lines"] for _, y, _ in points]
    across, up = log10 if logx else itself, log10 if logy else itself
    more = 0.15 if logy else 0.04 * (max(values) - min(values))
    low, high = up(min(values)) - more, up(max(values)) + more
    wide, bottom = WIDE[len(panels)], TOP + HEIGHT
    width = LEFT + len(panels) * (wide + GAP)
    whole = all(reached for p in panels for _, points in p["lines"] for _, _, reached in points)

    def height_of(y):
        return bottom - (up(y) - low) / (high - low) * HEIGHT

    out = [text(LEFT, 26, title, 16, "start", "#111", ' font-weight="bold"'), text(LEFT, 47, notes, 12, "start", "#555"),
           *legend(names, styles), text(16, TOP + HEIGHT / 2, yname, more=f' transform="rotate(-90 16 {TOP + HEIGHT / 2})"')]
    for k, panel in enumerate(panels):
        left, first, last = LEFT + k * (wide + GAP), panel["ticks"][0][0], panel["ticks"][-1][0]

        def at(x):
            return left + wide * (0.08 + 0.84 * (across(x) - across(first)) / (across(last) - across(first)))

        for y, whole_tick in (decade_ticks if logy else plain_ticks)(low, high):
            out.append(rule(left, height_of(y), left + wide, height_of(y), "#ccc" if whole_tick else "#f1f1f1"))
            if whole_tick and k == 0:
                out.append(text(LEFT - 7, height_of(y) + 4, f"{y:g}", anchor="end"))
        for x, words in panel["ticks"]:
            out += [rule(at(x), bottom, at(x), bottom + 5, "#333"), text(at(x), bottom + 19, words)]
        out += [f'<rect x="{left}" y="{TOP}" width="{wide}" height="{HEIGHT}" fill="none" stroke="#888"/>',
                text(left + wide / 2, TOP - 9, panel["title"], 13, color="#111"),
                text(left + wide / 2, bottom + 39, panel["xname"]), *lines_of(panel, at, height_of, styles)]
    if not whole:
        out.append(text(LEFT, bottom + 59, "open marks: gave up before the gap was reached", anchor="start", color="#555"))
    height = bottom + BELOW - (18 if whole else 0)
    with open(path, "w") as f:
        f.write("\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                           f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
                           f"<title>{escape(title)}</title>", f'<rect width="{width}" height="{height}" fill="#fff"/>', *out,
                           "</svg>\n"]))
