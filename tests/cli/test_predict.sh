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
    holds "a full disk: $how" "temporary files in '$PWD/tmp': " said
    same "no file that is temporary" "$(grep -c "voxsift-" said)" 0
done; done
same "nothing is left there" "$(ls tmp)" ""
rm -rf ./*
nothing_left "predict"
