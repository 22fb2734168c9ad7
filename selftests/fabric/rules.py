#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
rules.py SOCKET PART: the rules of NETCONF and YANG (RFC 6241, 6022, 7950), asked
of the agent by ncclient.
"""
import socket

from ncclient.operations import RPCError
from ncclient.xml_ import to_ele

from agentbase import (NC, SOCKET, SW, attributes, below, case, clear,
                       config, connect, data, edit, error, member, only_served,
                       refused, run, same, subtree, tool, tool_ids, tree)


def asked(m, xml, ns=NC):
    """The error of a request, as (tag, app-tag, info), or None."""
    try:
        m.dispatch(to_ele(xml.replace(">", f' xmlns="{ns}">', 1)))
    except RPCError as e:
        return (e.tag, e.app_tag, e.info or "")
    return None


def wrong(m, name, xml, tag, info="", app_tag=None, ns=NC):
    got = asked(m, xml, ns)
    case(name, got and got[0] == tag and info in got[2] and
         got[1] == app_tag, f"{got!r}, not {tag} {info} {app_tag}")


def broken(m, name, xml, tag, info="", app_tag=None):
    wrong(m, name, "<edit-config><target><running/></target>" + config(xml) +
          "</edit-config>", tag, info, app_tag)


def setting(name):
    return tool("tree", "show")[0][name]


def deletes_leafs(m):
    edit(m, tree(5, 2, "<window>17</window><min-rto>9</min-rto>"))
    for what, leaf, value in (("delete", "window", 128),
                              ("remove", "min-rto", 4),
                              ("delete", "dead-time", 10000)):
        edit(m, f"<tree><id>5</id><{leaf} {attributes(what)}/></tree>")
        same(f"{what} of a leaf without its value: {leaf}", setting(leaf),
             value)
    edit(m, "<tree><id>5</id><hold>65536</hold></tree>")
    edit(m, f'<tree><id>5</id><hold {attributes("delete")}>'
            "65536</hold></tree>")
    same("delete of a leaf with its value", setting("hold"), 4 << 20)
    edit(m, f'<limits {attributes("merge")}><max-trees>7</max-trees></limits>')
    edit(m, f'<limits><max-trees {attributes("delete")}/></limits>')
    same("delete of a limit", tool("switch", "show")["max-trees"], 0)
    refused(m, "delete of a leaf that cannot be changed",
            f'<tree><id>5</id><slots {attributes("delete")}/></tree>',
            "invalid-value", "slots", "cannot be changed")
    refused(m, "no value, and no operation",
            "<tree><id>5</id><window/></tree>", "invalid-value", "window")
    refused(m, "no value, and another operation",
            f'<tree><id>5</id><window {attributes("replace")}/></tree>',
            "invalid-value", "window")
    refused(m, "delete of a leaf that does not exist",
            f'<tree><id>5</id><job-ranks {attributes("delete")}/></tree>',
            "data-missing", "")
    refused(m, "delete of a leaf that YANG does not have",
            f'<tree><id>5</id><nonsense {attributes("delete")}/></tree>',
            "unknown-element", "", "nonsense")


def computed_defaults(m):
    """A leaf that is deleted has what the kernel gives to a new tree."""
    for ranks, pmtu in (1, 256), (7, 1024), (8, 2048), (1024, 4096):
        edit(m, tree(5, ranks, f"<pmtu>{pmtu}</pmtu>"))
        new = setting("window"), setting("hold")
        edit(m, "<tree><id>5</id><window>3</window><hold>65536</hold></tree>")
        edit(m, f'<tree><id>5</id><window {attributes("delete")}/>'
                f'<hold {attributes("delete")}/></tree>')
        same(f"defaults of {ranks} ranks with pmtu {pmtu}",
             (setting("window"), setting("hold")), new)
        clear(m)


def replaces(m):
    edit(m, "<tree><id>5</id><window>17</window><dead-time>99</dead-time>"
            f"{member(0)}</tree><limits><max-trees>9</max-trees></limits>")
    edit(m, f'<tree {attributes("replace")}><id>5</id><ranks>2</ranks>'
            "<slots>4</slots><msg-size>4096</msg-size>"
            f"<dead-time>60</dead-time>{member(0)}</tree>")
    same("replace: what is named, and what is not",
         [setting("dead-time"), setting("window"), setting("min-rto")],
         [60, 128, 4])
    same("replace: a member that is named stays",
         [x["rank"] for x in tool("member", "show")], [0])
    refused(m, "replace: a default that is not there any more",
            f'<tree {attributes("replace")}><id>5</id><ranks>2</ranks></tree>',
            "invalid-value", "slots", "cannot be changed")
    edit(m, f'<limits {attributes("replace")}/>')
    same("replace of the limits", tool("switch", "show")["max-trees"], 0)
    clear(m)


def part_rules():
    m = connect()
    deletes_leafs(m)
    replaces(m)
    computed_defaults(m)
    for op, elem in (("edit-config", "target"), ("get-config", "source"),
                     ("lock", "target"), ("unlock", "target"),
                     ("validate", "source")):
        more = "<config/>" if op == "edit-config" else ""
        wrong(m, f"{op} without its {elem}", f"<{op}>{more}</{op}>",
              "missing-element", f">{elem}<")
    wrong(m, "edit-config without config", "<edit-config><target><running/>"
          "</target></edit-config>", "missing-element", ">config<")
    wrong(m, "kill-session without a session", "<kill-session></kill-session>",
          "missing-element", ">session-id<")
    wrong(m, "probe without addresses", "<probe></probe>", "operation-failed",
          "", "too-few-elements", SW)
    wrong(m, "an operation that does not exist", "<nonsense></nonsense>",
          "operation-not-supported")
    wrong(m, "one of a namespace that does not exist", "<x></x>",
          "operation-not-supported", ns="urn:nowhere")
    wrong(m, "commit", "<commit></commit>", "operation-not-supported")
    for where in "candidate", "startup", "nowhere":
        wrong(m, f"get-config of {where}", "<get-config><source>"
              f"<{where}/></source></get-config>", "unknown-element",
              f">{where}<")
    wrong(m, "a parameter that does not exist", "<get><nonsense/></get>",
          "unknown-element", ">nonsense<")
    wrong(m, "a parameter's value", "<kill-session><session-id>x</session-id>"
          "</kill-session>", "invalid-value")
    wrong(m, "an attribute that does not exist",
          '<get><filter nonsense="1"/></get>', "unknown-attribute",
          ">nonsense<")
    broken(m, "a leaf whose condition does not hold",
           "<tree><id>5</id><ranks>2</ranks><first-rank>1</first-rank></tree>",
           "unknown-element", ">first-rank<")
    broken(m, "an operation of edit-config that does not exist",
           f'<tree {attributes("nonsense")}><id>5</id></tree>',
           "bad-attribute", ">operation<")
    broken(m, "a namespace that does not exist", '<x xmlns="urn:nowhere"/>',
           "unknown-namespace", ">urn:nowhere<")
    broken(m, "a rule of YANG", tree(5).replace("4096", "100"),
           "operation-failed", "", "must-violation")
    broken(m, "a tree without ranks", "<tree><id>5</id></tree>",
           "missing-element", ">ranks<")
    kernels_rules(m)
    unknown_attributes(m)
    sessions_rules(m)
    without_id()
    same("none of them made a tree", tool_ids(), [])


def kernels_rules(m):
    """What the kernel refuses is refused by the model, which says so."""
    violation = "operation-failed", "", "must-violation"
    for name, xml in (
            ("min-rto of dead-time", "<min-rto>50</min-rto>"),
            ("a UC member of long messages", "<member><rank>0</rank>"
             "<transport>uc</transport></member>"),
            ("a member that there is no place for", member(2)),
            ("a P_Key without a number", member(0, more="<pkey>32768</pkey>")),
            ("addresses of two families",
             member(0, more="<local-addr>fd00::1</local-addr>")),
            ("a tree that can do nothing", "<ops/>"),
            ("too few job-ranks", "<job-ranks>1</job-ranks>"),
            ("a first rank too high",
             "<job-ranks>4</job-ranks><first-rank>3</first-rank>")):
        broken(m, f"the model: {name}", tree(5, 2, xml), *violation)
    broken(m, "the model: min-rto of the default of dead-time",
           "<tree><id>5</id><ranks>2</ranks><min-rto>10000</min-rto></tree>",
           *violation)
    broken(m, "the model: a root with one switch",
           tree(5, 1, below((0, 4))), *violation)
    broken(m, "the model: switches among too many",
           tree(5, 257, below((0, 4))), *violation)
    broken(m, "the model: a switch that there is no place for",
           tree(5, 2, below((2, 4))), *violation)
    broken(m, "the model: too many ranks below switches",
           tree(5, 2, below((0, 1000), (1, 25))), *violation)
    broken(m, "the model: a switch without ranks",
           tree(5, 2, below((0, 0))), "invalid-value")
    broken(m, "the model: slots", tree(5).replace("<slots>4<", "<slots>3<"),
           "invalid-value")
    broken(m, "the model: path MTU", tree(5, 2, "<pmtu>1000</pmtu>"),
           "invalid-value")


def unknown_attributes(m):
    """Each place of an edit, by attributes of each kind."""
    places = (("<tree @><id>5</id><ranks>2</ranks></tree>", "tree[id='5']"),
              ("<tree><id @>5</id><ranks>2</ranks></tree>", "tree[id='5']/id"),
              ("<tree><id>5</id><ranks>2</ranks><window @/></tree>",
               "tree[id='5']/window"),
              ("<limits @/>", "/switch/limits"),
              ("<tree><id>5</id><member><rank>3</rank><qpn @/></member>"
               "</tree>", "tree[id='5']/member[rank='3']/qpn"))
    for xml, path in places:
        for kind, attr in (("no", 'strange="1"'),
                           ("an unknown",
                            'xmlns:x="urn:nowhere" x:strange="1"')):
            refused(m, f"an attribute of {kind} namespace: {path}",
                    xml.replace("@", attr), "unknown-attribute", path,
                    ">strange<")
        refused(m, f"an attribute of NETCONF's namespace: {path}",
                xml.replace("@", f'xmlns:x="{NC}" x:strange="1"'),
                "unknown-attribute", text=">strange<")
    refused(m, "beside one that is known",
            f'<tree {attributes("merge")} strange="1"><id>5</id></tree>',
            "unknown-attribute", "tree[id='5']", ">strange<")
    refused(m, "operation, of no namespace", '<tree operation="delete">'
            "<id>5</id></tree>", "unknown-attribute", "tree[id='5']",
            ">operation<")
    for what in "edit-config", "target", "running", "config":
        xml = ("<edit-config><target><running/></target>" + config("") +
               "</edit-config>").replace("nc:config", "config")
        wrong(m, f"an attribute of {what}",
              xml.replace(f"<{what}", f'<{what} strange="1"', 1),
              "unknown-attribute", ">strange<")
    wrong(m, "an attribute of what is validated",
          "<validate><source>" + config('<limits strange="1"/>') +
          "</source></validate>", "unknown-attribute", ">strange<")


def sessions_rules(m):
    """Locks, datastores that are not there, schemas, and what replay needs."""
    other = connect()
    wrong(m, "unlock without a lock",
          "<unlock><target><running/></target></unlock>", "operation-failed")
    with m.locked(target="running"):
        wrong(other, "unlock of another's lock",
              "<unlock><target><running/></target></unlock>",
              "operation-failed")
        wrong(other, "lock of another's lock",
              "<lock><target><running/></target></lock>", "lock-denied",
              f">{m.session_id}<")
    other.close_session()
    for where in "candidate", "startup", "nowhere":
        for op in "lock", "unlock":
            wrong(m, f"{op} of {where}", f"<{op}><target><{where}/></target>"
                  f"</{op}>", "unknown-element", f">{where}<")
        wrong(m, f"edit-config of {where}",
              f"<edit-config><target><{where}/></target><config/>"
              "</edit-config>", "unknown-element", f">{where}<")
    for more, tag in (("<identifier>nonsense</identifier>", "invalid-value"),
                      ("<identifier>rdma-inc-switch</identifier>"
                       "<version>2001-01-01</version>", "invalid-value"),
                      ("<identifier>rdma-inc-switch</identifier>"
                       "<format>nonsense</format>", "invalid-value"),
                      ("<identifier>rdma-inc-switch</identifier>"
                       "<format>rng</format>", "invalid-value"),
                      ("", "missing-element")):
        wrong(m, f"get-schema: {more or 'nothing'}",
              f"<get-schema>{more}</get-schema>", tag, ns=MON)
    early, late, future = (f"{year}-01-01T00:00:00Z"
                           for year in (2025, 2026, 9999))
    for name, more, tag, info in (
            ("an unknown stream", "<stream>nonsense</stream>",
             "invalid-value", ""),
            ("replay", f"<startTime>{early}</startTime>", "operation-failed",
             ""),
            ("a stopTime without a startTime", f"<stopTime>{late}</stopTime>",
             "missing-element", ">startTime<"),
            ("a stopTime before the startTime", f"<startTime>{late}</startTime>"
             f"<stopTime>{early}</stopTime>", "bad-element", ">stopTime<"),
            ("a startTime that is not yet", f"<startTime>{future}</startTime>",
             "bad-element", ">startTime<"),
            ("both times", f"<startTime>{early}</startTime>"
             f"<stopTime>{future}</stopTime>", "operation-failed", ""),
            ("a time that is none", "<startTime>noon</startTime>",
             "invalid-value", "")):
        wrong(m, f"create-subscription: {name}",
              f"<create-subscription>{more}</create-subscription>", tag, info,
              ns=NOTIFICATION)


def without_id():
    """ncclient gives all its requests a number."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(SOCKET)
        s.sendall((f'<hello xmlns="{NC}"><capabilities><capability>'
                   "urn:ietf:params:netconf:base:1.0</capability></capabilities></hello>]]>]]>"
                   f'<rpc xmlns="{NC}"><get/></rpc>]]>]]>').encode())
        got = b""
        while got.count(b"]]>]]>") < 2:
            more = s.recv(65536)
            if not more:
                break
            got += more
    got = got.split(b"]]>]]>")[1:]
    case("a request without message-id", got and
         all(text in got[0] for text in (
             b">missing-attribute<", b">message-id<", b">rpc<",
             b"rpc-reply")), got)


NOTIFICATION = "urn:ietf:params:xml:ns:netconf:notification:1.0"
STREAMS = "urn:ietf:params:xml:ns:netmod:notification"
MON = "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring"


def part_state():
    m, other = connect(), connect()
    only_served(m, "socket")
    with m.locked(target="running"):
        top = data(m.get(filter=(
            "subtree", f'<netconf-state xmlns="{MON}"/>')))

    def texts(path):
        return [e.text for e in top.findall(
            "./{%s}netconf-state/" % MON +
            "/".join("{%s}%s" % (MON, name) for name in path.split("/")))]

    same("netconf-state: the capabilities are hello's",
         sorted(texts("capabilities/capability")),
         sorted(m.server_capabilities))
    same("netconf-state: the datastore",
         texts("datastores/datastore/name"), ["running"])
    same("netconf-state: its lock", texts(
        "datastores/datastore/locks/global-lock/locked-by-session"),
         [str(m.session_id)])
    sessions = texts("sessions/session/session-id")
    case("netconf-state: the sessions",
         {str(s.session_id) for s in (m, other)} <= set(sessions), sessions)
    same("netconf-state: how they came",
         {t.split(":")[-1] for t in texts("sessions/session/transport")},
         {"netconf-unix"})
    case("netconf-state: requests are counted",
         int(max(texts("sessions/session/in-rpcs"))) >= 1 and
         int(texts("statistics/in-sessions")[0]) >= 2)
    for name in texts("schemas/schema/identifier"):
        case(f"get-schema: {name}", f" {name}" in m.get_schema(name).data)
    everything = {e.tag for e in data(m.get())}
    for ns, top in (MON, "netconf-state"), (STREAMS, "netconf"):
        case(f"without a filter: {top}, too", f"{{{ns}}}{top}" in everything,
             everything)
    top = data(m.get(filter=("subtree", f'<netconf xmlns="{STREAMS}">'
                             "<streams/></netconf>")))
    same("the streams of events", [(e.tag, e.text) for e in top.findall(
        "./{%s}netconf/{%s}streams/{%s}stream/*" % ((STREAMS,) * 3))
        if "description" not in e.tag],
         [(f"{{{STREAMS}}}name", "NETCONF"),
          (f"{{{STREAMS}}}replaySupport", "false")])
    other.create_subscription(stream_name="NETCONF")
    same("the stream that they name can be subscribed to",
         asked(other, "<create-subscription></create-subscription>",
               NOTIFICATION), ("in-use", None, ""))


run(globals())
