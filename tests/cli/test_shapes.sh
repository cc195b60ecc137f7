# Persons that only a human sees: by the form of ids and columns, whatever they are called; said by the cohort and
# by all that is computed from it.
# usage: table_of NAME HEADER [SCRIPT]: 40 scans of 20 persons; awk SCRIPT sets id and value from p (1 to 20) and v (1, 2)
table_of() {
    awk -v header="$2" -v f="$1_f.tsv" -v t="$1_t.tsv" 'BEGIN {
        srand(7); print "scan_id\ta\tb\tc" > f; print "scan_id\t" header "\tsex\talter\ty" > t
        for (i = 0; i < 40; i++) {
            p = int(i / 2) + 1; v = i % 2 + 1; id = "scan" 1000 + i; value = 20 + int(60 * rand()); sex = p % 2; '"${3:-}"'
            print id "\t" rand() "\t" rand() "\t" rand() > f; print id "\t" value "\t" sex "\t" 20 + int(60 * rand()) "\t" p + rand() > t } }'
}
# usage: says "what" "words, or none" [OPTION...]: of table c
says() {
    local what=$1 words=$2
    shift 2
    run voxsift cohort --feature-table c_f.tsv --participants c_t.tsv --id-column scan_id -o c --force "$@"
    same "$what" "$code" 0
    if [ -n "$words" ]; then holds "$what" "$words" "$work/err"; else same "$what: nothing is said" "$(cat "$work/err")" ""; fi
}

for header in hcp_subject study_no pseudonym sid uid VPN Versuchsperson ppt twin_id family_subject client initials; do
    table_of c $header 'value = 4000 + p * 7 % 97;'
    says "column $header" "'scan1000' and 'scan1001' have one value in column '$header', but are taken for two persons; pass --person $header to 'voxsift cohort' if they are one, or --person scan_id if each row is a person" --dry-run
done
table_of c who 'p = int(i * (40 - i) / 20) % 17; value = sprintf("AB%02d", p); sex = p % 2;'
says "codes that stand unevenly" "have one value in column 'who'" --dry-run
table_of c who 'value = 100 + int(sqrt(i * 9)); sex = int(sqrt(i * 9)) % 2;'
says "numbers of one sex each" "have one value in column 'who'" --dry-run
for id in 'sprintf("%03d_%d", p, v)' 'sprintf("%03d%s", p, v == 1 ? "a" : "b")' 'sprintf("%03d-%d", p, v)' 'sprintf("sub%03dT%d", p, v)' \
    'sprintf("S%03d_%02d", p, v)' 'sprintf("%d_%03d", v, p)' 'sprintf("2019-0%d-%d_%03d", v, 10 + p % 7, p)' 'sprintf("%03d_%s", p, v == 1 ? "A" : "B")' \
    'sprintf("%04d_%d", p, v)' 'sprintf("S%d_%s", p, v == 1 ? "A" : "B")' 'sprintf("T%d_P%02d", v, p)' 'sprintf("I%d_%s", p, v == 1 ? "left" : "right")' \
    'sprintf("sub-%d_%dy", p, 2 * v)' 'sprintf("S%02d%s", p, v == 1 ? "pre" : "post")' 'sprintf("%s%02d", v == 1 ? "pre" : "post", p)' \
    'sprintf("S%02dvisit%d", p, v)' 'sprintf("%s_%03d", v == 1 ? "pre" : "post", p)' 'sprintf("%s_%03d", v == 1 ? "BL" : "FU", p)'; do
    table_of c score "id = $id;"
    says "ids $id" "are taken for two persons; if they are one, pass --person" --dry-run
    says "ids $id, each a person" "" --dry-run --person scan_id
done
# years, a visit between site and number, events of ABCD, dates, and a study with words for visits beside one without
for id in 'sprintf("sub-%03d_%d", p, 2014 + 3 * v)' 'sprintf("MUC_V%d_%03d", v, p)' 'sprintf("S%02d-%s-MRI", p, v == 1 ? "eins" : "zwei")' \
    'sprintf("%03d:%s", p, v == 1 ? "baselineassessment" : "followupassessment")' 'sprintf("%03d_20%02d-0%d-12T10:15:00", p, 8 + v, 1 + p % 7)' \
    'sprintf("NDARINV%cX%03dQ_%s", 65 + p, p, v == 1 ? "baseline_year_1_arm_1" : "2_year_follow_up_y_arm_1")' \
    'p <= 10 ? sprintf("sub-%03d_ses-%d", p, v) : sprintf("P%03d_%d", p, 2014 + 3 * v)'; do
    table_of c score "id = $id;"
    says "ids $id" "are taken for two persons; if they are one, pass --person" --dry-run
    says "ids $id, each a person" "" --dry-run --person scan_id
done
table_of c score 'id = sprintf("P%03d%s", p, v == 1 ? "" : "_rescan");'
says "a rescan" "" --dry-run
holds "is of the person" "40 subjects of 20 people" "$work/out"
# tails of which each scan has its own, words and years before the person, and one scan again of a few
for id in 'sprintf("%d_I%d", 3000 + p, 200000 + i * 7919)' 'sprintf("022_S_%04d_I%d", p, 200000 + i * 7919)' 'sprintf("P%03d_%d", p, 1000000 + i * 79190)' \
    'sprintf("P%03d_%.1f", p, 20 + p * 37 % 60 + 1.5 * v)' 'sprintf("P%03d_%dy", p, 20 + p * 37 % 60 + v)' 'sprintf("%04d%d0%d12", p, 2011 + v, 1 + p % 7)' \
    'sprintf("IXI%03d-Guys-%04d-T1", p, i * 7919 % 10000)' 'sprintf("time%d_%03d", v, p)' 'sprintf("%d_P%02d", 2018 + v, p)' 'sprintf("Besuch%d_%03d", v, p)' \
    'v == 2 && p > 3 ? sprintf("P%03d", 20 + p) : sprintf("P%03d%s", p, v == 1 ? "" : "_2")'; do
    table_of c score "id = $id;"
    says "ids $id" "are taken for two persons; if they are one, pass --person" --dry-run
    holds "ids $id are counted" "(perhaps " "$work/out"
    says "ids $id, each a person" "" --dry-run --person scan_id
done
# ages, sites, families, and ids that share no person
for id in 'sprintf("sub-%03d", i + 1)' 'i + 1' 'sprintf("%03d_S_%04d", i % 9, i + 100)' '1000003 + i * 7919' 'sprintf("site%d_%02d", v, p)' \
    'sprintf("%s_%02d", v == 1 ? "HC" : "PT", p)' 'sprintf("%s%02d", v == 1 ? "control" : "patient", p)' 'sprintf("%s_%02d", v == 1 ? "NYU" : "UCLA", p)' 'sprintf("%03d_T1w", i)' 'sprintf("fam%03d_%d", p, v)' \
    'i < 25 ? sprintf("1_%02d", i + 1) : sprintf("2_%02d", i - 24)' 'sprintf("%06d-%d", 100000 + i * 7919, i * 7 % 10)' 'sprintf("201901%02d_%d", p, v)' \
    'sprintf("F%03d_%04d", p, i + 1000)' 'sprintf("%03d_%d", 1 + i % 5, 1000000 + i * 79190)'; do
    table_of c score "id = $id;"
    says "ids $id" "" --dry-run
done
for header in family_id household site age; do
    table_of c $header 'value = 4000 + p;'
    says "$header" "" --dry-run
done
table_of c litter 'value = 4000 + p; sex = v;'
says "a man and a woman" "" --dry-run

# whatever computes from it says so, and its results
table_of c client 'value = 4000 + p;'
says "a cohort" "column 'client'"
quick=(--target y --nlambda 3 --force)
words="'scan1000' and 'scan1001' have one value in column 'client', but are taken for two persons"
for how in "cv -o v --folds 3 --inner-folds 2" "permute -o p --folds 3 --inner-folds 2 --permutations 2" "stability -o s --pairs 2" "fit -o m --choose-lambda 2"; do
    read -r command rest <<< "$how"
    # shellcheck disable=SC2086
    run voxsift "$command" c "${quick[@]}" $rest
    same "$command" "$code" 0
    holds "$command says it" "$words" "$work/err"
    # shellcheck disable=SC2086
    run voxsift "$command" c "${quick[@]}" $rest -q
    out=${rest#-o } && out=${out%% *}
    same "$command: results keep it" "$("$PYTHON" -c 'import glob, json, sys
print([w[:len(sys.argv[2])] for f in glob.glob(sys.argv[1] + "/*.json") for w in json.load(open(f)).get("warnings", [])] == [sys.argv[2]])' "$out" "$words")" True
    run voxsift report "$out" -o r.html --force -q
    holds "the page of $command says it" 'have one value in column' r.html
done
for k in 1 2; do
    run voxsift cv c "${quick[@]}" --folds 3 --inner-folds 2 -q -o part-$k --chunk $k/2
    same "chunk $k" "$code" 0
    holds "chunk $k says it" "$words" "$work/err"
done
run voxsift merge part-1 part-2 -o w
holds "merge says it" "$words" "$work/err"
same "merged as whole" "$(grep -A2 '"warnings"' w/cv.json)" "$(grep -A2 '"warnings"' v/cv.json)"
awk -F'\t' -v OFS='\t' 'NR == 1 { print $0, "visit" } NR > 1 { print $0, NR % 2 }' c_t.tsv > d && mv d c_t.tsv
says "with visits" "column 'client'"
works "one visit of each concerns nobody" voxsift cv c "${quick[@]}" --only visit=1 --folds 3 --inner-folds 2 -o v -q
run voxsift cv c "${quick[@]}" --only visit=1 --folds 3 --inner-folds 2 -o v
same "nor is it said" "$(grep -c 'taken for two' "$work/err")" 0
says "each a person" "" --person scan_id
run voxsift cv c "${quick[@]}" --folds 3 --inner-folds 2 -o v
same "and then nothing" "$(grep -c 'taken for two' "$work/err")" 0

# predict: another visit of a training person
table_of c score 'id = sprintf("OAS3%04d_MR_d%04d", p, v == 1 ? 1 : 757 + p);'
for v in 0 1; do
    awk -v v=$v 'NR == 1 || NR % 2 == v' c_f.tsv > v${v}_f.tsv
    awk -v v=$v 'NR == 1 || NR % 2 == v' c_t.tsv > v${v}_t.tsv
    works "visit $v" voxsift cohort --feature-table v${v}_f.tsv --participants v${v}_t.tsv --id-column scan_id -o c$v -q
done
works "a model of the first" voxsift fit c0 --target y -q -o m --force
run voxsift predict m c1
same "the second is perhaps known" "$(awk -F'\t' 'NR > 1 { print $NF }' "$work/out" | sort -u)" perhaps
holds "and it is said" "20 of 20 subjects, such as 'OAS30001_MR_d0758', may be other scans of training persons" "$work/err"
# whose row it is was passed for both: there is nothing to suppose
person_of() { voxsift cohort --feature-table v$1_f.tsv --participants v$1_t.tsv --id-column scan_id -o c$1 --force -q "${@:2}" > said 2>&1; }
for said in 01 0 1; do
    for v in 0 1; do
        if [[ $said == *$v* ]]; then person_of $v --person scan_id; else person_of $v; fi
    done
    works "a model, --person said for $said" voxsift fit c0 --target y -q -o m --force
    run voxsift predict m c1
    wanted=perhaps
    [ "$said" = 01 ] && wanted=no
    same "--person said for $said" "$(awk -F'\t' 'NR > 1 { print $NF }' "$work/out" | sort -u)" $wanted
done
works "the same subjects" voxsift cohort --feature-table v0_f.tsv --participants v0_t.tsv --id-column scan_id --person scan_id -o c0 -q --force
works "a model of them" voxsift fit c0 --target y -q -o m --force
run voxsift predict m c0
same "are known nevertheless" "$(awk -F'\t' 'NR > 1 { print $NF }' "$work/out" | sort -u)" person
person_of 0
works "a model without" voxsift fit c0 --target y -q -o m --force
sed -i -E 's/OAS3/OAS4/' v1_f.tsv v1_t.tsv
works "others" voxsift cohort --feature-table v1_f.tsv --participants v1_t.tsv --id-column scan_id -o c1 -q --force
run voxsift predict m c1
same "are not" "$(awk -F'\t' 'NR > 1 { print $NF }' "$work/out" | sort -u)" no
rm -rf ./*
nothing_left "shapes"
