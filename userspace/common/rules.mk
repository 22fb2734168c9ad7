# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the Makefiles of all parts have in common; each includes it first. It may
# set before PKGS, packages of pkg-config, and PROGS, programs that make it, each as
# NAME:DEBIAN'S-PACKAGE.
#
# O: directory for what is made, from the top of the tree if it is not absolute.
# R, L, OTHERS: where rendezvous, lib, and what else has a make of its own are built.
# PREFIX and DESTDIR as usual.

SRC	:= $(patsubst %/,%,$(dir $(abspath $(firstword $(MAKEFILE_LIST)))))
COMMON	:= $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
USER	:= $(patsubst %/common,%,$(COMMON))
TOP	:= $(patsubst %/userspace,%,$(USER))
O	?= build/user-host/$(notdir $(SRC))
override O := $(if $(filter /%,$(O)),$(O),$(TOP)/$(O))
R	?= $(O)/rendezvous
L	?= $(abspath $(O)/../lib)
VERSION	:= $(shell cat $(TOP)/VERSION)

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
SBINDIR	?= $(PREFIX)/sbin
LIBDIR	?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec/rdma_inc
INCLUDEDIR ?= $(PREFIX)/include
MANDIR	?= $(PREFIX)/share/man
COMPDIR	?= $(PREFIX)/share/bash-completion/completions
SHAREDIR ?= $(PREFIX)/share/rdma_inc
SYSCONFDIR ?= /etc
UNITDIR	?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d

PKG_CONFIG ?= pkg-config
# Once, not for each file.
PKGCFLAGS := $(if $(PKGS),$(shell $(PKG_CONFIG) --cflags \
	$(foreach p,$(PKGS),$(firstword $(subst :, ,$(p)))) 2>/dev/null))
libs	= $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null)
comma	:= ,

CFLAGS	?= -O2 -g
# Who calls back chooses the parameters, as in the kernel.
WARN	:= -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wundef
SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=all -O1 -g
CPPFLAGS += -D_GNU_SOURCE -I$(USER) -I$(COMMON) -I$(TOP)/kernel/include/uapi \
	-I$(TOP)/kernel/include/uapi/linux $(PKGCFLAGS)
ALLFLAGS = -std=gnu11 $(WARN) $(CPPFLAGS) $(CFLAGS) -pthread
# A compiler that is killed leaves half an object, which make takes for a whole one.
COMPILE	= $(CC) $(ALLFLAGS) -fPIC -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@.new $< && \
	mv $@.new $@

all:

# What is missing, in a line with what to do; nothing if nothing is.
LACKS	?= lacks=; \
	for p in $(PROGS) $(if $(PKGS),$(PKG_CONFIG):pkgconf); do \
		command -v $${p%%:*} >/dev/null || lacks="$$lacks $${p\#\#*:}"; \
	done; \
	for p in $(PKGS); do \
		$(PKG_CONFIG) --exists $${p%%:*} 2>/dev/null || \
			lacks="$$lacks $${p\#\#*:}"; \
	done; \
	[ -z "$$lacks" ] || echo "install$$lacks"

lacks:
	@$(LACKS)

# The same, before the compiler says it. A part can add files that others need to
# ready.
ready: packages

packages:
	@lacks=$$($(LACKS)); [ -z "$$lacks" ] || { echo "make: $$lacks" >&2; exit 1; }

# An object of other rules than these may have its dependencies under another name, and
# is made again.
# A part's own files, and what it shares with others: common/auth/address.o, say. Below
# san/ they are under ASan and UBSan.
$(O)/san/%.o: ALLFLAGS += $(SAN)
$(O)/san/%.o: $(SRC)/%.c $(COMMON)/rules.mk | ready
	@mkdir -p $(@D)
	$(COMPILE)

$(O)/san/%.o: $(USER)/%.c $(COMMON)/rules.mk | ready
	@mkdir -p $(@D)
	$(COMPILE)

$(O)/%.o: $(SRC)/%.c $(COMMON)/rules.mk | ready
	@mkdir -p $(@D)
	$(COMPILE)

$(O)/%.o: $(USER)/%.c $(COMMON)/rules.mk | ready
	@mkdir -p $(@D)
	$(COMPILE)

# $(call install,MODE,FILES,DIR), and $(call install-man,PAGES), whose endings are
# the sections; $(call install-sed,FILE.in,DIR/FILE) fills in directories.
fill	= sed -e 's|/etc/rdma_inc|$(SYSCONFDIR)/rdma_inc|g' -e 's|@VERSION@|$(VERSION)|' \
	-e 's|@SBINDIR@|$(SBINDIR)|' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|' \
	-e 's|@PLUGINDIR@|$(PLUGINDIR)|'
install	= install -d $(DESTDIR)$(3) && install -m $(1) $(2) $(DESTDIR)$(3)/
install-sed = install -d $(DESTDIR)$(dir $(2)) && $(fill) $(1) >$(DESTDIR)$(2) && \
	chmod 644 $(DESTDIR)$(2)
install-man = $(foreach p,$(1),$(call install-sed,$(SRC)/man/$(p),$(MANDIR)/man$(subst .,,$(suffix $(p)))/$(p)) &&) :

# A source that has moved is still named by the dependencies of its old object.
%.c: ;

# Nor is a program, or a list of dependencies, made of one.
%: %.c
%: %.o

# Those of other parts, made in their directories, may have names relative to these.
-include $(shell find $(O) $(foreach d,$(filter-out $(O),$(R) $(L) $(OTHERS)), \
	-path $(d) -prune -o) -name '*.d' -print 2>/dev/null)

clean:
	rm -rf $(O)

FORCE:

.PHONY: all lacks packages ready check install clean FORCE
.SECONDARY:
