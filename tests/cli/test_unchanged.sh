# What a stopped run had finished, and chunks, are of the features as they are now, or are refused by file and hash.
voxsift simulate lasso --subjects 30 --features 50 -q -o c > "$work/out"
cp -rp c whole
quick="--target score --nlambda 8 --folds 2 --inner-folds 2 -q"
edit() { # one value in place, as a script would: same size, other bytes
    "$PYTHON" -c "
import numpy as np, sys
x = np.load(sys.argv[1], mmap_mode='r+')
x.flat[7] += 1
x.flush()" "$1"
}
restore() { rm -r c && cp -rp whole c; }
sum() { sha256sum "$1" | cut -c 1-12; }
was=$(sum c/features.npy)
stopped p voxsift permute c $quick --permutations 200000 --stop-at 0
same "a stopped run" "$(ls -d p.checkpoint)" p.checkpoint
cp p.checkpoint kept
more="--permutations 30 --stop-at 0 -o p --resume"
edit c/features.npy
refuses 65 "'c/features.npy' is not what 'p.checkpoint' was computed from: its SHA-256 is $(sum c/features.npy)..., and was $was..." voxsift permute c $quick $more
run cmp kept p.checkpoint
same "the checkpoint stays" "$code" 0
restore
touch c/features.npy # another time, the same bytes
works "the same bytes again" voxsift permute c $quick $more
rm -r p
# an edit before the run, undone after
edit c/features.npy
edited=$(sum c/features.npy)
stopped p voxsift permute c $quick --permutations 200000 --stop-at 0
restore
refuses 65 "its SHA-256 is $was..., and was $edited..." voxsift permute c $quick $more
edit c/features.npy
works "edited again in the same way" voxsift permute c $quick $more
rm -r p
restore
# a cohort that records no hash
"$PYTHON" -c "
import json
a = json.load(open('c/cohort.json'))
del a['features_files']
json.dump(a, open('c/cohort.json', 'w'))"
rm -r whole && cp -rp c whole
stopped p voxsift permute c $quick --permutations 200000 --stop-at 0
edit c/features.npy
refuses 65 "'c/features.npy' is not what 'p.checkpoint' was computed from" voxsift permute c $quick $more
rm -r p.checkpoint c whole
# its record of features is damaged
voxsift simulate lasso --subjects 30 --features 50 -q -o c > "$work/out"
cp -rp c whole
cp kept p.checkpoint
printf '\377' | dd of=p.checkpoint bs=1 seek=120 conv=notrunc status=none
refuses 65 "'p.checkpoint' is damaged: it does not say of which features it is" voxsift permute c $quick $more
rm p.checkpoint kept

# chunks
for command in "cv" "permute --permutations 4" "stability --pairs 2"; do
    words="--target score --nlambda 4"
    works "$command 1/2" voxsift $command c $words -q --chunk 1/2 -o p1
    edit c/features.npy
    works "$command 2/2" voxsift $command c $words -q --chunk 2/2 -o p2
    refuses 65 "'c/features.npy' is not what 'p1' was computed from: its SHA-256 is $(sum c/features.npy)..., and was $was..." voxsift merge p1 p2 -q -o m
    restore
    refuses 65 "'c/features.npy' is not what 'p2' was computed from: its SHA-256 is $was..." voxsift merge p1 p2 -q -o m
    rm -r p2
    cp -r c other # a copy has other times
    works "$command 2/2 of a copy" voxsift $command other $words -q --chunk 2/2 -o p2
    works "$command merged" voxsift merge p1 p2 -q -o m
    rm -r p1 p2 m other
done
# sparse features have three files
printf '1 1:1 5:2\n0 2:3\n1 3:1 7:2\n0 2:1 6:1\n1 9:4\n0 4:1\n1 1:3\n0 8:2\n' > x.svm
works "a sparse cohort" voxsift cohort --svmlight x.svm -q -o sparse
works "1/2" voxsift stability sparse --target target --pairs 2 --nlambda 3 -q --chunk 1/2 -o p1
works "2/2" voxsift stability sparse --target target --pairs 2 --nlambda 3 -q --chunk 2/2 -o p2
edit sparse/features.values.npy
refuses 65 "'sparse/features.values.npy' is not what 'p1' was computed from" voxsift merge p1 p2 -q -o m
# features that are written to while a run reads them: what came of it is of neither state
run voxsift simulate lasso --subjects 100 --features 3000 --nonzero 0.01 --target diagnosis -q -o live
cat > edit.py << 'END'
import os, subprocess, sys, time
p = subprocess.Popen(["voxsift", *sys.argv[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
wanted = os.path.realpath("live/features.npy")
while p.poll() is None:
    if wanted in open(f"/proc/{p.pid}/maps").read():
        break
time.sleep(0.05)
with open(wanted, "r+b") as f:
    f.seek(-64, 2)
    last = f.read(64)
    f.seek(-64, 2)
    f.write(last)
err = p.communicate(timeout=100)[1]
print(p.returncode, err.decode().splitlines()[-1])
END
"$PYTHON" edit.py cv live --target diagnosis --nlambda 30 --repeats 5 -q -o lived > said
same "a run whose features were written to ends" "$(cut -d ' ' -f 1 said)" 65
holds "and says so" "'live/features.npy' was written to while it was in use" said
[ -e lived ] && fail "its output is there" || pass

rm -rf ./*
nothing_left "unchanged"
