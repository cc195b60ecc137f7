# What --force may take: what voxsift made, and no input of the run.
sim() { voxsift simulate lasso --subjects 12 --features 20 -q -o "$1" > "$work/out"; }
again() { timeout 10 voxsift simulate lasso --subjects 12 --features 20 -q -o "${1:-x}" --force; }
echo precious > victim.txt
mkdir folder && echo precious > folder/file

# A list is believed only if every line is a name of a file in the directory.
for line in ../victim.txt "$PWD/victim.txt" folder/../../victim.txt . .. '' .voxsift "$(printf '%0300d' 0)"; do
    sim x
    printf '%s\n' "$line" >> x/.voxsift
    refuses 73 "', is no name of a file in it; nothing was removed" again
    same "a list with '$line' removes nothing" "$(cat victim.txt) $(ls -A x | wc -l)" "precious 5"
    rm -r x
done
sim x
printf 'trut' >> x/.voxsift
refuses 73 "line 6 of its list '.voxsift', 'trut', is no name" again
printf 'h.tsv\n\0more\n' >> x/.voxsift
refuses 73 "is no name of a file in it" again
only="it exists, and --force replaces only what voxsift made"
mv x/.voxsift list && mkfifo x/.voxsift && refuses 73 "$only" again
rm x/.voxsift && ln -s ../list x/.voxsift && refuses 73 "$only" again
rm x/.voxsift && truncate -s 300M x/.voxsift && refuses 73 "$only" again
head -c 1000 /dev/urandom > x/.voxsift && refuses 73 "$only" again
rm -r x list

# Only regular files under these names, and in a directory that is no link.
sim x
rm x/truth.tsv && ln -s ../victim.txt x/truth.tsv
refuses 73 "it holds 'truth.tsv', which is no regular file" again
rm x/truth.tsv && mkdir x/truth.tsv && echo precious > x/truth.tsv/thesis
refuses 73 "it holds 'truth.tsv', which is no regular file" again
same "a directory of that name stays" "$(cat x/truth.tsv/thesis)" precious
rm -r x/truth.tsv && ln victim.txt x/truth.tsv # another name of a file: its own name stays
works "a hard link goes, the file stays" again
same "the file" "$(cat victim.txt)" precious
mv x real && ln -s real x
refuses 73 "cannot write 'x': it is a symbolic link, which is never replaced" again
refuses 73 "cannot write 'x': it is a symbolic link" again x/
same "what it names is whole" "$(ls real | wc -l)" 4
rm x && ln -s nowhere x
refuses 73 "cannot write 'x': it is a symbolic link" again
refuses 73 "cannot write 'folder/.': it exists" again folder/.
refuses 73 "cannot write 'folder/..': it exists" again folder/..
refuses 73 "$only" again folder
rm x && rm -r real folder
same "the user's file" "$(cat victim.txt)" precious

# An input of the run is never replaced, by whatever name or way it was found.
whole() { find . -type f | LC_ALL=C sort | xargs sha256sum; }
sim c
voxsift fit c --target score --lambda-ratio 0.5 -q -o m > "$work/out"
voxsift stability c --target score --pairs 4 --nlambda 4 -q --chunk 1/2 -o a > "$work/out"
voxsift stability c --target score --pairs 4 --nlambda 4 -q --chunk 2/2 -o b > "$work/out"
voxsift simulate spheres --regions 1 --subjects 6 --shape 8,8,8 --radius 1 --write-images -q -o images > "$work/out"
awk -F '\t' -v OFS='\t' 'NR == 1 { print "participant_id", "image" } NR > 1 { print $1, "images/" $1 ".nii.gz" }' \
    images/participants.tsv > images.tsv
printf 'participant_id\tscore\n' > page.html
ln -s c again-c
voxsift cv c --target score --nlambda 4 --folds 2 -q -o scores > "$work/out"
before=$(whole)
spares() { refuses 73 "input of this run" "$@"; same "inputs are whole: $*" "$(whole)" "$before"; }
spares voxsift fit c --target score --lambda-ratio 0.5 -q -o c --force
spares voxsift fit again-c --target score --lambda-ratio 0.5 -q -o c --force
spares voxsift cv c --target score --nlambda 4 -q -o ./c/ --force
spares voxsift permute c --target score --permutations 5 -q -o c --force
spares voxsift merge a b -q -o a --force
spares voxsift merge a b -q -o b --force
spares voxsift merge a b -q -o c --force # named in the parts alone
spares voxsift cohort images.tsv --image-column image -q -o images --force # named in the table alone
spares voxsift cohort images -q -o images --force
spares voxsift patches images.tsv --image-column image --label-column image --label-threshold 0 -q -o images --force
spares voxsift cohort --npy c/features.npy --rows c/participants.tsv -q -o c --force
spares voxsift regions images/truth.nii.gz -q -o images --force
spares voxsift match m images -q -o images --force
spares voxsift match m images -q -o m --force
spares voxsift simulate spheres --subjects 6 --images 'images/sub-*.nii.gz' --mask images/mask.nii.gz --radius 1 -q -o images --force
spares voxsift cv c --target score --nlambda 4 --folds-from scores/folds.tsv -q -o scores --force
spares voxsift report m -o m/model.json --force
refuses 73 "cannot write 'images.tsv': $only" voxsift report m -o images.tsv --force
refuses 73 "cannot write 'page.html': $only" voxsift report m -o page.html --force
refuses 73 "cannot write 'm': it is an input of this run" voxsift report m -o m --force
refuses 73 "cannot write 'victim.txt': $only" voxsift report m -o victim.txt --force
same "files are whole" "$(whole)" "$before"

# A page is known by its head, and replaced whole.
rm page.html
works "a page" voxsift report m -o page.html
refuses 73 "cannot write 'page.html': it exists; pass --force" voxsift report m -o page.html
works "a page of voxsift is replaced" voxsift report m -o page.html --force
holds "what it is known by" '<meta name="generator" content="voxsift ' page.html
ln -s page.html link.html
refuses 73 "cannot write 'link.html': it is a symbolic link" voxsift report m -o link.html --force
mkfifo pipe.html
refuses 73 "cannot write 'pipe.html': $only" timeout 10 voxsift report m -o pipe.html --force
same "nothing half made" "$(ls -A | grep part)" ""

# In an output a page is one of its files, and goes with them; a file of somebody else's stays.
for k in 1 2; do works "a page in a model, $k" voxsift report m -o m/page.html --force; done
same "on its list once" "$(grep -c '^page.html$' m/.voxsift)" 1
works "which is replaced" voxsift fit c --target score --lambda-ratio 0.5 -q -o m --force
[ -e m/page.html ] && fail "the page of the old model is left" || pass
works "a page again" voxsift report m -o m/page.html
echo mine > m/mine.html
refuses 73 "it holds 'mine.html', which voxsift did not put there" voxsift fit c --target score -q -o m --force
holds "the page is left as well" "<html" m/page.html
rm m/mine.html m/page.html
grep -v page.html m/.voxsift > list
for broken in "files of mine:\n" "files of a voxsift output:\n../victim.txt\n" "files of a voxsift output:\nmodel.json"; do
    printf "$broken" > m/.voxsift
    works "a page beside a list that is none" voxsift report m -o m/page.html --force
    same "which stays as it is" "$(cat m/.voxsift)" "$(printf "$broken")"
done
rm m/.voxsift m/page.html
ln list m/.voxsift
works "a page beside a list with two names" voxsift report m -o m/page.html
if grep -q page.html list; then fail "the other name was written to"; else pass; fi
mkdir plain
works "a page in a directory of somebody else's" voxsift report m -o plain/page.html
same "alone" "$(ls -A plain)" "page.html"
rm -rf ./*
nothing_left "force"
