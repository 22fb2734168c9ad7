-- SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
--
-- INC in Wireshark and tshark, below their InfiniBand dissector. Copy it to a
-- directory that Help, About, Folders names "Lua Plugins", or:
--
--	tshark -X lua_script:inc.lua -r FILE -Y inc
--
-- A request is an RDMA WRITE to a QPN of the switch (0x800000-0xbfffff): its
-- first packet begins with the INC header. A result is a WRITE ONLY from a
-- switch that such a request went to, back to that host; the last one's
-- Immediate is status and message ID. A host may itself be a switch, a child of
-- the other one: then both QPNs are of that range. See Documentation/protocol.rst.

local QPN_MIN, QPN_MAX = 0x800000, 0xbfffff
local HDR_LEN = 32
local FIRST, MIDDLE, LAST, LAST_IMM = 0x06, 0x07, 0x08, 0x09
local ONLY, ONLY_IMM = 0x0a, 0x0b
local UC_ONLY_IMM = 0x2b
local VERSION = 1
local QUERY = 0x0004
-- A result's status over UC: 0x80, and how many messages have not all ended.
local LOWMARK = 0x80
local RESEND = 32

-- Generated from linux/rdma_inc_proto.h by selftests/style/ynl-regen.sh:
local collectives = {
	[0] = "broadcast", [1] = "allgather", [2] = "alltoall", [3] = "scatter",
	[4] = "gather", [5] = "reduce", [6] = "allreduce",
	[7] = "reduce-scatter", [8] = "barrier",
}
local dtypes = {
	[0] = "int8", [1] = "int16", [2] = "int32", [3] = "int64",
	[4] = "uint8", [5] = "uint16", [6] = "uint32", [7] = "uint64",
	[8] = "fp16", [9] = "bf16", [10] = "fp32", [11] = "fp64",
	[12] = "float-int", [13] = "double-int", [14] = "long-int",
	[15] = "2int", [16] = "short-int",
}
local ops = {
	[0] = "sum", [1] = "prod", [2] = "min", [3] = "max", [4] = "land",
	[5] = "lor", [6] = "lxor", [7] = "band", [8] = "bor", [9] = "bxor",
	[10] = "minloc", [11] = "maxloc", [12] = "avg",
}
local statuses = {
	[0] = "ok", [1] = "version", [2] = "collective", [3] = "dtype",
	[4] = "tree-id", [5] = "msg-id", [6] = "length", [7] = "mismatch",
	[8] = "root", [16] = "peer-dead", [17] = "tree-gone",
	[18] = "member-left", [19] = "no-memory", [32] = "resend",
	[33] = "pending",
}
-- End of the generated tables.

local inc = Proto("inc", "In-Network Computing")
local f = {
	kind = ProtoField.string("inc.kind", "Kind"),
	version = ProtoField.uint8("inc.version", "Version"),
	collective = ProtoField.uint8("inc.collective", "Collective", base.DEC, collectives),
	dtype = ProtoField.uint8("inc.dtype", "Data type", base.DEC, dtypes),
	op = ProtoField.uint8("inc.op", "Operation", base.DEC, ops),
	tree = ProtoField.uint32("inc.tree", "Tree"),
	msg_id = ProtoField.uint32("inc.msg_id", "Message ID"),
	root = ProtoField.uint16("inc.root", "Root rank"),
	flags = ProtoField.uint16("inc.flags", "Flags", base.HEX),
	no_data = ProtoField.bool("inc.flags.no_data", "Wants no data", 16, nil, 0x0001),
	wide = ProtoField.bool("inc.flags.wide", "Wide elements, in two planes", 16, nil, 0x0002),
	query = ProtoField.bool("inc.flags.query", "Query for its state", 16, nil, QUERY),
	nelem = ProtoField.uint32("inc.nelem", "Elements"),
	rkey = ProtoField.uint32("inc.result_rkey", "Result R_Key", base.HEX),
	va = ProtoField.uint64("inc.result_va", "Result address", base.HEX),
	imm_status = ProtoField.uint8("inc.imm.status", "Status (Immediate)", base.DEC, statuses),
	low_mark = ProtoField.uint8("inc.imm.low_mark", "Low mark: not all ended of so many messages up to this one"),
	imm_msg_id = ProtoField.uint24("inc.imm.msg_id", "Message ID, low 24 bits (Immediate)"),
	data = ProtoField.bytes("inc.data", "Data"),
}
inc.fields = f

local expert_version = ProtoExpert.new("inc.version.unknown",
	"Version is not known", expert.group.PROTOCOL, expert.severity.WARN)
local expert_status = ProtoExpert.new("inc.imm.status.error",
	"The message ended with an error", expert.group.RESPONSE_CODE,
	expert.severity.WARN)
inc.experts = { expert_version, expert_status }

local bth_opcode = Field.new("infiniband.bth.opcode")
local bth_qpn = Field.new("infiniband.bth.destqp")
local bth_pad = Field.new("infiniband.bth.padcnt")
local immdt = Field.new("infiniband.immdt")

-- Hosts that have sent requests, by "switch host".
local hosts = {}

function inc.init()
	hosts = {}
end

-- The Immediate that the packet carries, as a number, or nil.
local function immediate()
	local field = immdt()

	if not field then
		return nil
	end
	if type(field.value) == "number" then
		return field.value
	end
	return field.range:uint()
end

-- Returns the status; a mark's is that of a result.
local function add_immediate(tree, imm, marked)
	local status = bit.rshift(imm, 24) % 256

	if marked and status >= LOWMARK then
		tree:add(f.low_mark, status - LOWMARK):set_generated()
		status = 0
	end
	tree:add(f.imm_status, status):set_generated()
	tree:add(f.imm_msg_id, imm % 0x1000000):set_generated()
	if status ~= 0 and status < RESEND then
		tree:add_proto_expert_info(expert_status)
	end
	return status
end

local function add_header(tvb, tree)
	tree:add(f.version, tvb(0, 1))
	if tvb(0, 1):uint() ~= VERSION then
		tree:add_proto_expert_info(expert_version)
	end
	tree:add(f.collective, tvb(1, 1))
	tree:add(f.dtype, tvb(2, 1))
	tree:add(f.op, tvb(3, 1))
	tree:add(f.tree, tvb(4, 4))
	tree:add(f.msg_id, tvb(8, 4))
	tree:add(f.root, tvb(12, 2))
	tree:add(f.flags, tvb(14, 2))
	tree:add(f.no_data, tvb(14, 2))
	tree:add(f.wide, tvb(14, 2))
	tree:add(f.query, tvb(14, 2))
	tree:add(f.nelem, tvb(16, 4))
	tree:add(f.rkey, tvb(20, 4))
	tree:add(f.va, tvb(24, 8))
	return string.format("%s tree %u message %u",
		collectives[tvb(1, 1):uint()] or "?", tvb(4, 4):uint(),
		tvb(8, 4):uint())
end

-- The Immediate of a request has the low bits of its header's message ID.
local function is_header(tvb, len, imm)
	return len >= HDR_LEN and tvb(0, 1):uint() == VERSION and imm and
		tvb(8, 4):uint() % 0x1000000 == imm % 0x1000000
end

local function request(tvb, len, opcode, tree, imm)
	local text, off, kind = "request goes on", 0, "request"
	-- The last packet of several may be a write of its own.
	local tail = opcode == ONLY_IMM and len > 0 and
		not is_header(tvb, len, imm)

	if opcode ~= MIDDLE and opcode ~= LAST and opcode ~= LAST_IMM and
	   not tail then
		if len < HDR_LEN then
			tree:add(f.kind, kind):set_generated()
			return "request, too short for its header"
		end
		text = add_header(tvb, tree)
		off = HDR_LEN
		if bit.band(tvb(14, 2):uint(), QUERY) ~= 0 then
			kind = "query"
			text = "what became of " .. text
		end
	end
	tree:add(f.kind, kind):set_generated()
	if imm and add_immediate(tree, imm, false) ~= 0 then
		text = text .. ", failed below"
	end
	if len > off then
		tree:add(f.data, tvb(off, len - off))
	end
	return text
end

local function result(tvb, len, opcode, tree, imm)
	local kind, text = "result", "result"

	if imm then
		local status = add_immediate(tree, imm, opcode == UC_ONLY_IMM)

		if status ~= 0 then
			kind = "status"
			text = "status " .. (statuses[status] or status)
		else
			text = "result, last packet"
		end
		text = text .. string.format(" message %u", imm % 0x1000000)
	elseif len == 0 then
		kind, text = "probe", "probe"
	end
	tree:add(f.kind, kind):set_generated()
	if len > 0 then
		tree:add(f.data, tvb(0, len))
	end
	return text
end

-- Whose packet this is: request() or result() says what it is; or nil. What is
-- empty and goes to a switch says the same as if it came from one: a probe, or
-- the end of a tree.
local function direction(tvb, pinfo, len, opcode, qpn, imm)
	local src, dst = tostring(pinfo.src), tostring(pinfo.dst)
	local only_imm = opcode == ONLY_IMM or opcode == UC_ONLY_IMM
	local answers = hosts[src .. " " .. dst]

	if qpn >= QPN_MIN and qpn <= QPN_MAX then
		if opcode == FIRST or opcode == MIDDLE or opcode == LAST or
		   opcode == LAST_IMM or
		   (only_imm and is_header(tvb, len, imm)) or
		   (opcode == ONLY and not answers and len >= HDR_LEN and
		    tvb(0, 1):uint() == VERSION) then
			hosts[dst .. " " .. src] = true
			return request
		end
		if (opcode == ONLY or only_imm) and (answers or len == 0) then
			return result
		end
		return only_imm and request or nil
	end
	return (opcode == ONLY or only_imm) and answers and result or nil
end

local function dissect(tvb, pinfo, root)
	local opcode, qpn, pad = bth_opcode(), bth_qpn(), bth_pad()
	local what, len, tree, text, imm

	if not opcode or not qpn then
		return false
	end
	len = math.max(tvb:len() - (pad and pad.value or 0), 0)
	-- Of what follows a BTH without Immediate nothing is left over.
	imm = (opcode.value == LAST_IMM or opcode.value == ONLY_IMM or
	       opcode.value == UC_ONLY_IMM) and immediate() or nil
	what = direction(tvb, pinfo, len, opcode.value, qpn.value, imm)
	if not what then
		return false
	end
	tree = root:add(inc, tvb())
	text = what(tvb, len, opcode.value, tree, imm)
	tree:append_text(", " .. text)
	pinfo.cols.protocol = "INC"
	pinfo.cols.info:append(" INC " .. text)
	return true
end

function inc.dissector(tvb, pinfo, root)
	dissect(tvb, pinfo, root)
end

inc:register_heuristic("infiniband.payload", dissect)
