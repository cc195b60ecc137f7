"""Edits of files that voxsift reads: drawn at random with knowledge of the format, and applied.

An edit is a list [operation, file, arguments...] of JSON values, so that a failing case is a few lines of JSON that
anybody can read and apply again. Files are relative to the directory under test."""
import ast
import gzip
import hashlib
import json
import os
import re
import shutil
import struct
import zlib

NUMBERS = ["0", "-0.0", "1", "-1", "0.5", "1.5", "2", "3", "7", "1e9", "2147483648", "4294967296", "9007199254740993",
           "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e15", "1e19", "1e60", "1e300",
           "-1e300", "1.7976931348623157e308", "5e-324", "1e-300", "1e-9"]
TOKENS = NUMBERS + ["null", "true", "false", '""', '"x"', '"1"', '"nan"', '"../x"', '"none"', '"lasso"', '"fused"', '"skfs"',
                    '"fgm"', '"mslr"', '"voxels"', '"regions"', '"columns"', '"sparse"', '"dense"', '"squared"',
                    '"logistic"', '"multinomial"', '"balanced"', '"unit"', "[]", "{}", "[[]]", "[null]", "[1,2,3]", "1e999",
                    "NaN", "-", '"\\ud800"', '"\\u0000"', '"' + "y" * 5000 + '"', "[" * 3000 + "]" * 3000,
                    '{"a":' * 500 + "1" + "}" * 500]
CELLS = NUMBERS + ["", "n/a", "nan", "inf", "-inf", "1e400", "0x10", "x", "1,5", " 1", "f1", "f2", "f999", "a", "b", "-7",
                   "\"", "\"x", "é", "y" * 3000]
DTYPES = ["<f4", "<f8", ">f4", ">f8", "<f2", "<i4", "<i8", "<u8", "|u1", "|b1", "|O", "<i2"]
SIZES = [0, 1, 2, 3, 5, 19, 21, 1000, 2**31, 2**32, 2**61, 2**62, 2**63, 2**64 - 1, 2**64]
ITEMS = [0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e9, 1e30, -1e30, 1e-30, 1e308, -1e308, 4294967295.0, 1e15, float("nan"),
         float("inf"), float("-inf")]
MOST_ITEMS = 1 << 20  # that a file of an array grows to
CODES = {"<f4": "<f", "<f8": "<d", ">f4": ">f", ">f8": ">d", "<i4": "<i", "<i8": "<q", "<u8": "<Q", "|u1": "B", "|b1": "B",
         "<i2": "<h", "<u4": "<I"}
# What a file that an edit before this one broke may cause here.
BROKEN = (OSError, ValueError, LookupError, SyntaxError, ArithmeticError, AttributeError, TypeError, RecursionError, EOFError, struct.error, zlib.error)


# ---- JSON: values are text, so that numbers of any size and repeated keys survive --------------------------------

class Object(list):
    """Pairs of key and value, in order."""


class Raw(str):
    """A value as it stands in the file."""


def parse(text):
    return json.loads(text, object_pairs_hook=Object, parse_float=Raw, parse_int=Raw, parse_constant=Raw)


def render(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Object):
        return "{" + ",".join(json.dumps(k) + ":" + render(v) for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(render, value)) + "]"
    return json.dumps(value)


def children(value):
    return range(len(value)) if isinstance(value, list) else []


def child(value, k):
    return value[k][1] if isinstance(value, Object) else value[k]


def paths(value, here=()):
    for k in children(value):
        yield here + (k,)
        yield from paths(child(value, k), here + (k,))


def parent(root, path):
    for k in path[:-1]:
        root = child(root, k)
    return root, path[-1]


def named(root, path):
    """A path of positions as one of keys, which a reader understands and which survives another order."""
    out = []
    for k in path:
        out.append(root[k][0] if isinstance(root, Object) else k)
        root = child(root, k)
    return out


def found(root, names):
    out = []
    for name in names:
        k = [key for key, _ in root].index(name) if isinstance(root, Object) else name
        if not isinstance(root, list) or k >= len(root):
            raise LookupError(names)
        out.append(k)
        root = child(root, k)
    return tuple(out)


def draw_json(rng, root, file):
    with open(os.path.join(root, file), encoding="utf-8") as f:
        tree = parse(f.read())
    every = list(paths(tree))
    # members of long lists are alike; each key counts once
    once = list({tuple(x if isinstance(x, str) else 0 for x in named(tree, p)): p for p in rng.sample(every, len(every))}.values())
    path = rng.choice(once)
    where = named(tree, path)
    above, last = parent(tree, path)
    kind = rng.choice(["set"] * 8 + ["drop", "drop", "twice", "rename", "copy", "copy", "grow", "order"])
    if kind == "set":
        return [["json-set", file, where, rng.choice(TOKENS)]]
    if kind == "copy":
        return [["json-copy", file, where, named(tree, rng.choice(once))]]
    if kind == "rename" and isinstance(above, Object):
        return [["json-rename", file, where, rng.choice(["", "x", above[0][0], "n/a"])]]
    if kind == "grow":
        return [["json-grow", file, where, rng.choice([2, 3, 100])]]
    return [["json-" + (kind if kind in ("drop", "twice", "order") else "drop"), file, where]]


def edit_json(operation, path, where, *args):
    with open(path, encoding="utf-8") as f:
        tree = parse(f.read())
    at = found(tree, where)
    above, last = parent(tree, at)
    value = child(above, last)

    def put(new):
        above[last] = (above[last][0], new) if isinstance(above, Object) else new
    if operation == "set":
        put(Raw(args[0]))
    elif operation == "copy":
        source, k = parent(tree, found(tree, args[0]))
        put(Raw(render(child(source, k))))
    elif operation == "rename":
        above[last] = (args[0], value)
    elif operation == "drop":
        del above[last]
    elif operation == "twice":
        above.insert(last, above[last])
    elif operation == "grow":
        put(type(value)(value * args[0]) if isinstance(value, list) else Raw("[" + ",".join([render(value)] * args[0]) + "]"))
    elif operation == "order":
        above.reverse()
    with open(path, "w", encoding="utf-8") as f:
        f.write(render(tree))


# ---- Tables ------------------------------------------------------------------------------------------------------

def cells_of(path):
    with open(path, encoding="utf-8", newline="") as f:
        return [line.split("\t") for line in f.read().rstrip("\n").split("\n")]


def draw_tsv(rng, root, file):
    rows = cells_of(os.path.join(root, file))
    r, c = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
    kind = rng.choice(["cell"] * 6 + ["copy"] * 3 + ["row-drop", "row-twice", "row-swap", "row-shuffle", "column-drop", "column-twice",
                                                     "column-swap", "rename", "column-set", "keep"])
    if kind == "cell":
        return [["tsv-cell", file, r, c, rng.choice(CELLS)]]
    if kind == "copy":
        same_column = rng.random() < 0.7
        return [["tsv-copy", file, r, c, rng.randrange(len(rows)), c if same_column else rng.randrange(len(rows[0]))]]
    if kind == "rename":
        return [["tsv-cell", file, 0, c, rng.choice(["", "x", "participant_id", "feature", "index", rng.choice(rows[0])])]]
    if kind == "column-set":
        return [["tsv-column-set", file, c, rng.choice(CELLS)]]
    if kind == "keep":
        return [["tsv-keep", file, rng.choice([0, 1, 2, 3])]]
    if kind in ("row-swap",):
        return [["tsv-row-swap", file, r, rng.randrange(len(rows))]]
    if kind == "column-swap":
        return [["tsv-column-swap", file, c, rng.randrange(len(rows[0]))]]
    if kind == "row-shuffle":
        return [["tsv-reverse", file]]
    return [["tsv-" + kind, file, r if kind.startswith("row") else c]]


def edit_tsv(operation, path, *a):
    rows = cells_of(path)
    if operation == "cell":
        rows[a[0]][a[1]] = a[2]
    elif operation == "copy":
        rows[a[0]][a[1]] = rows[a[2]][a[3]]
    elif operation == "row-drop":
        del rows[a[0]]
    elif operation == "row-twice":
        rows.insert(a[0], list(rows[a[0]]))
    elif operation == "row-swap":
        rows[a[0]], rows[a[1]] = rows[a[1]], rows[a[0]]
    elif operation == "reverse":
        rows[1:] = rows[:0:-1]
    elif operation == "keep":
        del rows[1 + a[0]:]
    else:
        for k, row in enumerate(rows):
            if operation == "column-drop":
                del row[a[0]]
            elif operation == "column-twice":
                row.insert(a[0], row[a[0]])
            elif operation == "column-swap":
                row[a[0]], row[a[1]] = row[a[1]], row[a[0]]
            elif operation == "column-set" and k > 0:
                row[a[0]] = a[1]
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write("".join("\t".join(row) + "\n" for row in rows))


# ---- NPY ---------------------------------------------------------------------------------------------------------

def npy_of(path):
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack("<H", data[8:10])[0]
    return ast.literal_eval(data[10:10 + length].decode()), data[10 + length:]


def write_npy(path, about, items):
    shape = "(" + "".join(f"{s}, " for s in about["shape"]) + ")"
    text = f"{{'descr': '{about['descr']}', 'fortran_order': {about['fortran_order']}, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + items)


def draw_npy(rng, root, file):
    about, items = npy_of(os.path.join(root, file))
    size = struct.calcsize(CODES[about["descr"]])
    kind = rng.choice(["item"] * 6 + ["copy"] * 2 + ["shape", "shape", "dtype", "dtype", "order", "resize", "resize", "flatten", "fill"])
    count = len(items) // size
    if kind == "item" and count:
        return [["npy-item", file, rng.choice([0, count - 1, rng.randrange(count)]), repr(rng.choice(ITEMS))]]
    if kind == "copy" and count:
        return [["npy-copy", file, rng.randrange(count), rng.randrange(count)]]
    if kind == "dtype":
        return [["npy-dtype", file, rng.choice(DTYPES), rng.random() < 0.5]]
    if kind == "order":
        return [["npy-order", file]]
    if kind == "flatten":
        return [["npy-flatten", file]]
    if kind == "fill":
        return [["npy-fill", file, repr(rng.choice(ITEMS))]]
    axis = rng.randrange(len(about["shape"])) if about["shape"] else 0
    if kind == "shape":
        return [["npy-shape", file, axis, rng.choice(SIZES)]]
    return [["npy-resize", file, axis, rng.choice([-1, 1, -2, 7, -1000])]]


def packed(code, value):
    try:
        return struct.pack(code, value if code[-1] in "fd" else int(value))
    except (struct.error, OverflowError, ValueError):
        if code[-1] == "f":
            return struct.pack(code, 3.4e38 if value > 0 else -3.4e38)
        size = struct.calcsize(code)
        return (b"\xff" if value > 0 else b"\x80") * size


def edit_npy(operation, path, *a):
    about, items = npy_of(path)
    code = CODES[about["descr"]]
    size = struct.calcsize(code)
    shape = list(about["shape"])
    if operation == "item":
        items = items[:a[0] * size] + packed(code, float(a[1])) + items[(a[0] + 1) * size:]
    elif operation == "copy":
        items = items[:a[0] * size] + items[a[1] * size:(a[1] + 1) * size] + items[(a[0] + 1) * size:]
    elif operation == "fill":
        items = packed(code, float(a[0])) * (len(items) // size)
    elif operation == "dtype":
        if a[1] and a[0] in CODES:  # the same values, as far as they can be
            values = [x[0] for x in struct.iter_unpack(code, items)]
            items = b"".join(packed(CODES[a[0]], x) for x in values)
        about["descr"] = a[0]
    elif operation == "order":
        about["fortran_order"] = not about["fortran_order"]
    elif operation == "flatten":
        shape = [len(items) // size]
    elif operation == "shape":
        shape[a[0]] = a[1]
    elif operation == "resize":
        shape[a[0]] = max(0, shape[a[0]] + a[1])
        count = 1
        for s in shape:
            count *= s
        count = min(max(0, count), MOST_ITEMS)  # an edit before this one may have made the shape huge
        items = (items + items[:size] * count)[:count * size]
    about["shape"] = shape
    write_npy(path, about, items)


# ---- Images, checkpoints, bytes ----------------------------------------------------------------------------------

def draw_nii(rng, root, file):
    with gzip.open(os.path.join(root, file)) as f:
        length = len(f.read())
    kind = rng.choice(["short", "short", "real", "real", "item", "item", "cut", "zero"])
    if kind == "short":  # dim, datatype, bitpix
        return [["nii-bytes", file, rng.choice([40, 42, 44, 46, 48, 50, 52, 70, 72, 252, 254]),
                 struct.pack("<h", rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 16, 64, 128, 512, 1792, 32767, -1, -32768])).hex()]]
    if kind == "real":  # pixdim, vox_offset, scale, sform
        return [["nii-bytes", file, rng.choice([76, 80, 84, 88, 108, 112, 116, 256, 268] + list(range(280, 328, 4))),
                 struct.pack("<f", rng.choice([0, 1, -1, 2, 1e-30, 1e30, 3e38, 352, 353, 1e9, float("nan"), float("inf")])).hex()]]
    if kind == "item":
        return [["nii-bytes", file, rng.randrange(352, max(353, length - 4)), rng.choice(["00000000", "01", "00", "ff", "0000803f", "0000c07f", "000080ff"])]]
    return [["nii-cut", file, rng.randrange(length)]] if kind == "cut" else [["nii-zero", file]]


def edit_nii(operation, path, *a):
    with gzip.open(path) as f:
        data = bytearray(f.read())
    if operation == "bytes":
        new = bytes.fromhex(a[1])
        data[a[0]:a[0] + len(new)] = new
    elif operation == "cut":
        del data[a[0]:]
    elif operation == "zero":
        data[352:] = bytes(len(data) - 352)
    with open(path, "wb") as f:
        f.write(gzip.compress(bytes(data), 1, mtime=0))


HASH = 64


def records(data):
    """Where records of a checkpoint begin, and how many numbers they have."""
    at = data.index(b"\n") + 1
    while at + 16 <= len(data):
        unit, count = struct.unpack("<QQ", data[at:at + 16])
        if at + 16 + 8 * count + HASH > len(data):
            return
        yield at, unit, count
        at += 16 + 8 * count + HASH


def draw_checkpoint(rng, root, file):
    with open(os.path.join(root, file), "rb") as f:
        every = list(records(f.read()))
    if not every:
        return []
    r = rng.randrange(len(every))
    count = every[r][2]
    kind = rng.choice(["item"] * 8 + ["unit", "length", "length", "again"])
    if kind == "item" and count:
        k = rng.choice([rng.randrange(count), rng.randrange(min(count, 60)), 0, count - 1])
        return [["checkpoint-item", file, r, k, repr(rng.choice(ITEMS))]]
    if kind == "length":
        return [["checkpoint-length", file, r, rng.choice([0, 1, max(0, count - 1), count + 1, count // 2])]]
    if kind == "unit":
        return [["checkpoint-unit", file, r, rng.choice([0, 1, 5, 1000, 2**32, 2**63, 2**64 - 1])]]
    return [["checkpoint-again", file, r]]


def edit_checkpoint(operation, path, r, *a):
    with open(path, "rb") as f:
        data = f.read()
    at, unit, count = list(records(data))[r]
    end = at + 16 + 8 * count + HASH
    numbers = data[at + 16:at + 16 + 8 * count]
    if operation == "item":
        numbers = numbers[:8 * a[0]] + struct.pack("<d", float(a[1])) + numbers[8 * a[0] + 8:]
    elif operation == "length":
        numbers = (numbers + bytes(8 * a[0]))[:8 * a[0]]
    elif operation == "unit":
        unit = a[0]
    whole = struct.pack("<QQ", unit, len(numbers) // 8) + numbers
    whole += hashlib.sha256(whole).hexdigest().encode()
    with open(path, "wb") as f:
        f.write(data[:at] + whole * (2 if operation == "again" else 1) + data[end:])


PLACES = ["empty", "directory", "fifo", "loop", "nowhere", "null", "zero", "socket"]


def draw_bytes(rng, root, file, wait):
    length = os.path.getsize(os.path.join(root, file))
    kind = rng.choice(["flip"] * 3 + ["cut", "cut", "insert", "replace", "replace", "replace", "remove", "remove", "tail"])
    at = rng.randrange(length) if length else 0
    if kind == "flip":
        return [["bytes-flip", file, at, rng.randrange(8)]]
    if kind == "cut":
        return [["bytes-cut", file, at]]
    if kind == "insert":
        return [["bytes-insert", file, at, rng.choice(["00", "ff", "22", "0a", "09", "0d", "efbbbf", "1b5b316d", "c3", "5d", "7d"])]]
    if kind == "replace":
        return [["replace", file, rng.choice([p for p in PLACES if not (wait and p == "fifo")])]]
    return [["remove", file]] if kind == "remove" else [["bytes-tail", file, rng.choice([1, 4, 8, 100])]]


def edit_bytes(operation, path, *a):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    if operation == "flip":
        data[a[0]] ^= 1 << a[1]
    elif operation == "cut":
        del data[a[0]:]
    elif operation == "insert":
        data[a[0]:a[0]] = bytes.fromhex(a[1])
    elif operation == "tail":
        data += data[-a[0]:]
    with open(path, "wb") as f:
        f.write(data)


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def replace(path, place):
    remove(path)
    if place == "empty":
        open(path, "w").close()
    elif place == "directory":
        os.mkdir(path)
    elif place == "fifo":
        os.mkfifo(path)
    elif place == "socket":
        os.mknod(path, 0o140644)
    else:
        os.symlink({"loop": os.path.basename(path), "nowhere": "/nowhere/at/all", "null": "/dev/null", "zero": "/dev/zero"}[place], path)


# ---- Sums that files keep of each other: whoever has them right gets past the first check ------------------------

def set_number(path, pattern, text):
    with open(path, encoding="utf-8") as f:
        about = f.read()
    about = re.sub(pattern, lambda m: m.group(1) + text, about, count=1)
    with open(path, "w", encoding="utf-8") as f:
        f.write(about)


def mend_sums(root):
    part, numbers = os.path.join(root, "part.json"), os.path.join(root, "numbers.npy")
    if os.path.isfile(part) and os.path.isfile(numbers):
        digest = hashlib.sha256(npy_of(numbers)[1]).hexdigest()
        set_number(part, r'("numbers_sha256": ?)"[^"]*"', f'"{digest}"')
    model, weights = os.path.join(root, "model.json"), os.path.join(root, "weights.tsv")
    if os.path.isfile(model) and os.path.isfile(weights):
        rows = cells_of(weights)[1:]
        with open(model, encoding="utf-8") as f:
            pieces = re.split(r'("sum_of_weights": ?)[-+.0-9e]+', f.read())
        outputs = len(pieces) // 2
        for k in range(outputs):
            total = 0.0
            for row in rows:
                total += float(row[len(row) - outputs + k])
            pieces[2 * k + 1] += repr(total)
        with open(model, "w", encoding="utf-8") as f:
            f.write("".join(pieces))
    cohort = os.path.join(root, "cohort.json")
    if os.path.isfile(cohort):
        mend_features(root, cohort)


def mend_features(root, cohort):
    """What cohort.json records of each file of features."""
    with open(cohort, encoding="utf-8") as f:
        tree = parse(f.read())
    for entry in dict(tree).get("features_files", []):
        path = os.path.join(root, dict(entry)["file"])
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as f:
                digest = hashlib.sha256(f.read()).hexdigest()
            entry[[key for key, _ in entry].index("sha256")] = ("sha256", digest)
    with open(cohort, "w", encoding="utf-8") as f:
        f.write(render(tree))


# ---- All of them -------------------------------------------------------------------------------------------------

def draw_one(rng, root, file, wait):
    """`wait`: the user named the file, so that a pipe is rightly waited for."""
    kinds = {".json": draw_json, ".tsv": draw_tsv, ".npy": draw_npy, ".gz": draw_nii, ".checkpoint": draw_checkpoint}
    structured = kinds.get(os.path.splitext(file)[1])
    if not os.path.isfile(os.path.join(root, file)) or os.path.islink(os.path.join(root, file)):
        return [["remove", file]]
    if structured and rng.random() < 0.85:
        try:
            return structured(rng, root, file)
        except BROKEN:
            pass
    return draw_bytes(rng, root, file, wait)


def apply(root, edit, seeds):
    """False when the file is not there, or not what the edit was drawn for."""
    operation, path = edit[0], os.path.join(root, edit[1]) if len(edit) > 1 else root
    family, _, what = operation.partition("-")
    try:
        if operation == "sums":
            for folder, _, _ in list(os.walk(root)):
                mend_sums(folder)
        elif operation == "remove":
            remove(path)
        elif operation == "replace":
            replace(path, edit[2])
        elif operation == "swap":  # with a file of another seed, or of this one
            remove(path)
            shutil.copy(os.path.join(seeds, edit[2]), path)
        else:
            editors = {"json": edit_json, "tsv": edit_tsv, "npy": edit_npy, "nii": edit_nii, "checkpoint": edit_checkpoint,
                       "bytes": edit_bytes}
            if not os.path.isfile(path) or os.path.islink(path):
                return False
            editors[family](what, path, *edit[2:])
    except BROKEN:
        return False
    return True
