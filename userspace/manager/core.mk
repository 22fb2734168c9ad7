# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The manager's core, for programs that link it; they include this file after rpc.mk:
# groups, their places and trees, tenants, statistics, and answers. It has no database,
# no page, and nothing of how a switch is reached: see fabric/session.h, tree.h.
#
# M: folder of the objects, "manager/" outside of this one.

PLACE	:= $(addprefix $(M)place/,merge.o pack.o search.o way.o)
TOPO	:= $(addprefix $(M)fabric/,fdb.o graph.o hosts.o learn.o links.o locate.o reach.o)
CORE	:= $(RPC_CLIENT) $(RPC_SERVER) $(addprefix common/conf/,conf.o unit.o) job/job.o \
	$(PLACE) $(TOPO) $(addprefix $(M), \
		$(addprefix base/,event.o pool.o) \
		$(addprefix tenant/,policy.o quota.o reserve.o) \
		$(addprefix api/,json.o peer.o) \
		$(addprefix store/,db.o store.o) \
		$(addprefix fabric/,iface.o meet.o ops.o refresh.o start.o) \
		$(addprefix group/,cm.o drain.o fail.o home.o keep.o limit.o link.o move.o \
			object.o rank.o rebuild.o report.o room.o route.o step.o tell.o \
			timer.o trees.o undetermined.o where.o) \
		$(addprefix state/,drain.o ids.o leader.o links.o names.o persist.o put.o record.o \
			reserve.o restore.o) \
		$(addprefix session/,join.o resume.o violation.o) \
		$(addprefix stats/,expiry.o history.o member_counts.o metrics.o stale.o \
			stats.o) \
		$(addprefix answer/,calls.o drain.o events.o health.o quota.o rename.o \
			reply.o reserve.o stored.o task.o why.o) \
		switches.o)
