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
