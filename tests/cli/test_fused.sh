# The fused lasso on trees against numpy; then its mistakes.
run "$PYTHON" "$top/tests/model/fused_agrees.py"
same "the fused lasso agrees with numpy" "$code$(cat "$work/out" "$work/err")" 0

# what fused_agrees.py made: cohorts c (voxels) and f (columns), models m and fm
fused() { # CODE PART OPTIONS...
    refuses "$1" "$2" voxsift fit f --target score --method fused -o x "${@:3}"
}
fused 2 "method 'fused' has no option '--ridge'" --ridge 1
fused 2 "method 'fused' has no option '--nonnegative'" --nonnegative
fused 2 "'--standardize unit' does not go with method 'fused'" --standardize unit
printf 'feature\tpenalty\nroi 1\t2\n' > penalties.tsv
fused 2 "instead of '--penalty-factors' give the edges of '--graph' a column weight" --penalty-factors penalties.tsv
refuses 2 "method 'lasso' has no use for '--graph'" voxsift fit f --target score --graph chain -o x
fused 66 "cannot read 'tre'" --graph tre
edges() { printf '%s\n' "from	to	weight" "$@" > edges.tsv; }
edges "roi 1	roi 2	1" "roi 2	roi 99	1"
fused 65 "'edges.tsv' line 3: the cohort has no feature 'roi 99'" --graph edges.tsv
edges "roi 1	roi 2	1" "roi 2	n/a	1"
fused 65 "'edges.tsv' line 3: the cohort has no feature ''" --graph edges.tsv
edges "roi 1	roi 2	0"
fused 65 "'edges.tsv' line 2: the weight of an edge must be above 0" --graph edges.tsv
edges "roi 1	roi 2	much"
fused 65 "line 2, column 'weight': 'much' is not a number" --graph edges.tsv
edges "roi 2	roi 3	1" "roi 1	roi 1	1"
fused 65 "'edges.tsv' line 3: the edge leads from 'roi 1' to itself" --graph edges.tsv
fused 2 "'--graph grid18' is of voxels; the features are not" --graph grid18
fused 2 "'--graph regions' is of regions; the features are not" --graph regions
fused 2 "'--graph correlation:E' expects a number above 0, the edges for each feature, not 'many'" --graph correlation:many
fused 2 "'--graph precision:E' expects a number above 0, the edges for each feature, not '0'" --graph precision:0
fused 2 "'--graph precision:E' expects a number above 0, the edges for each feature, not ''" --graph precision:
fused 2 "'--graph correlation:12.1': 25 features have 300 pairs in all" --graph correlation:12.1
refuses 2 "'--graph precision' is of regions or columns; the features are voxels, which have neighbors in space" \
    voxsift fit c --target score --method fused --graph precision -o x
refuses 2 "method 'skfs' has no '--graph correlation'" voxsift fit f --target dx --method skfs --graph correlation:2 -o x
fused 2 "option '--sparsity' expects a number between 0 and 1000000, not '-1'" --sparsity -1
printf 'from\ttwo\nroi 1\troi 2\n' > edges.tsv
fused 65 "'edges.tsv' has no column 'to'" --graph edges.tsv
edges
for sparsity in 0 1; do
    fused 65 "'edges.tsv' has no edges between the 25 features" --graph edges.tsv --sparsity $sparsity
done
refuses 65 "'edges.tsv' has no edges between the 25 features" voxsift fit f --target score --method graphnet -o x --graph edges.tsv
edges "roi 1	roi 2	1"
refuses 65 "the mean weights of 24 connected components of the graph are not penalized, and 20 subjects do not identify them" \
    voxsift fit small --target score --method fused -o x --graph edges.tsv
[ -e x ] && fail "a refused fit left its output" || pass
rm -rf b && cp -r m b && rm b/graph.tsv
refuses 66 "cannot read 'b/graph.tsv'" voxsift check-model b c
run voxsift predict b c
same "prediction needs no graph" "$code" 0
sed 's/\t1$/\t0.5/' m/graph.tsv > b/graph.tsv
run voxsift check-model b c
same "another graph is another problem" "$code" 3
works "info on a model" voxsift info m
holds "its fused regions" " fused regions" "$work/out"
works "methods" voxsift methods --json
holds "need graphs" '"needs_graph": true' "$work/out"

# ---- Grids: every command that takes a method ------------------------------------------------------
rm -rf ./*
voxsift simulate spheres --shape 14,13,12 --subjects 40 --regions 2 --radius 2 -o g -q > /dev/null
awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "kind"; next } { print $0, substr("abc", NR % 3 + 1, 1) }' g/participants.tsv > with
mv with g/participants.tsv
voxsift simulate lasso --subjects 20 --features 10 -o l -q > /dev/null
grid=(--method fused --graph grid6)
few=(--nlambda 4 --lambda-ratio 0.2 -q)
folds=(--folds 3 --inner-folds 2 "${few[@]}")
alike() { # WHAT FILES COMMAND...: the same bits by one thread and by two
    local what=$1 files=$2 file
    shift 2
    works "$what, one thread" voxsift "$@" -o one --nthreads 1
    works "$what, two threads" voxsift "$@" -o two --nthreads 2
    for file in $files; do
        if cmp -s "one/$file" "two/$file"; then pass; else fail "$what: $file of two threads"; fi
    done
    rm -rf one two
}
for way in "--target score" "--target score --sparsity 1" "--target kind --loss multinomial --sparsity 1" \
    "--target kind --loss squared-hinge --sparsity 1"; do
    read -ra words <<< "$way"
    alike "fit $way" "weights.tsv graph.tsv" fit g "${words[@]}" "${grid[@]}" -q
    alike "cv $way" "predictions.tsv weights.tsv scores.tsv" cv g "${words[@]}" "${grid[@]}" "${folds[@]}"
    alike "permute $way" "null.tsv" permute g "${words[@]}" "${grid[@]}" "${folds[@]}" --permutations 3
    [ "$way" = "--target score" ] && continue
    alike "stability $way" "frequencies.tsv halves.tsv" stability g "${words[@]}" "${grid[@]}" "${few[@]}" --pairs 2 --select-features 600
    works "fit $way" voxsift fit g "${words[@]}" "${grid[@]}" -o m -q
    holds "weights and pieces" " fused regions" "$work/out"
    works "a page of it" voxsift report m -o m.html
    holds "its pieces" "<th>fused regions" m.html
    holds "its graph" "<tr><th>Graph</th><td>grid6</td></tr>" m.html
    works "the certificate" voxsift check-model m g
    holds "holds" "the certificate holds" "$work/out"
    rm -rf m m.html
done
holds "classes are told from all others" "with the other classes" <(voxsift stability g --target kind --loss multinomial --sparsity 1 "${grid[@]}" \
    "${few[@]}" --pairs 2 -o s)

# a run that is stopped goes on
many=(permute g --target score "${grid[@]}" --sparsity 1 "${folds[@]}" --permutations 6)
run voxsift "${many[@]}" -o whole
stopped part voxsift "${many[@]}"
works "resume" voxsift "${many[@]}" -o part --resume
same "the same permutations" "$(cat part/null.tsv)" "$(cat whole/null.tsv)"

# a path: pieces without weight are none; the halves of a piece
works "path" voxsift path g --target score "${grid[@]}" --sparsity 1 "${few[@]}"
same "no piece has a weight at lambda_max" "$(sed -n '1p;2p' "$work/out" | cut -f 3 | tr '\n' ' ')" "fused_regions 0 "
works "stability" voxsift stability g --target score "${grid[@]}" --sparsity 1 --pairs 2 --select-features 1 -o small -q
holds "a piece is larger than one voxel" "the first fused region on its path has more than 1 features" "$work/out"
works "a page of nothing" voxsift report small -o small.html
holds "and why" "the first fused region on its path has more than 1 features; --select-features" small.html
# without sparsity nearly all voxels have a weight: which ones is not told
works "cv" voxsift cv g --target score "${grid[@]}" "${folds[@]}" -o dense
works "its page" voxsift report dense -o dense.html
holds "what a map without sparsity says" "Interpret where weights change" dense.html
same "no shares of folds" "$(grep -c 'Share of folds' dense.html)" 0

bad() { # CODE PART OPTIONS...
    refuses "$1" "$2" voxsift fit g --target score --method fused -o x -q "${@:3}"
}
bad 66 "cannot read 'grid7': there is no such file, nor a graph of that name: tree, grid6" --graph grid7
bad 66 "cannot read './grid6'" --graph ./grid6
bad 2 "'--graph correlation' is of regions or columns" --graph correlation:0
bad 2 "'--graph regions' is of regions" --graph regions
bad 2 "option '--sparsity' expects a number between 0 and 1000000, not 'much'" --graph grid6 --sparsity much
bad 2 "'--solver saif' is for trees; the edge between features" --graph grid6 --solver saif
bad 2 "'--solver saif' has neither" --graph chain --sparsity 1 --solver saif
bad 2 "'--solver cut-pursuit' is for graphs, not for '--penalty'" --graph grid6 --solver cut-pursuit --penalty trend
bad 2 "'--penalty matrix' is not known: give edges, trend or matrix:FILE" --graph grid6 --penalty matrix
bad 66 "cannot read 'none.tsv'" --graph grid6 --penalty matrix:none.tsv
bad 2 "option '--solver' expects one of auto, saif, cut-pursuit, bound-propagation, not 'flow'" --graph grid6 --solver flow
bad 2 "'--compare' goes with '--solver bound-propagation'; here it is 'cut-pursuit'" --graph grid6 --compare
bad 2 "'--untransformed' goes with '--solver bound-propagation'; here it is 'saif'" --graph chain --untransformed
bad 2 "'--screen' does not go with '--solver cut-pursuit'" --graph grid6 --screen dynamic
bad 2 "'--subproblem' does not go with '--solver cut-pursuit'" --graph grid6 --subproblem descent
bad 2 "method 'fused' has no option '--laplacian'" --graph grid6 --laplacian 1
bad 2 "lambda is 0" --graph grid6 --sparsity 1 --lambda 0
refuses 2 "method 'lasso' has no option '--sparsity'" voxsift fit g --target score --sparsity 1 -o x
refuses 2 "solver 'bound-propagation' knows squared and logistic loss only" voxsift fit g --target kind "${grid[@]}" --loss multinomial --solver bound-propagation -o x -q
refuses 2 "solver 'bound-propagation' knows squared and logistic loss only, not --loss squared-hinge" \
    voxsift fit g --target kind "${grid[@]}" --loss squared-hinge --solver bound-propagation -o x -q
refuses 2 "solver 'bound-propagation' knows squared and logistic loss only, not --loss squared-hinge" \
    voxsift fit g --target kind "${grid[@]}" --loss squared-hinge --penalty trend -o x -q
works "squared hinge on a tree" voxsift fit g --target kind --method fused --graph tree --loss squared-hinge --screen vi -o hinge -q
works "its certificate" voxsift check-model hinge g
run voxsift predict hinge g --training-too -q # it warns of training subjects
same "its predictions" "$code" 0
refuses 2 "there is no selection to be stable without '--sparsity'" voxsift stability g --target score "${grid[@]}" -o x
refuses 2 "'--prefilter' does not go with method 'fused'" voxsift cv g --target score "${grid[@]}" --prefilter 10 -o x
for command in fit cv permute "stability --sparsity 1"; do
    refuses 2 "'--graph grid6' is of voxels; the features are not" voxsift $command l --target score "${grid[@]}" -o x
done
refuses 2 "'--graph grid6' is of voxels; the features are not" voxsift path l --target score "${grid[@]}"
refuses 2 "expects a number above 0, the edges for each feature, not '0'" voxsift cv l --target score --method fused --graph correlation:0 -o x
[ -e x ] && fail "a refused run left its output" || pass
rm -rf ./*
nothing_left "fused"
