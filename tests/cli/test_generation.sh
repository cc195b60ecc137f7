# Feature generation (methods fgm and mslr) against numpy; then voxels and groups of them, every command,
# and mistakes.
run "$PYTHON" "$top/tests/model/generation_agrees.py"
same "feature generation agrees with numpy" "$code$(cat "$work/out" "$work/err")" 0

# what generation_agrees.py made: cohorts c, new (columns), groups.tsv, tree.tsv, penalties.tsv
gen() { # CODE PART METHOD OPTIONS...
    refuses "$1" "$2" voxsift fit c --target dx -o x -q --method "${@:3}"
}
refuses 65 "method 'mslr' predicts classes; column 'age' holds scores" voxsift fit c --target age --method mslr -o x -q
gen 2 "method 'fgm' takes squared, logistic, squared-hinge" fgm --loss huber
gen 2 "method 'mslr' takes logistic" mslr --loss squared
gen 2 "method 'fgm' fits each class against the rest; '--loss multinomial' goes with" fgm --loss multinomial
gen 2 "'--loss squared-hinge' goes with methods lasso, graphnet, group-lasso, fused, fgm" mslr --loss squared-hinge
gen 2 "method 'fgm' has no option '--lambda'" fgm --lambda 1
gen 2 "method 'mslr' has no option '--nlambda'" mslr --nlambda 3
gen 2 "method 'lasso' has no option '--iterations'" lasso --iterations 3
gen 2 "method 'fgm' has no use for '--graph'" fgm --graph chain
gen 2 "'--groups' and '--feature-map' exclude each other" fgm --groups file:groups.tsv --feature-map poly2
gen 2 "'--by-size' goes with '--groups'" fgm --by-size
gen 2 "'--bandwidth' goes with '--feature-map gauss'" fgm --bandwidth 2 --feature-map hik
gen 2 "'--gamma' and '--coef0' go with '--feature-map poly2'" fgm --gamma 2
gen 2 "'--gamma' and '--coef0' go with '--feature-map poly2'" fgm --coef0 2 --feature-map gauss
gen 2 "'--bandwidth' expects a number above 0, not '0'" fgm --feature-map gauss --bandwidth 0
gen 2 "'--bandwidth' expects a number above 0, not 'median'" fgm --feature-map gauss --bandwidth median
gen 2 "option '--feature-map' expects one of none, poly2, gauss, hik, not 'cubic'" fgm --feature-map cubic
gen 2 "option '--C' expects a number" fgm --C 0
gen 2 "option '--per-iteration' expects a whole number" fgm --per-iteration 0
gen 2 "option '--iterations' expects a whole number" mslr --iterations 0
for list in 5,3 0 abc 2.5 -1 2, ,2 2,,4 3,3 1e10; do
    gen 2 "'--nselect' takes whole numbers that rise, at most 64, with commas between, not '$list'" fgm --nselect "$list"
done
gen 2 "'--nselect' has 2 values; one is required unless cross-validation chooses (--choose-lambda)" mslr --nselect 2,4
refuses 2 "'--nselect' has 2 values" voxsift cv c --target dx --method fgm --nselect 2,4 --inner-folds 0 -o x -q
gen 2 "'--no-intercept' goes with '--standardize none'" fgm --no-intercept

gen 2 "'--groups regions' is not known: give atlas:NAME, file:FILE, patches:MM, tree:octree or tree:FILE" fgm --groups regions
gen 2 "'--groups file:' expects a table with the columns group and feature behind the colon" fgm --groups file:
for rule in atlas:schaefer100 patches:8 tree:octree; do
    gen 2 "'--groups $rule' is of voxels; the features are not" fgm --groups $rule
done
gen 66 "cannot read 'none.tsv'" fgm --groups file:none.tsv
gen 66 "cannot read 'none.tsv'" mslr --groups tree:none.tsv
groups() { # PART RULE HEADER LINES...
    printf '%b\n' "${@:3}" > g.tsv
    gen 65 "$1" fgm --groups "$2:g.tsv"
}
groups "'g.tsv' line 3: the cohort has no feature 'f99'" file 'group\tfeature' 'a\tf1' 'a\tf99'
groups "'g.tsv' line 4: group 'a' has the feature 'f1' already" file 'feature\tgroup' 'f1\ta' 'f1\tb' 'f1\ta'
groups "'g.tsv' has no column 'group'" file 'groups\tfeature' 'a\tf1'
groups "'g.tsv' has no column 'feature'" file 'group\tname' 'a\tf1'
groups "'g.tsv' names no feature" file 'group\tfeature'
groups "'g.tsv' line 2: the group has no name" file 'group\tfeature' 'n/a\tf1'
groups "'g.tsv' line 2: the feature has no name" file 'group\tfeature' 'a\tn/a'
groups "nothing is left to find for 'dx': no feature varies" file 'group\tfeature' 'flat\tf9'
groups "'g.tsv' has no column 'path'" tree 'group\tfeature' 'a\tf1'
groups "'g.tsv' line 3: the feature 'f1' has a path already" tree 'path\tfeature' 'a/b\tf1' 'a\tf1'
groups "'g.tsv' line 2: the path 'a//b' has a part without a name" tree 'path\tfeature' 'a//b\tf1'
groups "'g.tsv' line 2: the path is empty" tree 'path\tfeature' 'n/a\tf1'
[ -e x ] && fail "a refused fit left its output" || pass

# ---- Models that are not whole -----------------------------------------------------------------------
fits() { voxsift fit c --target dx -q -o "$@" > /dev/null; }
fits pairs --method mslr --feature-map poly2 --nselect 4
fits some --method fgm --groups file:groups.tsv --per-iteration 2 --iterations 2 --refit 1
fits waves --method fgm --feature-map gauss --per-iteration 2 --iterations 1 --refit 2
broken() { # CODE PART MODEL SCRIPT: prediction
    rm -rf t && cp -r "$3" t && (cd t && eval "$4")
    refuses "$1" "$2" voxsift predict t c -q
}
for file in selection.tsv mapped.tsv alpha.npy; do
    broken 66 "cannot read 't/$file'" pairs "rm $file"
    broken 65 "cannot read 't/$file': it is empty" pairs ": > $file"
done
goes="does not go with its model"
broken 65 "'t/selection.tsv' $goes: its weights are not those of weights.tsv" pairs "sed -i '2s/[^\t]*\$/0.3/' selection.tsv"
broken 65 "'t/selection.tsv' $goes: it has other columns" pairs "cut -f 1-4 selection.tsv > s && mv s selection.tsv"
broken 65 "'t/selection.tsv' $goes: it has other columns" some "cut -f 1-4 selection.tsv > s && mv s selection.tsv"
broken 65 "'t/selection.tsv' $goes: a number is missing" pairs "sed -i '2s/[^\t]*\$/n\/a/' selection.tsv"
broken 65 "'t/selection.tsv' $goes: a number is none of the model's" pairs "sed -i '2s/^1\t[0-9]*/1\t1.5/' selection.tsv"
broken 65 "'t/selection.tsv' $goes" pairs "sed -i '2s/^1/2/' selection.tsv"
broken 65 "'t/selection.tsv' $goes: its rows are out of order" some "sed -i 2d selection.tsv"
broken 65 "'t/selection.tsv' $goes: a feature block has no feature with a weight" waves "sed -i '\$d' selection.tsv"
broken 65 "'t/selection.tsv' $goes: its weights are not those" pairs "sed -i '\$d' selection.tsv"
broken 65 "'t/mapped.tsv' $goes: a feature is not there" waves "sed -i '\$d' mapped.tsv"
broken 65 "'t/mapped.tsv' line 2, column 'intercept': 'inf' is not a number" waves "sed -i '2s/[^\t]*\$/inf/' mapped.tsv"
broken 65 "'t/mapped.tsv' $goes: it has other columns" waves "cut -f 1-5 mapped.tsv > s && mv s mapped.tsv"
broken 65 "lacks selection_unpenalized" pairs "sed -i s/selection_unpenalized/other/ model.json"
numbers() { printf '%s' "$PYTHON -c \"import numpy as np; a = np.load('alpha.npy'); np.save('alpha.npy', $1)\""; }
broken 65 "'t/alpha.npy' $goes: a value is not finite" pairs "$(numbers 'a * np.nan')"
broken 65 "'t/alpha.npy' $goes: it has other rows" pairs "$(numbers "a.astype('f4')")"
claims() { # CODE WHAT MODEL SCRIPT: the certificate
    rm -rf t && cp -r "$3" t && (cd t && eval "$4")
    run voxsift check-model t c
    same "$2" "$code" "$1"
}
claims 0 "files for people are not needed" some "rm selected.tsv"
claims 66 "groups are" some "rm groups.tsv"
claims 65 "of features that there are" some "sed -i '3s/f[0-9]*\$/f99/' groups.tsv"
claims 3 "other groups are another problem" some "sed -i '\$d' groups.tsv"
claims 3 "a selection that lacks a row" some "sed -i '\$d' selection.tsv"
claims 3 "an alpha that is none" pairs "$(numbers '-a')"
claims 3 "an alpha of other subjects" pairs "$(numbers 'a[:, 1:]')"
claims 3 "another C" waves "sed -i 's/\"C\": 10/\"C\": 11/' model.json"
rm -rf t

# ---- What is said ------------------------------------------------------------------------------------
works "a fit" voxsift fit c --target dx --method fgm --nselect 7 -o m -q
holds "how many" "  7 features selected in 1 iteration, 7 of 14 features" "$work/out"
works "as many as there are" voxsift fit c --target dx --method fgm --nselect 1000 --per-iteration 50 -o m --force -q
holds "but the constant one" " selected in 1 iteration, 13 of 14 features" "$work/out"
works "JSON" voxsift fit c --target dx --method mslr --nselect 3 -o m --force -q --json
for key in '"selected": 3,' '"outer_iterations": 1,' '"gap_of_selected": ' '"converged": true' '"method": "mslr"' '"loss": "logistic"'; do
    holds "its keys" "$key" "$work/out"
done
works "info on pairs" voxsift info pairs
holds "what was selected" " have a nonzero weight, from 4 selected features and pairs; relative gap" "$work/out"
works "info as JSON" voxsift info some --json
holds "what was selected" '"selected": ' "$work/out"
works "a path" voxsift path c --target dx --method fgm --per-iteration 2 --iterations 3
same "its points" "$(cut -f 1,2 "$work/out" | tr '\t\n' '  ')" "iterations selected 1 2 2 4 3 6 "
works "a path of numbers" voxsift path c --target dx --method mslr --nselect 2,4,8
same "its points" "$(cut -f 2 "$work/out" | tr '\n' ' ')" "selected 2 4 8 "
works "a path as JSON" voxsift path c --target dx --method mslr --feature-map poly2 --nselect 2,4,8 --json
same "its points" "$(grep -o '"selected": [0-9]*' "$work/out" | tr '\n' ' ')" '"selected": 2 "selected": 4 "selected": 8 '
run voxsift path c --target dx --method mslr --solver coordinate-descent --subproblem-tol 1e-11 --tol 1e-11 --iterations 2 --per-iteration 3
same "what cannot be solved so far" "$code$(grep -c 'on the selected features: above the tolerance' "$work/err")" 31
works "little to find" voxsift fit c --target dx --method fgm --feature-map poly2 --C 1e-9 --tol 0.1 --refit 1 -o nothing -q
holds "nothing is selected" " 0 features and pairs selected in 0 iterations, 0 of 14 features" "$work/out"
works "which is a model" voxsift predict nothing new -q
works "with a certificate" voxsift check-model nothing c
works "nothing for the first class" voxsift fit c --target late --method fgm --C 0.01 --tol 0.1 --per-iteration 1 --refit 1 -o late -q
same "but for others" "$(grep -o '[0-9] features* selected' "$work/out" | tr '\n' ' ')" "0 features selected 1 feature selected 1 feature selected "
works "which is a model" voxsift predict late new -q
works "with certificates" voxsift check-model late c
works "folds choose" voxsift fit c --target dx --method fgm --nselect 2,4,8 --choose-lambda 3 -o m --force -q
grep -q '"nselect": \[2, 4, 8\]' m/model.json && pass || fail "numbers that folds chose among" "$(grep nselect m/model.json)"

# a feature, a product or a copy of a covariate without variation of its own is never selected
awk 'BEGIN { FS = OFS = "\t"; srand(2) } NR == 1 { print "participant_id", "a", "b", "three", "far", "sex"; next }
    { print $1, rand(), rand() - 0.5, 3, 1e6, NR % 3 ? 1 : -1 }' c/participants.tsv > flat.tsv
awk 'BEGIN { FS = OFS = "\t" } { print $1, NR == 1 ? "dx" : NR % 2 ? "x" : "y", NR == 1 ? "gender" : NR % 3 ? "m" : "f" }' c/participants.tsv > people.tsv
works "features that are constant" voxsift cohort --feature-table flat.tsv --participants people.tsv -o flat -q
for options in "fgm --per-iteration 6 --iterations 2" "mslr --nselect 6" "fgm --per-iteration 20 --iterations 2 --feature-map poly2" \
    "mslr --nselect 20 --feature-map poly2" "fgm --per-iteration 6 --iterations 2 --confounds gender"; do
    for way in none unit; do
        run voxsift fit flat --target dx --method $options --standardize $way -o flatly --force -q
        same "$options, $way" "$code" 0
        same "$options, $way: what is constant is not selected" "$(cut -f 2 flatly/weights.tsv | grep -cE 'three|far')" 0
        [ $way = unit ] || same "$options: nor a square of 1 and -1" "$(cat flatly/*.tsv | grep -c 'square.*sex')" 0
        case $options in *confounds*) same "$way: nor a copy of a covariate" "$(grep -c sex flatly/weights.tsv)" 0 ;; esac
        run voxsift check-model flatly flat
        same "$options, $way: as it is checked" "$code" 0
    done
done
rm -r flat flatly flat.tsv people.tsv

# ---- Every command -----------------------------------------------------------------------------------
alike() { # WHAT FILES COMMAND...: the same bits by one thread and by two
    local what=$1 files=$2 file
    shift 2
    rm -rf one two
    works "$what, one thread" voxsift "$@" -o one --nthreads 1 -q
    works "$what, two threads" voxsift "$@" -o two --nthreads 2 -q
    same "$what: files" "$(ls one)" "$(ls two)"
    for file in $files; do
        if cmp -s "one/$file" "two/$file"; then pass; else fail "$what: $file of two threads"; fi
    done
    rm -rf one two
}
folds="--folds 3 --inner-folds 2"
alike "fit pairs" "weights.tsv selection.tsv mapped.tsv alpha.npy pairs.tsv" fit c --target dx --method mslr --feature-map poly2 --nselect 5
alike "fit groups" "weights.tsv selection.tsv selected.tsv groups.tsv" fit c --target kind --method fgm --groups tree:tree.tsv --per-iteration 2 --iterations 2 --refit 1
alike "fit waves" "weights.tsv selection.tsv mapped.tsv" fit c --target dx --method fgm --feature-map gauss --nselect 3
alike "cv, numbers" "predictions.tsv weights.tsv scores.tsv" cv c --target dx --method fgm --nselect 2,4,8 $folds
alike "cv, rounds" "predictions.tsv weights.tsv scores.tsv" cv c --target kind --method mslr --per-iteration 2 --iterations 2 $folds
alike "descent" "weights.tsv selection.tsv alpha.npy" fit c --target dx --method mslr --solver coordinate-descent --per-iteration 2 --iterations 2
alike "cv, pairs" "predictions.tsv weights.tsv scores.tsv" cv c --target dx --method fgm --feature-map poly2 --iterations 2 --confounds age $folds
alike "permute" "null.tsv" permute c --target dx --method fgm --nselect 2,4 $folds --permutations 3
alike "stability" "frequencies.tsv halves.tsv" stability c --target dx --method mslr --per-iteration 1 --iterations 3 --subproblem-tol 1e-2 --pairs 2 --select-features 4
run voxsift cv c --target dx --method fgm --nselect 2,4,8 $folds -o v -q
holds "what folds chose" "the number to select chosen by 2-fold inner CV" "$work/out"
grep -q '"nselect": \[2, 4, 8\]' v/cv.json && pass || fail "what was tried" "$(grep nselect v/cv.json)"
run voxsift cv c --target dx --method fgm --per-iteration 2 --iterations 3 $folds -o r -q
holds "what folds chose" ", iterations chosen by 2-fold inner CV" "$work/out"
grep -q '"iterations": \[1, 2, 3\]' r/cv.json && pass || fail "what was tried" "$(grep iterations r/cv.json)"

# chunks are the whole, and what was stopped goes on
for k in 1 2; do
    run voxsift cv c --target dx --method fgm --nselect 2,4,8 $folds --chunk $k/2 -o part$k -q
done
works "merge" voxsift merge part1 part2 -o merged
same "chunks are the whole" "$(cat merged/predictions.tsv)" "$(cat v/predictions.tsv)"
many=(permute c --target dx --method fgm --feature-map poly2 --nselect 2,4 $folds --permutations 8 -q)
run voxsift "${many[@]}" -o whole
stopped rest voxsift "${many[@]}"
works "resume" voxsift "${many[@]}" -o rest --resume
same "the same permutations" "$(cat rest/null.tsv)" "$(cat whole/null.tsv)"
for made in pairs some waves nothing late v r whole; do
    works "a page of $made" voxsift report $made -o page.html --force
    same "$made: what it says of its fits" "$(grep -c "Some fits did not\|SAIF" page.html)" 0
done
rm -rf ./*

# ---- Voxels -------------------------------------------------------------------------------------------
awk -F '\t' '$8 == "Broca" || $8 == "Anomic" || NR == 1' "$top/examples/arc/participants.tsv" |
    sed "s#\tlesion/#\t$top/examples/arc/lesion/#" | awk -F '\t' 'NR == 1 || NR % 2' > people.tsv
works "lesions" voxsift cohort people.tsv --image-column lesion --mask-fraction 0.1 --smooth 8 --voxel-size 8 -o c -q
few=(--target wab_type --method fgm --per-iteration 2 --iterations 2 -q)
for rule in atlas:schaefer100 patches:9 tree:octree "tree:octree --by-size" "atlas:schaefer100 --refit 1 --loss logistic"; do
    works "--groups $rule" voxsift fit c "${few[@]}" --groups $rule -o m --force
    grep -Eq "  [1-4] groups? selected in [12] iterations?, " "$work/out" && pass || fail "--groups $rule: groups" "$(cat "$work/out")"
    same "--groups $rule: as a table" "  $(($(wc -l < m/selected.tsv) - 1)) group" "$(grep -o '^  [1-4] group' "$work/out")"
    run voxsift check-model m c
    same "--groups $rule: holds" "$code" 0
done
alike "fit groups wider than subjects" "weights.tsv selection.tsv selected.tsv" fit c "${few[@]:0:8}" --groups tree:octree --refit 1
same "rules are kept as rules" "$(voxsift fit c "${few[@]}" --groups patches:9 -o p > /dev/null && ls p | grep groups)" ""
refuses 2 "'--groups patches:MM' expects a number above 0" voxsift fit c "${few[@]}" --groups patches:0 -o x
refuses 2 "'--groups patches:MM' expects a number above 0" voxsift fit c "${few[@]}" --groups patches:big -o x
refuses 66 "nowhere" voxsift fit c "${few[@]}" --groups atlas:nowhere -o x
works "pairs of voxels" voxsift fit c --target wab_type --method mslr --feature-map poly2 --nselect 3 -o pairs -q
same "pairs are lines between their places" "$(cut -f 1-9 pairs/edges.tsv | tail -n +2 | sort)" \
    "$(awk -F '\t' '$1 == "pair" { print $3 "\t" $10 "\t" $2 "\t" $7 "\t" $8 "\t" $9 "\t" $14 "\t" $15 "\t" $16 }' pairs/pairs.tsv | sort)"
same "with their places" "$(head -n 1 pairs/pairs.tsv | tr '\t' ' ')" \
    "kind weight first first_i first_j first_k first_x first_y first_z second second_i second_j second_k second_x second_y second_z"
works "predictions of images" voxsift predict pairs people.tsv --image-column lesion -q
cp "$work/out" images
works "and of the cohort" voxsift predict pairs c -q
same "are the same" "$(cut -f 1,3 "$work/out")" "$(cut -f 1,3 images)"
works "a page of pairs" voxsift report pairs -o page.html
# products of features that are too large
"$PYTHON" - << 'EOP'
import numpy as np
rng = np.random.default_rng(5)
x = rng.normal(size=(60, 12))
with open("sides.tsv", "w") as f:
    f.write("participant_id\tdx\n" + "".join(f"s{i}\t{'x' if x[i, 0] > x[i, 1] else 'z'}\n" for i in range(60)))
np.save("huge.npy", (x * 1e30).astype("f4"))
EOP
works "features of 1e30" voxsift cohort --npy huge.npy --rows sides.tsv --person participant_id -q -o huge
for way in none; do
    run voxsift fit huge --target dx --method fgm --feature-map poly2 --iterations 2 --standardize $way -o h -q --force
    same "products of 1e60, $way" "$code" 3
    holds "are said to be too large, $way" "too large to be computed with; rescale the features, or pass --standardize unit" "$work/err"
done
run voxsift fit huge --target dx --method fgm --feature-map poly2 --iterations 2 -o h -q --force
same "unit features" "$code" 0
rm -rf ./*
nothing_left "generation"
