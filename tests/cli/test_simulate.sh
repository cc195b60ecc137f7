# Same bits for any number of threads; numpy reads what we write and we read what numpy writes.
works "one thread" voxsift simulate lasso --features 20000 --seed 5 --nthreads 1 -o one
for n in 2 3 8; do
    works "$n threads" voxsift simulate lasso --features 20000 --seed 5 --nthreads $n -o more
    run diff -r one more
    same "$n threads, same bits" "$code" 0
    rm -r more
done
works "fewer threads than asked for" env OMP_THREAD_LIMIT=1 \
    voxsift simulate lasso --features 20000 --seed 5 --nthreads 4 -o more
run diff -r one more
same "thread limit, same bits" "$code" 0
refuses 73 "it exists; pass --force to replace it" voxsift simulate lasso -o one
works "--force" voxsift simulate lasso --features 30 -o one --force --json
same "replaced whole" "$(ls -A | tr '\n' ' ')$(ls one | tr '\n' ' ')" \
    "more one cohort.json features.npy participants.tsv truth.tsv "
rm -r one more

voxsift simulate lasso --subjects 40 --features 300 --noise 0 -o sim > "$work/out"
holds "it says where things are" "sim/truth.tsv" "$work/out"
same "numpy finds the same model" "$("$PYTHON" - << 'EOF'
import json
import numpy as np
x = np.load("sim/features.npy", mmap_mode="r")
rows = [line.rstrip("\n").split("\t") for line in open("sim/participants.tsv")]
truth = [line.split("\t") for line in open("sim/truth.tsv")][1:]
y = np.array([float(r[1]) for r in rows[1:]])
b = np.zeros(len(x))
for name, weight in truth:
    b[int(name[1:])] = float(weight)
about = json.load(open("sim/cohort.json"))
print(x.dtype, x.shape, x.flags.c_contiguous, np.count_nonzero(b),
      np.abs(y - x.T.astype(float) @ b).max() < 1e-9, about["parameters"]["seed"])
EOF
)" "float32 (300, 40) True 60 True 1"
works "quiet" voxsift simulate lasso -q --features 10 -o quiet
rm -r sim quiet
nothing_left "simulate"

# A graph of the features.
voxsift simulate fused --subjects 10 --features 50 -o sim > "$work/out"
holds "it says where the graph is" "sim/graph.tsv" "$work/out"
same "files of a graph" "$(ls sim | tr '\n' ' ')" "cohort.json features.npy graph.tsv participants.tsv truth.tsv "
rm -r sim
refuses 2 "'--edges' and '--trees' exclude each other" voxsift simulate fused --edges 1.2 --trees 3 -o x
refuses 2 "20 features are too few for 30 trees" voxsift simulate fused --features 20 --trees 30 -o x
refuses 2 "expects a number between 1 and 1000, not '0.9'" voxsift simulate fused --edges 0.9 -o x
refuses 2 "model 'lasso' has no option '--trees'" voxsift simulate lasso --trees 3 -o x
nothing_left "graphs"

# Pairs of features.
voxsift simulate pairs --subjects 10 --features 50 -o sim > "$work/out"
holds "it says what counts" "the pairs of features with nonzero weight" "$work/out"
same "files of pairs" "$(ls sim | tr '\n' ' ')" "cohort.json features.npy participants.tsv truth.tsv "
rm -r sim
refuses 2 "7 features are too few for 4 pairs" voxsift simulate pairs --features 7 --pairs 4 -o x
refuses 2 "model 'pairs' has no option '--target'" voxsift simulate pairs --target score -o x
nothing_left "pairs"

# Images with spheres that matter.
works "agrees with numpy" "$PYTHON" "$top/tests/simulate/simulate_agrees.py"
nothing_left "simulate_agrees.py"
little="--subjects 8 --voxel-size 6 --radius 1"
for model in skfs-linear skfs-additive skfs-nonadditive spheres; do
    works "$model" voxsift simulate $model $little -q -o "$model"
    holds "$model: what it says of the images" "over the voxels of an image" "$work/out"
    works "$model: info" voxsift info "$model"
    holds "$model: info knows" "simulated" "$work/out"
    works "$model: --json" voxsift simulate $model $little --force --json -q -o "$model"
    same "$model: JSON" "$("$PYTHON" -c 'import json,sys
d = json.load(open(sys.argv[1])); print(d["simulation"], d["subjects"], d["sphere_voxels"], d["parameters"]["radius"])' "$work/out")" "$model 8 7 1"
done
works "a model of a simulation" voxsift fit spheres --target score --lambda-ratio 0.5 -o model -q
same "files of a simulation" "$(ls -A spheres | tr '\n' ' ')" \
    ".voxsift cohort.json coverage.nii.gz features.npy mask.nii.gz participants.tsv truth.nii.gz truth.tsv "
rm -r skfs-* spheres model
works "bags" voxsift simulate bags --subjects 12 --shape 8,8,8 -q -o bags
holds "bags: what it says" "3 textures of 16 voxels" "$work/out"
rm -r bags
refuses 65 "no cube of 9 voxels an edge is within the mask" voxsift simulate bags --shape 8,8,8 --edge 9 -o x
refuses 2 "model 'bags' has no option '--radius'" voxsift simulate bags --radius 2 -o x

# An option that a model does not have, and everything that cannot be simulated.
refuses 2 "model 'lasso' has no option '--radius'" voxsift simulate lasso --radius 3 -o x
refuses 2 "model 'skfs-linear' has no option '--nonzero'" voxsift simulate skfs-linear --nonzero 1 -o x
refuses 2 "model 'spheres' has no option '--warp'" voxsift simulate --warp 1 spheres -o x
refuses 2 "unknown MODEL 'skfs-lineal'; did you mean 'skfs-linear'?" voxsift simulate skfs-lineal -o x
refuses 2 "a whole number between 4 and 100000, not '3'" voxsift simulate skfs-linear --subjects 3 -o x
refuses 2 "a whole number between 1 and 50, not '0'" voxsift simulate spheres --radius 0 -o x
for shape in 5,5 5,5,5,5 0,5,5 5.5,5,5 5,5,x 1001,1,1 nan,5,5; do
    refuses 2 "option '--shape' expects X,Y,Z, three whole numbers from 1 to 1000, not '$shape'" \
        voxsift simulate spheres --shape "$shape" -o x
done
refuses 2 "'--shape' and '--mask' exclude each other" voxsift simulate spheres --shape 9,9,9 --mask m.nii -o x
refuses 2 "'--shape' applies to simulated images only" voxsift simulate spheres --shape 9,9,9 --images i -o x
refuses 2 "model 'skfs-linear' has no option '--shape'" voxsift simulate skfs-linear --shape 9,9,9 -o x
refuses 65 "no sphere of radius 30 voxels fits into the mask, which has 10633 voxels; one of radius " \
    voxsift simulate skfs-linear --radius 30 --subjects 4 -o x
refuses 65 "of 60 spheres of radius 4 voxels fit into the mask" \
    voxsift simulate spheres --regions 60 --subjects 4 -o x
refuses 66 "cannot read 'nowhere.nii'" voxsift simulate skfs-linear --mask nowhere.nii -o x
refuses 66 "cannot read 'nowhere'" voxsift simulate skfs-linear --images nowhere -o x
refuses 66 "no file matches 'no/*.nii'" voxsift simulate skfs-linear --images 'no/*.nii' -o x
mkdir empty
refuses 66 "the sources contain no image" voxsift simulate skfs-linear --images empty -o x
printf 'participant_id\tage\na\t1\n' > table.tsv
refuses 2 "--images expects a folder, a list of images (.txt) or a pattern, not 'table.tsv'" \
    voxsift simulate skfs-linear --images table.tsv -o x
"$PYTHON" - << 'EOF'
import os
import nibabel as nib
import numpy as np
rng = np.random.default_rng(1)
def save(path, shape, step=3.0, code=2, scale=100.0):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    affine = np.diag([step, step, step, 1])
    image = nib.Nifti1Image((scale * (5 + rng.standard_normal(shape))).astype("f4"), affine)
    image.set_sform(affine, code)
    image.set_qform(affine, code)
    nib.save(image, path)
for k in range(6):
    save(f"t1/sub-{k}.nii.gz", (9, 9, 9))
    save(f"odd/sub-{k}.nii.gz", (9, 9, 9 + (k == 4)))
    save(f"moved/sub-{k}.nii.gz", (9, 9, 9), 3.0 + 0.2 * (k == 4))
    save(f"loud/sub-{k}.nii.gz", (9, 9, 9), scale=1e7)
    save(f"series/sub-{k}.nii.gz", (9, 9, 9, 2) if k == 4 else (9, 9, 9))
    save(f"twins/sub-{k}.nii.gz", (9, 9, 9))
    save(f"twins/sub-{k}.nii", (9, 9, 9))
nib.save(nib.Nifti1Image(np.ones((9, 9, 9), "u1"), np.diag([3.0, 3, 3, 1])), "mask.nii")
nib.save(nib.Nifti1Image(np.zeros((9, 9, 9), "u1"), np.diag([3.0, 3, 3, 1])), "nothing.nii")
nib.save(nib.Nifti1Image(np.ones((8, 9, 9), "u1"), np.diag([3.0, 3, 3, 1])), "small.nii")
open("t1/sub-5.nii.gz", "r+b").truncate(900)
EOF
own="--radius 1 --subjects 6 -q -o x --images"
refuses 65 "'t1' has 6 images, but 200 subjects are required; pass --subjects" \
    voxsift simulate skfs-linear --images t1 -o x
refuses 65 "'t1/sub-5.nii.gz'" voxsift simulate skfs-linear $own t1 --mask mask.nii
refuses 65 "'odd/sub-4.nii.gz' has 9 x 9 x 10 voxels, 'odd/sub-0.nii.gz' has 9 x 9 x 9; pass --resample" \
    voxsift simulate skfs-linear $own odd --mask mask.nii
refuses 65 "differs from that of 'moved/sub-0.nii.gz' (RAS) by" \
    voxsift simulate skfs-linear $own moved --mask mask.nii
works "--resample" voxsift simulate skfs-linear $own moved --mask mask.nii --resample
rm -r x
refuses 65 "'series/sub-4.nii.gz' has 2 volumes; one per subject is required" \
    voxsift simulate skfs-linear $own series --mask mask.nii
refuses 65 "'twins/sub-0.nii' and 'twins/sub-0.nii.gz' have the same id 'sub-0'" \
    voxsift simulate skfs-linear $own twins --mask mask.nii
refuses 65 "the header of 'odd/sub-0.nii.gz' does not declare MNI space, which the default mask requires; pass --mask" \
    voxsift simulate skfs-linear -q --radius 1 --subjects 4 --images 'odd/sub-[0-3]*' -o x
refuses 65 "cannot use 'small.nii' as mask: it has 8 x 9 x 9 voxels, the images have 9 x 9 x 9" \
    voxsift simulate skfs-linear $own loud --mask small.nii
refuses 65 "the mask has no voxel" voxsift simulate skfs-linear $own loud --mask nothing.nii
refuses 65 "psi of 'sub-0' is not finite: its intensities are too large for the model; pass --sigma 262.75" \
    voxsift simulate skfs-additive $own loud --mask mask.nii
works "--sigma" voxsift simulate skfs-additive $own loud --mask mask.nii --sigma 262.75
rm -r x t1 odd moved loud series twins empty ./*.nii table.tsv
run timeout -s INT 0.5 voxsift simulate skfs-linear --subjects 20000 -q -o x
same "interrupted" "$(cat "$work/err")" "voxsift simulate: interrupted while simulating"
nothing_left "refused simulations leave nothing"
