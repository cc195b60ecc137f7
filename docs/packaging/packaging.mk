# packaging.mk - voxsift for those who do not build it: one static program, an archive of it, a Debian package;
# included by the Makefile.

.PHONY: static dist deb dist-check

## make static          build/static/voxsift: one file that needs no library
## make dist            build/voxsift-VERSION-linux-x86_64.tar.gz: the static program and all that belongs to it
## make deb             build/voxsift_VERSION_amd64.deb; make dist-check: both tried on fresh systems (as root, network)

STATIC   := $(BUILD)/static/voxsift
ARCHIVE   = voxsift-$(VERSION)-linux-$(shell uname -m)
# Seconds since 1970 that files in packages have: those of the revision, so that it always gives the same packages.
EPOCH     = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2> /dev/null || stat -c %Y NEWS.md))
# Libraries that call each other stand in one group; OpenBLAS's Fortran brings libquadmath.
STATIC_LIBS = -Wl,--start-group $(shell pkg-config --static --libs openblas libdeflate nettle zlib) -lnifti2 -lznz \
  -lamd -lsuitesparseconfig -lquadmath -Wl,--end-group -lm -lpthread
STATIC_LINK = $(CC) $(CFLAGS) -static-pie $(HARD_SHARED) -Wl,--wrap=dlopen -fopenmp

static: $(STATIC)

# Symbols stay, for stacks of a crash; the map says which libraries are in it.
$(STATIC): $(MAIN_OBJ) $(CLI_OBJ) $(call objects,$(STATIC_SRC)) $(BUILD)/library.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(STATIC_LINK) -Wl,--strip-debug -Wl,--fatal-warnings -Wl,-Map,$@.map -o $@ $^ $(STATIC_LIBS)

dist: $(STATIC)
	$(say) PACK $(BUILD)/$(ARCHIVE).tar.gz
	@rm -rf $(BUILD)/static/$(ARCHIVE)
	@$(MAKE) --no-print-directory install-program PROGRAM=$(STATIC) DESTDIR=$(BUILD)/static/$(ARCHIVE) PREFIX= \
	  > $(BUILD)/static/install.log
	@sh docs/packaging/archive.sh $(STATIC) $(BUILD)/static/$(ARCHIVE) $(BUILD)/$(ARCHIVE).tar.gz $(EPOCH)

# A revision of the package, not of voxsift.
DEB_VERSION = $(VERSION)-1
DEB         = $(BUILD)/voxsift_$(DEB_VERSION)_$(shell dpkg --print-architecture).deb

deb: $(BUILD)/voxsift
	$(say) PACK $(DEB)
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@$(MAKE) --no-print-directory install-program DESTDIR=$(abspath $(BUILD))/deb/root PREFIX=/usr > $(BUILD)/deb/install.log
	@sh docs/packaging/deb.sh $(abspath $(BUILD))/deb/root $(abspath $(DEB)) $(DEB_VERSION) $(EPOCH)

dist-check:
	@$(MAKE) --no-print-directory all static dist deb
	@PYTHON=$(PYTHON) sh tests/packages/systems.sh $(abspath $(BUILD)) $(VERSION) $(abspath $(BUILD))/systems
