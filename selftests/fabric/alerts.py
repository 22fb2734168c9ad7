# SPDX-License-Identifier: GPL-2.0
#
# What the alerts of a manager say, and its dashboard shows, by promtool: of the
# metrics of a real one, which has nothing to complain of, and of the same with one
# fault each.
#
#   alerts.py METRICS DASHBOARD RULES      prints KTAP

import json
import os
import subprocess
import sys
import tempfile

import yaml

from rpcbase import ROOT, ktap, plan

sys.path.insert(0, ROOT + "/selftests/lib")
from prometheus import Reader  # noqa: E402

STEP = 15
# All is well until then, for longer than any rule looks back; in seconds.
BREAKS = 40 * 60
ENDS = BREAKS + 40 * 60
DAY = 86400
SCRAPED = {"job": "rdma_inc", "instance": "am1:18789"}


def values(before, then=None):
    """A value, and another one from BREAKS on."""
    return (f"{before}x{BREAKS // STEP - 1} "
            f"{before if then is None else then}x{(ENDS - BREAKS) // STEP}")


def real(path):
    """What Prometheus has of a manager's metrics: values by name and labels."""
    reader = Reader()
    with open(path) as f:
        reader.read(f.read())
    return {(name, frozenset({**labels, **SCRAPED}.items())): values(value)
            for name, labels, value in reader.samples}


def changed(healthy, changes):
    """Series with others in place of them: {(NAME, LABELS as text): values}."""
    series = dict(healthy)
    for (name, labels), what in changes.items():
        labels = dict(l.split("=") for l in labels.split(",") if l)
        # All of that name which have these labels, or else a new one.
        keys = [k for k in series if k[0] == name and
                dict(k[1]).items() >= labels.items()]
        for key in keys or [(name, frozenset({**SCRAPED, **labels}.items()))]:
            series[key] = what
    return series


def promtool(series, alerts=(), exprs=()):
    """What promtool complains of, or an empty string."""
    text = [{"series": name + json.dumps(dict(labels)).replace(
        "{\"", "{").replace("\": \"", "=\"").replace(", \"", ", "),
             "values": what} for (name, labels), what in series.items()]
    test = {"rule_files": [RULES], "evaluation_interval": f"{STEP}s", "tests": [{
        "interval": f"{STEP}s", "input_series": text,
        "alert_rule_test": [
            {"eval_time": f"{at}s", "alertname": name, "exp_alerts": [
                {"exp_labels": labels, "exp_annotations": notes}
                for labels, notes in expected]}
            for at, name, expected in alerts],
        "promql_expr_test": [
            {"expr": e, "eval_time": f"{BREAKS - STEP}s",
             "exp_samples": [{"labels": "{}", "value": 1}]} for e in exprs]}]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as f:
        json.dump(test, f)
        f.flush()
        done = subprocess.run(["promtool", "test", "rules", f.name], text=True,
                              capture_output=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def fires(name, changes, labels, summary, description=None, also=()):
    """One alert, as late as it is to be, and no other one but ALSO."""
    rule = BY_NAME.pop(name)
    hold = HOLD[name]
    notes = {"summary": summary}
    if description:
        notes["description"] = description
    expected = ({**labels, "severity": rule["labels"]["severity"]}, notes)
    series = changed(HEALTHY, changes)
    late = BREAKS + hold + 2 * STEP
    others = [n for n in NAMES if n != name and n not in also]
    got = promtool(series, [(BREAKS + hold - STEP, name, []),
                            (late, name, [expected])] +
                   [(late, n, []) for n in others])
    ktap(not got, f"{name} fires, after {hold} s", got)


METRICS, BOARD, RULES = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3])
with open(RULES) as rules_file:
    BY_NAME = {r["alert"]: r for g in yaml.safe_load(rules_file)["groups"]
               for r in g["rules"]}
NAMES = list(BY_NAME)
# For how long something is wrong before anybody is called; in seconds.
HOLD = {**dict.fromkeys(NAMES, 0), "IncManagerDown": 60, "IncNoLeader": 30,
        "IncSwitchDown": 60, "IncLinkMissing": 60, "IncTenantAtLimit": 900,
        "IncManagerFiles": 300}
# With what it only has if there are certificates and limits.
HEALTHY = changed(real(METRICS), {
    ("up", ""): values(1),
    ("inc_am_certificate_expires_timestamp_seconds", "of=server,name=am1"):
        values(100 * DAY),
    ("inc_am_tenant_ranks", "tenant=blue"): values(10),
    ("inc_am_tenant_ranks_reserved", "tenant=blue"): values(0),
    ("inc_am_tenant_ranks_limit", "tenant=blue"): values(100)})

done = subprocess.run(["promtool", "check", "rules", RULES], text=True,
                      capture_output=True)
ktap(done.returncode == 0, "promtool checks the rules", done.stdout + done.stderr)
wrong = promtool(HEALTHY, [(at, n, []) for n in NAMES for at in (120, ENDS)])
ktap(not wrong, "a manager that is well: no alert", wrong)

AM1 = SCRAPED
fires("IncManagerDown", {("up", ""): values(1, 0)}, AM1,
      "No metrics of the aggregation manager at am1:18789",
      "Running jobs go on; none can begin if there is no other manager.")
fires("IncNoLeader", {("inc_am_leader", ""): values(1, 0)}, {"job": "rdma_inc"},
      "No aggregation manager leads",
      "No job can begin. See the event store-failed, and the store.")
fires("IncManagerRestarts",
      {("process_start_time_seconds", ""): values(1, "2 3 4")}, AM1,
      "The aggregation manager at am1:18789 was started several times")
fires("IncSwitchDown", {("inc_am_switch_up", "switch=sw"): values(1, 0)},
      {**AM1, "switch": "sw"}, "The agent of switch sw does not answer",
      "inc-amctl switch sw says why.")
fires("IncLinkMissing",
      {("inc_am_link_up", "interface=down2"): values(1, 0)},
      {**AM1, "switch": "sw", "interface": "down2", "peer_switch": "l1",
       "peer_interface": "uplink"}, "The link sw:down2 - l1:uplink is missing")

# At which time, an alert's text depends on.
END = BREAKS + 2 * STEP
CERT = ("inc_am_certificate_expires_timestamp_seconds", "name=am1")
NAMED = {**AM1, "of": "server", "name": "am1"}
fires("IncCertificateExpiresSoon",
      {CERT: values(100 * DAY, END + 20 * DAY)}, NAMED,
      "A certificate expires in 20d 0h 0m 0s: server am1",
      "inc-am-ca --force makes a new one; files are read again when they change.")
fires("IncCertificateExpires", {CERT: values(100 * DAY, END + 2 * DAY)}, NAMED,
      "A certificate expires in 2d 0h 0m 0s: server am1",
      "After that nobody is let in by it.", ("IncCertificateExpiresSoon",))
fires("IncRanksLost", {("inc_am_ranks_lost_total", ""): values(3, 5)}, AM1,
      "2 ranks were lost within ten minutes",
      "inc-amctl event says which, and why.")
fires("IncGroupsRefused", {("inc_am_groups_refused_total", ""): values(0, 1)},
      AM1, "1 groups were refused within ten minutes",
      "inc-amctl event says which, and why.")
fires("IncTenantAtLimit",
      {("inc_am_tenant_ranks", "tenant=blue"): values(10, 80),
       ("inc_am_tenant_ranks_reserved", "tenant=blue"): values(0, 10)},
      {**AM1, "tenant": "blue"},
      "Tenant blue has nine tenths of the ranks that it may have")
fires("IncManagerFiles",
      {("process_open_fds", ""): values(10, 900),
       ("process_max_fds", ""): values(1000)}, AM1,
      "The aggregation manager at am1:18789 will soon have too many connections")
ktap(not BY_NAME, "each alert has fired", list(BY_NAME))

# One that stands by knows nothing of the switches.
wrong = promtool(changed(HEALTHY, {
    ("inc_am_leader", "instance=am2:18789"): values(0),
    ("inc_am_switch_up", "instance=am2:18789,switch=sw"): values(0)}),
                 [(ENDS, n, []) for n in NAMES])
ktap(not wrong, "a manager that stands by: no alert", wrong)

with open(BOARD) as f:
    panels = json.load(f)["panels"]
shown = {t["expr"].replace("$__rate_interval", "1m"): p["title"]
         for p in panels for t in p.get("targets", ())}
shown = {f"count({expr}) > bool 0": title for expr, title in shown.items()}
wrong = promtool(HEALTHY, exprs=shown)
ktap(not wrong, "promtool reads the dashboard", wrong)
for expr, title in shown.items():
    ktap(json.dumps(expr) not in wrong, f"the dashboard shows: {title}", expr)
plan()
