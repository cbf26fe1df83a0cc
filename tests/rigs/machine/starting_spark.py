"""What the thread is called that starts Spark for the tests that need it, while others run."""

STARTING_SPARK = "starting-spark"
