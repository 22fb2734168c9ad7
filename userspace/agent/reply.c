// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See reply.h.
 */
#include "reply.h"

#include "agent.h"
#include "session.h"

static const struct lyd_attr *attributes_of(const struct lyd_node *rpc)
{
	return rpc ? ((const struct lyd_node_opaq *)rpc)->attr : NULL;
}

/* Was the prefix that an attribute has declared for one before it? */
static bool is_declared(const struct lyd_attr *first, const struct lyd_attr *a)
{
	for (; first != a; first = first->next)
		if (first->name.prefix &&
		    !strcmp(first->name.prefix, a->name.prefix))
			return true;
	return false;
}

/* A reply has all attributes of the request. */
static void put_attributes(FILE *out, const struct lyd_node *rpc)
{
	const struct lyd_attr *first = attributes_of(rpc), *a;

	for (a = first; a; a = a->next) {
		if (a->name.prefix && !is_declared(first, a)) {
			fprintf(out, " xmlns:%s=\"", a->name.prefix);
			error_escape(out, a->name.module_ns ?
				     a->name.module_ns : "", true);
			fputc('"', out);
		}
		fprintf(out, " %s%s%s=\"", a->name.prefix ? a->name.prefix : "",
			a->name.prefix ? ":" : "", a->name.name);
		error_escape(out, a->value, true);
		fputc('"', out);
	}
}

/* What libyang has refused, as a client expects it. */
static void refuse_parsed(struct request *q)
{
	const struct ly_err_item *e = ly_err_last(q->a->ctx);
	const char *path = e && e->data_path ? e->data_path : "";
	const char *op = e && e->schema_path ? strchr(e->schema_path, ':') : NULL;
	struct fault f;

	fault_text(&f, e ? e->msg : "the message cannot be parsed", path, NULL);
	/* Is it the operation that is not there? */
	if (!e)
		f.tag = NC_ERR_OP_FAILED;
	else if (strstr(e->msg, " not found in the \"") ||
		 (!strncmp(e->msg, "No module with namespace", 24) &&
		  !strchr(path, ':')))
		f.tag = NC_ERR_OP_NOT_SUPPORTED;
	/* Of an attribute of its own, libyang tells only the schema. */
	else if (f.tag == NC_ERR_UNKNOWN_ATTR && !path[0] && op)
		snprintf(f.elem, sizeof(f.elem), "%.*s",
			 (int)strcspn(op + 1, "/"), op + 1);
	reply_fault(q, &f, NC_LAYER_PROTOCOL);
}

/* Not even its outermost element is what it should be. */
static void refuse_message(struct request *q)
{
	const struct ly_err_item *e = ly_err_last(q->a->ctx);
	struct fault f;

	if (e && !strcmp(e->msg, "Missing XML namespace.")) {
		fault_set(&f, NC_ERR_MISSING_ATTR, NULL,
			  "An expected attribute is missing.");
		strcpy(f.other, "xmlns");
		strcpy(f.elem, "rpc");
	} else {
		fault_set(&f, NC_ERR_MALFORMED_MSG, NULL,
			  "A message could not be handled because it failed to be parsed correctly.");
	}
	reply_fault(q, &f, NC_LAYER_RPC);
}

static void refuse_anonymous(struct request *q)
{
	struct fault f;

	fault_set(&f, NC_ERR_MISSING_ATTR, NULL,
		  "An expected attribute is missing.");
	strcpy(f.other, "message-id");
	strcpy(f.elem, "rpc");
	reply_fault(q, &f, NC_LAYER_RPC);
}

static bool has_id(const struct lyd_node *rpc)
{
	const struct lyd_attr *a;

	for (a = attributes_of(rpc); a; a = a->next)
		if (!a->name.prefix && !strcmp(a->name.name, "message-id"))
			return true;
	return false;
}

static bool parse_message(struct reply *r, const char *text)
{
	struct ly_ctx *ctx = r->q->a->ctx;
	struct ly_in *in;
	LY_ERR rc;

	/* The thread's earlier errors are of other messages. */
	ly_err_clean(ctx, NULL);
	if (!text || ly_in_new_memory(text, &in))
		return false;
	rc = lyd_parse_op(ctx, NULL, in, LYD_XML, LYD_TYPE_RPC_NETCONF, &r->rpc,
			  &r->op);
	ly_in_free(in, 0);
	return !rc && r->op;
}

/*
 * Parse a message, and begin to reply to it. Returns what it is.
 * @q: result: the request, and where to print what is in the reply
 * @text: message, or NULL: it is empty
 * @always: NETCONF 1.1, where there is a reply to what is no request
 */
enum reply_kind reply_begin(struct reply *r, struct request *q, const char *text,
			    bool always)
{
	bool good;

	*r = (struct reply){ .q = q };
	good = parse_message(r, text);
	if (!r->rpc && !always) {
		reply_free(r);
		return REPLY_NONE;
	}
	q->op = r->op;
	q->text = text;
	q->out = open_memstream(&r->text, &r->len);
	if (!q->out)
		return REPLY_REFUSE;
	fputs("<rpc-reply xmlns=\"" NETCONF_NS "\"", q->out);
	put_attributes(q->out, r->rpc);
	fputc('>', q->out);
	if (good && has_id(r->rpc))
		return REPLY_ANSWER;
	if (!r->rpc)
		refuse_message(q);
	else if (good)
		refuse_anonymous(q);
	else
		refuse_parsed(q);
	return REPLY_REFUSE;
}

/* End a reply. Returns true if @r->text is all of it. */
bool reply_end(struct reply *r)
{
	bool good;

	if (!r->q->out)
		return false;
	fputs("</rpc-reply>", r->q->out);
	good = !ferror(r->q->out) && !r->q->broken;
	if (fclose(r->q->out) || !good) {
		free(r->text);
		r->text = NULL;
	}
	return r->text;
}

/* Forget a message and its reply. */
void reply_free(struct reply *r)
{
	lyd_free_all(r->op);
	lyd_free_all(r->rpc);
	free(r->text);
	ly_err_clean(r->q->a->ctx, NULL);
}

/* Reply that it was done. */
void reply_ok(struct request *q)
{
	fputs("<ok/>", q->out);
}

/* Reply with an error; there may be several. */
void reply_fault(struct request *q, const struct fault *f, enum nc_layer layer)
{
	error_print(q->out, q->a->ctx, f, layer);
	q->bad = true;
}

/*
 * Reply with data.
 * @data: with its siblings, or NULL
 */
void reply_data(struct request *q, const struct lyd_node *data)
{
	fputs("<data>", q->out);
	if (data && lyd_print_file(q->out, data, LYD_XML, LYD_PRINT_SHRINK |
				   LYD_PRINT_WITHSIBLINGS |
				   LYD_PRINT_WD_EXPLICIT))
		q->broken = true;
	fputs("</data>", q->out);
}
