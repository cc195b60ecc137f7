# Messages about new subjects name the user's files and lines, never a temporary one.
voxsift simulate lasso --subjects 40 --features 6 -q -o s > "$work/out"
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "age" : 20 + NR, NR == 1 ? "sex" : NR % 2 ? "f" : "m" }' s/participants.tsv > who.tsv
"$PYTHON" - << 'EOP'
import nibabel as nib
import numpy as np
x = np.load("s/features.npy").T
np.save("x.npy", x)
np.save("few.npy", x[:, :5])
ids = [line.split("\t")[0] for line in open("who.tsv")][1:]
names = [f"x{j}" for j in range(6)]
with open("f.tsv", "w") as f, open("other.tsv", "w") as g:
    for file, header in (f, names), (g, names[::-1]):
        file.write("\t".join(["participant_id"] + header) + "\n")
        for i, row in zip(ids, x):
            file.write("\t".join([i] + [str(v) for v in row]) + "\n")
with open("x.svm", "w") as f:
    for row in x:
        f.write("1 " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) + "\n")
rng = np.random.default_rng(1)
with open("who.tsv") as f, open("images.tsv", "w") as g:
    for k, line in enumerate(f):
        name = f"{line.split()[0]}.nii.gz" if k else "image"
        g.write(line.rstrip("\n") + "\t" + name + "\n")
        if k:
            nib.save(nib.Nifti1Image(rng.normal(5, 1, (4, 4, 4)).astype("f4"), np.eye(4)), name)
EOP
works "a cohort" voxsift cohort --npy x.npy --rows who.tsv -q -o c
run voxsift fit c --target score --confounds age,sex -q -o m
works "one of images" voxsift cohort images.tsv --image-column image --mask-fraction 0.5 -q -o ci
run voxsift fit ci --target score --confounds age -q -o mi
# A model that dropped voxels with gaps needs a value in each of its own, on its grid and on others.
"$PYTHON" - << 'EOP'
import nibabel as nib
import numpy as np
for way in ("same", "flipped"):
    x = np.random.default_rng(9).normal(5, 1, (4, 4, 4)).astype("f4")
    x[1, 1, 1] = np.nan
    affine = np.eye(4) if way == "same" else np.diag([-1, 1, 1, 1]) + np.array([[0, 0, 0, 3]] + 3 * [[0] * 4])
    nib.save(nib.Nifti1Image(x, affine), f"{way}.nii.gz")
EOP
works "voxels with gaps are dropped" voxsift cohort images.tsv --image-column image --mask-fraction 0.5 --nan drop -q -o cd
run voxsift fit cd --target score -q -o md
for way in same flipped; do
    refuses 65 "1 of the model's 64 voxels have no value in some image; leave out images with NaN" voxsift predict md "$way.nii.gz" --resample -q
done
change() { sed "$1" who.tsv > changed.tsv; sed "$1" images.tsv > pictures.tsv; }
# usage: names WORDS: of a table changed.tsv or pictures.tsv, wherever it is given
names() {
    refuses 65 "'changed.tsv' $1" voxsift predict m --npy x.npy --rows changed.tsv
    refuses 65 "'changed.tsv' $1" voxsift predict m --feature-table f.tsv --participants changed.tsv
    refuses 65 "'pictures.tsv' $1" voxsift predict mi pictures.tsv --image-column image
    refuses 65 "'changed.tsv' $1" voxsift predict mi 'sub-*.nii.gz' --participants changed.tsv
}
change 's/age/years/'
names "has no column 'age'"
change 's/\t45\t/\tforty\t/'
names "line 25, column 'age': 'forty' is not a number"
change '5s/\t[^\t]*\t/\tmuch\t/'
names "line 5, column 'score': 'much' is not a number"
change '2{x;p;x;};s/\t45\t/\tforty\t/' # a line that is empty
names "line 26, column 'age': 'forty' is not a number"
{ head -n 1 who.tsv; sed 1d who.tsv | sort -r; } | sed 's/\t45\t/\tforty\t/' > changed.tsv
refuses 65 "'changed.tsv' line $(grep -n forty changed.tsv | cut -d : -f 1), column 'age': 'forty' is not" voxsift predict m --feature-table f.tsv --participants changed.tsv
refuses 65 "'f.tsv' has no column 'age'" voxsift predict m --feature-table f.tsv
refuses 65 "'x.svm' has no column 'age'" voxsift predict m --svmlight x.svm
refuses 65 "cannot predict for 'few.npy': it has 5 features, the model 6" voxsift predict m --npy few.npy --rows who.tsv
refuses 65 "cannot predict for 'other.tsv': its feature 0 is 'x5', the model's 'x0'" voxsift predict m --feature-table other.tsv --participants who.tsv
# the folder of temporary files itself
refuses 73 "cannot write temporary files in '$PWD/nowhere': No such file" env TMPDIR="$PWD/nowhere" voxsift predict m --npy x.npy --rows who.tsv
full() { (trap '' XFSZ; ulimit -f $blocks; "$@" 2>&1 > /dev/null) | cat > said; }
mkdir tmp
for blocks in 0 1; do for how in "m --npy x.npy --rows who.tsv" "m --feature-table f.tsv --participants who.tsv" "mi images.tsv --image-column image"; do
    full env TMPDIR="$PWD/tmp" voxsift predict $how
    holds "a full disk: $how" "temporary files in '$PWD/tmp'" said
    same "no file that is temporary" "$(grep -c "voxsift-" said)" 0
done; done
same "nothing is left there" "$(ls tmp)" ""
rm -rf ./*
nothing_left "predict"

# A subject whose features lie far outside what training saw is named: 100 times brighter, or empty; other subjects and a
# modest offset are not.
"$PYTHON" - << 'EOP'
import numpy as np
rng = np.random.default_rng(5)
n, p = 60, 50
g = rng.normal(size=(n + 20, 4))
x = 100 * (1 + 0.05 * g @ rng.normal(size=(4, p)) + 0.05 * rng.normal(size=(n + 20, p)))
y = g[:, 0]
def save(name, x, first, count):
    np.save(f"{name}.npy", x.astype("f4"))
    with open(f"{name}.tsv", "w") as f:
        f.write("participant_id\ty\tdx\n")
        for i in range(first, first + count):
            f.write(f"{name}{i:03}\t{y[i]!r}\t{'pq'[int(y[i] > 0)]}\n")
save("old", x[:n], 0, n)
save("new", x[n:], n, 20)
save("other", 1.2 * x[n:], n, 20)
x[n + 3] *= 100
x[n + 7] = 0
save("wrong", x[n:], n, 20)
EOP
for name in old new other wrong; do
    run voxsift cohort --npy $name.npy --rows $name.tsv --person participant_id -q -o c-$name
done
for how in "--target y" "--target dx --method skfs" "--target dx --method fgm --nselect 3 --per-iteration 1"; do
    run voxsift fit c-old $how -q -o m --force
    same "$how" "$code" 0
    for name in old new other; do
        run voxsift predict m c-$name --json
        holds "nobody of $name is far: $how" '"far_from_training": []' "$work/out"
    done
    run voxsift predict m c-wrong -q
    holds "who is far is named: $how" "far outside those of the training" "$work/err"
    holds "with id" "wrong063" "$work/err"
    run voxsift predict m c-wrong --json
    holds "in JSON too" '"far_from_training": ["wrong063", "wrong067"]' "$work/out"
done
rm -rf ./*
nothing_left "predict"
