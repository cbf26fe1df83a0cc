from spark_analysis.engine.kernel.doubts import unjudged
from spark_analysis.schema.doubts import Doubt


def test_records_that_cannot_be_judged_put_the_whole_run_in_doubt() -> None:
    assert unjudged("night") == Doubt("night", "run", 0, "records", "", 0, 0, 0)
