# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# gRPC, for the Makefiles of its ends, which include it after rules.mk: the objects of
# a client and of a server, and how the messages are generated in $(O).

RPC_PROTO := $(USER)/rpc/proto
RPC_PKGS := openssl:libssl-dev libprotobuf-c:libprotobuf-c-dev libnghttp2:libnghttp2-dev
RPC_PROGS := protoc:protobuf-compiler protoc-gen-c:protobuf-c-compiler
RPC_LIBS = $(call libs,libprotobuf-c libnghttp2 openssl)
# A client's connection, and who it is.
CHANNEL	:= common/tls/tls.o $(addprefix http2/,channel.o client.o fault.o link.o reach.o \
		wire.o)
CLIENT_AUTH := $(addprefix common/auth/,address.o client.o expiry.o files.o identity.o \
		resolve.o token.o verify.o)
RPC_CLIENT := rdma_inc.pb-c.o rpc/hint.o rpc/message.o common/conf/text.o $(CHANNEL) \
	$(CLIENT_AUTH)
HTTP2_SERVER := $(addprefix http2/,conn.o host.o hostq.o input.o io.o listen.o server.o \
		session.o share.o tls.o)
RPC_SERVER := health.pb-c.o reflection.pb-c.o $(HTTP2_SERVER) \
	$(addprefix rpc/,creds.o fields.o peer.o reflect.o server.o stream.o) \
	common/auth/crl.o common/conf/socket.o $(addprefix common/loop/,index.o loop.o timer.o) \
	common/conf/log.o

RPC_PB	:= $(addprefix $(O)/,rdma_inc.pb-c.h health.pb-c.h reflection.pb-c.h descriptors.inc)

ready: $(RPC_PB)

$(O)/%.pb-c.c $(O)/%.pb-c.h: $(RPC_PROTO)/%.proto | packages
	@mkdir -p $(O)
	protoc --c_out=$(O) -I$(RPC_PROTO) $(<F)

# What they say, for who has not got them: bytes of a C array. Reflection is served
# by its earlier name, too.
$(O)/descriptors.inc: $(wildcard $(RPC_PROTO)/*.proto) $(USER)/rpc/rpc.mk | packages
	@mkdir -p $(O)
	sed '/^package/s/v1/v1alpha/' $(RPC_PROTO)/reflection.proto \
		>$(O)/reflection-v1alpha.proto
	protoc --descriptor_set_out=$(O)/descriptors -I$(RPC_PROTO) -I$(O) \
		$(notdir $(filter %.proto,$^)) reflection-v1alpha.proto
	od -An -v -tu1 $(O)/descriptors | sed 's/[0-9]\+/&,/g' >$@

$(O)/rpc/reflect.o $(O)/san/rpc/reflect.o: $(O)/descriptors.inc

# They are not ours to make warn-free.
$(O)/%.pb-c.o: $(O)/%.pb-c.c
	$(CC) $(ALLFLAGS) -w -fPIC -c -o $@ $<

$(O)/san/%.pb-c.o: $(O)/%.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(ALLFLAGS) $(SAN) -w -fPIC -c -o $@ $<
