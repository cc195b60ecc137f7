# Cohorts of every kind against numpy and nibabel; misuse of the command.
run "$PYTHON" "$top/tests/cohort/cohort_agrees.py"
same "cohorts agree with numpy and nibabel" "$code$(cat "$work/out" "$work/err")" 0
refuses 2 "option '--out DIR' is missing" voxsift cohort img
refuses 2 "one source is required" voxsift cohort -o x
refuses 2 "one source is required" voxsift cohort img --svmlight x.svm -o x
refuses 2 "'people.tsv' is a table; pass --image-column or --pattern" voxsift cohort people.tsv -o x
refuses 2 "--regions requires --atlas" voxsift cohort img --regions -o x
refuses 2 "--scale suvr requires --reference" voxsift cohort img --scale suvr -o x
refuses 2 "--npy requires --rows" voxsift cohort --npy x.npy -o x
refuses 2 "a table has no voxels" voxsift cohort --feature-table t.tsv --smooth 6 -o x
refuses 2 "expects a size such as 500M or 2G, not '2GB'" voxsift cohort img --mem 2GB -o x
refuses 65 "'people.tsv' has no column 'imag'; did you mean 'image'?" \
    voxsift cohort people.tsv --image-column imag -o x
refuses 65 "has 6 volumes, but 'r.tsv' has 4 rows" voxsift cohort bold.nii.gz --rows r.tsv -o x
refuses 65 "'x.npy' is not a matrix of 5 rows" voxsift cohort --npy x.npy --rows t.tsv -o x
echo "1 1:2 x" > bad.svm
refuses 65 "'bad.svm' line 1: a pair such as 3:0.5" voxsift cohort --svmlight bad.svm -o x
printf '1 3:1 2:5\n\n1 3:1 7:2 2:5 7:0\n' > bad.svm
refuses 65 "'bad.svm' line 3: index 7 occurs twice" voxsift cohort --svmlight bad.svm -o x
printf '1 3:1\n1 2\0:5\n' > bad.svm
refuses 65 "'bad.svm' line 2: it holds a zero byte" voxsift cohort --svmlight bad.svm -o x
printf '1 1:1\n2 300000000:1\n' > bad.svm
refuses 1 "2 subjects with 300000000 features, 2 values of which are not 0, take 2289 MB; raise --mem" \
    voxsift cohort --svmlight bad.svm -o x
# features need names of their own
printf 'participant_id\ta\tb\ta\ns1\t1\t2\t3\ns2\t1\t3\t4\n' > bad.tsv
refuses 65 "'bad.tsv' has two columns 'a', number 2 and 4" voxsift cohort --feature-table bad.tsv -o x
"$PYTHON" -c 'import numpy as np; np.save("bad.npy", np.array([1e308, 1e308]))'
works "info on a sum that overflows" voxsift info bad.npy
same "without a sum" "$(sed -n 2p "$work/out")" "  from 1e+308 to 1e+308"
works "info on a sparse cohort" voxsift info sp
holds "how it is stored" "sparse: $("$PYTHON" -c 'import numpy; print(len(numpy.load("sp/features.rows.npy")))') nonzero values" "$work/out"
works "info on a sparse cohort in JSON" voxsift info --json sp
holds "its way to store" '"features_stored": "sparse"' "$work/out"
refuses 66 "no file matches 'none/*.nii'" voxsift cohort 'none/*.nii' -o x
mkdir none
refuses 66 "the sources contain no image" voxsift cohort none -o x
works "info tells of a cohort" voxsift info t
holds "who was left out" "sub-12: 'ill/sub-12_T1w.nii.gz' is empty" "$work/out"
works "info --json" voxsift info --json a
same "its keys" "$("$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["subjects"], d["voxels"] > 100, d["shape"], d["dropped"])' "$work/out")" \
    "19 True [12, 10, 9] 0"
# an output that exists is noticed before anything is read
refuses 73 "cannot write 'a': it exists" voxsift cohort nowhere.tsv --image-column image -o a
refuses 73 "cannot write 'a': it exists" voxsift cohort --feature-table nowhere.tsv -o a
refuses 73 "cannot write 'a': it exists" voxsift cohort --svmlight nowhere.svm -o a
refuses 2 "--rows requires --npy" voxsift cohort --svmlight x.svm --rows r.tsv -o x
# joins of many rows take n log n
"$PYTHON" - > "$work/out" 2>&1 << 'EOF'
import resource, subprocess
n = 20000
open("many.tsv", "w").write("participant_id\ta\n" + "".join(f"s{7919 * i % n:05}\t{i % 7}\n" for i in range(n)))
open("who.tsv", "w").write("participant_id\ty\n" + "".join(f"s{i:05}\t{i % 13}\n" for i in range(n)))
subprocess.run("voxsift cohort --feature-table many.tsv --participants who.tsv -q -o many".split(), check=True, stdout=subprocess.DEVNULL)
quick = "--folds 2 --inner-folds 0 --lambda-ratio 0.9 --bootstraps 100 -q"
for words in ("-o v1", "--folds-from v1/folds.tsv -o v2"):
    subprocess.run(f"voxsift cv many --target y {quick} {words}".split(), check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime < 4)
EOF
same "20,000 rows" "$(cat "$work/out")" True
# told to stop: nothing is left
"$PYTHON" - > "$work/out" 2>&1 << 'EOF'
import signal, subprocess, time, os
p = subprocess.Popen(["voxsift", "cohort", "img", "--smooth", "100", "--voxel-size", "0.3", "--mask-fraction", "0", "--mem", "4G", "-o", "big"], stderr=subprocess.PIPE)
time.sleep(1.5)
p.send_signal(signal.SIGTERM)
p.communicate(timeout=60)
print(p.returncode, [n for n in os.listdir(".") if "big" in n])
EOF
same "told to stop" "$(cat "$work/out")" "130 []"
rm -rf ./*
nothing_left "cohort"
