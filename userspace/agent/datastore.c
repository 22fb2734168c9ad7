// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Conversion between the objects of the family "rdma-inc" and YANG data. The
 * YANG module has the attributes' names, so one loop over an object's fields
 * serves all of them.
 */
#include "datastore.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#include "home.h"
#include "ifcache.h"
#include "name.h"
#include "nl.h"
#include "remote.h"

static void bits_text(const struct lysc_type *type, uint64_t mask, char *buf,
		      size_t len)
{
	const struct lysc_type_bits *t = (const struct lysc_type_bits *)type;
	LY_ARRAY_COUNT_TYPE i;
	size_t n = 0;

	buf[0] = '\0';
	LY_ARRAY_FOR(t->bits, i) {
		if (!((mask >> t->bits[i].position) & 1) || n >= len)
			continue;
		n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? " " : "",
				      t->bits[i].name);
	}
}

static void enum_text(const struct lysc_type *type, uint64_t v, char *buf,
		      size_t len)
{
	const struct lysc_type_enum *t = (const struct lysc_type_enum *)type;
	LY_ARRAY_COUNT_TYPE i;

	LY_ARRAY_FOR(t->enums, i) {
		if ((uint64_t)t->enums[i].value == v)
			snprintf(buf, len, "%s", t->enums[i].name);
	}
}

static void number_text(const struct lysc_type *type, uint64_t v, char *buf,
			size_t len)
{
	switch (type->basetype) {
	case LY_TYPE_BITS:
		bits_text(type, v, buf, len);
		break;
	case LY_TYPE_ENUM:
		enum_text(type, v, buf, len);
		break;
	case LY_TYPE_BOOL:
		snprintf(buf, len, "%s", v ? "true" : "false");
		break;
	default:
		snprintf(buf, len, "%" PRIu64, v);
		break;
	}
}

/* Write a value as YANG does; empty: there is none. */
static void value_text(const struct lysc_node *schema, const struct field *f,
		       const void *src, char *buf, size_t len)
{
	const struct lysc_type *type = ((struct lysc_node_leaf *)schema)->type;
	const struct inc_nl_addr *addr = src;

	buf[0] = '\0';
	switch (f->type) {
	case FIELD_STRING:
		snprintf(buf, len, "%s", (const char *)src);
		break;
	case FIELD_ADDR:
		if (addr->len)
			inet_ntop(addr->len == 4 ? AF_INET : AF_INET6,
				  addr->bytes, buf, (socklen_t)len);
		break;
	default:
		number_text(type, nl_load(src, f->size), buf, len);
		break;
	}
}

static const struct lysc_node *find_child(const struct lyd_node *parent,
					  const char *name, uint16_t kinds)
{
	if (!parent)
		return NULL;
	return lys_find_child(parent->schema, parent->schema->module, name, 0,
			      kinds, 0);
}

static void emit_stats(struct lyd_node *parent, const struct field *f,
		       const uint64_t *stats)
{
	size_t i, n = f->size / sizeof(*stats);
	struct lyd_node *to;

	if (lyd_new_inner(parent, NULL, f->name, 0, &to))
		return;
	for (i = 1; i < n; i++) {
		const char *name = f->stats[i].name;

		if (name && find_child(to, name, LYS_LEAF))
			put_number(to, name, stats[i]);
	}
}

static void emit_list(struct lyd_node *parent, const struct field *f,
		      const uint16_t *list)
{
	uint16_t i;

	for (i = 0; i < list[-1]; i++)
		put_number(parent, f->name, list[i]);
}

/* Add a list of the values other than 0, by their indexes. */
static void emit_pairs(struct lyd_node *parent, const struct lysc_node *schema,
		       const uint16_t *list)
{
	const char *value = lysc_node_child(schema)->next->name;
	char place[8];
	struct lyd_node *node;
	uint16_t i;

	for (i = 0; i < list[-1]; i++) {
		if (!list[i])
			continue;
		snprintf(place, sizeof(place), "%u", i);
		if (!lyd_new_list(parent, NULL, schema->name, 0, &node, place))
			put_number(node, value, list[i]);
	}
}

static uint16_t kinds_of(const struct field *f)
{
	switch (f->type) {
	case FIELD_STATS:
		return LYS_CONTAINER;
	case FIELD_UINT16_LIST:
		return LYS_LIST | LYS_LEAFLIST;
	default:
		return LYS_LEAF;
	}
}

static void emit_field(struct lyd_node *conf, struct lyd_node *state,
		       const struct field *f, const void *src)
{
	uint16_t kinds = kinds_of(f);
	const struct lysc_node *schema = find_child(conf, f->name, kinds);
	struct lyd_node *parent = schema ? conf : state;
	char buf[1024];

	if (!schema)
		schema = find_child(state, f->name, kinds);
	if (!schema || lysc_is_key(schema))
		return;
	if (f->type == FIELD_STATS) {
		emit_stats(parent, f, src);
	} else if (schema->nodetype == LYS_LEAFLIST) {
		emit_list(parent, f, src);
	} else if (schema->nodetype == LYS_LIST) {
		emit_pairs(parent, schema, src);
	} else {
		value_text(schema, f, src, buf, sizeof(buf));
		if (buf[0])
			lyd_new_term(parent, NULL, f->name, buf, 0, NULL);
	}
}

static void emit_fields(struct lyd_node *conf, struct lyd_node *state,
			const struct object *obj, const void *src, bool stats)
{
	uint64_t has;
	size_t i;

	memcpy(&has, src, sizeof(has));
	for (i = 0; i < obj->nfields; i++) {
		const struct field *f = &obj->fields[i];

		if ((has >> f->attr) & 1 && (stats || f->type != FIELD_STATS))
			emit_field(conf, state, f,
				   (const char *)src + f->off);
	}
}

/*
 * Add an object's attributes to YANG data. Attributes that the YANG module does
 * not have are left out.
 * @state: parent of attributes that @conf cannot have, or NULL to leave them
 *	out
 */
void ds_emit(struct lyd_node *conf, struct lyd_node *state,
	     const struct object *obj, const void *src)
{
	emit_fields(conf, state, obj, src, true);
}

static uint64_t bits_value(const struct lyd_value *value)
{
	struct lyd_value_bits *bits;
	LY_ARRAY_COUNT_TYPE i;
	uint64_t mask = 0;

	LYD_VALUE_GET(value, bits);
	LY_ARRAY_FOR(bits->items, i)
		mask |= 1ULL << bits->items[i]->position;
	return mask;
}

/* Parse an entry that emit_pairs() has made. */
static void parse_pair(const struct lyd_node *node, const struct field *f,
		       void *dst)
{
	const struct lyd_node *key = lyd_child(node);
	uint16_t *list = dst, *count = list - 1;
	unsigned long place = strtoul(lyd_get_value(key), NULL, 10);

	if (place >= f->size / sizeof(*list))
		return;
	list[place] = (uint16_t)strtoul(lyd_get_value(key->next), NULL, 10);
	if (place >= *count)
		*count = (uint16_t)(place + 1);
}

static void parse_addr(const char *text, struct inc_nl_addr *addr)
{
	if (inet_pton(AF_INET, text, addr->bytes) == 1)
		addr->len = 4;
	else if (inet_pton(AF_INET6, text, addr->bytes) == 1)
		addr->len = 16;
}

static void parse_value(const struct lyd_node *node, const struct field *f,
			void *dst)
{
	const struct lyd_value *value = &((struct lyd_node_term *)node)->value;
	const char *text = lyd_get_value(node);

	switch (f->type) {
	case FIELD_ADDR:
		parse_addr(text, dst);
		return;
	case FIELD_STRING:
		snprintf(dst, f->size, "%s", text);
		return;
	default:
		break;
	}
	switch (value->realtype->basetype) {
	case LY_TYPE_BITS:
		nl_store(dst, f->size, bits_value(value));
		break;
	case LY_TYPE_ENUM:
		nl_store(dst, f->size, (uint64_t)value->enum_item->value);
		break;
	case LY_TYPE_BOOL:
		nl_store(dst, f->size, value->boolean);
		break;
	default:
		nl_store(dst, f->size, strtoull(text, NULL, 10));
		break;
	}
}

static bool same_value(const struct lyd_node *node, const struct lyd_node *old)
{
	struct lyd_node *was;

	return !lyd_find_sibling_first(lyd_child(old), node, &was) &&
	       !lyd_compare_single(node, was, LYD_COMPARE_FULL_RECURSION);
}

/*
 * Read an object from YANG data. Returns a mask of the attributes that were
 * read, which are also set in the object's has.
 * @parent: node whose leafs, and lists of numbers, are the attributes
 * @old: node whose values are left out if they are the same, or NULL
 * @dst: object, whose other attributes are kept
 */
uint64_t ds_object(const struct lyd_node *parent, const struct lyd_node *old,
		   const struct object *obj, void *dst)
{
	const struct lyd_node *node;
	uint64_t has, got = 0;

	LY_LIST_FOR(lyd_child(parent), node) {
		const struct field *f = nl_field(obj, LYD_NAME(node));

		if (!f || !(node->schema->nodetype & kinds_of(f)) ||
		    lysc_is_key(node->schema))
			continue;
		/* The kernel's default, unless there was another value. */
		if (!old && node->flags & LYD_DEFAULT)
			continue;
		if (old && same_value(node, old))
			continue;
		if (f->type == FIELD_UINT16_LIST)
			parse_pair(node, f, (char *)dst + f->off);
		else
			parse_value(node, f, (char *)dst + f->off);
		got |= 1ULL << f->attr;
	}
	memcpy(&has, dst, sizeof(has));
	has |= got;
	memcpy(dst, &has, sizeof(has));
	return got;
}

/**
 * struct reader - data under construction
 * @nl: connection
 * @want: data to read
 * @sw: the container "switch"
 * @tree: tree that was looked at last, or NULL
 * @tree_id: ID of @tree
 * @tree_state: container "state" of @tree, or NULL
 * @counted: container "state" of the tree whose members are in @text
 * @text: stream for members' counters, in one value, or NULL
 * @values: content of @text
 * @len: length of @values
 * @roles: bits of the trees' roles
 * @found: there is at least one tree
 */
struct reader {
	struct inc_nl		*nl;
	const struct ds_want	*want;
	struct lyd_node		*sw;
	struct lyd_node		*tree;
	uint32_t		tree_id;
	struct lyd_node		*tree_state;
	struct lyd_node		*counted;
	FILE			*text;
	char			*values;
	size_t			len;
	uint32_t		roles;
	bool			found;
};

/* Add the container "state" to a node, if state is wanted. */
static struct lyd_node *add_state(const struct reader *r,
				  struct lyd_node *parent)
{
	struct lyd_node *state = NULL;

	if (r->want->state)
		lyd_new_inner(parent, NULL, "state", 0, &state);
	return state;
}

/* Add the attributes of a tree, a member or a parent. */
static void emit_object(const struct reader *r, struct lyd_node *node,
			const struct object *obj, const void *src)
{
	emit_fields(node, add_state(r, node), obj, src, r->want->stats);
}

static void add_parent(struct reader *r, struct lyd_node *tree, uint32_t id)
{
	struct inc_nl_member m;
	struct lyd_node *node;

	if (inc_nl_parent_get(r->nl, id, &m) ||
	    lyd_new_inner(tree, NULL, "parent", 0, &node))
		return;
	emit_object(r, node, &nl_member, &m);
}

static int add_tree(const struct inc_nl_tree *t, void *arg)
{
	struct reader *r = arg;
	struct lyd_node *node;
	char id[12];

	snprintf(id, sizeof(id), "%u", t->id);
	if (lyd_new_list(r->sw, NULL, "tree", 0, &node, id))
		return 0;
	r->found = true;
	emit_object(r, node, &nl_tree, t);
	if (INC_NL_HAS(t, TREE_ROLE) && t->role < 32)
		r->roles |= 1U << t->role;
	if (t->role == RDMA_INC_ROLE_CHILD && r->want->parents)
		add_parent(r, node, t->id);
	return 0;
}

static struct lyd_node *find_below(const struct lyd_node *node,
				   const char *name)
{
	struct lyd_node *found;

	return node && !lyd_find_path(node, name, 0, &found) ? found : NULL;
}

static struct lyd_node *tree_of(struct reader *r, uint32_t id)
{
	const struct lysc_node *schema = find_child(r->sw, "tree", LYS_LIST);
	char key[24];

	if (r->tree && r->tree_id == id)
		return r->tree;
	snprintf(key, sizeof(key), "[id='%u']", id);
	r->tree = NULL;
	r->tree_state = NULL;
	/* The tree may have been deleted since the trees were read. */
	if (lyd_find_sibling_val(lyd_child(r->sw), schema, key, 0, &r->tree))
		return NULL;
	r->tree_id = id;
	r->tree_state = find_below(r->tree, "state");
	return r->tree;
}

static void end_values(struct reader *r)
{
	if (!r->text)
		return;
	if (!fclose(r->text))
		lyd_new_term(r->counted, NULL, "counter-values", r->values, 0,
			     NULL);
	free(r->values);
	r->text = NULL;
}

/* Add a member's counters once more, beside its tree's counters. */
static void add_counters(struct reader *r, const struct inc_nl_member *m,
			 const char *rank)
{
#define STAT(name)	((unsigned long long)m->stats[RDMA_INC_A_MEMBER_STATS_##name])
	const unsigned long long trouble = STAT(TX_RETRANSMITS) +
		STAT(TX_ERRORS) + STAT(TX_NAKS) + STAT(RX_NAKS);
	struct lyd_node *to;

	if (r->want->counters &&
	    !lyd_new_list(r->tree_state, NULL, "member-counters", 0, &to,
			  rank)) {
		put_number(to, "rx-bytes", STAT(RX_BYTES));
		put_number(to, "tx-bytes", STAT(TX_BYTES));
		put_number(to, "rx-messages", STAT(RX_MESSAGES));
		put_number(to, "trouble", trouble);
	}
	if (r->want->values && r->counted != r->tree_state) {
		end_values(r);
		r->counted = r->tree_state;
		r->text = open_memstream(&r->values, &r->len);
	}
	if (r->text)
		fprintf(r->text, "%s %llu %llu %llu %llu;", rank,
			STAT(RX_BYTES), STAT(TX_BYTES), STAT(RX_MESSAGES),
			trouble);
#undef STAT
}

static int add_member(const struct inc_nl_member *m, void *arg)
{
	struct reader *r = arg;
	struct lyd_node *tree = tree_of(r, m->tree_id), *node;
	char rank[8];

	snprintf(rank, sizeof(rank), "%u", m->rank);
	if (!tree || !INC_NL_HAS(m, MEMBER_RANK))
		return 0;
	if (r->tree_state)
		add_counters(r, m, rank);
	if (!r->want->members || lyd_new_list(tree, NULL, "member", 0, &node, rank))
		return 0;
	emit_object(r, node, &nl_member, m);
	return 0;
}

static int add_slot(const struct inc_nl_slot *s, void *arg)
{
	struct reader *r = arg;
	struct lyd_node *tree = tree_of(r, s->tree_id), *node;
	char index[8];

	snprintf(index, sizeof(index), "%u", s->index);
	if (tree && !lyd_new_list(tree, NULL, "slot", 0, &node, index))
		ds_emit(node, NULL, &nl_slot, s);
	return 0;
}

static void add_roles(const struct reader *r)
{
	struct lyd_node *identity = find_below(r->sw, "identity");
	const struct lysc_node *leaf = find_child(identity, "role",
						  LYS_LEAFLIST);
	char name[32];
	uint32_t i;

	for (i = 0; leaf && i < 32; i++) {
		if (!(r->roles >> i & 1))
			continue;
		name[0] = '\0';
		enum_text(((const struct lysc_node_leaflist *)leaf)->type, i,
			  name, sizeof(name));
		if (name[0])
			lyd_new_term(identity, NULL, "role", name, 0, NULL);
	}
}

/* Objects of a tree may be missing if it is deleted while it is read. */
static int ignore_gone(const struct reader *r, int rc)
{
	return rc == -ENOENT && r->want->tree && r->nl->from_kernel ? 0 : rc;
}

static int read_tree(struct reader *r)
{
	struct inc_nl_tree t;
	int rc = inc_nl_tree_get(r->nl, r->want->tree, &t);

	return rc ? ignore_gone(r, rc) : add_tree(&t, r);
}

static int read_trees(struct reader *r)
{
	const struct ds_want *w = r->want;
	int rc = w->tree ? read_tree(r) :
			   inc_nl_tree_dump(r->nl, add_tree, r);

	/* Without a tree there are no members or slots. */
	if (rc || !r->found)
		return rc;
	if (w->members || w->counters || w->values)
		rc = ignore_gone(r, inc_nl_member_dump(r->nl, w->tree,
						       add_member, r));
	end_values(r);
	if (!rc && w->state && w->slots)
		rc = ignore_gone(r, inc_nl_slot_dump(r->nl, w->tree, add_slot,
						     r));
	return rc;
}

static int read_kernel(struct reader *r)
{
	struct lyd_node *limits;
	struct inc_nl_switch sw;
	int rc = inc_nl_switch_get(r->nl, &sw);

	if (rc)
		return rc;
	if (lyd_new_inner(r->sw, NULL, "limits", 0, &limits))
		return -ENOMEM;
	ds_emit(limits, add_state(r, r->sw), &nl_switch, &sw);
	if (r->want->trees)
		rc = read_trees(r);
	if (!rc && r->want->state)
		add_roles(r);
	return rc;
}

/* Make an ID of the kernel's boot, the namespace, and the loaded module. */
static void boot_id(char *buf, size_t len)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct stat mod = { .st_ino = 0 }, ns = { .st_ino = 0 };
	char id[40] = "";

	if (file) {
		if (fscanf(file, "%36s", id) != 1)
			id[0] = '\0';
		fclose(file);
	}
	(void)!stat("/sys/module/rdma_inc", &mod);
	(void)!stat("/proc/self/ns/net", &ns);
	snprintf(buf, len, "%s-%jx-%jx", id, (uintmax_t)mod.st_ino,
		 (uintmax_t)ns.st_ino);
}

static void add_identity(const struct agent *a, struct lyd_node *sw, bool state)
{
	struct lyd_node *node;
	char buf[96];
	unsigned int i;

	if (lyd_new_inner(sw, NULL, "identity", 0, &node))
		return;
	name_add(a, node);
	if (!state)
		return;
	for (i = 0; i < a->naddrs; i++)
		lyd_new_term(node, NULL, "management-address", a->addrs[i], 0,
			     NULL);
	lyd_new_term(node, NULL, "agent-version", AGENT_VERSION, 0, NULL);
	remote_expires(a, buf, sizeof(buf));
	if (buf[0])
		lyd_new_term(node, NULL, "certificate-expires", buf, 0, NULL);
	boot_id(buf, sizeof(buf));
	lyd_new_term(node, NULL, "boot-id", buf, 0, NULL);
}

static void add_cm(const struct agent *a, struct lyd_node *sw)
{
	uint16_t port = atomic_load(&a->cm_port);
	struct lyd_node *node;

	if (!port || lyd_new_inner(sw, NULL, "rdma-cm", 0, &node))
		return;
	lyd_new_term(node, NULL, "address", a->cm_addr, 0, NULL);
	put_number(node, "port", port);
}

/*
 * Read the switch from the kernel. Without the module, the data has neither
 * limits nor trees. Context: an operation. Returns 0, or -1 after filling in
 * @f.
 */
int ds_read(struct agent *a, const struct ds_want *want,
	    struct lyd_node **out, struct fault *f)
{
	struct reader r = { .nl = &a->nl, .want = want };
	int rc = 0;

	if (lyd_new_inner(NULL, a->mod, "switch", 0, &r.sw))
		return fault_yang(f, a->ctx);
	add_identity(a, r.sw, want->state);
	if (want->state) {
		add_cm(a, r.sw);
		home_add(a, r.sw);
		rc = ifcache_add(a, r.sw, want->ifs);
	}
	if (rc) {
		fault_set(f, NC_ERR_OP_FAILED, NULL, "interfaces and neighbours cannot be read: %s",
			  rc == -EINTR ? "they keep changing meanwhile" :
			  strerror(-rc));
		lyd_free_tree(r.sw);
		return -1;
	}
	rc = inc_nl_renew(&a->nl);
	if (!rc)
		rc = read_kernel(&r);
	else if (rc == -ENOENT)
		rc = 0;
	if (rc) {
		fault_kernel(f, &a->nl, rc, NULL);
		lyd_free_tree(r.sw);
		r.sw = NULL;
	}
	*out = r.sw;
	return rc ? -1 : 0;
}
