# voxsift. `make demo` shows it at work, `make test` checks everything, `make help` lists the rest.

ifeq ($(origin CC),default)
CC      := gcc
endif
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CFLAGS  ?= -O2 -g
PYTHON  ?= /usr/bin/python3
FUZZ_SECONDS ?= 60

WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wpedantic
# Products are not fused with sums, so that results have the same bits with all vectors.
STANDARD := -std=c11 -D_GNU_SOURCE -ffp-contract=off
INCLUDES := -Iinclude -Isrc -I. -I$(BUILD)
VERSION  := $(shell sed -n 's/^\#define VXS_VERSION *"\(.*\)"/\1/p' include/voxsift/core.h)
# Asked when a recipe runs, not when this file is read: 'make deps' may just have installed them.
PKG_CFLAGS = $(shell pkg-config --cflags openblas libdeflate nettle zlib) -I/usr/include/nifti -I/usr/include/suitesparse
PKG_LIBS   = $(shell pkg-config --libs openblas libdeflate nettle zlib) -lnifti2 -lznz -lamd
# `make V=1` shows whole command lines.
Q   := $(if $(V),,@)
say := @$(if $(V),:,printf '  %-5s%s\n')
# What makes the misuse of a bug hard; `make hardened` looks for it in the program. Sanitizers look for
# the bugs themselves, and checked calls need an optimizer. Which of HARDENING the compiler has stands in
# $(BUILD)/hardening.
HARDENING    := -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard
FORTIFY      := $(if $(filter -O -O1 -O2 -O3 -Os -Og,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARD_COMPILE  = $(if $(SANITIZE),,$(FORTIFY) $$(cat $(BUILD)/hardening))
HARD_SHARED   = $(if $(SANITIZE),,-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
HARD_LINK     = $(if $(SANITIZE),,-pie) $(HARD_SHARED)
# The library's objects go into libvoxsift.so as well; all but what public headers declare is hidden in them.
PLACE        := -fPIE
LIBRARY      := -fPIC -fvisibility=hidden -fno-semantic-interposition
# SANITIZE is set by the targets that need it.
COMPILE = $(CC) $(STANDARD) $(CFLAGS) $(PLACE) $(HARD_COMPILE) $(SANITIZE) $(WARNINGS) $(WERROR) -fopenmp $(INCLUDES) $(PKG_CFLAGS)
LINK    = $(CC) $(CFLAGS) $(HARD_LINK) $(SANITIZE) -fopenmp
LIBS    = $(PKG_LIBS) -lm -lpthread

ROOMS    := core linalg image cohort simulate graph design loss penalty solver verify model evaluate report
LIB_SRC  := $(sort $(wildcard $(ROOMS:%=src/%/*.c) $(ROOMS:%=src/%/*/*.c)))
CLI_SRC  := $(sort $(filter-out src/cli/main.c src/cli/static.c,$(wildcard src/cli/*.c)))
MAIN_SRC := src/cli/main.c
STATIC_SRC := src/cli/static.c
UNIT_SRC := $(sort $(wildcard tests/*/test_*.c))
FUZZERS  := tsv json npy nifti
HEADERS  := include/voxsift.h $(sort $(wildcard include/voxsift/*.h))
INTERNAL := $(sort $(wildcard include/voxsift/internal/*.h))
OWN_C    := $(LIB_SRC) $(CLI_SRC) $(MAIN_SRC) $(STATIC_SRC)
ALL_C    := $(OWN_C) $(sort $(wildcard tests/*/*.c examples/*.c))
ALL_H    := $(HEADERS) $(INTERNAL) $(sort $(wildcard src/*/*.h src/*/*/*.h tests/*/*.h))

objects   = $(1:%.c=$(BUILD)/obj/%.o)
LIB_OBJ  := $(call objects,$(LIB_SRC))
CLI_OBJ  := $(call objects,$(CLI_SRC))
MAIN_OBJ := $(call objects,$(MAIN_SRC))
UNIT_OBJ := $(call objects,$(UNIT_SRC) tests/core/check.c tests/core/faults.c tests/design/blocks.c tests/solver/problems.c tests/solver/boxes.c)

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: hardened all deps deps-build deps-test demo test check unit cli-tests check-style format format-check \
        lint layers words rooms bans vectors headers symbols warnings gates-selftest docs docs-check man examples \
        same peers deps-peers threaded asan asan-run tsan tsan-run fuzz mutate-run install install-program install-library uninstall clean help FORCE

SONAME   := libvoxsift.so.0

all: $(BUILD)/voxsift $(BUILD)/libvoxsift.a $(BUILD)/libvoxsift.so $(BUILD)/compile_commands.json

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make                 build/voxsift, build/libvoxsift.a and build/libvoxsift.so
## make deps            install what is missing to build and test (Debian, as root)
## make demo            build, and show what voxsift does on data in this repository
## make test            everything that must pass
## make install         PREFIX=/usr/local, DESTDIR= ; make uninstall takes it away
## make asan, tsan      the unit tests under sanitizers; make fuzz: FUZZ_SECONDS=60 a reader or kind of directory
## make peers           the same answers as scikit-learn, scipy, glmnet and liblinear (MATRICES=folder for more data)
## make same           BASE=revision: 116 commands by both builds, every output compared (ONLY=pattern: some of them)
## make format          let clang-format write; make docs: man pages from the tables
## make check-style     format, words, lint, layers, rooms, bans, vectors, headers, symbols, hardened, warnings, docs-check
## make gates-selftest  prove that each gate can fail

# ---- Build --------------------------------------------------------------------------------------

$(BUILD)/voxsift: $(MAIN_OBJ) $(CLI_OBJ) $(BUILD)/library.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# The library with its private symbols: for the program and the tests.
$(BUILD)/library.a: $(LIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

# The one that is installed: one object, in which hidden symbols are local, so that a program may have functions of
# the same names.
$(BUILD)/libvoxsift.a: $(LIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(CC) -r -nostdlib -o $(BUILD)/libvoxsift.o $^ && \
	 objcopy --localize-hidden $(BUILD)/libvoxsift.o && ar rcs $@ $(BUILD)/libvoxsift.o

$(BUILD)/$(SONAME): $(LIB_OBJ) src/libvoxsift.map
	$(say) LINK $@
	$(Q)$(CC) -shared $(CFLAGS) $(HARD_SHARED) $(SANITIZE) -fopenmp -Wl,-soname,$(SONAME) -Wl,-Bsymbolic-functions \
	 -Wl,--version-script=src/libvoxsift.map -o $@ $(LIB_OBJ) $(LIBS)

$(BUILD)/libvoxsift.so: $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $@

$(LIB_OBJ): private PLACE := $(LIBRARY)

$(BUILD)/obj/%.o: %.c $(BUILD)/flags $(BUILD)/hardening
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# For clangd and other tools that ask how a file is compiled.
$(BUILD)/compile_commands.json: $(BUILD)/flags
	@command="$(COMPILE)"; between='['; for file in $(ALL_C); do \
	   printf '%s\n{ "directory": "%s", "file": "%s", "command": "%s -c %s" }' "$$between" '$(CURDIR)' "$$file" "$$command" "$$file"; \
	   between=','; done > $@ && echo ' ]' >> $@

# Objects are made again when the compiler or its flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(CFLAGS) $(SANITIZE) $(FORTIFY) $(HARDENING) $(LIBRARY)' | cmp -s - $@ || \
	 printf '%s\n' '$(CC) $(CFLAGS) $(SANITIZE) $(FORTIFY) $(HARDENING) $(LIBRARY)' > $@

$(BUILD)/hardening: $(BUILD)/flags
	@for flag in $(HARDENING); do \
	   echo 'int x;' | $(CC) -Werror $$flag -x c -c -o /dev/null - 2> /dev/null && printf '%s ' $$flag; done > $@; true

# What `voxsift version` says; written only when it changes.
$(BUILD)/build_facts.h: FORCE
	@mkdir -p $(@D)
	@{ printf '/* Made by the Makefile. */\n'; \
	   printf '#define VXS_BUILD_COMMIT "%s"\n' "$$(git describe --always --dirty --abbrev=12 2> /dev/null || echo unknown)"; \
	   printf '#define VXS_BUILD_COMPILER "%s"\n' "$$($(CC) --version | head -n 1)"; \
	   printf '#define VXS_BUILD_FLAGS "%s"\n' '$(strip $(STANDARD) $(CFLAGS) $(SANITIZE) -fopenmp)'; } > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/obj/src/cli/cmd_version.o: $(BUILD)/build_facts.h

-include $(shell find $(BUILD)/obj -name '*.d' 2> /dev/null)

# ---- What a fresh machine needs -----------------------------------------------------------------

deps: deps-build deps-test
deps-build:
	@sh .ci/deps build
deps-test:
	@sh .ci/deps build test

deps-peers:
	@sh .ci/deps build test peers

demo: deps-build
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) sh examples/demo.sh

test: deps-test
	@$(MAKE) --no-print-directory check

# ---- Tests --------------------------------------------------------------------------------------

# Nothing may be left behind by the tests, so what git does not know is compared before and after.
check: export WERROR := -Werror
check:
	@mkdir -p $(BUILD)
	@sh tests/gates/untracked.sh $(BUILD)/untracked.before
	@$(MAKE) --no-print-directory all $(BUILD)/unit $(BENCHES)
	@$(MAKE) --no-print-directory check-style gates-selftest
	@$(MAKE) --no-print-directory unit threaded cli-tests examples
	@sh tests/gates/untracked.sh $(BUILD)/untracked.after $(BUILD)/untracked.before
	@if [ -s $(BUILD)/skipped ]; then echo "make test: everything passed that was tried, but NOT EVERYTHING WAS TRIED:"; \
	   sed 's/^/  SKIPPED /' $(BUILD)/skipped; else echo "make test: everything passed"; fi

# Every request for memory of ours can be made to fail: tests/core/faults.h.
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=renameat2,--wrap=fsync,--wrap=fcntl

$(BUILD)/unit: $(UNIT_OBJ) $(CLI_OBJ) $(BUILD)/library.a
	$(say) LINK $@
	$(Q)$(LINK) $(WRAP) -o $@ $^ $(LIBS) $$(pkg-config --libs criterion)

unit: $(BUILD)/unit
	@OPENBLAS_NUM_THREADS=1 VXS_TEST_DIR=$(abspath $(BUILD))/work \
	 sh tests/unit.sh $(BUILD)/unit

cli-tests: all
	@BUILD=$(abspath $(BUILD)) PYTHON=$(PYTHON) MAKE='$(MAKE_COMMAND)' bash tests/cli/run.sh

# Programs of somebody else's, which see the shared library alone.
PROGRAMS := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
$(BUILD)/examples/%: examples/%.c $(HEADERS) $(BUILD)/libvoxsift.so
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) -std=c11 $(CFLAGS) $(SANITIZE) $(WARNINGS) $(WERROR) -Iinclude -o $@ $< \
	 -L$(BUILD) -lvoxsift -Wl,-rpath,$(abspath $(BUILD)) -lm

examples: all $(PROGRAMS)
	@BUILD=$(abspath $(BUILD)) bash tests/examples.sh

# What several threads do at once; ThreadSanitizer runs it too.
$(BUILD)/threaded: $(call objects,tests/threaded/threaded.c) $(BUILD)/library.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

threaded: $(BUILD)/threaded
	@$(BUILD)/threaded

sanitize = $(MAKE) --no-print-directory BUILD=$(BUILD)/$1 CFLAGS='-O1 -g -fno-omit-frame-pointer'

ADDRESS  := -fsanitize=address,undefined -fno-sanitize-recover=all

asan:
	+@$(call sanitize,asan) CC=gcc SANITIZE='$(ADDRESS)' asan-run

# clang, whose OpenMP run time tells the sanitizer about its locks (libarcher).
tsan:
	+@$(call sanitize,tsan) CC=clang SANITIZE='-fsanitize=thread -Wno-pass-failed' tsan-run

asan-run: all $(BUILD)/unit $(BUILD)/replay $(BUILD)/threaded
	@BUILD=$(abspath $(BUILD)) COMPILER='$(LINK)' PYTHON=$(PYTHON) sh tests/sanitized.sh address
tsan-run: all $(BUILD)/threaded
	@BUILD=$(abspath $(BUILD)) COMPILER='$(LINK)' sh tests/sanitized.sh thread

# ---- Fuzzing ------------------------------------------------------------------------------------

FUZZ_FLAGS := $(STANDARD) -g -O1 -Wno-pass-failed $(INCLUDES) -fsanitize=address,undefined -fno-sanitize-recover=all

$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c $(LIB_SRC) $(ALL_H)
	@mkdir -p $(@D)
	$(say) FUZZ $@
	$(Q)clang $(FUZZ_FLAGS) -fsanitize=fuzzer -DVXS_FUZZER $(PKG_CFLAGS) -fopenmp -o $@ $< $(LIB_SRC) $(LIBS)

# The committed seeds and every input that once crashed a reader, through the same functions.
$(BUILD)/replay: $(call objects,$(wildcard tests/fuzz/*.c)) $(BUILD)/library.a
	$(say) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

fuzz: deps-test
	@$(MAKE) --no-print-directory $(FUZZERS:%=$(BUILD)/fuzz_%)
	@for f in $(FUZZERS); do \
	   mkdir -p $(BUILD)/corpus/$$f && echo "fuzzing $$f for $(FUZZ_SECONDS) s" && \
	   $(BUILD)/fuzz_$$f -max_total_time=$(FUZZ_SECONDS) -verbosity=0 -print_final_stats=1 \
	     -artifact_prefix=$(BUILD)/crash-$$f- $(BUILD)/corpus/$$f tests/fuzz/seeds/$$f \
	     2>&1 | grep -E 'ERROR|SUMMARY|number_of_executed|Test unit' || exit 1; \
	   ls $(BUILD)/crash-$$f-* > /dev/null 2>&1 && exit 1 || true; done
	+@$(call sanitize,asan) CC=gcc SANITIZE='$(ADDRESS)' mutate-run
	@echo "make fuzz: no reader crashed"

# Directories and tables that voxsift made, edited, through every command that reads them; cases of another FUZZ_SEED
# are others. What fails stays in BUILD/mutate/failures, with the command that repeats it.
FUZZ_SEED ?= 1
mutate-run: all
	@$(PYTHON) tests/fuzz/mutate.py $(BUILD)/voxsift $(BUILD)/mutate --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

include tests/bench/bench.mk
include docs/packaging/packaging.mk

# ---- Agreement with other programs and with other revisions ---------------------------------------

# The same answers as scikit-learn and glmnet on the identical problems. MATRICES: a folder that has
# matrices/*.svm; without it the images in examples/ alone are used.
peers: deps-peers
	@$(MAKE) --no-print-directory all
	@mkdir -p $(BUILD)/peers
	@$(PYTHON) tests/peers/peers.py $(abspath $(BUILD)) '$(or $(MATRICES),$(BUILD))' $(abspath $(BUILD))/peers
	@$(PYTHON) tests/peers/svm.py $(abspath $(BUILD)) '$(or $(MATRICES),$(BUILD))' $(abspath $(BUILD))/peers
	@$(PYTHON) tests/peers/skfs.py $(abspath $(BUILD)) $(abspath $(BUILD))/peers
	@$(PYTHON) tests/peers/precision.py $(abspath $(BUILD)) $(abspath $(BUILD))/peers
	@$(PYTHON) tests/peers/fused.py $(abspath $(BUILD)) $(abspath $(BUILD))/peers
	@$(PYTHON) tests/peers/generation.py $(abspath $(BUILD)) $(abspath $(BUILD))/peers

# The same outputs as another revision, but for what the lists in tests/same name.
same: deps-test
	@[ -n "$(BASE)" ] || { echo "make same: BASE=revision is missing"; exit 2; }
	@$(MAKE) --no-print-directory all
	@rm -rf $(BUILD)/same && mkdir -p $(BUILD)/same/source
	@git archive $(BASE) | tar -x -C $(BUILD)/same/source
	+@$(MAKE) --no-print-directory -C $(BUILD)/same/source BUILD=build all > /dev/null
	@SAME_BASE='$(BASE)' $(PYTHON) tests/same/same.py $(BUILD)/same/source/build/voxsift $(BUILD)/voxsift $(BUILD)/same/work '$(ONLY)'

# ---- Gates --------------------------------------------------------------------------------------

check-style: format-check words lint layers words rooms bans vectors headers symbols hardened warnings docs-check
	@echo "check-style: clean"

format:
	clang-format -i $(ALL_C) $(ALL_H)

format-check:
	@clang-format --dry-run --Werror $(ALL_C) $(ALL_H)
	@awk 'length > 100 { print FILENAME ":" FNR ": longer than 100 characters"; bad = 1 } END { exit bad }' $(ALL_C) $(ALL_H)

lint: $(BUILD)/build_facts.h
	@printf '%s\n' $(OWN_C) | xargs -P 2 -n 4 sh -c 'clang-tidy --quiet "$$@" -- $(STANDARD) $(INCLUDES) $(PKG_CFLAGS) -fopenmp 2> $(BUILD)/lint.$$$$ || { cat $(BUILD)/lint.$$$$; exit 1; }' lint
	@rm -f $(BUILD)/lint.*

layers:
	@sh tests/gates/layers.sh .
	@$(PYTHON) tests/gates/paths.py .

words: $(BUILD)/voxsift
	@sh tests/gates/words.sh . $(abspath $(BUILD))/voxsift

rooms: $(LIB_OBJ) $(CLI_OBJ)
	@sh tests/gates/rooms.sh $(BUILD)/obj/src $(ROOMS) cli

bans: $(LIB_OBJ) $(CLI_OBJ)
	@sh tests/gates/bans.sh $(BUILD)/obj/src

vectors: $(LIB_OBJ) $(CLI_OBJ)
	@sh tests/gates/vectors.sh $(BUILD)/obj/src

headers:
	@sh tests/gates/headers.sh include

symbols: $(BUILD)/library.a $(BUILD)/libvoxsift.a $(BUILD)/libvoxsift.so $(CLI_OBJ)
	@sh tests/gates/symbols.sh $(BUILD)/library.a $(CLI_OBJ)
	@sh tests/gates/exports.sh include $(BUILD)/libvoxsift.a $(BUILD)/libvoxsift.so

hardened: $(BUILD)/voxsift
	@sh tests/gates/hardened.sh $<

# For real, not for syntax alone: some warnings come from the optimizer.
warnings: $(BUILD)/build_facts.h
	@for cc in gcc clang; do printf '%s\n' $(OWN_C) | xargs -P 2 -n 1 \
	   $$cc $(STANDARD) $(CFLAGS) $(FORTIFY) $(WARNINGS) -Werror -fopenmp $(INCLUDES) $(PKG_CFLAGS) \
	   -c -o /dev/null || exit 1; done

gates-selftest: all
	@BUILD=$(abspath $(BUILD)) sh tests/gates/selftest.sh

# ---- Documentation ------------------------------------------------------------------------------

docs: $(BUILD)/voxsift
	@sh docs/man/make.sh $(BUILD)/voxsift docs/man
docs-check: $(BUILD)/voxsift
	@sh tests/gates/manpages.sh $(BUILD)/voxsift docs/man
	@sh tests/gates/help_words.sh $(BUILD)/voxsift

# ---- Install ------------------------------------------------------------------------------------

bindir  = $(DESTDIR)$(PREFIX)/bin
libdir  = $(DESTDIR)$(PREFIX)/lib
incdir  = $(DESTDIR)$(PREFIX)/include
mandir  = $(DESTDIR)$(PREFIX)/share/man/man1
docdir  = $(DESTDIR)$(PREFIX)/share/doc/voxsift
datadir = $(DESTDIR)$(PREFIX)/share/voxsift
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir  = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

# What is installed as the program, and its examples: those that git knows, so that what they made stays here.
PROGRAM  ?= $(BUILD)/voxsift
EXAMPLES  = $(or $(shell git ls-files examples 2> /dev/null),$(shell find examples -type f))

# Documents stand beside each other as they do here, so that their links lead somewhere and their commands run there.
install-program: $(PROGRAM)
	install -d '$(bindir)' '$(mandir)' '$(docdir)/docs/figures' '$(bashdir)' '$(zshdir)' '$(fishdir)'
	install -m 755 $(PROGRAM) '$(bindir)/voxsift'
	install -m 644 docs/man/*.1 '$(mandir)'
	for folder in schaefer2018 icbm152; do \
	  install -d '$(datadir)'/atlases/$$folder && \
	  install -m 644 atlases/$$folder/* '$(datadir)'/atlases/$$folder || exit; done
	install -m 644 README.md LICENSE NEWS.md CONTRIBUTING.md '$(docdir)'
	install -m 644 $(filter-out %.1 %.sh,$(wildcard docs/*.*)) '$(docdir)/docs'
	install -m 644 docs/figures/* '$(docdir)/docs/figures'
	install -D -m 644 -t '$(docdir)/docs/packaging' docs/packaging/voxsift.def
	install -D -m 644 -t '$(docdir)/docs/packaging/conda' docs/packaging/conda/*
	@echo 'install -D -m 644 examples/... $(docdir)/examples/...' && \
	 for file in $(EXAMPLES); do install -D -m 644 $$file '$(docdir)'/$$file || exit; done
	$(PROGRAM) completion bash > '$(bashdir)/voxsift'
	$(PROGRAM) completion zsh > '$(zshdir)/_voxsift'
	$(PROGRAM) completion fish > '$(fishdir)/voxsift.fish'

install-library: all
	install -d '$(libdir)/pkgconfig' '$(incdir)/voxsift'
	install -m 644 $(BUILD)/libvoxsift.a '$(libdir)/libvoxsift.a'
	install -m 755 $(BUILD)/$(SONAME) '$(libdir)/$(SONAME)'
	ln -sf $(SONAME) '$(libdir)/libvoxsift.so'
	install -m 644 include/voxsift.h '$(incdir)/voxsift.h'
	install -m 644 include/voxsift/*.h '$(incdir)/voxsift'
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: voxsift' \
	  'Description: sparse prediction from brain images' 'Version: $(VERSION)' \
	  'Requires.private: openblas libdeflate nettle zlib' 'Cflags: -I"$${prefix}/include"' \
	  'Libs: -L"$${prefix}/lib" -lvoxsift' 'Libs.private: -lnifti2 -lznz -lamd -fopenmp -lm -lpthread' \
	  > '$(libdir)/pkgconfig/voxsift.pc'

install: install-program install-library

uninstall:
	rm -f '$(bindir)/voxsift' '$(libdir)/libvoxsift.a' '$(libdir)/libvoxsift.so' '$(libdir)/$(SONAME)' '$(libdir)/pkgconfig/voxsift.pc' \
	  '$(incdir)/voxsift.h' '$(bashdir)/voxsift' '$(zshdir)/_voxsift' '$(fishdir)/voxsift.fish'
	rm -f $(patsubst docs/man/%,'$(mandir)/%',$(wildcard docs/man/*.1))
	rm -rf '$(incdir)/voxsift' '$(docdir)' '$(datadir)'

clean:
	rm -rf $(BUILD)
