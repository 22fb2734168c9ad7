// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The switches that a switch sees, and to which of them it is linked. Links
 * are: the configured ones; switches that announce themselves to each other;
 * else two switches that see each other with no third one in between, and that
 * no third one sees in different directions. Links that a spanning tree blocks
 * at either end do not count. With S switches that all see each other without
 * announcing themselves this takes O(S^3 / 64), else O(S + L).
 *
 * Anybody can claim by LLDP to be some switch, so both ends must see each other.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/array.h"
#include "fabric/row.h"

#define WORD	64

static int by_switch(const void *a, const void *b)
{
	const struct adjacency *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	if (x->how != y->how)
		return x->how > y->how ? -1 : 1;
	return x->itf < y->itf ? -1 : x->itf > y->itf;
}

/* Find the first adjacency with a switch; the end of the list: none. */
static uint32_t first_of(const struct row *row, uint32_t sw)
{
	uint32_t low = 0, high = row->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (row->list[mid].sw < sw)
			low = mid + 1;
		else
			high = mid;
	}
	return low < row->n && row->list[low].sw == sw ? low : row->n;
}

/*
 * Find the interface of a switch that leads to another one. Returns its first
 * valid adjacency, or NULL.
 */
const struct adjacency *row_towards(const struct row *row, uint32_t to)
{
	uint32_t i = first_of(row, to);

	while (i < row->n && row->list[i].sw == to && row->list[i].is_void)
		i++;
	return i < row->n && row->list[i].sw == to ? &row->list[i] : NULL;
}

/* Free a row's content. */
void row_free(struct row *row)
{
	uint32_t i;

	for (i = 0; row->behind && i < row->nifs; i++)
		free(row->behind[i]);
	free(row->behind);
	free(row->leads);
	free(row->list);
	row->behind = NULL;
	row->leads = NULL;
	row->list = NULL;
	row->n = 0;
	row->nifs = 0;
}

/* --- Rows ---------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct sw *x = *(const struct sw **)a;
	const struct sw *y = *(const struct sw **)b;
	int diff = strcmp(x->info->id, y->info->id);

	return diff ? diff : x->index < y->index ? -1 : 1;
}

static void sort_ids(struct topo *t)
{
	uint32_t i;

	t->nids = 0;
	for (i = 0; i < t->n; i++)
		if (t->fab->switches[i].info && !t->fab->switches[i].gone)
			t->by_id[t->nids++] = &t->fab->switches[i];
	qsort(t->by_id, t->nids, sizeof(*t->by_id), by_id);
}

static const struct sw *find_id(const struct topo *t, const char *id)
{
	uint32_t low = 0, high = t->nids, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (strcmp(t->by_id[mid]->info->id, id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->nids && !strcmp(t->by_id[low]->info->id, id) ?
	       t->by_id[low] : NULL;
}

static void add_adjacency(struct row *row, uint32_t itf, uint32_t sw,
			  enum adjacency_how how)
{
	if (!ARRAY_ROOM(row->list, row->n))
		return;
	row->list[row->n++] = (struct adjacency){ sw, itf, (uint16_t)how, 0 };
	row->sees_direct |= how > ADJ_FDB;
}

static void add_neighbour(const struct topo *t, struct row *row,
			  const struct sw *sw, uint32_t itf,
			  const struct sw_neigh *neigh)
{
	const struct fdb_mac *mac;
	const struct fdb_entry *s;
	const struct sw *other;

	if (neigh->switch_id[0]) {
		other = find_id(t, neigh->switch_id);
		if (other && other != sw)
			add_adjacency(row, itf, other->index, ADJ_LLDP);
		return;
	}
	/* A blocked port's entries are old. */
	if (sw->info->ifs[itf].blocked)
		return;
	mac = fdb_find_mac(&t->fdb, neigh->mac);
	for (s = mac ? mac->entries : NULL; s; s = s->of_mac)
		if (fdb_is_own(s) && s->sw != sw->index)
			add_adjacency(row, itf, s->sw,
				      s->itf == FDB_OWN ? ADJ_FDB : ADJ_PORT);
}

static uint32_t if_by_name(const struct sw *sw, const char *name)
{
	const struct sw_if *itf = sw_if_named(sw->info, name);

	return itf ? sw_if_upper(sw->info, (uint32_t)(itf - sw->info->ifs)) :
		     FDB_OWN;
}

/* Add configured links of this switch whose both ends exist. */
static void add_cables(const struct topo *t, struct row *row,
		       const struct sw *sw)
{
	const struct topo_cable *c;
	const struct sw *other;
	uint32_t i, end, itf;

	for (i = 0; i < 2 * t->fab->ncables; i++) {
		c = &t->fab->cables[i / 2];
		end = i % 2;
		if (strcmp(c->sw[end], sw->info->id))
			continue;
		other = find_id(t, c->sw[!end]);
		itf = if_by_name(sw, c->itf[end]);
		if (!other || other == sw || itf == FDB_OWN ||
		    if_by_name(other, c->itf[!end]) == FDB_OWN)
			continue;
		add_adjacency(row, itf, other->index, ADJ_CONFIGURED);
	}
}

static void mark_behind(const struct topo *t, struct row *row,
			const struct adjacency *adj)
{
	size_t words = (t->n + WORD - 1) / WORD;
	uint64_t **behind = &row->behind[adj->itf];

	row->leads[adj->itf] |= LEADS(ADJ_FDB);
	if (!*behind)
		*behind = calloc(words, sizeof(**behind));
	if (*behind)
		(*behind)[adj->sw / WORD] |= 1ULL << adj->sw % WORD;
}

/* Drop duplicates, and ADJ_PORT where the same switch is also seen by ADJ_FDB. */
static void settle_row(const struct topo *t, struct row *row)
{
	uint32_t i, n = 0, known = PLACE_NONE;
	struct adjacency *adj;

	for (i = 0; i < row->n; i++) {
		adj = &row->list[i];
		if (i + 1 < row->n && !memcmp(adj, adj + 1, sizeof(*adj)))
			continue;
		if (adj->how == ADJ_FDB)
			known = adj->sw;
		if (adj->how == ADJ_PORT && adj->sw == known)
			continue;
		if (adj->how == ADJ_PORT)
			adj->how = ADJ_FDB;
		if (adj->how == ADJ_FDB)
			mark_behind(t, row, adj);
		row->list[n++] = *adj;
	}
	row->n = n;
}

static void make_row(struct topo *t, const struct sw *sw)
{
	struct row *row = &t->rows[sw->index], before = *row;
	const struct sw_snapshot *info = sw->gone ? NULL : sw->info;
	uint32_t i, k;

	for (i = 0; i < before.n; i++)
		before.list[i].is_void = 0;
	row->stale = false;
	row->sees_direct = false;
	row->n = 0;
	row->list = NULL;
	row->nifs = info ? info->nifs : 0;
	row->leads = calloc(row->nifs + 1, sizeof(*row->leads));
	row->behind = calloc(row->nifs + 1, sizeof(*row->behind));
	for (i = 0; row->leads && row->behind && i < row->nifs; i++)
		/* A bridge does not know behind which port. */
		for (k = 0; !info->ifs[i].bridge && k < info->ifs[i].nneighs;
		     k++)
			add_neighbour(t, row, sw, sw_if_upper(info, i),
				      &info->ifs[i].neighs[k]);
	if (row->leads && row->behind && info)
		add_cables(t, row, sw);
	if (row->n)
		qsort(row->list, row->n, sizeof(*row->list), by_switch);
	settle_row(t, row);
	if (row->n != before.n ||
	    (row->n && memcmp(row->list, before.list,
			      row->n * sizeof(*row->list))))
		t->links_old = true;
	row_free(&before);
}

/*
 * Find the interface of @other that announces itself behind @itf of @sw;
 * @wanted: find only this one.
 */
static uint32_t announced_if(const struct sw *sw, uint32_t itf,
			     const struct sw *other, uint32_t wanted)
{
	const struct sw_snapshot *info = sw->info;
	const struct sw_if *at = &info->ifs[itf];
	const struct sw_neigh *neigh;
	uint32_t next = at->members, port, k;

	/* Look at the interface; if it is an aggregation, at its members, too. */
	for (;;) {
		for (k = 0; k < at->nneighs; k++) {
			neigh = &at->neighs[k];
			if (strcmp(neigh->switch_id, other->info->id))
				continue;
			port = if_by_name(other, neigh->switch_port);
			if (wanted == FDB_OWN || wanted == port)
				return port;
		}
		if (!next)
			return FDB_OWN;
		at = &info->ifs[next - 1];
		next = at->next_member;
	}
}

/* Find the configured, or announced, interface of the other switch. */
static uint32_t other_if(const struct topo *t, uint32_t sw,
			 const struct adjacency *adj)
{
	const struct sw *this = &t->fab->switches[sw];
	const struct sw *other = &t->fab->switches[adj->sw];
	const struct topo_cable *c;
	uint32_t i, end;

	if (adj->how == ADJ_LLDP)
		return announced_if(this, adj->itf, other, FDB_OWN);
	for (i = 0; adj->how == ADJ_CONFIGURED && i < 2 * t->fab->ncables;
	     i++) {
		c = &t->fab->cables[i / 2];
		end = i % 2;
		if (!strcmp(c->sw[end], this->info->id) &&
		    !strcmp(c->sw[!end], other->info->id) &&
		    if_by_name(this, c->itf[end]) == adj->itf)
			return if_by_name(other, c->itf[!end]);
	}
	return FDB_OWN;
}

/* By LLDP: does the other interface see this one? */
static bool is_mutual(const struct topo *t, uint32_t sw,
		      const struct adjacency *adj)
{
	const struct sw *this = &t->fab->switches[sw];
	uint32_t there = other_if(t, sw, adj);

	return there != FDB_OWN &&
	       announced_if(&t->fab->switches[adj->sw], there, this, adj->itf) ==
	       adj->itf;
}

/* Does a spanning tree block the link, at either end? */
static bool is_blocked(const struct topo *t, uint32_t sw,
		       const struct adjacency *adj)
{
	uint32_t there = other_if(t, sw, adj);

	return t->fab->switches[sw].info->ifs[adj->itf].blocked ||
	       (there != FDB_OWN &&
		t->fab->switches[adj->sw].info->ifs[there].blocked);
}

/* A blocked interface still leads to its switch. */
static void judge_row(struct topo *t, struct row *row, uint32_t sw)
{
	uint16_t is_void;
	struct adjacency *adj;
	uint32_t i;

	for (i = 0; i < row->nifs; i++)
		row->leads[i] &= LEADS(ADJ_FDB);
	for (i = 0; i < row->n; i++)
		if (row->list[i].how == ADJ_CONFIGURED)
			row->leads[row->list[i].itf] |= LEADS(ADJ_CONFIGURED);
	for (i = 0; i < row->n; i++) {
		adj = &row->list[i];
		if (adj->how == ADJ_FDB)
			continue;
		is_void = adj->how == ADJ_LLDP &&
			  ((row->leads[adj->itf] & LEADS(ADJ_CONFIGURED)) ||
			   !is_mutual(t, sw, adj));
		if (!is_void)
			row->leads[adj->itf] |= LEADS(adj->how);
		is_void = is_void || is_blocked(t, sw, adj);
		t->links_old |= is_void != adj->is_void;
		adj->is_void = is_void;
	}
}

/* Judge adjacencies by the other ends; all rows must be up to date. */
static void judge_all(struct topo *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (t->rows[i].sees_direct)
			judge_row(t, &t->rows[i], i);
}

/* Bring all rows up to date. */
void graph_rows(struct topo *t)
{
	uint32_t i;

	if (t->rows_generation == t->generation)
		return;
	if (t->rows_old)
		sort_ids(t);
	for (i = 0; i < t->n; i++)
		if (t->rows[i].stale || t->rows_old)
			make_row(t, &t->fab->switches[i]);
	judge_all(t);
	t->rows_old = false;
	t->rows_generation = t->generation;
}

/* --- Links --------------------------------------------------------------- */

/* Is a third switch behind both interfaces? */
static bool is_between(const struct topo *t, uint32_t a, uint32_t a_if,
		       uint32_t b, uint32_t b_if)
{
	const uint64_t *x = t->rows[a].behind[a_if];
	const uint64_t *y = t->rows[b].behind[b_if];
	uint32_t i, words = (t->n + WORD - 1) / WORD;
	uint64_t both;

	for (i = 0; x && y && i < words; i++) {
		both = x[i] & y[i];
		if (a / WORD == i)
			both &= ~(1ULL << a % WORD);
		if (b / WORD == i)
			both &= ~(1ULL << b % WORD);
		if (both)
			return true;
	}
	return false;
}

static bool is_behind(const struct row *row, uint32_t itf, uint32_t sw)
{
	const uint64_t *behind = row->behind[itf];

	return behind && (behind[sw / WORD] & 1ULL << sw % WORD);
}

/* Does a switch see both others, but behind different interfaces? */
static bool sees_apart(const struct row *row, uint32_t a, uint32_t b)
{
	bool sees_a = false;
	uint32_t i;

	for (i = first_of(row, a); i < row->n && row->list[i].sw == a; i++) {
		if (row->list[i].how != ADJ_FDB)
			continue;
		if (is_behind(row, row->list[i].itf, b))
			return false;
		sees_a = true;
	}
	if (!sees_a)
		return false;
	for (i = first_of(row, b); i < row->n && row->list[i].sw == b; i++)
		if (row->list[i].how == ADJ_FDB)
			return true;
	return false;
}

/*
 * Two switches may for a while have forgotten one in between, as bridges do
 * when their spanning tree changes; but a third one still sees them apart.
 */
static bool are_apart(const struct topo *t, uint32_t a, uint32_t b)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (i != a && i != b && sees_apart(&t->rows[i], a, b))
			return true;
	return false;
}

static bool put_link(struct topo *t, uint32_t a, uint32_t a_if, uint32_t b,
		     uint32_t b_if, uint16_t how)
{
	static const char *const names[] = {
		[ADJ_FDB]		= "fdb",
		[ADJ_LLDP]		= "lldp",
		[ADJ_CONFIGURED]	= "configured",
	};
	const struct sw_if *x = &t->fab->switches[a].info->ifs[a_if];
	const struct sw_if *y = b_if == FDB_OWN ? NULL :
				&t->fab->switches[b].info->ifs[b_if];
	uint64_t speed = x->speed;

	if (!x->up || x->blocked || (y && (!y->up || y->blocked)))
		return true;
	if (y && y->speed && (!speed || y->speed < speed))
		speed = y->speed;
	if (!ARRAY_ROOM(t->links, t->nlinks))
		return false;
	t->links[t->nlinks++] = (struct topo_link){ a, a_if, b, b_if, speed,
						    names[how], 0 };
	return true;
}

static bool put_adjacency(struct topo *t, uint32_t a,
			  const struct adjacency *adj)
{
	const uint8_t sure = LEADS(ADJ_LLDP) | LEADS(ADJ_CONFIGURED);
	const struct adjacency *back;
	uint32_t b = adj->sw, b_if;

	/* Only the switch with the lower number adds the link. */
	if (b < a || adj->is_void)
		return true;
	if (adj->how > ADJ_FDB) {
		b_if = other_if(t, a, adj);
		/* A configured link of the other interface prevails. */
		if (adj->how == ADJ_LLDP && b_if != FDB_OWN &&
		    (t->rows[b].leads[b_if] & LEADS(ADJ_CONFIGURED)))
			return true;
		return put_link(t, a, adj->itf, b, b_if, adj->how);
	}
	back = row_towards(&t->rows[b], a);
	if (!back || back->how != ADJ_FDB ||
	    adj != row_towards(&t->rows[a], b) ||
	    (t->rows[a].leads[adj->itf] & sure) ||
	    (t->rows[b].leads[back->itf] & sure) ||
	    is_between(t, a, adj->itf, b, back->itf) || are_apart(t, a, b))
		return true;
	return put_link(t, a, adj->itf, b, back->itf, ADJ_FDB);
}

static int by_ends(const void *a, const void *b)
{
	const struct topo_link *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->a_if < y->a_if ? -1 : x->a_if > y->a_if;
}

/*
 * Find the links, if something has changed. Returns true if they were found
 * anew.
 */
bool graph_links(struct topo *t)
{
	uint32_t a, i;

	graph_rows(t);
	if (!t->links_old)
		return false;
	t->links_old = false;
	free(t->links);
	t->links = NULL;
	t->nlinks = 0;
	for (a = 0; a < t->n; a++)
		for (i = 0; i < t->rows[a].n; i++)
			if (!put_adjacency(t, a, &t->rows[a].list[i]))
				log_info("no memory for the links");
	if (t->nlinks)
		qsort(t->links, t->nlinks, sizeof(*t->links), by_ends);
	return true;
}
