# make deps: silent when all is there; without apt-get or without root it names the packages.
works "nothing is missing" sh "$top/.ci/deps" build test
same "and it says nothing" "$(cat "$work/out")" ""
mkdir empty
for tool in sh sed id printf; do ln -s "$(command -v $tool)" empty/$tool; done
run env PATH="$PWD/empty" sh "$top/.ci/deps" build
same "another system: code" "$code" 1
holds "another system: the packages" "libopenblas-dev" "$work/err"
holds "another system: what to do" "no apt-get" "$work/err"
printf '#!/bin/sh\nexit 0\n' > empty/apt-get
printf '#!/bin/sh\necho 1000\n' > empty/id.new && chmod +x empty/apt-get empty/id.new && mv -f empty/id.new empty/id
run env PATH="$PWD/empty" sh "$top/.ci/deps" build
same "not root: code" "$code" 1
holds "not root: what to do" "apt-get install" "$work/err"
rm -r empty
nothing_left "deps"
