#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
agent.py SOCKET PART [ARG...]: cases of agent.sh, with ncclient as the client.
The reference for what the kernel has is inc-tool, which does not use NETCONF.
"""
import os
import socket
import subprocess
import time
from xml.etree import ElementTree

from ncclient import manager
from ncclient.operations import RPCError
from ncclient.xml_ import to_ele

from agentbase import (NC, NS, SOCKET, SW, app_tags, attributes, below, case,
                       clear, config, connect, data, edit, error, ids, member,
                       only_served, refused, run, same, subtree, tool,
                       tool_ids, tree, until)


# Values that inc-tool prints in another form than YANG.
def plain(value):
    if isinstance(value, list):
        # No identifier of YANG begins with a digit.
        return " ".join({"2int": "pair-2int"}.get(v, str(v)) for v in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def compare(name, element, obj, skip=()):
    """Each leaf of @element, or of its "state", is what inc-tool says."""
    wrong, n = [], 0
    for e in list(element) + list(element.find("s:state", NS)):
        leaf = e.tag.split("}")[1]
        if len(e) or leaf in skip or leaf == "state" and e.text is None:
            continue
        if leaf not in obj:
            wrong.append(f"{leaf}: inc-tool has none")
        elif plain(obj[leaf]) != e.text:
            wrong.append(f"{leaf}: {e.text}, inc-tool: {plain(obj[leaf])}")
        else:
            n += 1
    case(name, not wrong and n >= 9, f"{n} equal; {wrong}")


def summary(member_node):
    """What the tree's list member-counters has of a member."""
    def count(*names):
        return sum(int(member_node.findtext(f"s:state/s:stats/s:{n}", "0", NS))
                   for n in names)
    return [member_node.findtext("s:rank", None, NS)] + [str(count(*names))
            for names in (("rx-bytes",), ("tx-bytes",), ("rx-messages",),
                          ("tx-retransmits", "tx-errors", "tx-naks",
                           "rx-naks"))]


def part_dump(get, conf):
    m = connect()
    edit(m, tree(5, 2, member(0) + member(1)))
    for path, xml in ((get, m.get(filter=subtree("")).data_xml),
                      (conf, m.get_config(source="running").data_xml)):
        with open(path, "w", encoding="utf-8") as f:
            # yanglint wants the data without NETCONF's element around it.
            f.write("".join(ElementTree.tostring(e, encoding="unicode")
                            for e in ElementTree.fromstring(xml.encode())))
    clear(m)


def part_edit():
    m = connect()
    edit(m, tree(5, 2, member(0) + member(1)))
    same("edit-config creates a tree", tool_ids(), [5])
    reply = data(m.get(filter=subtree("<tree/>")))
    node = reply.find(".//s:tree", NS)
    compare("get: the tree is inc-tool's", node, tool("tree", "show")[0],
            ("counter-values",))
    same("get: the members' counters in a list",
         [[e.findtext(f"s:{leaf}", None, NS) for leaf in
           ("rank", "rx-bytes", "tx-bytes", "rx-messages", "trouble")]
          for e in node.findall("s:state/s:member-counters", NS)],
         [summary(e) for e in node.findall("s:member", NS)])
    same("get: and in one value",
         node.findtext("s:state/s:counter-values", None, NS),
         "".join(" ".join(summary(e)) + ";"
                 for e in node.findall("s:member", NS)))
    for e, obj in zip(node.findall("s:member", NS), tool("member", "show")):
        # inc-tool's moves on between the two.
        compare(f"get: member {obj['rank']} is inc-tool's", e, obj,
                ("last-rx",))
        case("get: QPN, PSN, R_Key and address of the switch",
             all(e.find(f".//s:{leaf}", NS) is not None for leaf in
                 ("qpn", "psn", "rkey", "local-addr")))
    stats = {e.tag.split("}")[1]: int(e.text) for e in
             node.find("s:member/s:state/s:stats", NS)}
    same("get: counters have the names of inc-tool's", sorted(stats),
         sorted(tool("-s", "member", "show")[0]["stats"]))

    edit(m, tree(6, 2, attr=attributes("create")))
    same("create", tool_ids(), [5, 6])
    edit(m, "<tree><id>5</id><window>17</window></tree>")
    same("merge changes a setting", tool("tree", "show")[0]["window"], 17)
    edit(m, tree(6, 2, member(1)))
    same("merge adds a member", [x["rank"] for x in tool("member", "show")
                                 if x["tree-id"] == 6], [1])
    edit(m, tree(6, 2, member(1)))
    same("the same again changes nothing", len(tool("member", "show")), 3)
    edit(m, "<limits><max-trees>7</max-trees></limits>")
    same("limits", tool("switch", "show")["max-trees"], 7)
    edit(m, "<limits><max-trees>0</max-trees></limits>")
    edit(m, "<tree><id>6</id>"
         f'<member {attributes("delete")}><rank>1</rank></member></tree>')
    same("delete of a member", [x["tree-id"] for x in tool("member", "show")],
         [5, 5])
    edit(m, f'<tree {attributes("delete")}><id>6</id></tree>')
    same("delete", tool_ids(), [5])
    edit(m, f'<tree {attributes("remove")}><id>6</id></tree>')
    same("remove of nothing", tool_ids(), [5])
    edit(m, tree(7), test_option="test-only")
    same("test-only", tool_ids(), [5])
    m.edit_config(target="running", default_operation="replace",
                  config=config(tree(8) + tree(9)))
    same("replace of everything", tool_ids(), [8, 9])
    m.validate(source=to_ele(f'<config xmlns="{NC}"><switch xmlns="{SW}">'
                             f"{tree(3)}</switch></config>"))
    same("validate changes nothing", tool_ids(), [8, 9])
    clear(m)
    same("all is gone", ids(m), [])
    m.close_session()


# What the kernel refuses, and YANG cannot.
NOBODY = member(0, "224.0.0.1")


def several_members(m):
    """Members that are made at once: all, or by themselves those that can be."""
    wrong = tree(6, 3, member(0) + member(1, "192.0.2.1") + member(2))
    refused(m, "of several members one without a route", wrong,
            "operation-failed", "member[rank='1']/peer-addr", "no route")
    same("none of them made a tree", tool_ids(), [5])
    got = error(m, wrong, error_option="continue-on-error")
    case("continue-on-error makes the others",
         [x[1].replace("incs:", "").endswith("member[rank='1']/peer-addr")
          for x in got] == [True] and
         [x["rank"] for x in tool("member", "show", "tree", "6")] == [0, 2],
         f"{got} {tool('member', 'show')}")
    edit(m, f'<tree nc:operation="delete" xmlns:nc="{NC}"><id>6</id></tree>')
    edit(m, tree(6, 200, "".join(member(r, "10.47.1.10")
                                 for r in range(200))))
    same("200 members", [(x["rank"], x["peer-qpn"]) for x in
                         tool("member", "show", "tree", "6")],
         [(r, 100 + r) for r in range(200)])
    edit(m, f'<tree nc:operation="delete" xmlns:nc="{NC}"><id>6</id></tree>')


def part_wrong():
    m = connect()
    edit(m, tree(5, 2, member(0)))
    refused(m, "create of what exists", tree(5, attr=attributes("create")),
            "data-exists", "tree[id='5']")
    refused(m, "delete of what does not exist",
            f'<tree {attributes("delete")}><id>6</id></tree>',
            "data-missing", "tree[id='6']")
    refused(m, "operation none on what does not exist",
            "<tree><id>6</id><window>3</window></tree>", "data-missing",
            "tree[id='6']", default_operation="none")
    refused(m, "a range of YANG", "<tree><id>6</id><ranks>1025</ranks></tree>",
            "invalid-value", "ranks", "range")
    refused(m, "two values for a leaf",
            "<tree><id>6</id><ranks>2</ranks><order>ranks</order><ranks>3"
            "</ranks></tree>", "bad-element", "tree[id='6']/ranks", "twice")
    refused(m, "an entry of a list twice", tree(6, 4, below((0, 2), (0, 1))),
            "bad-element", "below[rank='0']", "twice")
    refused(m, "an enumeration",
            "<tree><id>6</id><ranks>2</ranks><order>no</order></tree>",
            "invalid-value", "order")
    refused(m, "a value that the kernel refuses, in its words",
            tree(6, 2, NOBODY), "invalid-value", "member[rank='0']/peer-addr",
            "multicast")
    refused(m, "an unknown leaf", "<tree><id>6</id><rank>2</rank></tree>",
            "unknown-element", "tree[id='6']", "rank")
    refused(m, "state is not configuration",
            "<tree><id>6</id><state><members>1</members></state></tree>",
            "invalid-value", "")
    refused(m, "a member of a tree that does not exist",
            f"<tree><id>6</id>{member(0)}</tree>", "missing-element",
            "tree[id='6']", "ranks")
    refused(m, "a rank that the tree does not have",
            tree(6, 2, member(2)), "operation-failed",
            "member[rank='2']/rank", "below the tree's ranks")
    refused(m, "a member without its address", "<tree><id>5</id><member>"
            "<rank>1</rank><peer-qpn>101</peer-qpn></member></tree>",
            "missing-element", "member[rank='1']", "missing")
    edit(m, "<tree><id>5</id><member><rank>1</rank></member></tree>")
    same("a member that waits for its host: its state",
         [x["state"] for x in tool("member", "show") if x["rank"] == 1],
         ["init"])
    edit(m, f'<tree><id>5</id><member nc:operation="delete" xmlns:nc="{NC}">'
         "<rank>1</rank></member></tree>")
    refused(m, "an address without a route",
            tree(6, 2, member(0, "192.0.2.1")), "operation-failed",
            "peer-addr", "no route")
    same("it has a tag of its own",
         app_tags(m, tree(6, 2, member(0, "192.0.2.1"))), ["no-route"])
    several_members(m)
    refused(m, "a tree's slots cannot be changed",
            "<tree><id>5</id><slots>8</slots></tree>", "invalid-value",
            "tree[id='5']/slots", "cannot be changed")
    refused(m, "a member cannot be changed", "<tree><id>5</id>" +
            member(0, "10.47.1.99") + "</tree>", "invalid-value",
            "member[rank='0']/peer-addr", "cannot be changed")
    refused(m, "a limit", f"<limits><max-trees>1</max-trees></limits>{tree(6)}",
            "resource-denied", "tree[id='6']")
    same("the limit was taken back", tool("switch", "show")["max-trees"], 0)
    same("none of them made a tree", tool_ids(), [5])

    before = tool("member", "show")
    refused(m, "the second of two edits fails", "<tree><id>5</id><window>9"
            f"</window>{member(1)}</tree>{tree(6)}"
            f"<tree><id>7</id><ranks>2</ranks>{NOBODY}</tree>",
            "invalid-value", "tree[id='7']/member[rank='0']/peer-addr",
            error_option="rollback-on-error")
    same("rollback: no tree was left", tool_ids(), [5])
    now = tool("tree", "show")[0]
    case("rollback: the setting is as before", now["window"] != 9, now)
    same("rollback: the member is gone", [x["rank"] for x in
                                          tool("member", "show")],
         [x["rank"] for x in before])
    got = error(m, f"<tree><id>7</id><ranks>2</ranks>{NOBODY}</tree>" +
                tree(8), error_option="continue-on-error")
    case("continue-on-error goes on",
         len(got) == 1 and tool_ids() == [5, 7, 8], f"{got} {tool_ids()}")

    other = connect()
    with m.locked(target="running"):
        try:
            other.lock(target="running")
            case("a second lock is denied", False, "it was not")
        except RPCError as e:
            same("a second lock is denied", e.tag, "lock-denied")
        refused(other, "an edit while another session has the lock", tree(9),
                "in-use")
    edit(other, tree(9))
    case("after it, it is done", 9 in tool_ids(), tool_ids())
    other.lock(target="running")
    other.close_session()
    until(lambda: not error(m, tree(9)))
    same("a lock ends with its session", error(m, tree(9)), [])
    try:
        m.dispatch(to_ele(f'<copy-config xmlns="{NC}"><target><running/>'
                          "</target><source><config/></source></copy-config>"))
        case("copy-config is refused", False, "it was not")
    except RPCError as e:
        same("copy-config is refused", e.tag, "operation-not-supported")
    clear(m)


# Each level of it looks at all nodes, for each node of the level above.
ENDLESS = "//*[count(//*[count(//*[count(//*)&gt;0])&gt;0])&gt;0]"
NOTIFICATION = "urn:ietf:params:xml:ns:netconf:notification:1.0"


def xpath_is_refused(m):
    other = connect()
    case("xpath is not offered",
         not [c for c in m.server_capabilities if "xpath" in c.split("?")[0]])
    for op, xml in (
            ("get", f'<get xmlns="{NC}">%s</get>'),
            ("get-config", f'<get-config xmlns="{NC}"><source><running/>'
                           "</source>%s</get-config>"),
            ("create-subscription",
             f'<create-subscription xmlns="{NOTIFICATION}">%s'
             "</create-subscription>")):
        try:
            m.dispatch(to_ele(xml % '<filter type="xpath" select='
                                    f'"{ENDLESS}"/>'))
            case(f"{op}: xpath is refused", False, "no error")
        except RPCError as e:
            case(f"{op}: xpath is refused", e.tag in
                 ("operation-not-supported", "invalid-value", "bad-attribute"),
                 e.tag)
    for n, want in ((4000, None), (5000, "resource-denied")):
        try:
            m.get(filter=subtree("<nothing/>" * n))
            got = None
        except RPCError as e:
            got = e.tag
        same(f"a filter of {n} elements", got, want)
    # With the filter that takes for ever, this would wait as long.
    case("xpath holds up nobody", other.get_config(source="running").ok)
    other.close_session()


def part_probe(*hosts):
    m = connect()

    def probe(*addresses):
        """None, or the tag of the error."""
        try:
            m.dispatch(to_ele(f'<probe xmlns="{SW}">' + "".join(
                f"<address>{a}</address>" for a in addresses) + "</probe>"))
        except RPCError as e:
            return e.tag
        return None

    def known(host):
        out = subprocess.run(["ip", "neigh", "show", host], text=True,
                             check=True, capture_output=True).stdout
        return "lladdr" in out and "FAILED" not in out

    def forgotten():
        """A host that asks for this one's address makes itself known."""
        subprocess.run(["ip", "neigh", "flush", "all"], check=True)
        return not any(known(h) for h in hosts)

    case("hosts that nobody knows", until(forgotten))
    same("probe: ok", probe(*hosts), None)
    for host in hosts:
        case(f"probe: {host} is a neighbour", until(lambda h=host: known(h)))
    for address in ("127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
                    "::", "::1", "ff02::1", "::ffff:192.0.2.1"):
        same(f"probe: {address} is no host's", probe(hosts[0], address),
             "invalid-value")
    case("probe: no address: refused", probe("x"))
    same("probe: none: refused", probe(), "operation-failed")
    same("probe: 65: refused",
         probe(*[f"192.0.2.{i}" for i in range(65)]), "operation-failed")
    same("probe: 64", probe(*[f"192.0.2.{i}" for i in range(64)]), None)


def part_filter():
    m = connect()
    edit(m, tree(5, 3, member(0) + member(1) + member(2)) +
         tree(6, 2, member(0)))

    def get(*flt):
        return data(m.get(filter=flt))

    r = get(*subtree("<tree><id>6</id></tree>"))
    same("subtree: content match", [e.text for e in
                                    r.findall(".//s:tree/s:id", NS)], ["6"])
    case("subtree: the whole of what matches",
         r.find(".//s:tree/s:state/s:stats/s:messages", NS) is not None)
    same("subtree: nothing else", len(r[0]), 1)
    r = get(*subtree("<tree><member><rank>1</rank><qpn/></member></tree>"))
    same("subtree: selection", [e.tag.split("}")[1] for e in
                                r.find(".//s:member", NS)], ["rank", "qpn"])
    same("subtree: match of a nested list",
         [e.text for e in r.findall(".//s:rank", NS)], ["1"])
    r = get(*subtree("<tree><id>5</id><window/></tree>"
                     "<tree><id>6</id><hold/></tree>"))
    same("subtree: two filters", [[c.tag.split("}")[1] for c in e] for e in
                                  r.findall(".//s:tree", NS)],
         [["id", "window"], ["id", "hold"]])
    r = get(*subtree("<tree><id/><state><counter-values/></state></tree>"))
    same("subtree: counters without their members",
         [[c.tag.split("}")[1] for c in e.iter()] for e in
          r.findall(".//s:tree", NS)], 2 * [["tree", "id", "state",
                                             "counter-values"]])
    r = get(*subtree("<tree><id>5</id><member><rank/></member></tree>"))
    same("subtree: members of one tree",
         [e.text for e in r.findall(".//s:rank", NS)], ["0", "1", "2"])
    r = get(*subtree("<tree><id>9</id></tree>"))
    same("subtree: no match", r.findall(".//s:tree", NS), [])
    r = get("subtree", '<other xmlns="urn:nowhere"/>')
    same("subtree: a module that nobody knows", len(r), 0)
    xpath_is_refused(m)
    r = data(m.get())
    case("without a filter: the YANG library, too",
         any("yang-library" in e.tag for e in r))
    r = get(*subtree("<identity/><interface/>"))
    same("identity", r.find(".//s:identity/s:id", NS).text, "sw1")
    ports = {e.find("s:name", NS).text: e for e in
             r.findall(".//s:interface", NS)}
    same("interfaces", sorted(ports), ["br0", "v0", "v1"])
    same("a port's bridge", ports["v0"].find("s:bridge", NS).text, "br0")
    same("path MTU", ports["br0"].find("s:pmtu", NS).text, "1024")
    case("addresses", "10.47.0.1" in
         [e.text for e in ports["br0"].findall("s:address", NS)])
    subprocess.call(["ping", "-c1", "-W2", "10.47.1.11"],
                    stdout=subprocess.DEVNULL)
    r = get(*subtree("<interface><name>v1</name></interface>"))
    same("a neighbour is listed at its port",
         [e.text for e in r.findall(".//s:neighbour/s:address", NS)
          if "." in e.text], ["10.47.1.11"])
    schema = m.get_schema("rdma-inc-switch").data
    with open(os.path.join(os.path.dirname(__file__), "../../userspace/agent/"
                           "yang/rdma-inc-switch.yang"),
              encoding="utf-8") as f:
        words = " ".join(f.read().split())
    case("get-schema", "module rdma-inc-switch" in schema and
         "list interface" in schema and "list interface" in words)
    clear(m)


def roles(m):
    r = data(m.get(filter=subtree("<identity><role/></identity>")))
    return sorted(e.text for e in r.findall(".//s:role", NS))


def part_levels():
    m = connect()
    same("without trees, the switch has no role", roles(m), [])
    edit(m, tree(5, 2, below((0, 2), (1, 2))))
    same("with a tree of its own it is a root", roles(m), ["root"])
    same("a parent of two leaves with two ranks each",
         tool("tree", "show")[0]["below"], [2, 2])
    same("and by NETCONF", switches_below(m, 5), [("0", "2"), ("1", "2")])
    edit(m, tree(6, 2, "<job-ranks>4</job-ranks><first-rank>2</first-rank>"))
    same("with one below it is a child, too", roles(m), ["child", "root"])
    r = data(m.get(filter=subtree("<tree><id>6</id></tree>")))
    case("a child's parent link has a QPN",
         r.find(".//s:parent/s:state/s:qpn", NS) is not None)
    refused(m, "a parent without its QPN", "<tree><id>6</id><parent>"
            "<peer-addr>10.47.1.10</peer-addr></parent></tree>",
            "missing-element", "parent")
    edit(m, "<tree><id>6</id><parent><peer-addr>10.47.1.10</peer-addr>"
         "<peer-qpn>8388700</peer-qpn><peer-psn>7</peer-psn>"
         "<peer-tree-id>5</peer-tree-id><peer-rkey>9</peer-rkey></parent>"
         "</tree>")
    r = data(m.get(filter=subtree("<tree><id>6</id></tree>")))
    same("its parent", [r.find(f".//s:parent/s:{leaf}", NS).text for leaf in
                        ("peer-addr", "peer-qpn", "peer-tree-id")],
         ["10.47.1.10", "8388700", "5"])
    same("its state", r.find(".//s:parent/s:state/s:state", NS).text, "rts")
    case("a root that is told a parent",
         bool(error(m, "<tree><id>5</id><parent><peer-addr>10.47.1.10"
                    "</peer-addr><peer-qpn>8388700</peer-qpn><peer-psn>7"
                    "</peer-psn><peer-tree-id>5</peer-tree-id><peer-rkey>9"
                    "</peer-rkey></parent></tree>")))
    clear(m)
    levels_fixed(m)


def switches_below(m, tree_id):
    r = data(m.get_config(source="running", filter=subtree(
        f"<tree><id>{tree_id}</id></tree>")))
    return [(e.find("s:rank", NS).text, e.find("s:ranks", NS).text)
            for e in r.findall(".//s:below", NS)]


def levels_fixed(m):
    """Which members are switches stays as it is."""
    edit(m, tree(5, 4, below((2, 3), (1, 2)) + member(0)))
    same("switches among hosts", tool("tree", "show")[0]["below"],
         [0, 2, 3, 0])
    same("NETCONF leaves the hosts out", switches_below(m, 5),
         [("1", "2"), ("2", "3")])
    edit(m, tree(5, 4, below((1, 2)) + "<window>17</window>"))
    same("what is told again does not matter",
         tool("tree", "show")[0]["window"], 17)
    for what, entry, gone in (
            ("other ranks", "<rank>1</rank><ranks>3</ranks>", ""),
            ("one more", "<rank>3</rank><ranks>3</ranks>", ""),
            ("one less", "<rank>1</rank>", " " + attributes("delete"))):
        refused(m, f"switches of a tree that is there: {what}",
                f"<tree><id>5</id><below{gone}>{entry}</below></tree>",
                "invalid-value", "below[rank=", "cannot be changed")
    refused(m, "switches and hosts that are more than the job has",
            tree(6, 3, "<job-ranks>9</job-ranks><first-rank>4</first-rank>" +
                 below((0, 4))), "operation-failed", "job-ranks",
            "no more ranks than job-ranks")
    edit(m, tree(6, 3, "<job-ranks>10</job-ranks><first-rank>4</first-rank>" +
                 below((0, 4))))
    clear(m)


def part_job(addr, ranks):
    # With gRPC come threads.
    from agentjob import Job
    job = Job(addr, int(ranks))
    job.run()
    r = data(job.m.get(filter=subtree("<tree><id>77</id></tree>")))
    messages = int(r.find(".//s:tree/s:state/s:stats/s:messages", NS).text)
    case("the tree counted its messages", messages >= 3, messages)
    stats = tool("-s", "tree", "show")[0]["stats"]
    same("as inc-tool does", {e.tag.split("}")[1]: int(e.text) for e in
                              r.find(".//s:tree/s:state/s:stats", NS)}, stats)
    listener = connect()
    listener.create_subscription()
    edit(job.m, "<tree><id>77</id>"
         f'<member {attributes("delete")}><rank>1</rank></member></tree>')
    got = wait("tree-failed", listener)
    case("tree-failed: a rank left after messages",
         (got.get("tree-id"), got.get("error")) == ("77", "member-left"), got)
    clear(job.m)
    # Seconds later, which the next part must not take for its own.
    same("tree-deleted, as its memory is released",
         wait("tree-deleted", listener).get("tree-id"), "77")


def wait(what, session):
    """The leafs of the next notification of this name."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        n = session.take_notification(timeout=1)
        if n is None:
            continue
        e = ElementTree.fromstring(n.notification_xml.encode())[1]
        if e.tag.split("}")[1] == what:
            return {c.tag.split("}")[1]: c.text for c in e}
    return {}


def part_events():
    listener, m = connect(), connect()
    listener.create_subscription()
    narrow = connect()
    # ncclient puts a filter into the wrong namespace.
    narrow.dispatch(to_ele(
        '<create-subscription xmlns="urn:ietf:params:xml:ns:netconf:'
        f'notification:1.0"><filter><tree-deleted xmlns="{SW}"/></filter>'
        "</create-subscription>"))

    edit(m, tree(5, 2, member(0) + member(1)))
    same("member-added", wait("member-added", listener).get("tree-id"), "5")
    same("tree-ready", wait("tree-ready", listener).get("tree-id"), "5")
    edit(m, "<tree><id>5</id>"
         f'<member {attributes("delete")}><rank>1</rank></member></tree>')
    got = wait("member-deleted", listener)
    same("member-deleted", (got.get("tree-id"), got.get("rank")), ("5", "1"))
    edit(m, f'<tree {attributes("delete")}><id>5</id></tree>')
    same("tree-deleted", wait("tree-deleted", listener).get("tree-id"), "5")
    same("a filtered subscription has it, too",
         wait("tree-deleted", narrow).get("tree-id"), "5")
    same("and nothing else", narrow.take_notification(timeout=1), None)
    subprocess.check_call(["ip", "link", "set", "v1", "down"])
    same("topology-changed", wait("topology-changed", listener)
         .get("interface"), "v1")
    subprocess.check_call(["ip", "link", "set", "v1", "up"])
    same("requests are answered in between",
         data(listener.get_config(source="running"))[0].tag,
         f"{{{SW}}}switch")
    for name, call in (
            ("a second subscription", listener.create_subscription),
            ("another stream",
             lambda: m.create_subscription(stream_name="other")),
            ("replay", lambda: m.create_subscription(
                start_time="2026-01-01T00:00:00Z"))):
        try:
            call()
            case(f"{name} is refused", False, "it was not")
        except RPCError as e:
            case(f"{name} is refused", True, e.tag)


def stable(xml):
    """The reply to a get without what changes by itself."""
    root = ElementTree.fromstring(xml)
    for e in list(root.iter()):
        for c in list(e):
            if c.tag.split("}")[1] in ("stats", "member-stats", "last-rx",
                                       "neighbour", "tx-psn"):
                e.remove(c)
    return ElementTree.tostring(root)


def part_before(path):
    m = connect()
    edit(m, tree(5, 2, member(0) + member(1)) + tree(6, 3))
    with open(path, "wb") as f:
        f.write(m.get(filter=subtree("")).data_xml.encode())


def part_after(path):
    m = connect()
    with open(path, "rb") as f:
        before = stable(f.read())
    case("the trees, their members and keys are those of before",
         stable(m.get(filter=subtree("")).data_xml.encode()) == before)
    same("as the kernel has them", ids(m), [5, 6])
    clear(m)


def ssh(key, user="admin"):
    return manager.connect_ssh(
        host="127.0.0.1", port=8300, username=user, key_filename=key,
        password="secret", hostkey_verify=False, allow_agent=False,
        look_for_keys=False, timeout=60)


def part_ssh(good, bad):
    m = ssh(good)
    edit(m, tree(5, 2, member(0)))
    same("a tree over SSH", tool_ids(), [5])
    clear(m)
    for name, key, user in (("a wrong key", bad, "admin"),
                            ("a wrong user", good, "root")):
        try:
            ssh(key, user)
            case(f"{name} is refused", False, "it was not")
        except Exception as e:
            case(f"{name} is refused", "uth" in type(e).__name__, repr(e))
    only_served(m, "SSH")
    r = data(m.get(filter=subtree("<identity/>")))
    same("its address", r.find(".//s:management-address", NS).text,
         "127.0.0.1")
    # Logins that say nothing must not keep others out.
    silent = [socket.create_connection(("127.0.0.1", 8300)) for _ in range(8)]
    t = time.monotonic()
    connect().get_config(source="running")
    case("silent SSH clients do not hold up the socket",
         time.monotonic() - t < 5, time.monotonic() - t)
    ssh(good).close_session()
    case("they do not hold up SSH for long", time.monotonic() - t < 40,
         time.monotonic() - t)
    for s in silent:
        s.close()


def raw():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(10)
    s.connect(SOCKET)
    return s


HELLO = (f'<hello xmlns="{NC}"><capabilities><capability>'
         "urn:ietf:params:netconf:base:1.0</capability></capabilities>"
         "</hello>]]>]]>").encode()


def message(s):
    """The next message, with its end; empty at the end of the session."""
    got = b""
    while b"]]>]]>" not in got:
        more = s.recv(65536)
        if not more:
            return b""
        got += more
    return got


def hello():
    s = raw()
    s.sendall(HELLO)
    message(s)
    return s


def part_rude():
    m = connect()
    quiet = [raw() for _ in range(3)]
    t = time.monotonic()
    m.get_config(source="running")
    case("clients that say nothing hold up nobody", time.monotonic() - t < 5)
    half = hello()
    half.sendall(b"<rpc ")
    t = time.monotonic()
    for _ in range(3):
        m.get_config(source="running")
    case("half a request holds up nobody", time.monotonic() - t < 5,
         time.monotonic() - t)
    s = hello()
    over = raw()
    same("a session too many is refused", over.recv(100), b"")
    for c in quiet:
        c.close()
    s.sendall(f'<rpc message-id="1" xmlns="{NC}"><nonsense/></rpc>]]>]]>'
              .encode())
    case("an unknown operation", b"rpc-error" in message(s))
    s.sendall(b"<rpc><<<<>]]>]]>")
    try:
        got = message(s)
    except OSError:
        got = b""
    case("malformed XML ends the session, or is an error",
         not got or b"rpc-error" in got, got)
    s.close()
    half.close()
    until(lambda: raw().recv(100) != b"")
    # Reads nothing, and asks for much.
    deaf = hello()
    deaf.setblocking(False)
    ask = (f'<rpc message-id="1" xmlns="{NC}"><get/></rpc>]]>]]>').encode()
    try:
        for _ in range(2000):
            deaf.send(ask)
    except BlockingIOError:
        pass
    t = time.monotonic()
    for _ in range(3):
        m.get_config(source="running")
    case("a client that reads nothing holds up nobody",
         time.monotonic() - t < 5, time.monotonic() - t)
    deaf.close()
    for _ in range(3):
        victim = connect()
        victim.get_config(source="running")
        m.kill_session(str(victim.session_id))
        case("kill-session", until(lambda v=victim: not v.connected, 10))
    edit(m, tree(5))
    same("and it works as before", tool_ids(), [5])
    clear(m)


run(globals())
