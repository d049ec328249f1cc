"""Much at once."""

from schedule import check_no_node_has_more_than
from stage import PATIENCE, spent, test


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
    stage.plane.wipe("pods/%s/" % stage.name)  # sooner than the server deletes them, and in nobody's way
