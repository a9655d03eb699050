# Builds libabshim.so and the abshim command, their tests and workloads. `make help` lists targets.

HOST := $(shell uname -m)
ARCH ?= $(HOST)
SAN ?=
V ?=
PREFIX ?= /usr/local
DESTDIR ?=
WERROR ?= -Werror
CFLAGS ?= -O2 -g

ifneq ($(filter-out x86_64 aarch64,$(ARCH)),)
$(error ARCH=$(ARCH) is not supported: use ARCH=x86_64 or ARCH=aarch64)
endif
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG := $(if $(findstring clang,$(CC)),clang)

# Every combination of machine, compiler and sanitizer has objects of its own.
comma := ,
CROSS := $(filter-out $(HOST),$(ARCH))
BUILD ?= build$(CROSS:%=/%)$(CLANG:%=/%)$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))

CXX_OF_CC := $(if $(CLANG),$(subst clang,clang++,$(CC)),g++)
ifdef CROSS
SYSROOT ?= build/sysroot-$(ARCH)
SYSROOT_STAMP := $(SYSROOT)/.complete
SYSROOT_FLAG := $(if $(wildcard $(SYSROOT_STAMP)),--sysroot=$(abspath $(SYSROOT)))
EMULATOR := qemu-$(ARCH) -L $(abspath $(SYSROOT)) -cpu max
TARGET_CC := $(if $(CLANG),$(CC) --target=$(ARCH)-linux-gnu,$(ARCH)-linux-gnu-gcc) $(SYSROOT_FLAG)
TARGET_CXX := $(if $(CLANG),$(CXX_OF_CC) --target=$(ARCH)-linux-gnu,$(ARCH)-linux-gnu-g++)
TARGET_CXX += $(SYSROOT_FLAG)
else
TARGET_CC := $(CC)
TARGET_CXX := $(CXX_OF_CC)
endif

WARNINGS := -Wall -Wextra -Wshadow $(WERROR)
C_FLAGS := -std=gnu11 -D_GNU_SOURCE -I. $(WARNINGS) -Wmissing-prototypes -Wstrict-prototypes
C_FLAGS += $(CPPFLAGS) $(CFLAGS)
CXX_FLAGS := -std=gnu++17 -I. $(WARNINGS) $(CPPFLAGS) $(CFLAGS)
# Commands are shown in short; in full with V=1.
short = $(if $(V),,@echo '  $(1) $@';)
# Each output's headers, in a file beside it.
DEPENDENCIES = -MMD -MP -MF $@.d -MT $@
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

# gcc warns of fences, which its thread sanitizer takes no note of; false alarms would be reported.
SAN_FLAGS += $(if $(CLANG),,$(if $(filter thread,$(SAN)),-Wno-tsan))

# What runs inside the target needs nothing but libc: no stack protector (its guard lives in ld.so
# on AArch64), and every address bound before the constructor runs. Outline atomics follow the
# switch: their helpers are libgcc's, linked in, and their flag is shim/atomics/switch.c's.
SHIM_FLAGS := -fvisibility=hidden -ftls-model=initial-exec -fno-plt -fno-stack-protector
SHIM_FLAGS += -fasynchronous-unwind-tables -U_FORTIFY_SOURCE
SHIM_FLAGS += $(if $(filter aarch64,$(ARCH)),-moutline-atomics)
SHIM_MAP := $(wildcard shim/exports-$(ARCH).map)
SHIM_LINK := -shared -nodefaultlibs -Wl,-soname,libabshim.so -Wl,-z,defs -Wl,-z,now -Wl,-z,relro
SHIM_LINK += -Wl,-z,nodelete -Wl,-z,initfirst -Wl,-z,noexecstack -Wl,--as-needed
SHIM_LINK += $(SHIM_MAP:%=-Wl,--version-script=%)
SHIM_LIBS := -lc $(if $(filter aarch64,$(ARCH)),-lgcc)

# Strategies and other parts lie one folder down.
SHIM_SRC := $(filter-out shim/alloc_count/%,$(wildcard shim/*.c shim/*/*.c))
# A library of its own, that only who counts allocations has to bear.
COUNT_SRC := $(wildcard shim/alloc_count/*.c)
COUNT_LINK := -shared -nodefaultlibs -Wl,-soname,libabshim-alloc.so -Wl,-z,now -Wl,-z,relro
COUNT_LINK += -Wl,-z,nodelete -Wl,-z,noexecstack -Wl,--as-needed
# What only one machine has.
AARCH64_SRC := $(addprefix shim/,early.c entry_auxv.c entry_unwind.c)
AARCH64_SRC += $(addprefix shim/atomics/,area.c hook.c image.c maps.c marks.c patch.c)
AARCH64_SRC += $(addprefix shim/atomics/,rewrite.c rows.c survey.c switch.c)
SHIM_SRC := $(filter-out $(if $(filter aarch64,$(ARCH)),,$(AARCH64_SRC)),$(SHIM_SRC))
PROBES_SRC := $(wildcard probes/*.c)
# Test programs have libc's own.
FREESTANDING := shim/freestanding.c
FREESTANDING_FLAGS := -ffreestanding $(if $(CLANG),,-fno-tree-loop-distribute-patterns)
LOADER_SRC := $(wildcard loader/*.c loader/*/*.c)
# Files of probes/ that the command needs besides the headers.
PROBES_READER ?= $(addprefix probes/,a64.c adr_data.c allocation.c clock.c code_ranges.c counters.c exclusive_loop.c outline.c)
LOADER_LIBS := -ldw -lelf -lcapstone -lgsl -lgslcblas -ljansson -lprotobuf-c -llzma -lz -lstdc++ -lm -pthread
# Messages of foreign formats become C.
PROTO := $(wildcard loader/*.proto)
GENERATED := $(BUILD)/generated
PROTO_C := $(PROTO:%.proto=$(GENERATED)/%.pb-c.c)
CHECK_SRC := $(wildcard tests/check_*.c)
CHECK_LIBS := -lcheck -lsubunit -lrt -lm -pthread

pic = $(patsubst %.c,$(BUILD)/pic/%.o,$(1))
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
PROTO_OBJ := $(PROTO:%.proto=$(BUILD)/obj/%.pb-c.o)
LOADER_OBJ := $(call obj,$(LOADER_SRC) $(filter tests/check_loader_%,$(CHECK_SRC)))

LIBRARY := $(BUILD)/libabshim.so
COUNT_LIBRARY := $(BUILD)/libabshim-alloc.so
COMMAND := $(BUILD)/abshim
CHECKS := $(CHECK_SRC:tests/%.c=$(BUILD)/tests/%)
LOADER_CHECKS := $(filter $(BUILD)/tests/check_loader_%,$(CHECKS))
PLAIN_CHECKS := $(filter $(BUILD)/tests/check_conformance,$(CHECKS))
SHIM_CHECKS := $(filter-out $(LOADER_CHECKS) $(PLAIN_CHECKS),$(CHECKS))
WORKLOADS := $(patsubst tests/workloads/%.c,$(BUILD)/workloads/%,$(wildcard tests/workloads/*.c))
# A program of several files is a folder.
CONFORM := $(BUILD)/workloads/conform
WORKLOADS_CXX := $(patsubst tests/workloads/%.cc,$(BUILD)/workloads/%,$(wildcard tests/workloads/*.cc))
PLUGINS := $(patsubst tests/plugins/%.c,$(BUILD)/plugins/%.so,$(wildcard tests/plugins/*.c))
# AArch64's two families inline, beside the outline atomics that are compilers' default.
ATOMICS := $(if $(filter aarch64,$(ARCH)),workloads/atomics_lse workloads/atomics_llsc plugins/atomics_lse.so)
ATOMICS += $(if $(filter aarch64,$(ARCH)),workloads/traced_lse workloads/traced_llsc)
ATOMICS += $(if $(filter aarch64,$(ARCH)),tests/libabshim-forced.so)
ATOMICS := $(ATOMICS:%=$(BUILD)/%)
PRELOADS := $(patsubst tests/preload/%.c,$(BUILD)/preload/%.so,$(wildcard tests/preload/*.c))

# The load of an experiment: a program with those stores whose headers are there.
YCSB := $(BUILD)/ycsb
YCSB_PARTS := $(addprefix scripts/experiments/ycsb/,choosers.c histogram.c output.c workload.c)
YCSB_SRC := $(YCSB_PARTS) $(addprefix scripts/experiments/ycsb/,client.c main.c stores.c)
hash := \#
has_header = $(shell echo '$(hash)include <$(1)>' | $(TARGET_CC) -E - >/dev/null 2>&1 && echo yes)
YCSB_STORES = $(if $(call has_header,wiredtiger.h),wiredtiger) $(if $(call has_header,kclangc.h),kyotocabinet)
ycsb_store = -DHAVE_$(1) scripts/experiments/ycsb/store_$(1).c -l$(1)

.PHONY: all tests check check-programs check-stories fuzz bench install uninstall deb clean help
.DELETE_ON_ERROR:
.SUFFIXES:

all: $(LIBRARY) $(COUNT_LIBRARY) $(COMMAND)

tests: all $(YCSB) $(CHECKS) $(WORKLOADS) $(CONFORM) $(WORKLOADS_CXX) $(PRELOADS) $(PLUGINS) $(ATOMICS)

# $(call remember,NAME,VALUE): the file $(BUILD)/NAME changes whenever VALUE does, so that what
# depends on it is made again after a change of flags or of the list of sources.
define remember
ifneq ($$(strip $$(file <$(BUILD)/$(1))),$(2))
$$(shell mkdir -p $(BUILD))
$$(file >$(BUILD)/$(1),$(2))
endif
endef
ifneq ($(filter-out clean help uninstall,$(or $(MAKECMDGOALS),all)),)
$(eval $(call remember,flags,$(strip $(TARGET_CC) $(C_FLAGS) $(SAN_FLAGS) $(SHIM_FLAGS) $(CXX_FLAGS))))
$(eval $(call remember,links,$(strip $(SHIM_LINK) $(COUNT_LINK) $(COUNT_SRC) $(SHIM_SRC) $(PROBES_SRC) $(LOADER_SRC) $(LDFLAGS))))
endif

$(BUILD)/pic/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,CC)$(TARGET_CC) $(DEPENDENCIES) $(C_FLAGS) $(SHIM_FLAGS) -fPIC -c -o $@ $<

$(call pic,$(FREESTANDING)): private SHIM_FLAGS += $(FREESTANDING_FLAGS)
$(BUILD)/obj/shim/%.o: private EXTRA := $(filter-out -fvisibility=hidden -fno-plt,$(SHIM_FLAGS))
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,CC)$(TARGET_CC) $(DEPENDENCIES) $(C_FLAGS) $(EXTRA) $(SAN_FLAGS) -c -o $@ $<

$(PROTO_C): $(GENERATED)/%.pb-c.c: %.proto
	@mkdir -p $(GENERATED)
	$(call short,PROTOC)protoc-c --c_out=$(GENERATED) $<

$(PROTO_OBJ): $(BUILD)/obj/%.o: $(GENERATED)/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,CC)$(TARGET_CC) $(DEPENDENCIES) $(C_FLAGS) -I$(GENERATED) $(SAN_FLAGS) -c -o $@ $<

$(LOADER_OBJ): private EXTRA := -I$(GENERATED)
$(LOADER_OBJ): | $(PROTO_C)

$(LIBRARY): $(call pic,$(SHIM_SRC) $(PROBES_SRC)) $(SHIM_MAP) $(BUILD)/links
	$(call short,LD)$(TARGET_CC) $(SHIM_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		$(SHIM_LIBS)

$(COUNT_LIBRARY): $(call pic,$(COUNT_SRC)) $(BUILD)/links
	$(call short,LD)$(TARGET_CC) $(COUNT_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(SHIM_LIBS)

$(COMMAND): $(call obj,$(LOADER_SRC) $(PROBES_READER)) $(PROTO_OBJ) $(BUILD)/links | $(SYSROOT_STAMP)
	$(call short,LD)$(TARGET_CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LOADER_LIBS)

$(SHIM_CHECKS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call obj,$(filter-out $(FREESTANDING),$(SHIM_SRC)) $(PROBES_SRC)) \
		$(BUILD)/links | $(SYSROOT_STAMP)
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(CHECK_LIBS)

$(LOADER_CHECKS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o \
		$(call obj,$(filter-out loader/main.c,$(LOADER_SRC)) $(PROBES_SRC)) $(PROTO_OBJ) \
		$(BUILD)/links | $(SYSROOT_STAMP)
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(CHECK_LIBS) $(LOADER_LIBS)

$(BUILD)/tests/check_loader_ycsb: $(call obj,$(YCSB_PARTS))

# What runs libabshim.so in other programs needs nothing of it.
$(PLAIN_CHECKS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/links | $(SYSROOT_STAMP)
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(CHECK_LIBS)

$(YCSB): $(wildcard scripts/experiments/ycsb/*.[ch] scripts/experiments/ycsb/*.def) $(BUILD)/flags
	$(call short,LD)$(TARGET_CC) $(C_FLAGS) $(LDFLAGS) -pthread -o $@ $(YCSB_SRC) \
		$(foreach store,$(YCSB_STORES),$(call ycsb_store,$(store))) -lm

$(CONFORM): $(wildcard tests/workloads/conform/*.[ch]) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(C_FLAGS) $(LDFLAGS) -pthread -o $@ $(filter %.c,$^) -ldl

$(WORKLOADS): $(BUILD)/workloads/%: tests/workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(DEPENDENCIES) $(C_FLAGS) $(LDFLAGS) -pthread -o $@ $<

$(WORKLOADS_CXX): $(BUILD)/workloads/%: tests/workloads/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CXX) $(DEPENDENCIES) $(CXX_FLAGS) $(LDFLAGS) -pthread -o $@ $<

$(PLUGINS): $(BUILD)/plugins/%.so: tests/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(DEPENDENCIES) $(C_FLAGS) $(LDFLAGS) -fPIC -shared \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN' -o $@ $<

$(BUILD)/workloads/%_lse: tests/workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(C_FLAGS) -march=armv8.1-a $(LDFLAGS) -pthread -o $@ $<

$(BUILD)/workloads/%_llsc: tests/workloads/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(C_FLAGS) -mno-outline-atomics $(LDFLAGS) -pthread -o $@ $<

$(BUILD)/plugins/%_lse.so: tests/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(C_FLAGS) -march=armv8.1-a $(LDFLAGS) -fPIC -shared -o $@ $<

# Takes ABSHIM_ATOMICS=lse on any CPU, to show that the switch is a real one.
FORCED := $(BUILD)/tests/settings-forced.o
$(FORCED): shim/settings.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,CC)$(TARGET_CC) $(DEPENDENCIES) $(C_FLAGS) $(SHIM_FLAGS) -DSETTINGS_LSE_ANYWHERE -fPIC -c -o $@ $<

$(BUILD)/tests/libabshim-forced.so: $(FORCED) $(filter-out %/shim/settings.o,$(call pic,$(SHIM_SRC) $(PROBES_SRC))) $(BUILD)/links
	$(call short,LD)$(TARGET_CC) $(SHIM_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(SHIM_LIBS)

$(PRELOADS): $(BUILD)/preload/%.so: tests/preload/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call short,LD)$(TARGET_CC) $(DEPENDENCIES) $(C_FLAGS) $(LDFLAGS) -fPIC -shared -o $@ $<

ifdef CROSS
$(SYSROOT_STAMP):
	@echo "$(SYSROOT) is missing: run scripts/bootstrap" >&2; exit 1
endif

# Stories and programs find what they test through these.
check check-programs check-stories bench: export BUILD := $(abspath $(BUILD))
check check-programs check-stories bench: export ARCH := $(ARCH)
check check-programs check-stories bench: export EMULATOR := $(EMULATOR)
check check-programs check-stories bench: export SAN := $(SAN)

check: tests
	+@MAKE='$(MAKE)' CC='$(CC)' scripts/run-tests

check-programs: tests
	scripts/run-programs

check-stories: tests
	scripts/run-stories

# libFuzzer is clang's: the objects are its, in a folder of their own.
FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/*.c))
FUZZ_BUILD := build/fuzz
fuzz:
	+@$(MAKE) CC=clang SAN=fuzzer-no-link,address,undefined BUILD=$(FUZZ_BUILD) \
		$(FUZZERS:$(BUILD)/%=$(FUZZ_BUILD)/%)
	scripts/fuzz $(FUZZ_BUILD)/fuzz_record $(FUZZ_SECONDS) 1048576
	scripts/fuzz $(FUZZ_BUILD)/fuzz_code_ranges $(FUZZ_SECONDS) 4096 tests/fuzz/code_ranges
	scripts/fuzz $(FUZZ_BUILD)/fuzz_parse $(FUZZ_SECONDS) 16384 tests/data/outputs tests/fuzz/outputs
	scripts/fuzz $(FUZZ_BUILD)/fuzz_audit $(FUZZ_SECONDS) 65536 tests/fuzz/elf

$(FUZZERS): $(BUILD)/%: $(BUILD)/obj/tests/fuzz/%.o \
		$(call obj,$(filter-out loader/main.c,$(LOADER_SRC)) $(PROBES_SRC)) $(PROTO_OBJ) \
		$(BUILD)/links
	$(call short,LD)$(TARGET_CC) $(subst fuzzer-no-link,fuzzer,$(SAN_FLAGS)) $(LDFLAGS) -o $@ \
		$(filter %.o,$^) $(CHECK_LIBS) $(LOADER_LIBS)

# What reads outputs, alone.
PARSE_OBJ := $(call obj,tests/bench_parse.c $(wildcard loader/parse/*.c) loader/message.c loader/output.c \
	loader/text.c)
BENCH_PARSE := $(BUILD)/bench_parse
$(BENCH_PARSE): $(PARSE_OBJ) $(BUILD)/links
	$(call short,LD)$(TARGET_CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -ljansson -lm

# What reads code, with all of the command but its main().
BENCH_AUDIT := $(BUILD)/bench_audit
$(BENCH_AUDIT): $(call obj,tests/bench_audit.c $(filter-out loader/main.c,$(LOADER_SRC)) $(PROBES_READER)) $(PROTO_OBJ) \
		$(BUILD)/links
	$(call short,LD)$(TARGET_CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LOADER_LIBS)

bench: all $(WORKLOADS) $(WORKLOADS_CXX) $(BENCH_PARSE) $(BENCH_AUDIT)
	scripts/bench

# Where zsh looks for functions differs from system to system.
ZSH_FUNCTIONS ?= share/zsh/site-functions
man_place = share/man/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
MAN_PAGES := $(wildcard loader/man/*.[1-8])
# FILE:PLACE below the prefix; the command is all that can be executed.
DATA_FILES := $(LIBRARY):lib/libabshim.so $(COUNT_LIBRARY):lib/libabshim-alloc.so
DATA_FILES += $(foreach page,$(MAN_PAGES),$(page):$(call man_place,$(page)))
DATA_FILES += loader/completion/abshim.bash:share/bash-completion/completions/abshim
DATA_FILES += loader/completion/_abshim:$(ZSH_FUNCTIONS)/_abshim
place = $(DESTDIR)$(PREFIX)/$(lastword $(subst :, ,$(1)))
define install_data
	install -D -m 644 $(firstword $(subst :, ,$(1))) $(call place,$(1))

endef

install: all
	install -D -m 755 $(COMMAND) $(DESTDIR)$(PREFIX)/bin/abshim
	$(foreach file,$(DATA_FILES),$(call install_data,$(file)))

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/abshim $(foreach file,$(DATA_FILES),$(call place,$(file)))

deb: all
	@MAKE='$(MAKE)' BUILD='$(BUILD)' ARCH='$(ARCH)' SYSROOT='$(SYSROOT)' scripts/deb

# Keeps the foreign systems that scripts/bootstrap unpacked.
clean:
	@test ! -d $(BUILD) || find $(BUILD) -mindepth 1 -maxdepth 1 ! -name 'sysroot-*' -exec rm -rf {} +

help:
	@echo 'make            libabshim.so and abshim, in $(BUILD)/'
	@echo 'make tests      what make check and make bench run, without running it'
	@echo 'make check      the test programs and stories (x86_64: the AArch64 ones too, emulated)'
	@echo 'make bench      ratios to bare glibc, as JSON lines and a table'
	@echo 'make fuzz       feeds damaged records, outputs and ELF files to abshim for FUZZ_SECONDS each (with clang)'
	@echo 'make install    to $$DESTDIR$$PREFIX, PREFIX=$(PREFIX); make uninstall removes it'
	@echo 'make deb        a Debian package, $(BUILD)/abshim_VERSION_ARCH.deb'
	@echo 'make clean      removes what make built'
	@echo 'ARCH=aarch64    cross-builds (after scripts/bootstrap)'
	@echo 'CC=clang        builds with clang'
	@echo 'SAN=LIST        address,undefined or thread: test programs and abshim with sanitizers'
	@echo 'V=1             shows commands in full'
	@echo 'BUILD=DIR       builds there'
	@echo "TESTS='NAME...' with make check: only these, as t_mariadb or 'check_*'"

-include $(shell find $(addprefix $(BUILD)/,pic obj tests workloads preload plugins) -name '*.d' 2>/dev/null)
