"""The questions of analysis_speed.py in DuckDB's SQL: what is prepared, and what is answered.

1. Each is a rule of findings.py or service.py, as far as the runs of that script go: one window,
   one connection, no offsets, no rivals, and no two publishes intended at once.
2. `raw` is the folder of the raw tables; the other names are those of facts and of the window.
3. It is tuned for these files as we are: settlements are grouped before they are joined, and a
   delivery's place is its row's, for the file is in delivery order. Rows that pass through need
   no order (SETTINGS).
"""

SETTINGS = {"threads": 2, "preserve_insertion_order": False}

PREPARE = (
    """CREATE TABLE messages AS
    SELECT a.producer, a.sequence, a.key, a.queue, a.connection, a.intended_ns, a.sent_ns,
           s.confirmed_ns
    FROM '{raw}/attempts.parquet' a
    LEFT JOIN (SELECT producer, sequence, min(settled_ns) AS confirmed_ns
               FROM '{raw}/settlements.parquet' WHERE outcome = 1 GROUP BY ALL) s
      USING (producer, sequence)
    WHERE a.attempt = 1""",
    """CREATE TABLE deliveries AS
    SELECT d.producer, d.sequence, d.attempt, d.queue, d.consumer, d.received_ns, d.redelivered,
           d.via, d.file_row_number AS place,
           CASE WHEN d.tag <= a.last_tag THEN a.written_ns END AS acknowledged_ns, e.ended_ns
    FROM read_parquet('{raw}/deliveries.parquet', file_row_number = true) d
    ASOF LEFT JOIN '{raw}/acknowledgements.parquet' a
      ON a.consumer = d.consumer AND a.connection = d.connection AND a.first_tag <= d.tag
    LEFT JOIN (SELECT worker, connection, min(at_ns) AS ended_ns
               FROM '{raw}/client_events.parquet' WHERE kind IN ('lost', 'closed') GROUP BY ALL) e
      ON e.worker = d.consumer AND e.connection = d.connection
    WHERE d.header_ok = 1 AND d.run_ok = 1""",
    """CREATE TABLE first_deliveries AS
    SELECT producer, sequence, count(*) AS copies, min(place) AS place,
           arg_min(redelivered, place) AS redelivered, min(received_ns) AS received_ns,
           arg_min(consumer, place) AS consumer
    FROM deliveries WHERE via IN (1, 2, 4) GROUP BY producer, sequence""",
    """CREATE TABLE journeys AS
    SELECT m.*, copies, received_ns, consumer, redelivered, place,
           coalesce(confirmed_ns <= intended_ns + {deadline_ns}, false) AS good
    FROM messages m LEFT JOIN first_deliveries USING (producer, sequence)""",
    """CREATE TABLE numbered AS
    SELECT intended_ns, good, row_number() OVER so_far AS n,
           sum((NOT good)::INT) OVER so_far AS bad
    FROM journeys WINDOW so_far AS (ORDER BY intended_ns ROWS UNBOUNDED PRECEDING)""",
    """CREATE TABLE operations AS
    SELECT o.intended_ns, o.good, o.n, later.n AS later_n, earlier.n AS earlier_n,
        o.good AND later.good AND o.intended_ns + 5000000000 <= {load_ended_ns}
            AND later.bad - o.bad <= greatest(1, (later.n - o.n + 1) // 100) AS begins,
        o.good AND earlier.good AND o.intended_ns - 5000000000 >= {load_started_ns}
            AND o.bad - earlier.bad <= greatest(1, (o.n - earlier.n + 1) // 100) AS ends
    FROM numbered o
    ASOF JOIN numbered later ON o.intended_ns + 5000000000 > later.intended_ns
    ASOF JOIN numbered earlier ON o.intended_ns - 5000000000 < earlier.intended_ns""",
    """CREATE TABLE outages AS
    SELECT min(b.intended_ns) AS from_ns, min(b.n) AS first_n, s.n AS until_n,
           s.intended_ns AS until_ns
    FROM (SELECT * FROM (SELECT *,
            coalesce(max(later_n) FILTER (begins) OVER so_far >= n, false)
            OR coalesce(min(earlier_n) FILTER (ends) OVER from_here <= n, false) AS served
        FROM operations
        WINDOW so_far AS (ORDER BY n ROWS UNBOUNDED PRECEDING),
            from_here AS (ORDER BY n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING))
        WHERE NOT good AND NOT served) b
    ASOF LEFT JOIN (
        SELECT n, intended_ns FROM operations WHERE begins
        UNION SELECT f.n, f.intended_ns FROM operations j
            JOIN operations f ON f.n = j.earlier_n WHERE j.ends) s ON b.n < s.n
    GROUP BY s.n, s.intended_ns""",
)
ANSWER = (
    """SELECT count(*) FILTER (confirmed_ns IS NOT NULL AND copies IS NULL),
           count(*) FILTER (confirmed_ns IS NULL AND copies IS NULL),
           sum(copies - 1) FILTER (copies > 1) FROM journeys""",
    """SELECT count(*) FILTER (overtaken_alike),
           count(*) FILTER (overtaken AND NOT coalesce(overtaken_alike, false)) FROM (
        SELECT place > min(place) OVER (
                PARTITION BY producer, key, queue, consumer, redelivered
                ORDER BY sent_ns DESC, sequence DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS overtaken_alike,
            place > min(place) OVER (
                PARTITION BY producer, key, queue, consumer
                ORDER BY sent_ns DESC, sequence DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS overtaken
        FROM journeys WHERE copies IS NOT NULL)""",
    "SELECT count(*) FROM journeys WHERE NOT good",
    """SELECT count(*) FROM '{raw}/attempts.parquet' a
    SEMI JOIN (FROM '{raw}/settlements.parquet' WHERE outcome = 1) s
      USING (producer, sequence, attempt)
    SEMI JOIN first_deliveries USING (producer, sequence)
    ANTI JOIN deliveries USING (producer, sequence, attempt)""",
    """SELECT count(*) FROM (
        SELECT arg_max(via IN (1, 4) AND ended_ns >= received_ns, place) AS given_out,
               count(acknowledged_ns) AS acknowledged
        FROM deliveries GROUP BY producer, sequence, attempt)
    WHERE given_out AND acknowledged = 0""",
    """SELECT count(*) FROM deliveries d JOIN messages m USING (producer, sequence)
    WHERE d.via IN (1, 2) AND d.queue <> m.queue""",
    """SELECT count(*) FROM (
        SELECT DISTINCT later.place FROM deliveries later JOIN deliveries earlier
          ON earlier.producer = later.producer AND earlier.sequence = later.sequence
             AND earlier.attempt = later.attempt AND earlier.place < later.place
        WHERE later.redelivered = 1 AND later.via IN (1, 2) AND earlier.via IN (1, 2, 4)
          AND earlier.acknowledged_ns < least(later.received_ns, earlier.ended_ns,
            CASE WHEN {origin_ns} < later.received_ns AND {over_ns} >= earlier.received_ns
                 THEN {origin_ns} END) - 1000000000)""",
    """SELECT count(*), sum(from_ns), sum(until_ns), sum(bad) FROM (
        SELECT o.from_ns, coalesce(o.until_ns, {load_ended_ns}) AS until_ns,
               count(*) FILTER (NOT good) AS bad,
               (SELECT count(*) FROM operations s WHERE s.intended_ns >= o.from_ns
                AND s.intended_ns < o.from_ns + 5000000000) AS soon
        FROM outages o JOIN operations i
          ON i.n >= o.first_n AND (o.until_n IS NULL OR i.n < o.until_n) GROUP BY ALL)
    WHERE bad > greatest(1, soon // 100)""",
    """SELECT coalesce(max(until_ns - intended_ns), 0) FROM (
        SELECT at_ns AS until_ns, lag(at_ns) OVER (ORDER BY at_ns) AS from_ns FROM (
            SELECT confirmed_ns AS at_ns FROM journeys WHERE confirmed_ns <= {load_ended_ns}
            UNION ALL VALUES ({load_started_ns}::BIGINT), ({load_ended_ns}::BIGINT))) pair
    ASOF JOIN operations due ON pair.from_ns <= due.intended_ns
    WHERE intended_ns < until_ns""",
    """SELECT sum(confirmed), sum(delivered), count(*) FROM (
        SELECT second, sum(confirmed) AS confirmed, sum(delivered) AS delivered FROM (
            SELECT intended_ns // 1000000000 AS second, 0 AS confirmed, 0 AS delivered
                FROM journeys
            UNION ALL SELECT confirmed_ns // 1000000000, 1, 0 FROM journeys
                WHERE confirmed_ns IS NOT NULL
            UNION ALL SELECT received_ns // 1000000000, 0, 1 FROM journeys
                WHERE copies IS NOT NULL) GROUP BY second)""",
)
