# SPDX-License-Identifier: GPL-2.0
"""Load of the manager in a large fabric, whose agents and clients are simulated.

    am_load.py BIN STEP...

A STEP is PODS:HOSTS:GROUPS:RANKS:STREAMS: a fat-tree of so many pods with HOSTS
hosts at each leaf, and GROUPS groups of RANKS ranks, with STREAMS ranks for each
connection. BIN has inc-amd and the simulators. For each step inc-amd is started
and a line of JSON is printed: shares of a CPU and memory of inc-amd with the
agents alone, with the clients, and while groups are made and dismantled.
INC_LOAD_TIME is how long each is measured, in seconds (15), INC_LOAD_CHURN how
many groups of 16 ranks come and go at a time (64, or as many as have hosts).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

TICKS = os.sysconf('SC_CLK_TCK')
TIME = float(os.environ.get('INC_LOAD_TIME', '15'))
CHURN = int(os.environ.get('INC_LOAD_CHURN', '64'))
YANG = pathlib.Path(__file__).resolve().parents[2] / 'userspace/agent/yang'
NC2 = pathlib.Path('/usr/share/yang/modules/libnetconf2')
PORT = 18790


def status(pid):
    """Memory (MiB) and threads of a process."""
    fields = dict(line.split(':', 1) for line in
                  pathlib.Path('/proc/%d/status' % pid).read_text().splitlines())
    return int(fields['VmRSS'].split()[0]) / 1024, int(fields['Threads'])


def cpu(pid):
    """Seconds of CPU that a process has used."""
    fields = pathlib.Path('/proc/%d/stat' % pid).read_text().rsplit(')', 1)[1]
    return sum(map(int, fields.split()[11:13])) / TICKS


class Manager:
    """inc-amd, and the agents."""

    def __init__(self, path, pods, hosts, where):
        self.path, self.log = path, where / 'log'
        yang = [*map(str, YANG.glob('*.yang')),
                str(NC2 / 'ietf-netconf-monitoring@2010-10-04.yang')]
        self.agents = subprocess.Popen(
            [path / 'sim_agents', where, str(pods), str(hosts), *yang],
            stdout=subprocess.PIPE, text=True)
        assert self.agents.stdout.readline() == 'ready\n'
        self.n = pods * 24 + 64
        conf = where / 'amd.conf'
        conf.write_text(''.join('switch = %s/%d\n' % (where, i)
                                for i in range(self.n)))
        self.amd = subprocess.Popen(
            [path / 'inc-amd', '--config', conf, '--store', 'none', '--http',
             'none', '--allow', '10.0.0.0/8', '--listen',
             '127.0.0.1:%d' % PORT],
            stdout=subprocess.PIPE, stderr=self.log.open('w'), text=True)
        began = time.monotonic()
        assert self.amd.stdout.readline().startswith('listening')
        self.wait_up()
        self.up_s = time.monotonic() - began

    def wait_up(self):
        until = time.monotonic() + 120
        while self.log.read_text().count('switch-up') < self.n:
            if time.monotonic() > until or self.amd.poll() is not None:
                sys.exit('am_load: the switches did not come up: %s' %
                         self.log.read_text()[-2000:])
            time.sleep(0.2)

    def measure(self):
        pid, began = self.amd.pid, time.monotonic()
        before = cpu(pid)
        time.sleep(TIME)
        mib, threads = status(pid)
        return {'cpu': round((cpu(pid) - before) /
                             (time.monotonic() - began), 3),
                'mib': round(mib, 1), 'threads': threads}

    def clients(self, *args):
        return subprocess.Popen(
            [self.path / 'sim_clients', str(PORT), *map(str, args)],
            stdout=subprocess.PIPE, text=True)

    def end(self):
        for p in self.amd, self.agents:
            p.terminate()
        for p in self.amd, self.agents:
            try:
                p.wait(30)
            except subprocess.TimeoutExpired:
                p.kill()


def step(path, text):
    pods, hosts, groups, ranks, streams = map(int, text.split(':'))
    with tempfile.TemporaryDirectory() as where:
        m = Manager(path, pods, hosts, pathlib.Path(where))
        # Connections are opened one after another.
        settle = 10 + groups * ranks / streams / 300
        try:
            out = {'switches': m.n, 'hosts': pods * 16 * hosts,
                   'ranks': groups * ranks, 'up_s': round(m.up_s, 1),
                   'agents': m.measure()}
            if groups:
                p = m.clients(0, groups, ranks, 1, streams,
                              int(settle + TIME + 2))
                time.sleep(settle)
                out['clients'] = m.measure()
                out['clients'].update(json.loads(p.communicate()[0]))
            # Each of these ranks has a host of its own.
            churn = min(CHURN, pods * hosts)
            if churn:
                p = m.clients(0, churn, 16, 1, 1, int(TIME + 4), 'churn')
                time.sleep(2)
                out['churn'] = m.measure()
                out['churn'].update(json.loads(p.communicate()[0]))
        finally:
            m.end()
    print(json.dumps(out), flush=True)


def main():
    for text in sys.argv[2:]:
        step(pathlib.Path(sys.argv[1]), text)


main()
