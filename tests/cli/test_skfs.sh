# Kernel models against numpy; then what is refused.
run "$PYTHON" "$top/tests/model/skfs_agrees.py"
same "kernel models agree with numpy" "$code$(cat "$work/out" "$work/err")" 0

# what skfs_agrees.py made: cohort c (columns), models m and h
skfs() { # CODE PART OPTIONS...
    refuses "$1" "$2" voxsift fit c --target dx --method skfs -o x "${@:3}"
}
skfs 2 "'--laplacian' expects numbers that are not negative" --laplacian 1,-2
skfs 2 "'--laplacian' expects numbers that are not negative" --laplacian much
skfs 2 "'--laplacian' expects numbers that are not negative" --laplacian 1,
skfs 2 "'--laplacian' has 2 values; one is required unless folds choose (--choose-lambda, --inner-folds)" --laplacian 1,2
skfs 2 "'--bandwidth' expects a number above 0, or median, not '0'" --bandwidth 0
skfs 2 "'--bandwidth' expects a number above 0, or median, not 'wide'" --bandwidth wide
skfs 2 "confounds are taken out of the features, with '--confounds-as regress'" --confounds age
skfs 2 "method 'skfs' has no option '--ridge'" --ridge 1
skfs 2 "method 'skfs' has no use for '--penalty-factors'" --penalty-factors people.tsv
skfs 2 "'--graph grid18' is of voxels; the features are not" --graph grid18
skfs 66 "cannot read 'tre'" --graph tre
refuses 65 "method 'skfs' predicts classes; column 'score' holds scores" voxsift fit c --target score --method skfs -o x
refuses 2 "'--prefilter' does not go with method 'skfs'" voxsift cv c --target dx --method skfs --prefilter variance:0.5 -o x -q
refuses 2 "'--laplacian' has 2 values; one is required unless folds choose" \
    voxsift cv c --target dx --method skfs --laplacian 1,2 --inner-folds 0 -o x -q
refuses 2 "'--laplacian' expects one value here" voxsift stability c --target dx --method skfs --laplacian 1,2 -o x
[ -e x ] && fail "a refused run left its output" || pass

# a graph may have loops here, and goes with the model
printf 'from\tto\tweight\nf1\tf2\t1\nf2\tf3\t2\nf3\tf1\t1\n' > edges.tsv
run voxsift fit c --target dx --method skfs --graph edges.tsv --lambda-ratio 0.2 -o g -q
same "a graph with a loop" "$code$(wc -l < g/graph.tsv)" 04
rm edges.tsv
run voxsift check-model g c
same "its copy is enough" "$code" 0

# regions that touch, against numpy
"$PYTHON" - << 'PY'
import nibabel as nib
import numpy as np
rng = np.random.default_rng(3)
labels = np.kron(rng.integers(0, 6, (3, 2, 2)), np.ones((2, 3, 2), int))
affine = np.diag([3, 3, 3, 1])
nib.save(nib.Nifti1Image(labels.astype("i4"), affine), "atlas.nii.gz")
rows = ["participant_id\tdx\timage"]
for k in range(12):
    nib.save(nib.Nifti1Image((rng.normal(size=labels.shape) + 9).astype("f4"), affine), f"i{k}.nii.gz")
    rows.append(f"s{k}\t{'ab'[k % 2]}\ti{k}.nii.gz")
open("i.tsv", "w").write("\n".join(rows) + "\n")
edges = set()
for axis in range(3):
    a, b = np.moveaxis(labels, axis, 0)[:-1], np.moveaxis(labels, axis, 0)[1:]
    edges |= {tuple(sorted((int(p), int(q)))) for p, q in zip(a.ravel(), b.ravel()) if p != q and p and q}
open("edges.want", "w").write("".join(f"{p} {q}\n" for p, q in sorted(edges)))
PY
run voxsift cohort i.tsv --image-column image --regions --atlas atlas.nii.gz --mask-fraction 0.01 -o r -q
same "regions" "$code" 0
run voxsift fit r --target dx --method skfs --lambda-ratio 0.4 --laplacian 2 -o rm --json -q
same "regions that touch" "$code" 0
run voxsift check-model rm r
same "hold their certificate" "$code" 0
refuses 2 "'--graph grid6' is of voxels; the features are not" voxsift fit r --target dx --method skfs --graph grid6 -o x -q
refuses 2 "'--graph regions' is of regions; the features are not" voxsift fit c --target dx --method skfs --graph regions -o x -q
cp -r r odd && sed -i '$d' odd/regions.tsv
refuses 65 "'odd/regions.tsv' has" voxsift fit odd --target dx --method skfs -o x -q
# the same value as with these edges from a table
awk -F '\t' 'BEGIN { print "from\tto" } NR == FNR { name[$2] = $1; next } { print name[$1] "\t" name[$2] }' r/regions.tsv FS=' ' edges.want > touching.tsv
run voxsift fit r --target dx --method skfs --lambda-ratio 0.4 --laplacian 2 --graph touching.tsv -o rt --json -q
same "as numpy finds them" "$(grep -o '"primal": [0-9.]*' rm/model.json)" "$(grep -o '"primal": [0-9.]*' rt/model.json)"

# of classes that differ in size something is said once a run is made, not before it is refused
for command in fit "cv --folds 3"; do
    refuses 2 "'--bandwidth' expects a number above 0, or median, not 'wide'" \
        voxsift $command c --target dx --method skfs -o x --bandwidth wide
done

# files of a model that were tampered with
broken() { # PART SCRIPT
    rm -rf t && cp -r m t && "$PYTHON" -c "
import numpy as np
x, a = np.load('t/training.npy'), np.load('t/alpha.npy')
$2
np.save('t/training.npy', x); np.save('t/alpha.npy', a)"
    refuses 65 "$1" voxsift predict t c -q
}
broken "'t/training.npy' does not go with its model: it has other rows" "x = x[1:]"
broken "'t/training.npy' does not go with its model: a value is not finite" "x[0, 0] = np.nan"
broken "'t/training.npy' does not go with its model: it has other rows" "x = x.astype('f4')"
broken "'t/alpha.npy' does not go with its model: it has other columns" "a = a[:, 1:]"
rm -rf t && cp -r m t && rm t/kernels.tsv
refuses 66 "cannot read 't/kernels.tsv'" voxsift predict t c -q
rm -rf t && cp -r m t && sed -i '$d' t/bound.tsv && sed -i '2s/^1/2/' t/bound.tsv
refuses 65 "'t/bound.tsv' does not go with its model" voxsift check-model t c
run voxsift info m
holds "info" "skfs" "$work/out"
rm -rf ./*
nothing_left "skfs"
