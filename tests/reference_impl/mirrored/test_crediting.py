"""What copies of a queue tell channels of what they have carried out."""

import pytest

from reference_impl.mirrored.confirms import MORE
from tests.reference_impl.mirrored.bench import Bench
from tests.reference_impl.mirrored.clusters import AUTOMATIC, Cluster
from tests.reference_impl.mirrored.queues import copies


def test_credit_is_sent_so_many_at_a_time() -> None:
    bench = Bench()
    bench.publish(MORE - 1)
    assert sum(bench.one.credited.values()) == 0
    bench.publish(MORE + 1)
    assert sum(bench.one.credited.values()) == 2 * MORE


def test_channels_get_reports_of_their_own() -> None:
    bench = Bench()
    other = bench.another()
    bench.publish(MORE)
    assert (sum(bench.one.credited.values()), sum(other.credited.values())) == (MORE, 0)


@pytest.mark.parametrize("seed", range(3))
def test_master_and_mirrors_each_send_credit_also_after_takeover(seed: int) -> None:
    cluster = Cluster(seed=seed, **AUTOMATIC)
    cluster.publish(MORE // 2)
    replicas = {copy._replica.pid for copy in copies(cluster.nodes).values()}
    cluster.publish(MORE // 2)
    credited = cluster.publisher.credited
    assert {pid: credited[pid] for pid in replicas} == dict.fromkeys(replicas, MORE)
    cluster.publish(MORE // 2)
    cluster.kill("a")
    cluster.publish(MORE // 2)
    left = [copy._replica.pid for copy in copies(cluster.nodes).values()]
    assert {pid: credited[pid] for pid in left} == dict.fromkeys(left, 2 * MORE)
