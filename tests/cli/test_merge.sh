# Runs in chunks against whole ones; then parts that do not belong together, and the job array's words.
run "$PYTHON" "$top/tests/evaluate/chunks_agree.py"
same "merged chunks are the whole" "$code$(cat "$work/out" "$work/err")" 0
rm -rf p? merged whole q

# what chunks_agree.py made: cohorts c and v, people.tsv
words="--target score --nlambda 4 --folds 4 --inner-folds 2 --bootstraps 100"
chunk() { run voxsift cv c $words -q "$@"; }
for k in 1 2 3; do chunk --chunk $k/3 -o p$k; done
merge() { refuses "$1" "$2" voxsift merge "${@:3}" -o x; }
merge 65 "chunk 2 of 3 is missing" p3 p1
merge 65 "chunk 3 of 3 is missing" p1 p2
merge 65 "chunk 1 is there twice: 'p1' and 'copy'" $(cp -r p1 copy; echo p1 p2 copy p3)
merge 2 "PART is missing"
merge 66 "no chunk of a run 'nowhere'" p1 nowhere
merge 66 "'c' is a cohort, not a chunk of a run" c
echo "voxsift checkpoint 2" > p2.checkpoint # as p* finds it beside the others
merge 65 "'p2.checkpoint' is the checkpoint of a run that has not finished 'p2': repeat that with --resume" p1 p2.checkpoint p3
rm p2.checkpoint
chunk --chunk 4/4 -o of4
merge 65 "'p1' is one of 3 chunks, but 'of4' one of 4" p1 p2 of4
chunk --chunk 2/3 --seed 2 -o seed
merge 65 "'p1' and 'seed' are of different runs: seed is 1 in one and 2 in the other" p1 seed p3
chunk --chunk 2/3 --confounds age -o age
merge 65 "'p1' and 'age' are of different runs: confounds is not given in one and age in the other" p1 age p3
chunk --chunk 2/3 --only 'age>0' --only 'age<1000' -o only
merge 65 "'p1' and 'only' are of different runs: only is not given in one and age>0, age<1000 in the other" p1 only p3
run voxsift stability c --target score --pairs 3 --nlambda 4 --chunk 2/3 -o s2 -q
merge 65 "'p1' is of 'voxsift cv', but 's2' of 'voxsift stability'" p1 s2
run voxsift permute c --target score --nlambda 4 --folds 2 --permutations 4 --chunk 2/2 -o half -q
same "a chunk of permutations" "$code$(ls)" "0$(ls)"
[ -e half.checkpoint ] && fail "a finished chunk left its checkpoint" || pass
[ -e x ] && fail "a refused merge left its output" || pass

# parts that were tampered with
cp -r p2 short && head -c -8 p2/numbers.npy > short/numbers.npy
merge 65 "'short/numbers.npy'" p1 short p3
cp -r p2 changed && "$PYTHON" -c "
import numpy as np
x = np.load('p2/numbers.npy')
x[-1] += 1
np.save('changed/numbers.npy', x)"
merge 65 "'changed/numbers.npy' is not as it was written: its SHA-256 is not that of 'part.json'" p1 changed p3
rm -r changed
# by somebody who has the checksum right
npy() { rm -rf t && cp -r p2 t && "$PYTHON" -c "
import hashlib, re
import numpy as np
x = np.load('p2/numbers.npy')
$1
np.save('t/numbers.npy', x)
about = open('t/part.json').read()
open('t/part.json', 'w').write(re.sub('(\"numbers_sha256\": \").*(\")', '\\\\g<1>' + hashlib.sha256(x.tobytes()).hexdigest() + '\\\\2', about))"; }
npy "x = x[:-1]"
merge 65 "'t/numbers.npy' ends too early" p1 t p3
npy "x = np.append(x, 1)"
merge 65 "'t/numbers.npy' has 1 numbers too many" p1 t p3
npy "x = x.astype('f4')"
merge 65 "'t/numbers.npy' is no list of 64-bit numbers" p1 t p3
npy "x[0] = 1 - x[0]"
merge 65 "'t/numbers.npy' was made with other folds: 's00' was" p1 t p3
npy "x[0] = 0.5"
merge 65 "'t/numbers.npy' has at place 0 what is no whole number up to 1" p1 t p3
npy "x[48] = 1e9"
merge 65 "'t/numbers.npy' has at place 48 what is no whole number up to 48" p1 t p3
json() { rm -rf t && cp -r p2 t && sed -i "$1" t/part.json; }
json 's/"voxsift part"/"voxsift model"/'
merge 65 "'t/part.json' is not of format 'voxsift part'" p1 t p3
json 's/"format_version": 2/"format_version": 1/'
merge 65 "'t/part.json' is of format 1, this voxsift reads 2; make it again with this version" p1 t p3
json 's/"chunk": 2/"chunk": 2.5/'
merge 65 "'t/part.json' does not say of which run and chunk it is" p1 t p3
json 's/"chunk": 2/"chunk": 4/'
merge 65 "'t/part.json' does not say of which run and chunk it is" p1 t p3
json 's/"fingerprint": "/"fingerprint": "0/'
merge 65 "'p1' and 't' are of different runs: the cohort" p1 t p3
rm -rf a && mkdir a && for k in 1 2 3; do cp -r p$k a && sed -i 's/"kind": "cv"/"kind": "cw"/' a/p$k/part.json; done
merge 65 "'a/p1' is of 'voxsift cw', which is not known here" a/p1 a/p2 a/p3
for k in 1 2 3; do cp p$k/part.json a/p$k && sed -i 's/"folds": 4/"folds": 1/' a/p$k/part.json; done
merge 65 "'a/p1/part.json' does not describe a run: folds" a/p1 a/p2 a/p3

# the cohort: elsewhere, changed, gone
run voxsift merge p1 p2 p3 -o m -q
same "merged" "$code" 0
refuses 73 "cannot write 'm': it exists; pass --force" voxsift merge p1 p2 p3 -o m
works "--force" voxsift merge p1 p2 p3 -o m --force
holds "the words of cv" "Nested cross-validation of " "$work/out"
cp -r c elsewhere && mv c away
merge 66 "no cohort 'c'" p1 p2 p3
works "--cohort" voxsift merge p1 p2 p3 --cohort elsewhere -o e
same "the same" "$(cat m/predictions.tsv m/weights.tsv | cksum)" "$(cat e/predictions.tsv e/weights.tsv | cksum)"
sed -i '2s/\t[^\t]*/\t3.25/' elsewhere/participants.tsv
merge 65 "'p1' was made of another cohort than 'elsewhere' is now" p1 p2 p3 --cohort elsewhere
mv away c

# tables that options name are part of the run: what is in them, not what they are called
make_groups() { printf 'group\tfeature\na\tf0\na\tf1\n%s\tf2\n' $1 > table.tsv; }
make_matrix() {
    awk -v last=$1 'BEGIN { print "term\tfeature\tvalue"; for (j = 0; j < 70; j++) print "t" j "\tf" j "\t" 1 + (last == "a" && j == 2) }' > table.tsv
}
for made in groups matrix; do
    by="--method group-lasso --groups file:table.tsv"
    [ $made = groups ] || by="--method fused --penalty matrix:table.tsv"
    half() { run voxsift cv c --target score $by --nlambda 3 --folds 4 --inner-folds 2 --chunk $1/2 -o t$1 -q --force; }
    make_$made b && half 1 && make_$made a && half 2
    merge 65 "'t1' and 't2' are of different runs: the cohort, its table, a table that an option names" t1 t2
    half 1
    works "$made: the same table" voxsift merge t1 t2 -o t12 --force
    make_$made b
    merge 65 "'t1' was made of another cohort than 'c' is now, of other tables" t1 t2
    rm table.tsv
    merge 66 "cannot read 'table.tsv'" t1 t2
done

# which chunk
bad() { refuses 2 "'--chunk' takes auto, or I/N such as 2/5, I between 1 and N" voxsift cv c $words --chunk "$1" -o x; }
for text in 3/2 0/4 a/b 1 1/ /3 1/2/3 -1/2 1.5/2 1/9999999 ' '; do bad "$text"; done
refuses 2 "4 folds cannot be shared by 5 chunks" voxsift cv c $words --chunk 1/5 -o x
refuses 2 "3 pairs of halves cannot be shared by 4 chunks" \
    voxsift stability c --target score --pairs 3 --nlambda 4 --chunk 4/4 -o x -q
refuses 2 "7 permutations cannot be shared by 8 chunks" \
    voxsift permute c --target score --permutations 7 --chunk 8/8 -o x -q
chunk --chunk 1/1 -o one
same "1/1 is the whole" "$code$(cat m/predictions.tsv | cksum)" "0$(cat one/predictions.tsv | cksum)"
# --chunk auto: arrays 1-N and 0-(N-1), and no other; id, count, least, most, step
array() {
    run env ${1:+SLURM_ARRAY_TASK_ID="$1"} ${2:+SLURM_ARRAY_TASK_COUNT="$2"} ${3:+SLURM_ARRAY_TASK_MIN="$3"} \
        ${4:+SLURM_ARRAY_TASK_MAX="$4"} ${5:+SLURM_ARRAY_TASK_STEP="$5"} voxsift cv c $words "${@:6}"
}
array 2 3 1 3 1 --chunk auto -o e2
same "the array's task" "$code$(grep -E '"(chunk|chunks|fingerprint)"' e2/part.json)" "0$(grep -E '"(chunk|chunks|fingerprint)"' p2/part.json)"
holds "is said" "voxsift cv: chunk 2 of 3 (from SLURM_ARRAY_TASK_ID)" "$work/err"
array 0 3 0 2 "" --chunk auto -o e1 -q
array 2 3 0 2 1 --chunk auto -o e3 -q
works "parts of an array from 0 on" voxsift merge e1 e2 e3 -o em
same "are the same" "$(cat m/predictions.tsv | cksum)" "$(cat em/predictions.tsv | cksum)"
no_array() { # part of what is said, the array
    array "${@:2}" --chunk auto -o x
    same "array ${*:2}: code" "$code$(ls -d x x.checkpoint .x.* 2> /dev/null)" 2
    holds "array ${*:2}" "$1" "$work/err"
}
wrong="'--chunk auto' needs a job array 1-N or 0-(N-1), and this is task"
no_array "$wrong 2 of 1 from 2 to 2 by 1; to compute one chunk again, give it, such as --chunk 2/10" 2 1 2 2 1
no_array "$wrong 1 of 1 from 1 to 1" 1 1 1 1 1
no_array "$wrong 0 of 1 from 0 to 0" 0 1 0 0 1
no_array "$wrong 12 of 3 from 10 to 12" 12 3 10 12 1
no_array "$wrong 3 of 3 from 1 to 5 by 2" 3 3 1 5 2
no_array "$wrong 1 of 2 from 0 to 1 by 2" 1 2 0 1 2
no_array "$wrong 7 of 2 from 2 to 7" 7 2 2 7 1
no_array "$wrong 7 of 2 from 1 to 7" 7 2 1 7 1
no_array "$wrong 4 of 3 from 1 to 3" 4 3 1 3 1
no_array "$wrong 0 of 3 from 1 to 3" 0 3 1 3 1
no_array "SLURM_ARRAY_TASK_ID expects a whole number, not 'two'" two 3 1 3 1
no_array "SLURM_ARRAY_TASK_COUNT is not set; give --chunk I/N" 2 "" 1 3 1
no_array "SLURM_ARRAY_TASK_MIN is not set" 2 3 "" 3 1
no_array "SLURM_ARRAY_TASK_MAX is not set" 2 3 1 "" 1
no_array "reads the task from a Slurm job array, but SLURM_ARRAY_TASK_ID is not set" "" "" "" "" ""
# an array whose tasks were not asked to share is nobody's business
array 2 3 1 3 1 -o e4
same "without --chunk the whole" "$code$(cat m/predictions.tsv | cksum)" "0$(cat e4/predictions.tsv | cksum)"
holds "with a hint" "this task of a job array computes the whole run; --chunk I/N computes a share" "$work/err"
array 2 1 2 2 1 -o e5
same "none of one task" "$code$(grep -c 'job array' "$work/err")" 00
array two x 1 3 1 -o e6 -q
same "whatever the variables are" "$code$(ls e6 | grep -c cv.json)" 01
array 2 1 2 2 1 --chunk 2/3 -o e7 -q
same "a redo" "$code$(grep -E '"(chunk|chunks|fingerprint)"' e7/part.json)" "0$(grep -E '"(chunk|chunks|fingerprint)"' p2/part.json)"
works "which stands among the others" voxsift merge p1 e7 p3 -o er
same "and is as good" "$(cat m/predictions.tsv | cksum)" "$(cat er/predictions.tsv | cksum)"
array 2 3 1 3 1 -h
same "help comes first" "$code" 0

# a chunk that is stopped leaves nothing
run timeout --foreground -s INT 0.3 voxsift cv v --target score --repeats 400 --chunk 1/2 -o x -q
same "stopped" "$code$(ls -d x .x* 2> /dev/null)" 124
rm -rf ./*
nothing_left "merge"
