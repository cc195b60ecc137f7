# Who is who, by the names of columns and by ids as they are written.
# usage: scans NAME HEADER FORMAT: 24 scans of 12 persons, whose person stands in column HEADER or in ids of FORMAT
scans() {
    awk -v header="$2" -v format="$3" -v f="$1_f.tsv" -v t="$1_t.tsv" 'BEGIN {
        srand(5); print "scan_id\ta\tb\tc" > f; print "scan_id\t" header "\ty" > t
        for (i = 0; i < 24; i++) {
            p = int(i / 2) + 1; v = i % 2 + 1
            id = format == "" ? "scan" 1000 + i : sprintf(format, p, v)
            print id "\t" rand() "\t" rand() "\t" rand() > f; print id "\t" 5000 + p "\t" p + rand() > t } }'
}
# usage: finds "what" NAME "words of the summary" [OPTION...]
finds() {
    local what=$1 name=$2 words=$3
    shift 3
    run voxsift cohort --feature-table "$name"_f.tsv --participants "$name"_t.tsv --id-column scan_id -o "$name" --force "$@"
    same "$what" "$code" 0
    holds "$what" "$words" "$work/out"
}

for header in PATNO eid subj_id SUBJID patient_nr 'Patient No' Individual case_id subject_code MRN participant_number; do
    scans c "$header" ''
    finds "column '$header'" c '24 subjects of 12 people' --dry-run
done
for format in 'sub-%02d/ses-%d/anat' 'anat/sub-%02d_run-%d_T1w' 'sub%02d_ses%d' 'sub-%02d-ses-%d' 'P%02d visit %d' 'P%02d.visit%d' \
    '002_S_%04d_month%d'; do
    scans c site "$format"
    finds "ids '$format'" c '24 subjects of 12 people' --dry-run
done
# what may be persons as well is said; what is of families, sites or one visit each is not
scans c child_id ''
finds "a name nobody knows" c '24 subjects of 24 people (perhaps 12) with'
holds "is said" "'scan1000' and 'scan1001' have one value in column 'child_id', but are taken for two persons; pass --person child_id" "$work/err"
scans c site 'P%02d_V%d'
finds "a letter and a number" c '24 subjects of 24 people (perhaps 12) with'
holds "are said" "'P01_V1' and 'P01_V2' are taken for two persons" "$work/err"
works "info" voxsift info c
holds "info counts both" "people      24, perhaps 12: by column 'scan_id'" "$work/out"
run voxsift cohort --feature-table c_f.tsv --participants c_t.tsv --id-column scan_id -o c --force --json -q
holds "and so does JSON" '"people": 24,' "$work/out"
holds "with the fewest" '"people_perhaps": 12,' "$work/out"
finds "each a person, as said" c '24 subjects of 24 people with' --person scan_id
works "info" voxsift info c
holds "which info counts" "people      24: by column 'scan_id'" "$work/out"
for header in family_id site_id; do
    scans c "$header" ''
    finds "$header" c '24 subjects of 24 people with'
    same "nothing is said of $header" "$(cat "$work/err")" ""
done
scans c site '%03d_S_%04d'
finds "ids of ADNI" c '24 subjects of 24 people with' --dry-run
# a column that may be one of persons is none where it is another thing
awk -F'\t' -v OFS='\t' 'NR == 1 { print $0, "patient" } NR > 1 { print $0, NR % 2 }' c_t.tsv > d_t.tsv
cp c_f.tsv d_f.tsv
finds "patient or not" d '24 subjects of 24 people with' --dry-run
# cells of a column of persons with their sessions; a column that is finer than persons
scans c participant_id ''
awk -F'\t' -v OFS='\t' 'NR == 1 { print $0, "session" } NR > 1 { $2 = "sub-" $2 "_ses-" NR % 2; print $0, "s" NR }' c_t.tsv > d_t.tsv
cp c_f.tsv d_f.tsv
finds "sessions in a column of persons" d '24 subjects of 12 people'
finds "a finer one" d '24 subjects of 24 people (perhaps 12) with' --person session
holds "is said" "have one value in column 'participant_id', but are taken for two persons" "$work/err"

# predict: another run of the same persons is no new person
scans r site 'sub-%02d_run-%d'
for k in 1 2; do
    awk -v k="run-$k" 'NR == 1 || index($1, k)' r_f.tsv > r${k}_f.tsv
    awk -v k="run-$k" 'NR == 1 || index($1, k)' r_t.tsv > r${k}_t.tsv
    finds "run $k" r$k '12 subjects of 12 people with'
done
works "a model of run 1" voxsift fit r1 --target y -q -o m
run voxsift predict m r2
same "predicts run 2" "$code" 0
same "of persons that it knows" "$(awk -F'\t' 'NR > 1 { print $NF }' "$work/out" | sort -u)" person
holds "without a score" "no metrics" "$work/err"
rm -rf ./*
nothing_left "who"

# OASIS, ADNI, dates and a session that stands first may be visits
for format in 'OAS3%04d_MR_d%04d' 'OAS2_%04d_MR%d' '002_S_%04d_m%02d' '%04d_2020010%d' 'HC%02d_2020-01-0%d'; do
    scans c site "$format"
    finds "ids '$format'" c '24 subjects of 24 people (perhaps 12) with' --dry-run
    holds "ids '$format' are said" "are taken for two persons; if they are one, pass --person" "$work/err"
done
scans c site 'X%02d=%d'
sed -i -E 's,X([0-9]+)=([0-9]),ses-\2/sub-\1,' c_f.tsv c_t.tsv
finds "sessions first" c '24 subjects of 24 people (perhaps 12) with' --dry-run
holds "are said" "'ses-1/sub-01' and 'ses-2/sub-01' are taken for two persons" "$work/err"
for format in '%03d_S_%04d' 'site%d_20%02d' 'S%d_P%02d'; do
    scans c site "$format"
    finds "ids '$format'" c '24 subjects of 24 people with' --dry-run
    same "nothing is said of '$format'" "$(cat "$work/err")" ""
done
# two ids of one person who was typed twice: zeros, capitals, Unicode composed or not; 20 others beside each
typed() { # NAME ID ID
    { printf 'scan_id\ta\tb\tc\n'; for id in $(seq 30 49 | sed 's/^/P0/') "$2" "$3"; do printf '%s\t%s\t%s\t1\n' "$id" "${RANDOM}1" "${RANDOM}3"; done; } > "$1_f.tsv"
    { printf 'scan_id\ty\n'; tail -n +2 "$1_f.tsv" | cut -f 1 | awk '{ print $0 "\t" NR * NR }'; } > "$1_t.tsv"
}
composed=$(printf 'M\303\274ller') decomposed=$(printf 'Mu\314\210ller') capitals=$(printf 'M\303\234LLER')
while read -r one other; do
    typed c "$one" "$other"
    finds "'$one' and '$other'" c '22 subjects of 22 people (perhaps 21) with'
    holds "are said" "'$one' and '$other' differ only in how they are written (zeros, capitals, Unicode), but are taken for two persons; write them alike if they are one, or pass --person scan_id" "$work/err"
    run voxsift cv c --target y --nlambda 3 --folds 3 --inner-folds 2 -o v --force -q
    holds "and by cv" "'$one' and '$other' differ only in how they are written" "$work/err"
    finds "each a person" c '22 subjects of 22 people with' --person scan_id
    same "said so" "$(cat "$work/err")" ""
done << END
P060 P60
P_07_x P_7_x
$composed $decomposed
$composed $capitals
$capitals $decomposed
END
# and to a model
typed m "$composed" K1
typed n "$decomposed" K2
sed -i '2,21s/^P0/L9/' n_f.tsv n_t.tsv
finds "training" m '22 subjects of 22 people with' -q
finds "others" n '22 subjects of 22 people with' -q
works "a model" voxsift fit m --target y -q -o model
run voxsift predict model n
same "who is perhaps known" "$(awk -F'\t' '$NF == "perhaps" { print $1 }' "$work/out")" "$decomposed"
sed -i '1!s/^K1/+++/; 1!s/^K2/+++/' m_f.tsv m_t.tsv n_f.tsv n_t.tsv
finds "training with an id without letters" m '22 subjects of 22 people with' -q
finds "others" n '22 subjects of 22 people with' -q
works "a model" voxsift fit m --target y -q -o model --force
sed -i -E '1!s/^\+\+\+/---/; s/^L9(..)/P0\1_late/' n_f.tsv n_t.tsv
finds "others" n '22 subjects of 22 people with' -q
run voxsift predict model n
same "nobody is perhaps +++" "$code $(awk -F'\t' '$NF == "perhaps"' "$work/out" | wc -l) $(awk -F'\t' '$1 == "---" { print $NF }' "$work/out")" "0 20 no"
rm -rf model m n
for pair in 'P0.05 P0.5' 'P60 P600' 'PA6 PB6'; do
    read -r one other <<< "$pair"
    typed c "$one" "$other"
    finds "$pair" c '22 subjects of 22 people with' --dry-run
    same "nothing is said of $pair" "$(cat "$work/err")" ""
done
typed c x60 X60
run voxsift cohort --feature-table c_f.tsv -o c --force --id-column scan_id
same "two rows of one id" "$code" 65
holds "are both named" "cannot use 'X60': its id is that of 'x60' in 'c_f.tsv', written differently" "$work/err"
# persons of a column, and images, which may be of one person
awk -F'\t' -v OFS='\t' 'NR == 1 { print "scan_id", "participant_id" } NR > 1 { print "s" NR, "K" int(100 + NR / 2) }' c_f.tsv | sed '12s/K106/K0106/' > d_t.tsv
awk -F'\t' -v OFS='\t' 'NR > 1 { $1 = "s" NR } { print }' c_f.tsv > d_f.tsv
finds "a column" d '22 subjects of 12 people (perhaps 11) with'
holds "of two spellings" "the persons 'K0106' and 'K106' of 's12' and 's13' differ only in how they are written" "$work/err"
mkdir img
k=0
for file in "$top"/examples/arc/lesion/*.nii.gz; do
    k=$((k + 1))
    [ $k -le 12 ] && cp "$file" img/R$((10 + k)).nii.gz
done
mv img/R22.nii.gz img/r11.nii.gz
run voxsift cohort img --mask-fraction 0.05 -o i --dry-run
holds "two images of one id" "'R11' and 'r11' differ only in how they are written, and are taken for one person; pass --person participant_id if each row is a person" "$work/err"
rm img/r11.nii.gz && cp img/R11.nii.gz img/Q7.nii.gz
run voxsift cohort img --mask-fraction 0.05 -o i --dry-run
same "one image under two ids" "$code" 65
holds "both are named" "cannot use 'R11': 'img/R11.nii.gz' is the same file as 'img/Q7.nii.gz' of 'Q7'" "$work/err"
# every character that can be written in two ways
"$PYTHON" - << 'END'
import random, unicodedata
random.seed(3)
ids = []
for low, high in (0xC0, 0x250), (0x370, 0x530), (0x1E00, 0x2000), (0x3040, 0x3100), (0xAC00, 0xAD00):
    for code in range(low, high):
        one, other = (unicodedata.normalize(form, chr(code)) for form in ("NFC", "NFD"))
        if one != other and one == chr(code):
            ids += [f"x{code}q{one}", f"x{code}q{other}"]
with open("c_f.tsv", "w") as f:
    print("scan_id\ta\tb", *(f"{i}\t{random.random()}\t{random.random()}" for i in ids), sep="\n", file=f)
with open("n", "w") as f:
    print(len(ids), file=f)
END
run voxsift cohort --feature-table c_f.tsv --id-column scan_id --dry-run
holds "NFC and NFD" "$(cat n) subjects of $(cat n) people (perhaps $(($(cat n) / 2))) with" "$work/out"
rm -rf img n
# a column of numbers that has been one of reals has the same persons
scans c participant_id ''
awk -F'\t' -v OFS='\t' 'NR > 1 && NR % 2 { $2 = $2 ".0" } { print }' c_t.tsv > d_t.tsv
cp c_f.tsv d_f.tsv
finds "7.0 is 7" d '24 subjects of 12 people'
rm -rf ./*
nothing_left "who is who"
