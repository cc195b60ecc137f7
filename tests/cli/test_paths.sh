# Names may hold what names hold.
for name in "with blanks" "Größe π" "it's" 'a"b' '$HOME' '*' '-dash' $'new\nline'; do
    works "simulate into '$name'" voxsift simulate lasso --features 10 -o "./$name" -q
    works "info on '$name'" voxsift info "./$name"
    works "info --json on '$name'" voxsift simulate lasso --features 10 --force --json -o "./$name"
    same "JSON holds '$name'" \
        "$("$PYTHON" -c 'import json,sys; print(json.load(open(sys.argv[1]))["cohort"])' "$work/out")" "./$name"
    rm -r "./$name"
done
works "behind --" voxsift simulate lasso --features 10 -o -odd-
works "behind --" voxsift info -- -odd-
rm -r ./-odd-
refuses 66 "cannot read 'no<U+000A>such': there is no such file" voxsift info $'no\nsuch'
refuses 66 "cannot read 'no<U+001B>[31msuch': No such file" voxsift info $'no\e[31msuch'
nothing_left "paths"
