# Rows and volumes that have no ids of their own: number 7 of another file is another subject.
awk 'BEGIN { srand(2); for (i = 1; i <= 40; i++) { y = rand(); printf "%g 1:%g 2:%g 3:%g\n", y, y + rand(), rand(), rand() } }' > all.svm
head -n 20 all.svm > a.svm
tail -n 20 all.svm > b.svm
voxsift cohort --svmlight a.svm -o a -q > /dev/null
voxsift cohort --svmlight b.svm -o b -q > /dev/null
voxsift fit a --target target -o m -q > /dev/null
known() { awk -F'\t' 'NR > 1 { print $NF }' "$work/out" | sort | uniq -c | tr -s ' ' | tr -d '\n'; }
works "another file" voxsift predict m b -q
same "has strangers" "$(known)" " 20 no"
works "as a source" voxsift predict m --svmlight b.svm -q
same "has strangers as well" "$(known)" " 20 no"
works "the same file" voxsift predict m --svmlight a.svm -q
same "has those that the model knows" "$(known)" " 20 person"
works "one seed" voxsift simulate lasso --subjects 20 --features 30 --seed 1 -o s1 -q
works "another" voxsift simulate lasso --subjects 20 --features 30 --seed 2 -o s2 -q
target=$(head -n 1 s1/participants.tsv | cut -f 2)
works "a model of one" voxsift fit s1 --target "$target" -o ms -q
works "of the other" voxsift predict ms s2 -q
same "knows nobody" "$(known)" " 20 no"
works "of itself" voxsift predict ms s1 -q
same "knows all" "$(known)" " 20 image"
rm -rf ./*
nothing_left "strangers"
