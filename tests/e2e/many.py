"""Much at once. The last test: nobody waits until all of it is deleted."""

import os
import pathlib
import re

from schedule import check_no_node_has_more_than
from stage import PATIENCE, test


def spent(child):
    """Seconds of the processor, the most memory and the private part of it now, in MB."""
    fields = pathlib.Path("/proc/%d/stat" % child.pid).read_text().rsplit(")", 1)[1].split()
    status = dict(re.findall(r"^(\w+):\s+(\d+) kB$",
                             pathlib.Path("/proc/%d/status" % child.pid).read_text(), re.MULTILINE))
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return cpu, int(status["VmHWM"]) / 1024, int(status["RssAnon"]) / 1024


@test
def binds_10000_pods_that_are_made_meanwhile(stage):
    stage.plane.make_nodes(100, cpu="1")
    child = stage.run_synced()
    before = spent(child)
    stage.pods(10000, cpu="10m", memory="1Mi")
    where = stage.wait_bound(10000, timeout=4 * PATIENCE)
    check_no_node_has_more_than(100, where)
    after = spent(child)
    print("# %.2f s of processor, %.1f MB at most, %.1f MB private"
          % (after[0] - before[0], after[1], after[2]))
    assert not stage.warnings(child), stage.warnings(child)
    stage.leaves_all = True
