# bench.mk - benchmarks: each verifies, then times, beside peers in the same run; included by the Makefile.

.PHONY: bench bags-figures patches-figures machine-figures bp-figures elastic-figures group-figures command-figures svm-figures fgm-figures grid-figures cv-figures saiv-figures kernel-figures skfs-figures compare-figures clusters-figures screens figures

## make bench           times beside those of other tools, in one run (docs/benchmarks.md)
## make cv-figures      scores, permutations and stability on real brains alone (HAXBY=folder, SOOP=folder for more)
## make kernel-figures  what a column of kernel scores takes, alone
## make skfs-figures    kernel selection on the simulations of its paper, and what it costs
## make grid-figures    the fused lasso on voxel grids; make bp-figures: what screening saves
## make fgm-figures     feature generation beside liblinear (MATRICES=folder for leukemia)
## make elastic-figures the elastic net beside scikit-learn, glmnet and skglm (SKGLM=folder with its source)
## make group-figures   the group lasso beside skglm (SKGLM=folder)
## make command-figures whole commands: nested cv, permutations, threads beside other work (PEER=another voxsift)
## make svm-figures     screening for the sparse SVM, and liblinear (MATRICES=folder for colon and leukemia)
## make machine-figures kernel machines of 10,000 samples beside libsvm
## make saiv-figures    recruiting and screening of the dissertation, our working set and libsvm
## make patches-figures lesion voxels from T1w patches in people held out
## make bags-figures    bags of instances: simulated brains, and musk1 beside scikit-learn (MUSK=folder)
## make compare-figures how often `voxsift compare` finds a difference, where there is one and where there is none
## make clusters-figures stability selection on voxels and on clusters of them, where the truth is known
## make screens         SAIF beside the other screens alone; make figures: and draws docs/figures anew

# Those that need no other library: `make test` compiles them, so that they follow the library.
BENCHES := $(addprefix $(BUILD)/,read_images scan pairs kernel_scores bound_propagation grids svm_screens svm_ways group_fit saiv_ways)
$(BENCHES): $(BUILD)/%: $(BUILD)/obj/tests/bench/%.o $(BUILD)/library.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/svm_screens $(BUILD)/svm_ways $(BUILD)/group_fit $(BUILD)/saiv_ways: $(BUILD)/obj/tests/bench/svm_data.o

$(BUILD)/generation: $(call objects,tests/bench/generation.c tests/bench/generation_data.c) $(BUILD)/library.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ -llinear $(LIBS)

# Verifies, then times, peers in the same run; docs/benchmarks.md says what came out where.
bench: deps-peers
	@$(MAKE) --no-print-directory all $(BUILD)/read_images $(BUILD)/scan
	@mkdir -p $(BUILD)/bench/lasso $(BUILD)/bench/trees
	@$(PYTHON) tests/bench/images.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench
	@echo "One scan of 400 x 200,000 floats:" && $(BUILD)/scan
	@$(PYTHON) tests/bench/lasso.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/lasso
	@$(MAKE) --no-print-directory screens
	@$(PYTHON) tests/bench/trees.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/trees examples
	@$(MAKE) --no-print-directory kernel-figures
	@$(MAKE) --no-print-directory skfs-figures
	@$(MAKE) --no-print-directory bp-figures
	@$(MAKE) --no-print-directory grid-figures
	@$(MAKE) --no-print-directory fgm-figures
	@$(MAKE) --no-print-directory cv-figures
	@$(MAKE) --no-print-directory elastic-figures
	@$(MAKE) --no-print-directory group-figures
	@$(MAKE) --no-print-directory svm-figures
	@$(MAKE) --no-print-directory command-figures
	@echo "A matrix larger than memory:" && sh tests/bench/memory.sh $(BUILD) $(BUILD)/bench

# The fifth part alone: two minutes, Python's own library, figures into build/bench/screens.
screens: all
	@mkdir -p $(BUILD)/bench/screens
	@$(PYTHON) tests/bench/screens.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/screens

# Elastic nets with supports of thousands: some minutes. RIDGES: some of 10, 1000 and 10000.
elastic-figures: deps-peers
	@$(MAKE) --no-print-directory all
	@mkdir -p $(BUILD)/bench/elastic
	@SKGLM='$(SKGLM)' $(PYTHON) tests/bench/elastic_net.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/elastic

# Group lasso: some minutes. Without SKGLM there is no peer. GROUPS_OF: some of gauss, voxel and region.
group-figures: deps-peers
	@$(MAKE) --no-print-directory all $(BUILD)/group_fit
	@mkdir -p $(BUILD)/bench/groups
	@SKGLM='$(SKGLM)' $(PYTHON) tests/bench/group_lasso.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/groups

# Whole commands: a minute. COMMAND_PARTS: some of cv, skfs, permute, busy and whole (20 minutes, 3 GB).
command-figures: all
	@mkdir -p $(BUILD)/bench/commands
	@$(PYTHON) tests/bench/commands.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/commands $(if $(PEER),$(abspath $(PEER)))

# Drawn predictions instead of fits; half an hour.
compare-figures: all
	@$(PYTHON) tests/bench/compare.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/compare

# Simulated cohorts and their nulls: some minutes.
clusters-figures: all
	@$(PYTHON) tests/bench/clusters.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/clusters

# Screening for the sparse SVM: some minutes, most of them without screening. SVM_PARTS: some of colon, leukemia, gli, voxel,
# text and liblinear.
svm-figures: deps-peers
	@$(MAKE) --no-print-directory all $(BUILD)/svm_screens $(BUILD)/svm_ways
	@mkdir -p $(BUILD)/bench/svm
	@$(PYTHON) tests/bench/screens_svm.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/svm '$(MATRICES)'

# Those of bp-figures as well, when it was run before.
figures: screens
	@mkdir -p $(BUILD)/bench/skfs
	@SKFS_PARTS=voxels,subjects,dual $(PYTHON) tests/bench/skfs_cost.py $(abspath $(BUILD)) $(BUILD)/bench/skfs atlases/icbm152/icbm152_t1_2mm.nii.gz examples
	cp $(BUILD)/bench/screens/*.svg $(BUILD)/bench/skfs/*.svg $(wildcard $(BUILD)/bench/bp/*.svg) docs/figures

# The seventh part alone: a minute.
kernel-figures: $(BUILD)/kernel_scores
	@$(BUILD)/kernel_scores

# Screening by bound propagation beside none and beside linear programmes, on the dissertation's simulations:
# half an hour, most of it the linear programmes and graphs with many loops. BP_PARTS: some of squared, logistic,
# thirds, sparse, plain, ratios, lp, dynamic; BP_LP_EVERY=5: fewer linear programmes; BP_DRAW=1: tables and
# figures of what is there already.
bp-figures: deps-peers
	@$(MAKE) --no-print-directory $(BUILD)/bound_propagation
	@mkdir -p $(BUILD)/bench/bp
	@$(PYTHON) tests/bench/bound_propagation.py $(abspath $(BUILD)) $(BUILD)/bench/bp '$(BP_PARTS)'

# The fused lasso on voxel grids, by cuts: a quarter of an hour. GRIDS: some of small, brain, large and arc.
grid-figures: all $(BUILD)/grids
	@$(PYTHON) tests/bench/grids.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/grids examples

# Feature generation on its papers' synthetic data, at their sizes: half an hour, and up to 18 GB. FGM_PARTS: some of
# small, exact, descent, large, wide, tall, groups, leukemia; MATRICES: a folder with leukemia_train.svm and
# leukemia_test.svm, or with matrices/ that has them; FGM_DRAW=1: tables and figures of what is there already.
fgm-figures: deps-peers
	@$(MAKE) --no-print-directory all $(BUILD)/generation
	@mkdir -p $(BUILD)/bench/fgm
	@$(PYTHON) tests/bench/generation.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/fgm '$(MATRICES)'

# What cross-validation and permutations give on real brains: twenty minutes, and as long for CV_PARTS=fused. HAXBY: a folder with bold.nii.gz,
# mask.nii.gz and attributes_literal.txt; SOOP: one with participants.tsv, its lesion maps and jhu_4mm.nii.gz, for CV_PARTS=generation;
# CV_PARTS: some of the parts that cv.py names.
cv-figures: deps-peers
	@$(MAKE) --no-print-directory all
	@$(PYTHON) tests/bench/cv.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/cv examples '$(HAXBY)' '$(CV_PARTS)' '$(SOOP)'

# Kernel machines beside libsvm, and of low rank: five minutes; with RANK_SIZES=10000,40000 a quarter of an hour more.
machine-figures: all
	@$(PYTHON) tests/bench/kernel_machines.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/machines
	@$(PYTHON) tests/bench/low_rank.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/low-rank '$(RANK_SIZES)'

# Table 5.1 and Figure 5.1 of the dissertation: some minutes. svm-train (Debian: libsvm-tools) is used if it is there; MUSK: a folder with
# musk1_features.tsv and musk1_participants.tsv; SAIV_PARTS: some of table, path.
saiv-figures: all $(BUILD)/saiv_ways
	@$(PYTHON) tests/bench/saiv.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/saiv examples '$(SAIV_PARTS)' '$(MUSK)'

# Lesion voxels from T1w patches: twenty minutes. PATCHES_PARTS: some of cv, size, images.
patches-figures: all
	@$(PYTHON) tests/bench/patches.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/patches examples '$(PATCHES_PARTS)'

# The three simulations of the dissertation beside other methods (half an hour), and what kernel selection
# costs. SKFS_SEEDS, SKFS_MODELS, SKFS_PARTS: fewer of them.
skfs-figures: deps-peers
	@$(MAKE) --no-print-directory all
	@mkdir -p $(BUILD)/bench/skfs
	@$(PYTHON) tests/bench/skfs.py $(abspath $(BUILD)) $(BUILD)/bench/skfs
	@$(PYTHON) tests/bench/skfs_cost.py $(abspath $(BUILD)) $(BUILD)/bench/skfs atlases/icbm152/icbm152_t1_2mm.nii.gz examples

# Five minutes, and some more with MUSK and scikit-learn.
bags-figures: all
	@$(PYTHON) tests/bench/bags.py $(abspath $(BUILD)) $(abspath $(BUILD))/bench/bags $(MUSK)
