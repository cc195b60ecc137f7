# Every mistake gets one line that says what and where, and the right exit code.
refuses 2 "unknown command 'simulat'; did you mean 'simulate'?" voxsift simulat
refuses 2 "unknown command 'xyzzy'; see 'voxsift help'" voxsift xyzzy
refuses 2 "unknown command ''" voxsift ""
refuses 2 "unknown TOPIC 'inf'; did you mean 'info'?" voxsift help inf
refuses 2 "option '--noise' expects a number between 0 and 1000000000, not 'abc'" \
    voxsift simulate lasso -o x --noise abc
refuses 2 "not 'nan'" voxsift simulate lasso -o x --noise nan
refuses 2 "not 'NaN'" voxsift simulate lasso -o x --noise=NaN
refuses 2 "not 'inf'" voxsift simulate lasso -o x --noise inf
refuses 2 "between 0 and 1, not '1.5'" voxsift simulate lasso -o x --nonzero 1.5
refuses 2 "not '-1'" voxsift simulate lasso -o x --nonzero -1
refuses 2 "a whole number between 2 and 10000000, not '1'" voxsift simulate lasso -o x --subjects 1
refuses 2 "not '1e3'" voxsift simulate lasso -o x --subjects 1e3
refuses 2 "expects one of score, diagnosis, not 'diagnose'; did you mean 'diagnosis'?" \
    voxsift simulate lasso -o x --target diagnose
refuses 2 "unknown option '--lambda'" voxsift simulate lasso -o x --lambda abc
refuses 2 "unknown option '--featurs'; did you mean '--features'?" \
    voxsift simulate lasso -o x --featurs 3
refuses 2 "unknown option '-x'" voxsift simulate lasso -x
refuses 2 "option '--noise' expects a value (SD)" voxsift simulate lasso -o x --noise
refuses 2 "option '--seed' is given twice" voxsift simulate lasso -o x --seed 1 --seed=1
refuses 2 "option '--json' expects no value, not '1'" voxsift simulate lasso -o x --json=1
refuses 2 "option '--out DIR' is missing" voxsift simulate lasso
refuses 2 "MODEL is missing" voxsift simulate
refuses 2 "unknown MODEL 'laso'; did you mean 'lasso'?" voxsift simulate laso -o x
refuses 2 "'b' is one argument too many" voxsift info a b
refuses 2 "unknown SHELL 'bsh'; did you mean 'bash'?" voxsift completion bsh
refuses 2 "between 1 and 1024, not '0'" voxsift version --nthreads 0
refuses 2 "environment variable VOXSIFT_NTHREADS must be" env VOXSIFT_NTHREADS=many voxsift version
nothing_left "misuse writes nothing"

refuses 66 "cannot read 'nowhere.tsv': No such file or directory" voxsift info nowhere.tsv
refuses 66 "cannot read './cohort.json'" voxsift info .
printf 'a\tb\n1\n' > short.tsv
refuses 65 "cannot read 'short.tsv': line 2 has 1 cells, the header has 2" voxsift info short.tsv
: > empty.tsv
refuses 65 "cannot read 'empty.tsv': it is empty" voxsift info empty.tsv
printf '\x93NUMPY\x01\x00' > cut.npy
refuses 65 "cannot read 'cut.npy'" voxsift info cut.npy
printf '\x00\x01\x02' > binary
refuses 65 "'binary': line 1 holds a zero byte" voxsift info binary
mkdir broken && echo '{"format": ' > broken/cohort.json
refuses 65 "cannot read 'broken/cohort.json': line 2, column 1" voxsift info broken
echo '{"format": "something else"}' > broken/cohort.json
refuses 65 "'broken/cohort.json' is not of format 'voxsift cohort'" voxsift info broken
rm -r short.tsv empty.tsv cut.npy binary broken

refuses 73 "cannot write 'no/where': No such file or directory" voxsift simulate lasso -o no/where
refuses 73 "it exists and is not a directory" voxsift simulate lasso -o /dev/full
refuses 73 "it exists and is not a directory" voxsift simulate lasso -o /dev/full --force
refuses 73 "cannot write '/proc/x'" voxsift simulate lasso -o /proc/x
mkdir mine && touch mine/thesis
refuses 73 "it exists; pass --force" voxsift simulate lasso -o mine
refuses 73 "it exists, and --force replaces only what voxsift made" \
    voxsift simulate lasso -o mine --force
[ -f mine/thesis ] && pass || fail "the thesis is gone"
rm -r mine
nothing_left "refused outputs leave nothing"

# standard output that cannot be written is a failure, and said
run bash -c 'voxsift help > /dev/full'
same "full standard output: code" "$code" 73
same "full standard output: words" "$(cat "$work/err")" \
    "voxsift: cannot write 'standard output': No space left on device"
run bash -c 'voxsift version --json > /dev/full'
same "full standard output of version: code" "$code" 73
run bash -c 'voxsift help >&-'
same "closed standard output: code" "$code" 73
# a closed stream must not become a data file: the run is long enough to say something
run bash -c 'voxsift simulate lasso --subjects 2000 --features 60000 --nthreads 1 -o closed 2>&- <&-'
same "closed standard error" "$code" 0
works "and the data are whole" voxsift info closed/features.npy
rm -r closed
run bash -c 'set -o pipefail; voxsift help | true; exit 0'
same "a reader that has enough" "$(cat "$work/err")" ""

# a directory nobody may write to (root may, so as somebody else)
if [ "$(id -u)" -eq 0 ]; then
    chmod 755 "$work" && mkdir locked && chmod 555 locked && chmod 755 .
    refuses 73 "cannot write 'locked/x': Permission denied" \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v voxsift)" simulate lasso -o locked/x
    rmdir locked
else
    mkdir locked && chmod 555 locked
    refuses 73 "cannot write 'locked/x': Permission denied" voxsift simulate lasso -o locked/x
    rmdir locked
fi
