# Checkpoints: nobody's file is taken for one, nothing finished is thrown away, and none is shared.
voxsift simulate lasso --subjects 30 --features 50 -q -o c > "$work/out"
quick="--target score --nlambda 8 --folds 2 --inner-folds 2 --stop-at 0 -q"
permute() { timeout 60 voxsift permute c $quick "$@"; }
long="--permutations 200000 -o p"

# Other people's files
echo "my notes" > p.checkpoint
for how in "" --force --resume "--force --resume"; do
    refuses 73 "cannot write 'p.checkpoint': it exists and is no checkpoint of voxsift" permute --permutations 5 -o p $how
    same "the file is whole ($how)" "$(cat p.checkpoint)" "my notes"
done
mv p.checkpoint notes && ln -s notes p.checkpoint
for how in "" --force --resume; do
    refuses 73 "cannot write 'p.checkpoint': it is a symbolic link" permute --permutations 5 -o p $how
done
rm p.checkpoint && mkfifo p.checkpoint
refuses 73 "no checkpoint of voxsift" permute --permutations 5 -o p --force
rm p.checkpoint && mkdir p.checkpoint
refuses 73 "cannot write 'p.checkpoint'" permute --permutations 5 -o p --force
rmdir p.checkpoint
: > p.checkpoint
refuses 73 "no checkpoint of voxsift" permute --permutations 5 -o p --force
rm p.checkpoint
same "the file behind the link" "$(cat notes)" "my notes"

# A run that is under way
under_way() { # waits for records
    for _ in $(seq 500); do
        [ "$(stat -c %s p.checkpoint 2> /dev/null || echo 0)" -gt 1000 ] && break
        sleep 0.01
    done
}
permute $long > /dev/null 2>&1 &
runner=$!
under_way
for how in "" --force --resume; do
    refuses 73 "'p.checkpoint' is locked by another run with the same --out" permute --permutations 5 -o p $how
done
under=$(stat -c %i p.checkpoint)
voxsift_pid=$(pgrep -P "$runner" -x voxsift || pgrep -P "$(pgrep -P "$runner" -x timeout)" -x voxsift)
kill -KILL "$voxsift_pid" && wait "$runner" 2> /dev/null
same "the others left it alone" "$(stat -c %i p.checkpoint)" "$under"

# What a killed run had finished
cp p.checkpoint before
refuses 73 "'p.checkpoint' has what a run that was stopped had finished: pass --resume to go on from it, or --force to discard it" permute $long
refuses 65 "'p.checkpoint' is of another run" permute $long --seed 2 --resume
refuses 2 "seed" permute $long --seed x --force
refuses 65 "nobody" permute $long --confounds nobody --force
run cmp before p.checkpoint
same "nothing was thrown away" "$code" 0
run permute --permutations 20 -o p --resume
same "it goes on" "$code $(ls -d p p.checkpoint 2> /dev/null)" "0 p"
rm -r p
cp before p.checkpoint
run permute --permutations 20 -o p --force
same "--force discards it" "$code $(ls -d p p.checkpoint 2> /dev/null)" "0 p"
rm -r p
# A record that is damaged costs itself alone, and is said; one that was not written whole is none
loud="permute c ${quick% -q} --permutations 20 -o p"
run voxsift $loud
bits=$(cat p/null.tsv)
header=262 record=96 # with the record of features
damage() { printf '\377' | dd of=p.checkpoint bs=1 seek=$((header + record * $1 + $2)) conv=notrunc status=none; }
damaged() { # record, byte in it, ...: of twenty records and a half
    head -c $((header + record * 20 + 40)) before > p.checkpoint
    while [ $# -gt 0 ]; do damage "$1" "$2" && shift 2; done
    rm -r p
    run voxsift $loud --resume
    same "a damaged checkpoint gives the same bits" "$code $(ls -d p.checkpoint 2> /dev/null) $(cat p/null.tsv)" "0  $bits"
}
damaged
if grep -q damaged "$work/err"; then fail "half a record is no damage" "$(cat "$work/err")"; else pass; fi
damaged 3 20 6 8 7 1
holds "what is dropped" "warning: 'p.checkpoint' is damaged in 2 places: 288 bytes that were records are dropped, and computed again" "$work/err"
damaged 19 40
holds "the last one" "damaged in 1 places: 136 bytes" "$work/err"
damaged 0 0
holds "the first one" "damaged in 1 places: 96 bytes" "$work/err"
rm -r p
cp before p.checkpoint
sed -i '1s/2/9/' p.checkpoint
refuses 65 "the version of voxsift" permute --permutations 20 -o p --resume
rm p.checkpoint

# A file that took the checkpoint's name meanwhile is not removed
permute --permutations 3000 -o p > /dev/null 2>&1 &
runner=$!
under_way
mv p.checkpoint moved && echo "my notes" > p.checkpoint
wait "$runner"
same "not ours, so it stays" "$? $(cat p.checkpoint) $(ls -d p)" "0 my notes p"
rm -r p p.checkpoint moved

# A run that is refused leaves none
refuses 2 "metric" permute --permutations 5 --metric nonsense -o p
refuses 73 "cannot write 'nowhere/p': No such file or directory" permute --permutations 5 -o nowhere/p
same "nothing left of these" "$(ls -A | tr '\n' ' ')" "before c notes "
rm -rf ./*
nothing_left "checkpoint"
