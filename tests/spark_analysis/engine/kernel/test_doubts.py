from spark_analysis.engine.kernel.doubts import unjudged
from spark_analysis.schema.doubts import Doubt


def test_unjudgeable_records_make_the_whole_run_inconclusive() -> None:
    assert unjudged("night") == Doubt("night", "run", 0, "records", "", 0, 0, 0)
