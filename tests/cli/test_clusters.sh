# stability --clusters: the clusters are Ward's, by code of its own; what is selected among them is what is selected
# among the same means as columns; parts are the whole; the bound stands for clusters.
voxsift simulate spheres --shape 9,8,7 --subjects 40 --regions 1 --radius 2 --smooth 4 -q -o s > "$work/out"
few=(--target score --pairs 6 --seed 3)
works "clusters" voxsift stability s "${few[@]}" --clusters 30 -q -o c
cat > check.py <<'EOF'
import gzip, json, struct, sys
import numpy as np

def image(path):
    raw = gzip.open(path).read()
    shape = struct.unpack_from('<3h', raw, 42)
    kind = {2: '<u1', 8: '<i4', 16: '<f4'}[struct.unpack_from('<h', raw, 70)[0]]
    start = int(struct.unpack_from('<f', raw, 108)[0])
    affine = np.array(struct.unpack_from('<12f', raw, 280)).reshape(3, 4)
    return np.frombuffer(raw, kind, int(np.prod(shape)), start).reshape(shape, order='F'), affine

def table(path):
    rows = [line.rstrip('\n').split('\t') for line in open(path)]
    return rows[0], rows[1:]

def ward(z, at, count):
    """Merges by a full search; z: voxels x subjects, at: their indices on the grid."""
    name = list(range(len(z)))
    cell = {tuple(a): k for k, a in enumerate(at)}
    edges = [(k, cell[tuple(np.add(a, s))]) for k, a in enumerate(at)
             for s in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) if tuple(np.add(a, s)) in cell]
    mean, size = {k: z[k].astype(float) for k in name}, {k: 1 for k in name}
    while len(mean) > count:
        pairs = {(min(name[a], name[b]), max(name[a], name[b])) for a, b in edges if name[a] != name[b]}
        cost = {(a, b): size[a] * size[b] / (size[a] + size[b]) * ((mean[a] - mean[b]) ** 2).sum() for a, b in pairs}
        a, b = min(cost, key=cost.get)
        mean[a] = (size[a] * mean[a] + size[b] * mean[b]) / (size[a] + size[b])
        size[a] += size[b]
        del mean[b], size[b]
        name = [a if n == b else n for n in name]
    return name

x = np.load('s/features.npy').astype(float)
mask, affine = image('s/mask.nii.gz')
label, _ = image('c/regions.nii.gz')
at = np.argwhere(mask.transpose(2, 1, 0) > 0)[:, ::-1]
of = label[tuple(at.T)]
z = x - x.mean(1, keepdims=True)
z /= z.std(1, keepdims=True)
name = ward(z.astype(np.float32), at, 30)
assert len(set(zip(name, of))) == 30 == len(set(of)), 'clusters differ from those by a full search'
assert list(dict.fromkeys(of)) == list(range(1, 31)), 'clusters are numbered by their first voxels'
means = np.stack([x[of == k].mean(0) for k in range(1, 31)]).astype(np.float32)
np.save('means.npy', means.T)
about = json.load(open('c/stability.json'))
assert about['counted'] == 'clusters' and about['clusters'] == about['candidates'] == 30
mm = at @ affine[:, :3].T + affine[:, 3]
far = lambda p: max(np.linalg.norm(a - b) for a in p for b in p)
assert abs(about['tolerance_mm'] - max(far(mm[of == k]) for k in range(1, 31))) < 1e-4
head, rows = table('c/frequencies.tsv')
volume = abs(np.linalg.det(affine[:, :3]))
for row in rows:
    r = dict(zip(head, row))
    own = mm[of == int(r['index'])]
    assert np.allclose([float(r[d]) for d in 'xyz'], own.mean(0), atol=0.1), row
    assert int(r['voxels']) == len(own) and abs(float(r['mm3']) - len(own) * volume) < 0.1, row
    assert abs(float(r['diameter_mm']) - far(own)) < 0.1, row
    assert 0 <= float(r['positive']) <= 1
frequency, _ = image('c/frequency.nii.gz')
stable, _ = image('c/stable.nii.gz')
share = {int(dict(zip(head, r))['index']): float(dict(zip(head, r))['frequency']) for r in rows}
assert np.allclose(frequency[tuple(at.T)], [share.get(k, 0) for k in of])
assert ((stable > 0) == (frequency >= about['threshold'])).all()
assert about['selected'] == sum(f >= about['threshold'] for f in share.values())
EOF
works "their voxels, means, places and maps" "$PYTHON" check.py

# the same means as columns of a cohort: the same halves select the same
works "a cohort of the means" voxsift cohort --npy means.npy --rows s/participants.tsv --id-column participant_id -q -o m
works "stability of it" voxsift stability m "${few[@]}" -q -o d
cat > beside.py <<'EOF'
rows = [dict(zip(*[l.rstrip('\n').split('\t') for l in (open(f'{d}/frequencies.tsv').readlines()[0], line)]))
        for d in 'cd' for line in open(f'{d}/frequencies.tsv').readlines()[1:]]
share = [{int(r['index']) - first: r['frequency'] for r in rows if ('diameter_mm' in r) == bool(first)} for first in (1, 0)]
assert share[0] == share[1] and len(share[0]) > 2, share
EOF
works "what is selected among clusters is what is selected among their means" "$PYTHON" beside.py

# clusters do not depend on the target, nor on the threads
awk -F '\t' -v OFS='\t' 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "score") s = k; print; next } { $s = (NR * 7919) % 101; print }' \
    s/participants.tsv > other.tsv
cp -r s other && cp other.tsv other/participants.tsv
works "another target" voxsift stability other "${few[@]}" --clusters 30 --nthreads 2 -q -o e
run cmp c/regions.nii.gz e/regions.nii.gz
same "its clusters" "$code" 0

# parts are the whole
for k in 1 2 3; do voxsift stability s "${few[@]}" --clusters 30 --chunk $k/3 -q -o c-$k > "$work/out"; done
works "merge" voxsift merge c-1 c-2 c-3 -q -o cm
for file in frequencies.tsv frequency.nii.gz stable.nii.gz clusters.tsv regions.nii.gz halves.tsv; do
    run cmp c/$file cm/$file
    same "$file of parts" "$code" 0
done
voxsift stability s "${few[@]}" --clusters 29 --chunk 3/3 -q -o c-x > "$work/out"
run voxsift merge c-1 c-2 c-x -o never
same "parts of other clusters" "$code" 65

# an atlas instead: its regions as a cohort has them
"$PYTHON" -c "
import gzip, struct, numpy as np
raw = bytearray(gzip.open('s/mask.nii.gz').read())
n = np.prod(struct.unpack_from('<3h', raw, 42)); kind = struct.unpack_from('<h', raw, 70)[0]; at = int(struct.unpack_from('<f', raw, 108)[0])
assert kind == 2
v = np.frombuffer(raw, np.uint8, n, at).copy(); v = v * (np.arange(n) // 40 % 12 + 1).astype(np.uint8)
raw[at:at + n] = v.tobytes(); gzip.open('atlas.nii.gz', 'wb').write(raw)"
works "regions of an atlas" voxsift stability s "${few[@]}" --clusters atlas:atlas.nii.gz -q -o a
same "their number" "$("$PYTHON" -c "import json; print(json.load(open('a/stability.json'))['clusters'])")" 12

# all methods that select, and the page
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "dx" : ((NR * 7919) % 101 > 50 ? "AD" : "CN") }' s/participants.tsv > classes.tsv
cp -r s dx && cp classes.tsv dx/participants.tsv
for method in lasso "fused --sparsity 1 --graph grid6" skfs "fgm --per-iteration 2" hsic-lasso; do
    # shellcheck disable=SC2086
    works "$method" voxsift stability dx --target dx --class-weights none --pairs 2 --clusters 20 --method $method -q -o "x-${method%% *}"
done
works "its page" voxsift report c -q -o c.html
holds "the page names what is counted" "of 30 clusters" c.html
holds "and the tolerance" "Spatial tolerance" c.html

# what is refused
refuses 2 "'--clusters 1' expects a number from 2 to 504" voxsift stability s "${few[@]}" --clusters 1 -o n
refuses 2 "'--clusters 505' expects a number from 2 to 504" voxsift stability s "${few[@]}" --clusters 505 -o n
refuses 2 "'--clusters few' is not known" voxsift stability s "${few[@]}" --clusters few -o n
refuses 2 "'--clusters atlas:' expects an atlas" voxsift stability s "${few[@]}" --clusters atlas: -o n
refuses 2 "the features are not" voxsift stability m "${few[@]}" --clusters 5 -o n
refuses 2 "give one of the two" voxsift stability s "${few[@]}" --method group-lasso --groups patches:4 --clusters 5 -o n
same "nothing was written" "$(ls -d n 2>/dev/null)" ""

# what to try: by a path of two models nothing or everything is selected; clusters do not go with groups
run voxsift stability s --target score --pairs 2 --method graphnet --nlambda 2 -o few
holds "why no half selected any" "more values of lambda (--nlambda)" "$work/out"
run voxsift report few -q -o few.html
holds "the page says it as well" "more values of lambda (--nlambda)" few.html
run voxsift stability s --target score --pairs 2 --select-features 1 --threshold 1 --seed 2 -o none
holds "clusters are advised" "--clusters auto" "$work/out"
run voxsift stability s --target score --pairs 2 --method group-lasso --groups patches:3 --select-features 20 --threshold 1 --seed 2 -o grouped
holds "without groups" "try: a larger --wrong" "$work/out"
