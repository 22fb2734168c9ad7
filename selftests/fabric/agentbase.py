# SPDX-License-Identifier: GPL-2.0
"""
What tests of the agent by ncclient have in common: SCRIPT SOCKET PART [ARG...].
"""
import json
import os
import subprocess
import sys
import time
from xml.etree import ElementTree

from ncclient import manager
from ncclient.operations import RPCError

NC = "urn:ietf:params:xml:ns:netconf:base:1.0"
SW = "urn:rdma-inc:switch"
NS = {"s": SW}
SOCKET, PART, *ARGS = sys.argv[1:]
failed = False
cases = 0


def case(name, ok, why=""):
    global failed, cases
    failed |= not ok
    cases += 1
    why = " ".join(str(why).split()).replace("#", "")[:400]
    print(f"{'' if ok else 'not '}ok {cases} - {name}" +
          ("" if ok else f" # {why}"), flush=True)


def same(name, got, want):
    case(name, got == want, f"{got!r}, not {want!r}")


def connect():
    return manager.connect_uds(path=SOCKET, timeout=60)


def config(xml):
    return (f'<nc:config xmlns:nc="{NC}"><switch xmlns="{SW}">{xml}</switch>'
            "</nc:config>")


def edit(m, xml, **more):
    return m.edit_config(target="running", config=config(xml), **more)


def error(m, xml, **more):
    """The errors of an edit, as (tag, path, message, info)."""
    try:
        edit(m, xml, **more)
    except RPCError as e:
        return [(x.tag, x.path or "", x.message or "", x.info or "")
                for x in e.errlist or [e]]
    return []


def app_tags(m, xml):
    """The error-app-tags of an edit's errors."""
    try:
        edit(m, xml)
    except RPCError as e:
        return [x.text for x in e.xml.iter("{*}error-app-tag")]
    return []


def refused(m, name, xml, tag, path="", text="", **more):
    got = error(m, xml, **more)
    case(name, bool(got) and got[0][0] == tag and
         path in got[0][1].replace("incs:", "") and
         text in got[0][2] + got[0][3], got)


def member(rank, addr=None, more=""):
    addr = addr or f"10.47.1.{10 + rank}"
    return (f"<member><rank>{rank}</rank>{more}<peer-addr>{addr}</peer-addr>"
            f"<peer-qpn>{100 + rank}</peer-qpn><peer-psn>{rank}</peer-psn>"
            "</member>")


def tree(i, ranks=2, more="", attr=""):
    # Small, and quick to give up members that do not exist.
    return (f"<tree {attr}><id>{i}</id><ranks>{ranks}</ranks><slots>4</slots>"
            f"<msg-size>4096</msg-size><dead-time>50</dead-time>{more}</tree>")


def below(*switches):
    """Members that are switches: pairs of place and number of ranks."""
    return "".join(f"<below><rank>{rank}</rank><ranks>{n}</ranks></below>"
                   for rank, n in switches)


def subtree(xml):
    return ("subtree", f'<switch xmlns="{SW}">{xml}</switch>')


def data(reply):
    return ElementTree.fromstring(reply.data_xml.encode())


def ids(m):
    reply = data(m.get_config(source="running",
                              filter=subtree("<tree><id/></tree>")))
    return sorted(int(e.text) for e in reply.findall(".//s:tree/s:id", NS))


def tool(*args):
    return json.loads(subprocess.check_output(["inc-tool", "-j", *args]))


def tool_ids():
    return sorted(t["id"] for t in tool("tree", "show"))


def clear(m):
    edit(m, "".join(f'<tree nc:operation="remove" xmlns:nc="{NC}"><id>{i}'
                    "</id></tree>" for i in tool_ids()))


def until(test, seconds=10):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def attributes(names):
    """xmlns:nc and nc:operation of an element."""
    return f'xmlns:nc="{NC}" nc:operation="{names}"'


# What the switch is made of; others would have to be served.
ANNOUNCED = {"ietf-netconf", "ietf-netconf-monitoring"}


def announced(m):
    return {c.split("module=")[1].split("&")[0]
            for c in m.server_capabilities if "module=" in c}


def library(m):
    """The modules that are implemented, as RFC 8525 says it."""
    ns = "urn:ietf:params:xml:ns:yang:ietf-yang-library"
    top = data(m.get(filter=("subtree", f'<yang-library xmlns="{ns}"/>')))
    return {e.text for e in top.findall(
        ".//{%s}module-set/{%s}module/{%s}name" % (ns, ns, ns))}


def only_served(m, how):
    case(f"{how}: hello: only what is served", announced(m) <= ANNOUNCED,
         announced(m) - ANNOUNCED)
    names = library(m)
    case(f"{how}: the YANG library: all of it, and nothing else",
         ANNOUNCED | {"rdma-inc-switch", "notifications",
                      "nc-notifications"} <= names and
         not {"ietf-netconf-acm", "ietf-netconf-server", "ietf-keystore",
              "ietf-truststore", "ietf-ssh-server"} & names, names)


def run(parts):
    """Do the part that the command line names; all functions are in @parts."""
    if PART not in ("after", "job"):
        first = connect()
        clear(first)
        first.close_session()
    parts[f"part_{PART}"](*ARGS)
    print(f"1..{cases}")
    sys.stdout.flush()
    # ncclient's threads wait for sessions that are still open.
    os._exit(failed)
