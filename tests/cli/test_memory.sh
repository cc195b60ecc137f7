# Little memory (ulimit -v): every command ends by itself, with a result or with one line that says why.
voxsift simulate lasso --subjects 60 --features 3000 -o few -q > "$work/out"
voxsift simulate lasso --subjects 60 --features 3000 --target diagnosis -o two -q > "$work/out"
ends() { # MB, command: a timeout is a failure
    rm -rf so so.checkpoint
    code=0
    (ulimit -v $(($1 * 1024)) && exec timeout -k 1 15 voxsift "${@:2}") > "$work/out" 2> "$work/err" < /dev/null || code=$?
    case $code in
        0) pass ;;
        127) # not even the loader could begin
            holds "$*" "error while loading shared libraries" "$work/err" ;;
        1)
            same "$*: one line" "$(wc -l < "$work/err")" 1
            holds "$*" "not enough memory" "$work/err" ;;
        *) fail "$*" "exit $code" "$(cat "$work/err")" ;;
    esac
    [ "$code" -eq 0 ] || same "$*: nothing is left" "$(ls -Ad so .so* 2> /dev/null)" ""
}
for limit in 30 60 90 130 160 200 240 300 450; do
    ends $limit fit few --target score --nthreads 2 -o so
    ends $limit cv few --target score --folds 2 --inner-folds 2 --nlambda 3 --bootstraps 100 --nthreads 4 -o so -q
    ends $limit fit two --target diagnosis --method fgm --nthreads 1 -o so
    ends $limit path few --target score --method fused --graph chain --nlambda 3 --nthreads 3
    ends $limit simulate lasso --subjects 100 --features 20000 --nthreads 2 -o so -q
done
rm -rf so
run bash -c 'ulimit -v 80000; voxsift fit few --target score --nthreads 1 -o so'
same "linear algebra has none" "$code$(cat "$work/err")" "1voxsift fit: not enough memory for linear algebra, which needs 128 MB of address space a thread (--nthreads 1)"
# what never multiplies does not pay for it
works "a table" bash -c 'ulimit -v 80000; voxsift info few/participants.tsv'
run bash -c 'ulimit -v 80000; voxsift version'
same "version" "$code" 0
# no thread is ours but those that were asked for, and the name is the one that was called
rm -rf so
voxsift permute few --target score --nlambda 20 --permutations 100000 --nthreads 1 -o so > /dev/null 2>&1 &
for _ in $(seq 100); do
    [ "$(cat /proc/$!/comm 2> /dev/null)" = voxsift ] && break
    sleep 0.02
done
sleep 0.3
same "threads" "$(cat /proc/$!/comm) $(ls /proc/$!/task | wc -l)" "voxsift 1"
kill $!
wait $! 2> /dev/null
rm -rf ./*
nothing_left "memory"
# idle threads sleep, unless the user wants them to spin
waits() { # what, wanted, variables
    run env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT OMP_DISPLAY_ENV=true "${@:3}" voxsift version
    same "$1" "$(grep -o "OMP_WAIT_POLICY = .*" "$work/err")" "OMP_WAIT_POLICY = '$2'"
}
waits "threads sleep" PASSIVE
waits "with one BLAS thread asked for as well" PASSIVE OPENBLAS_NUM_THREADS=1
waits "as the user says" ACTIVE OMP_WAIT_POLICY=active
