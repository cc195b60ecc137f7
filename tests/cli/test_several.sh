# Several methods in one cv: against each alone, by Python; what is refused; --force; what is stopped goes on.
run "$PYTHON" "$top/tests/evaluate/several_agrees.py"
same "each method is as it is alone" "$code$(cat "$work/out" "$work/err")" 0
find . -mindepth 1 -maxdepth 1 ! -name c ! -name x.tsv ! -name people.tsv -exec rm -r {} +

# what several_agrees.py made: the cohort c
cv() { refuses "$1" "$2" voxsift cv c --nlambda 4 --bootstraps 100 -o x "${@:3}"; }
cv 2 "'--method' names 'lasso' twice" --target dx --method lasso,fused,lasso
cv 2 "not 'fussed'; did you mean 'fused'?" --target dx --method lasso,fussed
cv 2 "not ''" --target dx --method lasso,
cv 2 "not ''" --target dx --method ,lasso
cv 2 "'--method elastic-net' is unknown; did you mean '--method lasso --ridge X'?" --target dx --method svm,elastic-net
cv 2 "option '--method' is given twice" --target dx --method lasso,svm --method fused
cv 2 "none of these methods has an option '--sparsity'" --target dx --method lasso,svm --sparsity 1
cv 2 "unknown option '--sparsty'; did you mean '--sparsity'?" --target dx --method lasso,fused --sparsty 1
cv 2 "option '--ridge' expects a number" --target dx --method svm,lasso --ridge much
# what a method refuses is found before another one works
none() { # CODE PART OPTION...: nothing but this line, and what options are whose
    run voxsift cv c --bootstraps 100 -o x "${@:3}"
    same "${*:3}: code" "$code$(grep -c "method '" "$work/err")$(ls -A)" "$1"1"$(printf 'c\npeople.tsv\nx.tsv')"
    holds "${*:3}" "$2" "$work/err"
}
none 2 "method 'lasso' has no use for '--graph'" --target dx --method lasso,svm --graph chain
none 2 "method 'svm' fits kernels alone: confounds are taken out of the features" --target dx --method lasso,svm --confounds age
none 2 "'--standardize unit' does not go with method 'fused'" --target dx --method lasso,fused --standardize unit
none 2 "method 'hsic-lasso' fits pairs of subjects, which have no weight" --target dx --method lasso,hsic-lasso --subject-weights w
none 2 "method 'mkl' needs '--groups GROUPS'" --target dx --method lasso,mkl
none 65 "method 'skfs' predicts classes; column 'score' holds scores" --target score --method lasso,skfs
none 2 "'level' is classes for method 'fused' and a score for 'lasso', which do not take the same '--loss'" \
    --target level --method fused,lasso --loss multinomial
none 2 "'level' is classes for method 'lasso' and a score for 'svm'" --target level --method lasso,svm --loss logistic
for command in fit permute stability path; do
    run voxsift $command c --target dx --method lasso,svm -o x
    same "$command takes one" "$code$(grep -c "not 'lasso,svm'" "$work/err")" 21
done

# --force takes away what voxsift put there, with its pages, and nothing else
several() { run voxsift cv c --target dx --method lasso,svm --nlambda 4 --bootstraps 100 -q "$@"; }
several -o out
same "methods that name the models are not listed as an option that differs" "$(grep -c "^  method: " "$work/out")" 0
same "a run" "$code$(ls -A out | tr '\n' ' ')" "0.voxsift compare.json compare.tsv lasso svm "
same "one table" "$(grep -c '^Comparison of 2 cross-validations' "$work/out")$(grep -c 'held-out' "$work/out")" 11
holds "where the rest is" "  out/svm           the files of 'voxsift cv --method svm'" "$work/out"
works "a page of all" voxsift report out -o out/page.html
holds "is of the comparison" "lasso" out/page.html
works "a page of one" voxsift report out/svm -o out/svm/page.html
refuses 73 "cannot write 'out': it exists; pass --force to replace it" voxsift cv c --target dx --method lasso,svm -o out -q
several -o out --force
same "replaced" "$code$(ls -A out/svm | grep -c page)$(ls -A . | tr '\n' ' ')" "00c out people.tsv x.tsv "
touch out/svm/notes
refuses 73 "cannot write 'out/svm': it holds 'notes', which voxsift did not put there" \
    voxsift cv c --target dx --method lasso,svm -o out -q --force
rm out/svm/notes
refuses 73 "it holds 'folds.tsv', which is an input of this run" \
    voxsift cv c --target dx --method lasso,svm --folds-from out/svm/folds.tsv -o out -q --force
run voxsift cv c --target dx --nlambda 4 --bootstraps 100 -q -o out --force
same "by one of one method" "$code$(ls out | grep -c -e svm -e lasso)$(ls out/cv.json)" 00out/cv.json
several -o out --force
same "and back" "$code$(ls out | tr '\n' ' ')" "0compare.json compare.tsv lasso svm "
works "one of them again" voxsift cv c --target dx --method svm --bootstraps 100 -q -o out/svm --force
works "and all" voxsift compare out/lasso out/svm -q --bootstraps 100
rm -r out

# what is stopped goes on, whichever method was at work; what had finished has its own checkpoint
words="c --target score --nlambda 10 --repeats 12 --bootstraps 100 --nthreads 1 --no-fsync"
stop_at() { # METHOD OPTION...: stopped when the checkpoint of this method has a record
    voxsift cv $words -o r -q "${@:2}" > /dev/null 2> err &
    for _ in $(seq 800); do
        [ "$(stat -c %s "r.$1.checkpoint" 2> /dev/null || echo 0)" -gt 300 ] && break
        sleep 0.01
    done
    kill -TERM $! 2> /dev/null
    code=0
    wait $! || code=$?
    same "stopped at $1" "$code$(grep -c "^voxsift cv: interrupted" err)$(wc -l < err)$(ls -d r .r.* 2> /dev/null)" 13011
    rm err
}
three="--method lasso,graphnet,svm --laplacian 1 --C 0.01,0.1"
run voxsift cv $words $three -q -o whole
for late in lasso graphnet; do
    stop_at $late $three
    refuses 73 "'r.lasso.checkpoint' has what a run that was stopped had finished: pass --resume" voxsift cv $words $three -q -o r
    run voxsift cv $words $three -o r --resume
    same "went on" "$code$(ls -d r*)$(grep -c "$late: going on from 'r.$late.checkpoint'" "$work/err")" 0r1
    for method in lasso graphnet svm; do
        same "$method of what went on" "$(cat whole/$method/*.tsv | cksum)" "$(cat r/$method/*.tsv | cksum)"
    done
    same "compared" "$(cksum < whole/compare.tsv)" "$(cksum < r/compare.tsv)"
    rm -r r
done
# with other options it is another run; with another second method it is not
stop_at lasso --method lasso,graphnet --laplacian 1
refuses 65 "'r.lasso.checkpoint' is of another run" voxsift cv $words --method lasso,svm --seed 2 -o r --resume -q
run voxsift cv $words --method lasso,svm --C 0.01,0.1 -o r --resume
same "another second method" "$code$(ls -d r*)" 0r
holds "goes on with the first" "lasso: going on from 'r.lasso.checkpoint'" "$work/err"
rm -r r
stop_at lasso --method lasso,svm
run voxsift cv $words --method lasso -o r.lasso --resume
holds "which goes on alone, too" "going on from 'r.lasso.checkpoint'" "$work/err"
rm -r r.lasso
stop_at lasso --method lasso,svm
run voxsift cv $words --method lasso,svm --C 0.01,0.1 -o r --force
same "or is discarded" "$code$(ls -d r*)$(grep -c 'going on' "$work/err")" 0r0
rm -r r
run voxsift cv c --target score --nlambda 4 --bootstraps 100 --method lasso,svm --C 0.01,0.1 -o r --resume
holds "nothing to go on from" "there is no 'r.lasso.checkpoint', nor one of another method, to resume from" "$work/err"
rm -r r whole

# chunks that do not belong together
chunk() { run voxsift cv c --target dx --nlambda 4 --bootstraps 100 --chunk "$1/2" -o "$2" -q "${@:3}"; }
chunk 1 p1 --method lasso,svm && chunk 2 p2 --method lasso,svm && chunk 2 turned --method svm,lasso && chunk 2 one --method lasso
merge() { refuses "$1" "$2" voxsift merge "${@:3}" -o m -q; }
merge 65 "'p1' is of lasso,svm, but 'turned' of svm,lasso" p1 turned
merge 65 "'p1' is of lasso,svm, but 'one' of one method" p1 one
merge 65 "'one' is of one method, but 'p1' of lasso,svm" one p1
merge 65 "chunk 2 of 2 is missing" p1
merge 65 "chunk 1 is there twice" p1 p1
merge 66 "no chunk of a run 'nowhere'" p1 nowhere
cp -r p2 bad && sed -i 's/"lasso", "svm"/"lasso", "lasso"/' bad/part.json
merge 65 "'bad/part.json' does not say of which methods it is" bad p1
sed -i 's/"lasso", "lasso"/"lasso", "elastic"/' bad/part.json
merge 65 "'bad/part.json' does not say of which methods it is" p1 bad
sed -i 's/"lasso", "elastic"/"lasso"/' bad/part.json
merge 65 "'bad/part.json' does not say of which methods it is" p1 bad
echo "voxsift checkpoint 2" > p3.svm.checkpoint
merge 65 "'p3.svm.checkpoint' is the checkpoint of a run that has not finished" p1 p2 p3.svm.checkpoint
rm p3.svm.checkpoint
refuses 2 "5 folds cannot be shared by 6 chunks" voxsift cv c --target dx --method lasso,svm --chunk 1/6 -o x -q
works "a merge" voxsift merge p2 p1 -o m -q --json
refuses 66 "'p1' is a chunk of a run, not a cross-validation" voxsift compare p1 m/svm
refuses 66 "'m' is a comparison, not a cross-validation" voxsift compare m m/svm
rm -rf ./*
nothing_left "several"
