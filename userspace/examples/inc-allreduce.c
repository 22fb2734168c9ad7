// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-allreduce - a small program that uses libinc: one rank of an AllReduce
 * of a file's contents.
 *
 *   INC_SERVER=host INC_JOB=name INC_RANK=r INC_NRANKS=n \
 *	inc-allreduce DTYPE OP IN OUT
 */
#include <stdio.h>
#include <stdlib.h>

#include <inc/inc.h>

static void *load_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	void *buf;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) {
		perror(path);
		exit(1);
	}
	rewind(f);
	*len = size;
	buf = malloc(size + 1);
	if (!buf || fread(buf, 1, size, f) != (size_t)size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return buf;
}

static void save_file(const char *path, const void *buf, size_t len)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(buf, 1, len, f) != len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct inc_comm_opts opts = INC_COMM_OPTS_INIT;
	char why[256] = "";
	struct inc_comm *comm;
	int dtype, op, err;
	size_t len;
	void *buf;

	if (argc != 5) {
		fprintf(stderr, "usage: inc-allreduce DTYPE OP IN OUT\n");
		return 2;
	}
	dtype = inc_dtype_by_name(argv[1]);
	op = inc_op_by_name(argv[2]);
	if (dtype < 0 || op < 0) {
		fprintf(stderr, "inc-allreduce: unknown type \"%s\" or operation \"%s\"\n",
			argv[1], argv[2]);
		return 2;
	}
	buf = load_file(argv[3], &len);

	/* Server, job, rank and number of ranks come from the environment. */
	opts.errbuf = why;
	opts.errbuf_len = sizeof(why);
	err = inc_comm_create(&comm, &opts);
	if (err) {
		fprintf(stderr, "inc-allreduce: cannot join: %s\n",
			*why ? why : inc_strerror(err));
		return 1;
	}
	err = inc_allreduce(comm, INC_IN_PLACE, buf,
			    len / inc_dtype_size(dtype), dtype, op);
	if (err)
		fprintf(stderr, "inc-allreduce: %s\n", inc_comm_strerror(comm));
	else
		save_file(argv[4], buf, len);
	inc_comm_destroy(comm);
	free(buf);
	return err ? 1 : 0;
}
