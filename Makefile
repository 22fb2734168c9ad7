# SPDX-License-Identifier: GPL-2.0
#
# rdma_inc: in-network computing for RoCEv2 on a Linux bridge.
# "make help" lists the targets.

KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
DESTDIR	?=
BUILD	:= $(CURDIR)/build
MIN_KERNEL := 6.12
LAB	?= auto

LABCMD	:= selftests/lab/lab
USER	:= $(BUILD)/user-host

all: modules userspace

help:
	@echo 'On any machine (root, Debian 12 or later):'
	@echo '  make demo       an AllReduce over the module, shown step by step'
	@echo '                  RANKS=4 SIZE=1M DTYPE=fp32 OP=sum LAB=auto|uml|vm|host'
	@echo '  make demo-fabric  2 spines, 4 leaves, 16 hosts, their manager, an MPI job'
	@echo '  make check      the tests; TESTS="name..." for some of them'
	@echo '  make check-all  the tests that take longer, too; WITHIN=MINUTES'
	@echo '  make check-night  those that take hours, too'
	@echo '  make bench      how fast it is, beside its alternatives; REPS=5'
	@echo '  make patch-series KDIR=linux-7.x'
	@echo '                  the module as patches for that kernel, in build/patch-series'
	@echo '  make deb        Debian packages, in build/deb'
	@echo 'On a machine with kernel headers:'
	@echo '  make            module and user space'
	@echo '  make modules    the module alone; KDIR=kernel build directory'
	@echo '  make userspace  all parts that this machine has the libraries for; it says'
	@echo '                  which it leaves out, and why'
	@echo '  make install    module and user space; DESTDIR, PREFIX'
	@echo '  make uninstall  remove what make install has placed; DESTDIR, PREFIX'
	@echo '  make clean'

# Build the module from a copy, so that builds for several kernels do not mix.
# Leave alone what is up to date and for this kernel; remove what left the tree.
KO	:= $(BUILD)/host/kernel/rdma_inc.ko
modules:
	@release=$$(cat '$(KDIR)/include/config/kernel.release' 2>/dev/null); \
	if [ -n "$$release" ] && [ -f $(KO) ] && \
	   grep -qa "vermagic=$$release " $(KO) && \
	   [ -z "$$(find Kbuild VERSION kernel -newer $(KO) -type f)" ]; then \
		echo 'make: $(KO) is up to date'; \
	else \
		$(MAKE) --no-print-directory modules-build; \
	fi

modules-build:
	@[ -d '$(KDIR)' ] || { echo 'make: no kernel headers in $(KDIR); install them, or give KDIR= ("make userspace" needs none)' >&2; exit 1; }
	@release=$$(cat '$(KDIR)/include/config/kernel.release' 2>/dev/null); \
	printf '%s\n' $(MIN_KERNEL) "$${release:-$(MIN_KERNEL)}" | sort -VC || \
		{ echo "make: found kernel $$release in $(KDIR), the module needs $(MIN_KERNEL) or later: use Debian 13, a kernel of backports, or KDIR= (\"make userspace\" needs none)" >&2; exit 1; }
	@mkdir -p $(BUILD)/host
	@cp -ru Kbuild VERSION kernel $(BUILD)/host/
	@cd $(BUILD)/host && find kernel -type f \( -name '*.[ch]' -o -name '*.mk' \) \
		! -name '*.mod.c' | while read -r f; do \
			[ -e '$(CURDIR)'/"$$f" ] || rm "$$f"; \
		done
	$(MAKE) -C $(KDIR) M=$(BUILD)/host modules

userspace:
	@$(MAKE) -C userspace O=$(USER)

# The same for the lab's root file system, and what the tests need on top.
NJOBS	:= -j$(shell nproc)
ASAN	:= -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
lab-user:
	@$(LABCMD) exec -- $(MAKE) -s $(NJOBS) -C userspace O=$(BUILD)/user \
		PARTS="lib rendezvous tool perf examples plugins/nccl"
	@$(LABCMD) exec -- $(MAKE) -s $(NJOBS) -C userspace/lib O=$(BUILD)/user/lib \
		R=$(BUILD)/user/rendezvous live

# The same under AddressSanitizer, for suites with SAN=1 and those of the daemon.
lab-asan:
	@$(LABCMD) exec -- $(MAKE) -s $(NJOBS) -C userspace O=$(BUILD)/user-asan PARTS="lib rendezvous tool perf" CFLAGS='$(ASAN)'

install: install-modules install-user

install-modules: modules
	$(MAKE) -C $(KDIR) M=$(BUILD)/host $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

install-user: userspace
	@$(MAKE) -C userspace O=$(USER) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install

# What would be installed now is what goes; settings below /etc stay.
uninstall:
	@find '$(DESTDIR)'/lib/modules -name 'rdma_inc.ko*' -path '*/updates/*' \
		-print -delete 2>/dev/null || :
	@t=$$(mktemp -d) && trap 'rm -rf "$$t"' EXIT && \
	$(MAKE) -s -C userspace O=$(USER) DESTDIR="$$t" PREFIX=$(PREFIX) install && \
	(cd "$$t" && find . ! -type d ! -path './etc/*') | while read -r f; do \
		rm -f '$(DESTDIR)'/"$$f" || exit; \
	done
	@left=$$(cd '$(DESTDIR)$(PREFIX)' 2>/dev/null && \
		ls -d bin/inc-* bin/mpirun-inc sbin/inc-* lib/libinc* 2>/dev/null); \
	[ -z "$$left" ] || { echo "make: these stay, since this tree would not install them here: add the packages that the parts left out want, and try again:" $$left >&2; exit 1; }

demo:
	@LAB=$(LAB) RANKS=$(RANKS) SIZE=$(SIZE) DTYPE=$(DTYPE) OP=$(OP) selftests/demo/run

demo-fabric:
	@selftests/demo/fabric

check:
	@selftests/run $(if $(WITHIN),-w $(WITHIN)) $(TESTS)

check-all:
	@selftests/run -a $(if $(WITHIN),-w $(WITHIN)) $(TESTS)

check-night:
	@selftests/run -n $(if $(WITHIN),-w $(WITHIN)) $(TESTS)

bench:
	@selftests/bench/bench

patch-series:
	@selftests/upstream/series.sh $(KDIR) $(BUILD)/patch-series

deb:
	@selftests/deb/build.sh

clean:
	rm -rf $(BUILD)

.PHONY: all help modules modules-build userspace lab-user lab-asan install install-modules \
	install-user uninstall demo demo-fabric check check-all check-night bench patch-series deb \
	clean
