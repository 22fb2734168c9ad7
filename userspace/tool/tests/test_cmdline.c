// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * test_cmdline INC-TOOL: command lines, right and wrong, and what inc-tool has
 * to make of them. Nothing of it needs the module: a command line that is right
 * gets as far as asking for it. Prints KTAP.
 */
#include "common.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	OK	= 0,
	USAGE	= 1,
	KERNEL	= 2,	/* or OK, should the module be loaded */
};

/**
 * struct test - a command line
 * @expect: exit status
 * @args: arguments, separated by one blank each; in "" an empty one
 * @says: part of what it has to print, or NULL
 * @in: standard input; each \1 in it stands for a NUL byte
 */
struct test {
	int		expect;
	const char	*args;
	const char	*says;
	const char	*in;
};

#define LONG_64		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LONG_256	LONG_64 LONG_64 LONG_64 LONG_64
#define LONG		LONG_256 LONG_256 LONG_256 LONG_256

static const struct test tests[] = {
	/* help on every level */
	{ OK, "-h", "Usage: inc-tool", NULL },
	{ OK, "-help", "OBJECT", NULL },
	{ OK, "--help", "OBJECT", NULL },
	{ OK, "help", "Usage: inc-tool", NULL },
	{ OK, "tree help", "inc-tool tree add", NULL },
	{ OK, "tree -h", "inc-tool tree add", NULL },
	{ OK, "tree --help", "inc-tool tree add", NULL },
	{ OK, "tree add help", "inc-tool tree add", NULL },
	{ OK, "tree del help", "inc-tool tree del", NULL },
	{ OK, "tree set help", "inc-tool tree set", NULL },
	{ OK, "tree show help", "inc-tool tree", NULL },
	{ OK, "member help", "inc-tool member add", NULL },
	{ OK, "member add help", "inc-tool member add", NULL },
	{ OK, "member del help", "inc-tool member del", NULL },
	{ OK, "member show help", "inc-tool member", NULL },
	{ OK, "slot help", "inc-tool slot", NULL },
	{ OK, "slot show help", "inc-tool slot", NULL },
	{ OK, "stat help", "inc-tool stat", NULL },
	{ OK, "stat show help", "inc-tool stat", NULL },
	{ OK, "switch help", "inc-tool switch", NULL },
	{ OK, "switch show help", "inc-tool switch", NULL },
	{ OK, "switch set help", "inc-tool switch", NULL },
	{ OK, "monitor help", "inc-tool monitor", NULL },
	{ OK, "-V", "inc-tool ", NULL },
	{ OK, "-Version", "inc-tool ", NULL },
	{ OK, "--version", "inc-tool ", NULL },

	/* no command, no such command, prefixes */
	{ USAGE, "", "Usage: inc-tool", NULL },
	{ USAGE, "trie", "\"trie\"", NULL },
	{ USAGE, "\"\"", "\"\"", NULL },
	{ USAGE, "s", "slot, stat, switch", NULL },
	{ USAGE, "st foo", "show, list", NULL },
	{ USAGE, "m", "member, monitor", NULL },
	{ USAGE, "tree s", "show, set", NULL },
	{ USAGE, "tree foo", "\"foo\"", NULL },
	{ KERNEL, "tree", NULL, NULL },
	{ KERNEL, "tr", NULL, NULL },
	{ KERNEL, "tree show", NULL, NULL },
	{ KERNEL, "tree sh", NULL, NULL },
	{ KERNEL, "tree list", NULL, NULL },
	{ KERNEL, "tree l", NULL, NULL },
	{ KERNEL, "me", NULL, NULL },
	{ KERNEL, "slot", NULL, NULL },
	{ KERNEL, "sl sh", NULL, NULL },
	{ KERNEL, "stat", NULL, NULL },
	{ KERNEL, "sw", NULL, NULL },

	/* options */
	{ USAGE, "-x", "option '-x'", NULL },
	{ USAGE, "-jsonx tree", "invalid option", NULL },
	{ USAGE, "-b", "requires an argument", NULL },
	{ USAGE, "-n", "requires an argument", NULL },
	{ USAGE, "-j", "Usage: inc-tool", NULL },
	{ USAGE, "-", "\"-\"", NULL },
	{ KERNEL, "-j tree", NULL, NULL },
	{ KERNEL, "-json tree", NULL, NULL },
	{ KERNEL, "--json tree", NULL, NULL },
	{ KERNEL, "-p tree", NULL, NULL },
	{ KERNEL, "-pretty -json tree", NULL, NULL },
	{ KERNEL, "-s tree", NULL, NULL },
	{ KERNEL, "-s -s tree", NULL, NULL },
	{ KERNEL, "-stats tree", NULL, NULL },
	{ KERNEL, "-statistics tree", NULL, NULL },
	{ KERNEL, "-d tree", NULL, NULL },
	{ KERNEL, "-details tree", NULL, NULL },
	{ KERNEL, "-t tree", NULL, NULL },
	{ KERNEL, "-timestamp tree", NULL, NULL },
	{ KERNEL, "-f tree", NULL, NULL },
	{ KERNEL, "-j -p -s -d -- tree", NULL, NULL },
	{ USAGE, "-n no-such-netns tree", "\"no-such-netns\"", NULL },
	{ USAGE, "-netns /no/such/file tree", "\"/no/such/file\"", NULL },
	{ KERNEL, "-n /proc/self/ns/net tree", NULL, NULL },

	/* tree add */
	{ USAGE, "tree add", "ranks is missing", NULL },
	{ USAGE, "tree add id 1", "ranks is missing", NULL },
	{ USAGE, "tree add ranks", "\"ranks\"", NULL },
	{ USAGE, "tree add ranks x", "\"x\"", NULL },
	{ USAGE, "tree add ranks -1", "\"-1\"", NULL },
	{ USAGE, "tree add ranks +1", "\"+1\"", NULL },
	{ USAGE, "tree add ranks \"\"", "\"\"", NULL },
	{ USAGE, "tree add ranks 65536", "\"65536\"", NULL },
	{ USAGE, "tree add ranks 0x10000", "\"0x10000\"", NULL },
	{ USAGE, "tree add ranks 4 ranks 4", "\"ranks\" is there twice", NULL },
	{ USAGE, "tree add ranks 4 color blue", "\"color\"", NULL },
	{ USAGE, "tree add ranks 4 msg-size 64Q", "\"64Q\"", NULL },
	{ USAGE, "tree add ranks 4 msg-size 64KB", "\"64KB\"", NULL },
	{ USAGE, "tree add ranks 4 msg-size 4294967296", "\"4294967296\"", NULL },
	{ USAGE, "tree add ranks 4 msg-size 4G", "\"4G\"", NULL },
	{ USAGE, "tree add ranks 4 msg-size 99999999999999999999", "\"9999", NULL },
	{ USAGE, "tree add ranks 4 msg-size 0x", "\"0x\"", NULL },
	{ USAGE, "tree add ranks 4 collectives foo", "\"foo\"", NULL },
	{ USAGE, "tree add ranks 4 collectives allreduce,", "\"\"", NULL },
	{ USAGE, "tree add ranks 4 collectives allreduce,foo", "\"foo\"", NULL },
	{ USAGE, "tree add ranks 4 dtypes fp33", "int8,int16", NULL },
	{ USAGE, "tree add ranks 4 ops summ", "\"summ\"", NULL },
	{ USAGE, "tree add ranks 4 ops su", "\"su\"", NULL },
	{ USAGE, "tree add ranks 4 min-rto 5M", "\"5M\"", NULL },
	{ USAGE, "tree add ranks 4 dead-time ms", "\"ms\"", NULL },
	{ USAGE, "tree add ranks 4 dead-time 4294968s", "\"4294968s\"", NULL },
	{ KERNEL, "tree add ranks 65535 pmtu 1", NULL, NULL },
	{ KERNEL, "tree add ranks 2 order arrival", NULL, NULL },
	{ USAGE, "tree add ranks 2 order random", "ranks or arrival", NULL },
	{ KERNEL, "tree add ranks 0 id 7 slots 0x10 msg-size 64K pmtu 1024", NULL, NULL },
	{ KERNEL, "tree add ranks 0 first-msg-id 0xffffff00", NULL, NULL },
	{ KERNEL, "tree add ranks 0 collectives allreduce,barrier", NULL, NULL },
	{ KERNEL, "tree add ranks 0 collectives reduce-scatter", NULL, NULL },
	{ KERNEL, "tree add ranks 0 collectives 0x140", NULL, NULL },
	{ KERNEL, "tree add ranks 0 dtypes int32,fp64 ops sum,min", NULL, NULL },
	{ KERNEL, "tree add ranks 0 window 16 hold 8M", NULL, NULL },
	{ KERNEL, "tree add ranks 0 min-rto 4ms dead-time 2s", NULL, NULL },
	{ KERNEL, "tree add ranks 0 min-rto 0x4 dead-time 1m", NULL, NULL },
	{ KERNEL, "tree add ranks 0 min-rto 1s500ms", NULL, NULL },
	{ USAGE, "tree add ranks 4 min-rto 1s500", "\"1s500\"", NULL },
	{ USAGE, "tree add ranks 4 dead-time 50d", "\"50d\"", NULL },
	{ USAGE, "serve --dead-time 2m", "milliseconds", NULL },
	{ USAGE, "serve --join-time 0s", "seconds", NULL },
	{ USAGE, "serve --forming-time 5x", "seconds", NULL },
	{ USAGE, "serve --hold 2G", "\"2G\"", NULL },
	{ USAGE, "serve --dead-time 2s --join-time 5m --forming-time 2h --min-rto 4ms --hold 1M --msg-size 64K --max-host-memory 1G --slots 0", "--slots", NULL },
	{ KERNEL, "tree add ranks 0 min-rto 4 dead-time 600", NULL, NULL },
	{ KERNEL, "tree add ranks 0 traffic-class 0xb8", NULL, NULL },
	{ USAGE, "tree add ranks 2 traffic-class 256", "\"256\"", NULL },
	{ USAGE, "tree set 1 traffic-class 4", "\"traffic-class\"", NULL },
	{ KERNEL, "tree add ranks 0 ecn ect0 priority 15", NULL, NULL },
	{ USAGE, "tree add ranks 2 ecn ect1", "\"ect1\"", NULL },
	{ USAGE, "tree add ranks 2 priority 256", "\"256\"", NULL },
	{ KERNEL, "tree add ranks 0 cnp-interval 1000000", NULL, NULL },
	{ USAGE, "tree add ranks 2 cnp-interval 50us", "\"50us\"", NULL },
	{ USAGE, "serve --cnp-interval 1000001", "\"1000001\"", NULL },
	{ USAGE, "tree set 1 ecn ect0", "\"ecn\"", NULL },
	{ USAGE, "serve --ecn ce", "\"ce\"", NULL },
	{ USAGE, "serve --priority 16", "\"16\"", NULL },

	/* tree set, del, show */
	{ USAGE, "tree set", "ID is missing", NULL },
	{ USAGE, "tree set window 3", "ID is missing", NULL },
	{ USAGE, "tree set 1", "nothing to change", NULL },
	{ USAGE, "tree set 1 ranks 5", "\"ranks\"", NULL },
	{ USAGE, "tree set 1 id 1 window 3", "\"id\" is there twice", NULL },
	{ USAGE, "tree set 1x window 3", "\"1x\"", NULL },
	{ KERNEL, "tree set 4000000000 window 3", NULL, NULL },
	{ KERNEL, "tree set id 4000000000 hold 1M min-rto 2 dead-time 1s", NULL, NULL },
	{ USAGE, "tree del", "ID is missing", NULL },
	{ USAGE, "tree del foo", "\"foo\"", NULL },
	{ USAGE, "tree del 1 2", "\"2\"", NULL },
	{ USAGE, "tree del 4294967296", "\"4294967296\"", NULL },
	{ KERNEL, "tree del 4000000000", NULL, NULL },
	{ KERNEL, "tree del 4000000000 nowait", NULL, NULL },
	{ USAGE, "tree del nowait", "ID is missing", NULL },
	{ USAGE, "tree del 1 nowait 2", "\"nowait\"", NULL },
	{ KERNEL, "tree delete id 4000000000", NULL, NULL },
	{ USAGE, "tree show foo", "\"foo\"", NULL },
	{ USAGE, "tree show 1 foo", "\"foo\"", NULL },
	{ KERNEL, "tree show 1", NULL, NULL },
	{ KERNEL, "tree show id 1", NULL, NULL },

	/* member */
	{ USAGE, "member add", "tree is missing", NULL },
	{ USAGE, "member add tree 1", "rank is missing", NULL },
	{ USAGE, "member add tree 1 rank 0 qpn 17", "addr is missing", NULL },
	{ USAGE, "member add tree 1 rank 0 pkey 0x8001", "addr is missing", NULL },
	{ KERNEL, "member add tree 4000000000 rank 0", NULL, NULL },
	{ KERNEL, "member add tree 4000000000 rank 0 rank 1", NULL, NULL },
	{ USAGE, "member add rank 0 rank 1", "tree is missing", NULL },
	{ USAGE, "member add tree 1 rank 0 rank 1 qpn 17", "addr is missing", NULL },
	{ USAGE, "member add tree 1 rank 0 rank 1 tree 2", "there twice", NULL },
	{ USAGE, "member add tree 1 rank 0 transport rc transport uc rank 1", "there twice", NULL },
	{ USAGE, "member add tree 1 rank 0 rank", "lacks its value", NULL },
	{ KERNEL, "member add tree 4000000000 rank 0 local-qpn 0x800001 local-psn 1 transport rc", NULL, NULL },
	{ OK, "member set help", "inc-tool member set", NULL },
	{ USAGE, "member set", "tree is missing", NULL },
	{ USAGE, "member set tree 1", "rank is missing", NULL },
	{ USAGE, "member set tree 1 rank 0", "addr is missing", NULL },
	{ USAGE, "member set tree 1 rank 0 addr 10.0.0.1", "qpn is missing", NULL },
	{ USAGE, "member set tree 1 rank 0 addr 10.0.0.1 qpn 17", "psn is missing", NULL },
	{ USAGE, "member set tree 1 rank 0 transport uc", "\"transport\"", NULL },
	{ USAGE, "member set tree 1 rank 0 local-qpn 0x800001", "\"local-qpn\"", NULL },
	{ KERNEL, "member set tree 4000000000 rank 0 addr 10.0.0.1 qpn 17 psn 1 local 10.0.0.2 local-psn 5 pkey 0x8001", NULL, NULL },
	{ USAGE, "member add tree 1 rank 0 addr 10.0.0.1", "qpn is missing", NULL },
	{ USAGE, "member add tree 1 rank 0 addr 10.0.0.1 qpn 17", "psn is missing", NULL },
	{ USAGE, "member add tree 1 rank 0 addr 10.0.0", "\"10.0.0\"", NULL },
	{ USAGE, "member add tree 1 rank 0 addr host1", "\"host1\"", NULL },
	{ USAGE, "member add tree 1 rank 0 addr fe80::1%eth0", "fe80::1%eth0", NULL },
	{ USAGE, "member add tree 1 rank 65536", "\"65536\"", NULL },
	{ USAGE, "member add tree 1 rank 0 pkey 0x10000", "\"0x10000\"", NULL },
	{ USAGE, "member add tree 1 rank 0 ifindex eth0", "\"eth0\"", NULL },
	{ KERNEL, "member add tree 4000000000 rank 0 ifindex 1", NULL, NULL },
	{ USAGE, "member add tree 1 rank 0 addr ::1 peer-addr ::1", "twice", NULL },
	{ KERNEL, "member add tree 4000000000 rank 0 addr 10.0.0.1 qpn 0x11 psn 0", NULL, NULL },
	{ KERNEL, "member add tree 4000000000 rank 0 addr fd00::1 qpn 17 psn 0xffffff local fd00::2 local-psn 1 pkey 0x8001", NULL, NULL },
	{ KERNEL, "member add tree-id 4000000000 rank 0 peer-addr 10.0.0.1 peer-qpn 17 peer-psn 1 local-addr 10.0.0.2", NULL, NULL },
	{ KERNEL, "member add tree 4000000000 rank 0 addr 10.0.0.1 qpn 17 psn 0 transport rc", NULL, NULL },
	{ KERNEL, "member add tree 4000000000 rank 0 transport uc addr 10.0.0.1 qpn 17 psn 0", NULL, NULL },
	{ USAGE, "member add tree 1 rank 0 transport", "\"transport\"", NULL },
	{ USAGE, "member add tree 1 rank 0 transport ud", "rc or uc", NULL },
	{ USAGE, "member add tree 1 rank 0 transport UC", "\"UC\"", NULL },
	{ USAGE, "member add tree 1 rank 0 transport 1", "rc or uc", NULL },
	{ USAGE, "member add tree 1 rank 0 transport uc transport uc", "twice", NULL },
	{ USAGE, "member del", "tree is missing", NULL },
	{ USAGE, "member del tree 1", "rank is missing", NULL },
	{ USAGE, "member del tree 1 rank", "\"rank\"", NULL },
	{ KERNEL, "member del tree 4000000000 rank 0", NULL, NULL },
	{ USAGE, "member show rank 1", "tree is missing", NULL },
	{ USAGE, "member show 1", "\"1\"", NULL },
	{ KERNEL, "member show tree 1", NULL, NULL },
	{ KERNEL, "member show tree 1 rank 0", NULL, NULL },
	{ KERNEL, "-s -d member", NULL, NULL },

	/* parent, and where a tree is among others */
	{ OK, "parent help", "inc-tool parent set", NULL },
	{ OK, "parent show help", "inc-tool parent", NULL },
	{ OK, "parent set help", "peer-tree ID", NULL },
	{ USAGE, "parent", "tree is missing", NULL },
	{ USAGE, "parent show", "tree is missing", NULL },
	{ USAGE, "parent show 1", "\"1\"", NULL },
	{ USAGE, "parent show tree 0x", "\"0x\"", NULL },
	{ USAGE, "parent show tree 1 rank 0", "\"rank\"", NULL },
	{ USAGE, "parent list", "tree is missing", NULL },
	{ USAGE, "parent foo", "show, list, set", NULL },
	{ KERNEL, "parent show tree 4000000000", NULL, NULL },
	{ KERNEL, "-s -d parent show tree 4000000000", NULL, NULL },
	{ USAGE, "parent set", "tree is missing", NULL },
	{ USAGE, "parent set tree 1", "peer-tree is missing", NULL },
	{ USAGE, "parent set tree 1 peer-tree 2", "addr is missing", NULL },
	{ USAGE, "parent set tree 1 peer-tree 2 addr 10.0.0.1", "qpn is missing", NULL },
	{ USAGE, "parent set tree 1 peer-tree 2 addr 10.0.0.1 qpn 0x800000", "psn is missing", NULL },
	{ USAGE, "parent set tree 1 peer-tree 2 addr 10.0.0.1 qpn 0x800000 psn 0", "rkey is missing", NULL },
	{ USAGE, "parent set tree 1 peer-tree 2 addr here", "\"here\"", NULL },
	{ USAGE, "parent set tree 1 rkey 0x100000000", "\"0x100000000\"", NULL },
	{ USAGE, "parent set tree 1 transport uc", "\"transport\"", NULL },
	{ USAGE, "parent set tree 1 peer-tree 2 peer-tree-id 2", "twice", NULL },
	{ KERNEL, "parent set tree 4000000000 peer-tree 2 addr 10.0.0.1 qpn 0x800000 psn 0 rkey 7", NULL, NULL },
	{ KERNEL, "parent set tree-id 4000000000 peer-tree-id 2 peer-addr ::1 peer-qpn 0x800000 peer-psn 0 peer-rkey 7 local-addr ::2 pkey 0x8001", NULL, NULL },
	{ USAGE, "tree add ranks 2 job-ranks x", "\"x\"", NULL },
	{ USAGE, "tree add ranks 2 job-ranks 65536", "\"65536\"", NULL },
	{ USAGE, "tree add ranks 2 below", "\"below\"", NULL },
	{ USAGE, "tree add ranks 2 below 2,", "\"2,\"", NULL },
	{ USAGE, "tree add ranks 2 below 2,x", "\"2,x\"", NULL },
	{ USAGE, "tree add ranks 2 below 2 below 2", "twice", NULL },
	{ KERNEL, "tree add ranks 0 job-ranks 4 first-rank 2", NULL, NULL },
	{ KERNEL, "tree add ranks 0 job-ranks 9 below 2,0,4", NULL, NULL },

	/* slot, stat, switch, monitor */
	{ USAGE, "slot show index 1", "tree is missing", NULL },
	{ USAGE, "slot show tree 1 state", "\"state\"", NULL },
	{ USAGE, "slot show tree 1 state sleepy", "\"sleepy\"", NULL },
	{ USAGE, "slot add", "\"add\"", NULL },
	{ KERNEL, "slot show tree 1 index 0", NULL, NULL },
	{ KERNEL, "slot show state busy", NULL, NULL },
	{ KERNEL, "slot show tree 1 slot 3 state failed", NULL, NULL },
	{ USAGE, "stat show rank 1", "tree is missing", NULL },
	{ USAGE, "stat show foo 1", "\"foo\"", NULL },
	{ KERNEL, "stat show tree 1", NULL, NULL },
	{ KERNEL, "stat show tree 1 rank 0", NULL, NULL },
	{ USAGE, "switch show foo", "\"foo\"", NULL },
	{ USAGE, "switch set", "nothing to set", NULL },
	{ USAGE, "switch set max-slots 65536", "\"65536\"", NULL },
	{ USAGE, "switch set max-trees -1", "\"-1\"", NULL },
	{ USAGE, "switch set max-ranks", "\"max-ranks\"", NULL },
	{ USAGE, "switch set max-ranks 65536", "\"65536\"", NULL },
	{ USAGE, "switch set max-tree-memory 1X", "\"1X\"", NULL },
	{ USAGE, "switch set max-trees 1 max-trees 2", "twice", NULL },
	{ USAGE, "switch set memory-limit", "\"memory-limit\"", NULL },
	{ USAGE, "switch set memory-limit much", "\"much\"", NULL },
	{ USAGE, "switch set memory-limit 18446744073709551616", "\"184467", NULL },
	{ USAGE, "switch set memory-limit 17179869184G", "\"171798", NULL },
	{ USAGE, "monitor foo", "\"foo\"", NULL },
	{ USAGE, "monitor all foo", "\"foo\"", NULL },
	{ USAGE, "monitor tree 1", "\"1\"", NULL },

	/* stat for Prometheus, check, top, save, restore */
	{ KERNEL, "stat show --prometheus", NULL, NULL },
	{ KERNEL, "stat show tree 1 rank 0 --prometheus", NULL, NULL },
	{ USAGE, "stat show --prometheus rank 1", "tree is missing", NULL },
	{ OK, "check help", "inc-tool check", NULL },
	{ OK, "check --help", "Exit status", NULL },
	{ USAGE, "check foo", "\"foo\"", NULL },
	{ USAGE, "check tree", "\"tree\"", NULL },
	{ USAGE, "check tree 0", "\"0\"", NULL },
	{ USAGE, "check tree x", "\"x\"", NULL },
	{ USAGE, "check tree 1 2", "\"2\"", NULL },
	{ OK, "top help", "inc-tool [ -j ] top", NULL },
	{ OK, "top -h", "--interval", NULL },
	{ OK, "top --help", "--interval", NULL },
	{ USAGE, "top foo", "\"foo\"", NULL },
	{ USAGE, "top -x", "option -- 'x'", NULL },
	{ USAGE, "top -i", "option requires an argument", NULL },
	{ USAGE, "top -i 0", "\"0\"", NULL },
	{ USAGE, "top -i 0.05", "\"0.05\"", NULL },
	{ USAGE, "top -i nan", "\"nan\"", NULL },
	{ USAGE, "top -i 1e9", "\"1e9\"", NULL },
	{ USAGE, "top -i 50ms", "\"50ms\"", NULL },
	{ USAGE, "top -i 2d", "\"2d\"", NULL },
	{ USAGE, "top --interval 1x", "as in 500ms", NULL },
	{ USAGE, "top -n 0", "\"0\"", NULL },
	{ USAGE, "top --count x", "\"x\"", NULL },
	{ USAGE, "top --tree 0", "\"0\"", NULL },
	{ KERNEL, "top -b -n 1 -i 0.1", NULL, NULL },
	{ KERNEL, "top -b -n 1 -i 100ms", NULL, NULL },
	{ KERNEL, "top -b -n 1 -i 1m30s", NULL, NULL },
	{ KERNEL, "-j top --batch --count 1 --interval .1", NULL, NULL },
	{ OK, "serve help", "Usage: inc-tool serve", NULL },
	{ OK, "serve --help", "Usage: inc-tool serve", NULL },
	{ USAGE, "serve --frobnicate", "inc-tool: serve: ", NULL },
	{ USAGE, "serve --port", "inc-tool: serve: ", NULL },
	{ OK, "save help", "inc-tool save", NULL },
	{ USAGE, "save foo", "\"foo\"", NULL },
	{ KERNEL, "save", NULL, NULL },
	{ OK, "restore help", "inc-tool restore", NULL },
	{ USAGE, "restore", "file is missing", NULL },
	{ USAGE, "restore a b", "one file", NULL },
	{ USAGE, "restore /no/such/file", "\"/no/such/file\"", NULL },
	{ OK, "restore -", "inc-tool tree add", "tree help\n" },
	{ USAGE, "restore -", "failed -:2", "tree help\ntree foo\n" },
	{ USAGE, "member add tree 1 rank 0 local-qpn x", "\"x\"", NULL },

	/* batch */
	{ OK, "-b -", NULL, "" },
	{ OK, "-batch -", NULL, "# nothing\n\n   \t\n" },
	{ OK, "-b -", "inc-tool tree add", "tree help\n" },
	{ OK, "-b -", "inc-tool tree add", "tree help" },
	{ OK, "-b -", "inc-tool tree add", "tree \\\n help # a comment\n" },
	{ OK, "-b -", "inc-tool tree add", "\"tree\" 'help'\r\n" },
	{ USAGE, "-b -", "failed -:2", "tree help\ntree foo\ntree bar\n" },
	{ USAGE, "-f -b -", "failed -:3", "tree help\ntree foo\ntree bar\n" },
	{ USAGE, "-force -b -", "inc-tool member add", "tree foo\nmember help\n" },
	{ USAGE, "-b -", "is not closed", "tree \"help\n" },
	{ USAGE, "-b -", "NUL", "tree help\1 tree foo\n" },
	{ USAGE, "-b -", "failed -:2", "tree help\n# a\1b\n" },
	{ USAGE, "-b -", "failed -:1", "tree help\1" },
	{ USAGE, "-f -b -", "inc-tool member add", "\1\nmember help\n" },
	{ USAGE, "restore -", "failed -:1", "tree \1help\n" },
	{ OK, "-b -", "inc-tool tree add", "tree \\\r\n help\r\n" },
	{ USAGE, "-b -", "aaa...\n", "tree " LONG LONG "\n" },
	{ USAGE, "-b /dev/zero", "more than 65536 bytes", NULL },
	{ USAGE, "-b /proc/self/fd/0", "does one restore itself",
	  "restore /proc/self/fd/0\n" },
	{ USAGE, "-b - tree", "\"tree\"", "" },
	{ USAGE, "-b /no/such/file", "\"/no/such/file\"", NULL },
	{ USAGE, "-b /", "\"/\"", NULL },
};

/* Cuts a command line at its blanks, in place. */
static void split(char *args, char **argv, size_t max)
{
	size_t n = 1;
	char *word;

	while ((word = strsep(&args, " ")) && n + 1 < max) {
		if (!*word)
			continue;
		argv[n++] = strcmp(word, "\"\"") ? word : word + 2;
	}
	argv[n] = NULL;
}

static void child(const char *tool, const struct test *t, int in, int out)
{
	char *argv[64], *args = strdup(t->args);

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	argv[0] = (char *)tool;
	split(args, argv, ARRAY_SIZE(argv));
	execv(tool, argv);
	_exit(127);
}

/* Runs a test; its output goes to @text. Returns its exit status, or -1. */
static int run(const char *tool, const struct test *t, char *text, size_t size)
{
	int in, fd[2], status;
	const char *p;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	in = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (in < 0 || pipe(fd))
		return -1;
	for (p = t->in; p && *p; p++)
		if (write(in, *p == '\1' ? "" : p, 1) != 1)
			return -1;
	lseek(in, 0, SEEK_SET);
	pid = fork();
	if (!pid)
		child(tool, t, in, fd[1]);
	close(in);
	close(fd[1]);
	while (len < size - 1 && (n = read(fd[0], text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fd[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	unsigned int failed = 0;
	static char text[65536];
	size_t i;

	if (argc != 2) {
		fputs("Usage: test_cmdline INC-TOOL\n", stderr);
		return 2;
	}
	printf("TAP version 13\n1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		const struct test *t = &tests[i];
		int rc = run(argv[1], t, text, sizeof(text));
		bool good = rc == t->expect || (t->expect == KERNEL && !rc);

		if (t->says && !strstr(text, t->says))
			good = false;
		if (rc && !*text)
			good = false;
		printf("%s %zu - inc-tool %s\n", good ? "ok" : "not ok", i + 1,
		       t->args);
		if (good)
			continue;
		failed++;
		printf("# status %d, expected %d, said: %s\n", rc, t->expect,
		       text);
	}
	return failed != 0;
}
