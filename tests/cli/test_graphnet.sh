# graphnet: every command on a small simulation of images; what does not go with it.
run voxsift simulate spheres --shape 20,20,16 --radius 2 --subjects 60 -q -o c
same "a cohort of voxels" "$code" 0
run voxsift fit c --target score --method graphnet --lambda-ratio 0.3 --json -o m
same "graphnet is fitted" "$code" 0
holds "by its name" '"method": "graphnet"' "$work/out"
run voxsift check-model m c
same "and confirmed" "$code" 0
run voxsift predict m c --training-too
same "predicts" "$code" 0
run voxsift path c --target score --method graphnet --nlambda 5 --laplacian 3 -q
same "a path" "$code" 0
# neighbors tied together, so that thousands have a weight: a second, where descent took minutes
run timeout 60 voxsift path c --target score --method graphnet --nlambda 8 --laplacian 1000 -q
same "a path of large supports ends soon" "$code" 0
run voxsift cv c --target score --method graphnet --folds 3 --inner-folds 2 --nlambda 4 -o cv -q
same "cross-validation" "$code" 0
run voxsift stability c --target score --method graphnet --pairs 2 -q -o s
same "stability" "$code" 0
run voxsift report m -o m.html
same "a page" "$code" 0
holds "its name for a paper" "GraphNet with squared loss" m.html
holds "and its paper" "prediction analysis with GraphNet" m.html
holds "what it was told" "<tr><th>Laplacian</th><td>1</td></tr>" m.html
run voxsift fit c --target score --method graphnet --laplacian 0 --lambda-ratio 0.3 -o zero -q
run voxsift fit c --target score --method lasso --lambda-ratio 0.3 -o lasso -q
same "without its weight it is the lasso" "$(cut -f 1,2 zero/weights.tsv)" "$(cut -f 1,2 lasso/weights.tsv)"
refuses 2 "method 'graphnet' has no use for '--penalty-factors'" voxsift fit c --target score --method graphnet --penalty-factors x.tsv -o x
refuses 2 "method 'graphnet' has no '--graph tree'" voxsift fit c --target score --method graphnet --graph tree -o x
refuses 2 "method 'graphnet' has no option '--ridge'" voxsift fit c --target score --method graphnet --ridge 1 -o x
refuses 2 "method 'lasso' has no option '--laplacian'" voxsift fit c --target score --laplacian 1 -o x

# a feature that is constant lies between two that count: no neighbor lends it a weight
awk 'BEGIN { srand(3); print "id\ta\tb\tc\td" > "k.tsv"; print "id\ty" > "y.tsv"
    for (i = 1; i <= 40; i++) { a = rand(); c = rand(); print "s" i "\t" a "\t0.3\t" c "\t" rand() > "k.tsv"; print "s" i "\t" a + c + rand() / 9 > "y.tsv" } }'
run voxsift cohort --feature-table k.tsv --participants y.tsv --id-column id -q -o k
for standardize in unit center; do
    run voxsift fit k --target y --method graphnet --graph chain --laplacian 5 --lambda-ratio 0.1 --standardize $standardize -q --force -o km
    same "a constant feature beside others ($standardize)" "$code" 0
    run voxsift check-model km k
    same "is confirmed" "$code" 0
    run voxsift predict km k --training-too
    same "predicts" "$code" 0
    same "and has no weight" "$(cut -f 2 km/weights.tsv | grep -cx b)" 0
done
run voxsift stability k --target y --method graphnet --graph chain --pairs 4 -q -o ks
same "is never stable" "$code$(awk -F'\t' '$1 == "b" || $2 == "b"' ks/*.tsv | grep -c '	1')" 00
