/*
 * Real outputs of tools, and what a careful reader finds in them.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/outputs.h"

#define NOLSE      "ycsb-mongodb-nolse.txt"
#define LSE        "ycsb-mongodb-lse.txt"
#define YCSB_01    "ycsb-0.1.4-ms-histogram-no-gc.txt"
#define YCSB_05    "ycsb-0.5-aerospike-exponent-operations.txt"
#define YCSB_017   "ycsb-0.17-insert-failed-status-gc.txt"
#define TLAB       "cassandra-stress-tlab.txt"
#define NOTLAB     "cassandra-stress-notlab.txt"
#define MIDDLE     "cassandra-stress-2.0-middle80.txt"
#define PROFILE    "cassandra-stress-3.x-user-profile-two-threadcounts.txt"
#define SCYLLA     "cassandra-stress-scylla-single-spaced-nan-gc.txt"
#define SYSBENCH_0 "sysbench-0.4.12-oltp-simple-readonly.txt"
#define SYSBENCH_1 "sysbench-1.0.18-oltp-ignored-errors.txt"
#define SMACK      "supersmack-select-index-primarykey.txt"
#define SLAP       "mysqlslap-autogen-write-warning.txt"
#define MEMTIER_2  "memtier-1.2.17-histogram-tail.txt"
#define MEMTIER_4  "memtier-1.4-percentiles-dashes.txt"
#define REDIS_5    "redis-benchmark-5-plain-no-percentile-header.txt"
#define REDIS_6    "redis-benchmark-6.2-quiet-p50.txt"
#define REDIS_7    "redis-benchmark-7-csv-with-prompt-two-headers.txt"
#define REDIS_RUN1 "redis-benchmark --csv -t set,get -n 100000"
#define REDIS_RUN2 "redis-benchmark --csv -t set,get -n 100000 -P 16"
#define WRK        "wrk-4-socket-errors-two-runs.txt"
#define WRK_RUN1   "30s test @ http://localhost:8080/v1/posts threads=4 connections=500"
#define WRK_RUN2   "30s test @ http://localhost:8080/v1/posts threads=8 connections=500"
#define WRK2       "wrk2-hdr-timeouts-low-latency-trap.txt"
#define AB         "ab-2.3-length-failures-non2xx-body-sent.txt"
#define PGBENCH_10 "pgbench-10-indented-select-only-no-stddev.txt"
#define PGBENCH_11 "pgbench-11-progress-stddev.txt"
#define FIO_18     "fio-3.18-randread-k-suffix-iops.txt"
#define FIO_27     "fio-3.27-mixed-nsec-usec-units.txt"
#define GOOGLE     "google-benchmark-1.6-json-aggregates.txt"
#define HYPER      "hyperfine-1.15-json-two-commands.txt"
#define HYPER_BAD  "hyperfine-1.15-json-failing-command-zero-time.txt"
#define PUBLISHED  "ministat-mysql-yieldloops.txt"
#define GOLDEN     "ministat-output-golden-a-vs-b.txt"
#define NO_SPREAD  "ministat-output-zero-variance.txt"
#define NUMBERS    "ministat-input-comment-blank-trailing-column.txt"
#define NUMBERS_B  "ministat-input-clean-b.txt"
#define COLUMNS    "ministat-input-columns-c2.txt"
#define BAD_TOKEN  "ministat-input-bad-token-last-line.txt"

static struct output *read_file(const char *name, char why[WHY_SIZE])
{
	char path[256];
	snprintf(path, sizeof(path), "tests/data/outputs/%s", name);
	return output_read(path, NULL, why);
}

static struct output *must_read(const char *name)
{
	char why[WHY_SIZE] = "";
	struct output *output = read_file(name, why);
	ck_assert_msg(output != NULL, "%s", why);
	return output;
}

/* What a file as a whole is; the errors and the reason are its first result's. */
static const struct {
	const char *file, *parser, *version;
	size_t results;
	uint64_t errors;
	bool incomplete, invalid;
} files[] = {
	{ NOLSE, "ycsb", "", 1, 0, false, false },
	{ LSE, "ycsb", "", 1, 0, false, false },
	{ YCSB_01, "ycsb", "", 1, 0, false, false },
	{ YCSB_05, "ycsb", "", 1, 0, true, false },
	{ YCSB_017, "ycsb", "", 1, 1, true, false },
	{ TLAB, "cassandra-stress", "", 1, 0, false, false },
	{ NOTLAB, "cassandra-stress", "", 1, 0, false, false },
	{ MIDDLE, "cassandra-stress", "", 1, 0, false, false },
	{ PROFILE, "cassandra-stress", "", 2, 0, false, false },
	{ SCYLLA, "cassandra-stress", "", 1, 0, false, false },
	{ SYSBENCH_0, "sysbench", "0.4.12", 1, 0, false, false },
	{ SYSBENCH_1, "sysbench", "1.0.18", 1, 3, false, false },
	{ SMACK, "super-smack", "", 1, 0, false, false },
	{ SLAP, "mysqlslap", "", 1, 0, false, false },
	{ MEMTIER_2, "memtier", "", 1, 0, true, false },
	{ MEMTIER_4, "memtier", "", 1, 0, false, false },
	{ REDIS_5, "redis-benchmark", "", 1, 0, false, false },
	{ REDIS_6, "redis-benchmark", "", 1, 0, false, false },
	{ REDIS_7, "redis-benchmark", "", 2, 0, false, false },
	{ WRK, "wrk", "", 2, 274, false, false },
	{ WRK2, "wrk2", "", 1, 3122, false, true },
	{ AB, "ab", "", 1, 3, false, false },
	{ PGBENCH_10, "pgbench", "", 1, 0, false, false },
	{ PGBENCH_11, "pgbench", "", 1, 0, true, false },
	{ FIO_18, "fio", "3.18", 1, 0, true, false },
	{ FIO_27, "fio", "3.27", 1, 0, true, false },
	{ GOOGLE, "google-benchmark", "", 1, 0, false, false },
	{ HYPER, "hyperfine", "", 2, 0, false, false },
	{ HYPER_BAD, "hyperfine", "", 1, 3, false, true },
	{ PUBLISHED, "ministat-output", "", 2, 0, false, false },
	{ GOLDEN, "ministat-output", "", 2, 0, false, false },
	{ NO_SPREAD, "ministat-output", "", 2, 0, false, false },
	{ NUMBERS, "ministat", "", 1, 0, false, false },
	{ NUMBERS_B, "ministat", "", 1, 0, false, false },
};

static const struct wanted metrics[] = {
	{ NOLSE, "", "throughput", 6662.1275371047195, UNIT_RATE, 0 },
	{ NOLSE, "", "runtime", 750.511, UNIT_SECONDS, 0 },
	{ NOLSE, "", "read.mean", 3047.5279422653593e-6, UNIT_SECONDS, 0 },
	{ NOLSE, "", "scan.mean", 22936.992162975963e-6, UNIT_SECONDS, 0 },
	{ NOLSE, "", "read.p99", 23791e-6, UNIT_SECONDS, 0 },
	{ NOLSE, "", "read.max", 219775e-6, UNIT_SECONDS, 0 },
	{ NOLSE, "", "gc.share", 0.03713603131732913, UNIT_RATIO, 0 },
	{ NOLSE, "", "read-modify-write.operations", 999359, UNIT_COUNT, 0 },
	{ LSE, "", "throughput", 6871.605426919102, UNIT_RATE, 0 },
	{ LSE, "", "read.mean", 3045.181359009155e-6, UNIT_SECONDS, 0 },
	{ LSE, "", "scan.mean", 21999.80309425598e-6, UNIT_SECONDS, 0 },
	{ LSE, "", "read.p99", 23631e-6, UNIT_SECONDS, 0 },
	{ LSE, "", "read.max", 346111e-6, UNIT_SECONDS, 0 },
	{ LSE, "", "errors", 0, UNIT_COUNT, 0 },
	{ YCSB_017, "", "throughput", 0, UNIT_RATE, 0 },
	{ YCSB_017, "", "runtime", 2.897, UNIT_SECONDS, 0 },
	{ YCSB_017, "", "insert.operations", 0, UNIT_COUNT, 0 },
	{ YCSB_017, "", "insert.mean", NAN, UNIT_NONE, 0 },
	{ YCSB_017, "", "insert.min", NAN, UNIT_NONE, 0 },
	{ YCSB_017, "", "errors", 1, UNIT_COUNT, 0 },
	{ YCSB_01, "", "throughput", 98.91196834817013, UNIT_RATE, 0 },
	{ YCSB_01, "", "runtime", 10.11, UNIT_SECONDS, 0 },
	{ YCSB_01, "", "update.operations", 491, UNIT_COUNT, 0 },
	{ YCSB_01, "", "update.mean", 0.054989816700611e-3, UNIT_SECONDS, 0 },
	{ YCSB_01, "", "update.min", 0, UNIT_SECONDS, 0 },
	{ YCSB_01, "", "update.max", 1e-3, UNIT_SECONDS, 0 },
	{ YCSB_01, "", "update.p95", 1e-3, UNIT_SECONDS, 0 },
	{ YCSB_01, "", "update.p99", 1e-3, UNIT_SECONDS, 0 },
	{ YCSB_05, "", "insert.operations", 3e7, UNIT_COUNT, 0 },
	{ YCSB_05, "", "insert.mean", 173.0263865e-6, UNIT_SECONDS, 0 },
	{ YCSB_05, "", "insert.p95", 273e-6, UNIT_SECONDS, 0 },
	{ YCSB_05, "", "insert.p99", 292e-6, UNIT_SECONDS, 0 },
	{ YCSB_05, "", "insert.max", 31103e-6, UNIT_SECONDS, 0 },
	{ YCSB_05, "", "throughput", NAN, UNIT_NONE, 0 },
	{ NOTLAB, "", "throughput", 21918, UNIT_RATE, 0 },
	{ NOTLAB, "", "latency.median", 0.9e-3, UNIT_SECONDS, 0 },
	{ NOTLAB, "", "latency.p95", 2.7e-3, UNIT_SECONDS, 0 },
	{ NOTLAB, "", "latency.p99.9", 40.2e-3, UNIT_SECONDS, 0 },
	{ NOTLAB, "", "runtime", 102, UNIT_SECONDS, 0 },
	{ TLAB, "", "throughput", 28352, UNIT_RATE, 0 },
	{ TLAB, "", "latency.p50", 0.7e-3, UNIT_SECONDS, 0 },
	{ TLAB, "", "latency.p95", 1.4e-3, UNIT_SECONDS, 0 },
	{ TLAB, "", "latency.p99.9", 22.3e-3, UNIT_SECONDS, 0 },
	{ TLAB, "", "runtime", 81, UNIT_SECONDS, 0 },
	{ MIDDLE, "", "throughput", 10127, UNIT_RATE, 0 },
	{ MIDDLE, "", "keys.throughput", 10127, UNIT_RATE, 0 },
	{ MIDDLE, "", "latency.median", 3.2e-3, UNIT_SECONDS, 0 },
	{ MIDDLE, "", "latency.p95", 10.3e-3, UNIT_SECONDS, 0 },
	{ MIDDLE, "", "latency.p99.9", 110.8e-3, UNIT_SECONDS, 0 },
	{ MIDDLE, "", "runtime", 104, UNIT_SECONDS, 0 },
	{ MIDDLE, "", "latency.mean", NAN, UNIT_NONE, 0 },
	{ MIDDLE, "", "latency.p99", NAN, UNIT_NONE, 0 },
	{ MIDDLE, "", "errors", NAN, UNIT_NONE, 0 },
	{ PROFILE, "threads=4", "throughput", 9645, UNIT_RATE, 0 },
	{ PROFILE, "threads=4", "latency.mean", 0.4e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=4", "latency.median", 0.3e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=4", "latency.p95", 0.6e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=4", "latency.p99", 0.8e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=4", "latency.p99.9", 2.5e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=4", "latency.max", 286.8e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=4", "gc.memory", 1.989 * (1 << 30), UNIT_BYTES, 0 },
	{ PROFILE, "threads=4", "errors", 0, UNIT_COUNT, 0 },
	{ PROFILE, "threads=8", "throughput", 14555, UNIT_RATE, 0 },
	{ PROFILE, "threads=8", "insert.throughput", 14555, UNIT_RATE, 0 },
	{ PROFILE, "threads=8", "insert.mean", 0.5e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=8", "latency.median", 0.4e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=8", "latency.p95", 1.1e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=8", "latency.p99", 2.1e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=8", "latency.p99.9", 5.6e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=8", "latency.max", 140.8e-3, UNIT_SECONDS, 0 },
	{ PROFILE, "threads=8", "errors", 0, UNIT_COUNT, 0 },
	{ SCYLLA, "", "throughput", 2387, UNIT_RATE, 0 },
	{ SCYLLA, "", "latency.mean", 4e-3, UNIT_SECONDS, 0 },
	{ SCYLLA, "", "latency.median", 2.8e-3, UNIT_SECONDS, 0 },
	{ SCYLLA, "", "latency.p95", 10.5e-3, UNIT_SECONDS, 0 },
	{ SCYLLA, "", "latency.p99", 19.9e-3, UNIT_SECONDS, 0 },
	{ SCYLLA, "", "latency.p99.9", 69.5e-3, UNIT_SECONDS, 0 },
	{ SCYLLA, "", "write.max", 115.7e-3, UNIT_SECONDS, 0 },
	{ SCYLLA, "", "errors", 0, UNIT_COUNT, 0 },
	{ SCYLLA, "", "runtime", 3, UNIT_SECONDS, 0 },
	{ SYSBENCH_0, "", "throughput", 22522.33, UNIT_RATE, 0 },
	{ SYSBENCH_0, "", "transactions", 1351359, UNIT_COUNT, 0 },
	{ SYSBENCH_0, "", "deadlocks", 0, UNIT_COUNT, 0 },
	{ SYSBENCH_0, "", "latency.mean", 1.42e-3, UNIT_SECONDS, 0 },
	{ SYSBENCH_0, "", "latency.min", 0.76e-3, UNIT_SECONDS, 0 },
	{ SYSBENCH_0, "", "latency.max", 4.35e-3, UNIT_SECONDS, 0 },
	{ SYSBENCH_0, "", "latency.p95", 1.69e-3, UNIT_SECONDS, 0 },
	{ SYSBENCH_0, "", "runtime", 60.0009, UNIT_SECONDS, 0 },
	{ SYSBENCH_1, "", "throughput", 735.99, UNIT_RATE, 0 },
	{ SYSBENCH_1, "", "queries.throughput", 14725.16, UNIT_RATE, 0 },
	{ SYSBENCH_1, "", "errors", 3, UNIT_COUNT, 0 },
	{ SYSBENCH_1, "", "latency.mean", 6.79e-3, UNIT_SECONDS, 0 },
	{ SYSBENCH_1, "", "latency.p95", 13.46e-3, UNIT_SECONDS, 0 },
	{ SYSBENCH_1, "", "latency.max", 26.81e-3, UNIT_SECONDS, 0 },
	{ SMACK, "", "select_index.operations", 100, UNIT_COUNT, 0 },
	{ SMACK, "", "select_index.max", 0.697, UNIT_SECONDS, 0 },
	{ SMACK, "", "select_index.min", 0.419, UNIT_SECONDS, 0 },
	{ SMACK, "", "select_index.throughput", 14.43, UNIT_RATE, 0 },
	{ SMACK, "", "select_primarykey.operations", 500, UNIT_COUNT, 0 },
	{ SMACK, "", "select_primarykey.max", 0.006, UNIT_SECONDS, 0 },
	{ SMACK, "", "select_primarykey.min", 0, UNIT_SECONDS, 0 },
	{ SMACK, "", "select_primarykey.throughput", 72.15, UNIT_RATE, 0 },
	{ SMACK, "", "throughput", NAN, UNIT_NONE, 0 },
	{ SMACK, "", "select_index.mean", NAN, UNIT_NONE, 0 },
	{ SLAP, "", "runtime.mean", 8.753, UNIT_SECONDS, 0 },
	{ SLAP, "", "runtime.min", 8.753, UNIT_SECONDS, 0 },
	{ SLAP, "", "runtime.max", 8.753, UNIT_SECONDS, 0 },
	{ SLAP, "", "throughput", 1000 / 8.753, UNIT_RATE, METRIC_DERIVED },
	{ MEMTIER_2, "", "throughput", 16209.81, UNIT_RATE, 0 },
	{ MEMTIER_2, "", "latency.mean", 12.334e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_2, "", "bandwidth", 1029644.85 * 1024, UNIT_BYTE_RATE, 0 },
	{ MEMTIER_2, "", "set.throughput", 1480.71, UNIT_RATE, 0 },
	{ MEMTIER_2, "", "set.mean", 34.984e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_2, "", "get.throughput", 14729.10, UNIT_RATE, 0 },
	{ MEMTIER_2, "", "get.mean", 10.057e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_2, "", "misses", 0, UNIT_RATE, 0 },
	{ MEMTIER_4, "", "throughput", 62355.66, UNIT_RATE, 0 },
	{ MEMTIER_4, "", "hits", 62337.56, UNIT_RATE, 0 },
	{ MEMTIER_4, "", "misses", 18.10, UNIT_RATE, 0 },
	{ MEMTIER_4, "", "latency.mean", 3.20683e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_4, "", "latency.p50", 2.863e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_4, "", "latency.p99", 8.575e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_4, "", "latency.p99.9", 12.991e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_4, "", "latency.p99.99", 95.743e-3, UNIT_SECONDS, 0 },
	{ MEMTIER_4, "", "set.throughput", 0, UNIT_RATE, 0 },
	{ MEMTIER_4, "", "set.mean", NAN, UNIT_NONE, 0 },
	{ REDIS_5, "", "set.throughput", 30883.26, UNIT_RATE, 0 },
	{ REDIS_5, "", "get.throughput", 34293.55, UNIT_RATE, 0 },
	{ REDIS_5, "", "set.p99", 3e-3, UNIT_SECONDS, METRIC_BOUND },
	{ REDIS_5, "", "set.p50", 2e-3, UNIT_SECONDS, METRIC_BOUND },
	{ REDIS_5, "", "get.p50", 1e-3, UNIT_SECONDS, METRIC_BOUND },
	{ REDIS_5, "", "get.p99.9", 2e-3, UNIT_SECONDS, METRIC_BOUND },
	{ REDIS_6, "", "set.throughput", 139275.77, UNIT_RATE, 0 },
	{ REDIS_6, "", "set.p50", 0.191e-3, UNIT_SECONDS, 0 },
	{ REDIS_6, "", "get.throughput", 149925.03, UNIT_RATE, 0 },
	{ REDIS_6, "", "get.p50", 0.175e-3, UNIT_SECONDS, 0 },
	{ REDIS_7, REDIS_RUN1, "set.throughput", 110132.16, UNIT_RATE, 0 },
	{ REDIS_7, REDIS_RUN1, "get.throughput", 97087.38, UNIT_RATE, 0 },
	{ REDIS_7, REDIS_RUN1, "set.p99", 0.575e-3, UNIT_SECONDS, 0 },
	{ REDIS_7, REDIS_RUN1, "get.p99", 0.719e-3, UNIT_SECONDS, 0 },
	{ REDIS_7, REDIS_RUN2, "set.throughput", 735294.06, UNIT_RATE, 0 },
	{ REDIS_7, REDIS_RUN2, "get.throughput", 1408450.62, UNIT_RATE, 0 },
	{ REDIS_7, REDIS_RUN2, "set.p99", 1.679e-3, UNIT_SECONDS, 0 },
	{ REDIS_7, REDIS_RUN2, "get.p99", 0.727e-3, UNIT_SECONDS, 0 },
	{ WRK, WRK_RUN1, "throughput", 3905.10, UNIT_RATE, 0 },
	{ WRK, WRK_RUN1, "latency.mean", 63.02e-3, UNIT_SECONDS, 0 },
	{ WRK, WRK_RUN1, "latency.max", 344.36e-3, UNIT_SECONDS, 0 },
	{ WRK, WRK_RUN1, "errors", 274, UNIT_COUNT, 0 },
	{ WRK, WRK_RUN1, "bandwidth", 0.85 * (1 << 20), UNIT_BYTE_RATE, 0 },
	{ WRK, WRK_RUN2, "throughput", 5059.82, UNIT_RATE, 0 },
	{ WRK, WRK_RUN2, "latency.mean", 47.82e-3, UNIT_SECONDS, 0 },
	{ WRK, WRK_RUN2, "latency.max", 284.28e-3, UNIT_SECONDS, 0 },
	{ WRK, WRK_RUN2, "errors", 290, UNIT_COUNT, 0 },
	{ WRK2, "", "throughput", 22515.92, UNIT_RATE, 0 },
	{ WRK2, "", "errors", 3122, UNIT_COUNT, 0 },
	{ WRK2, "", "latency.mean", 3.83e-3, UNIT_SECONDS, 0 },
	{ WRK2, "", "runtime", 60, UNIT_SECONDS, 0 },
	{ AB, "", "throughput", 7.21, UNIT_RATE, 0 },
	{ AB, "", "latency.mean", 693.102e-3, UNIT_SECONDS, 0 },
	{ AB, "", "latency.p50", 670e-3, UNIT_SECONDS, 0 },
	{ AB, "", "latency.p90", 748e-3, UNIT_SECONDS, 0 },
	{ AB, "", "latency.p95", 771e-3, UNIT_SECONDS, 0 },
	{ AB, "", "latency.p99", 898e-3, UNIT_SECONDS, 0 },
	{ AB, "", "latency.max", 898e-3, UNIT_SECONDS, 0 },
	{ AB, "", "errors", 3, UNIT_COUNT, 0 },
	{ AB, "", "non2xx", 3, UNIT_COUNT, 0 },
	{ PGBENCH_10, "", "throughput", 6862.216178, UNIT_RATE, 0 },
	{ PGBENCH_10, "", "connecting.throughput", 6861.908486, UNIT_RATE, 0 },
	{ PGBENCH_10, "", "latency.mean", 3.643e-3, UNIT_SECONDS, 0 },
	{ PGBENCH_10, "", "latency.stddev", NAN, UNIT_NONE, 0 },
	{ PGBENCH_11, "", "throughput", 752.532201, UNIT_RATE, 0 },
	{ PGBENCH_11, "", "connecting.throughput", 752.528022, UNIT_RATE, 0 },
	{ PGBENCH_11, "", "latency.mean", 10.629e-3, UNIT_SECONDS, 0 },
	{ PGBENCH_11, "", "latency.stddev", 14.724e-3, UNIT_SECONDS, 0 },
	{ FIO_18, "", "read.throughput", 67400, UNIT_RATE, 0 },
	{ FIO_18, "", "read.iops.mean", 68316.38, UNIT_RATE, 0 },
	{ FIO_18, "", "read.bandwidth", 1053.0 * (1 << 20), UNIT_BYTE_RATE, 0 },
	{ FIO_18, "", "read.mean", 144.90e-6, UNIT_SECONDS, 0 },
	{ FIO_18, "", "read.p50", 96e-6, UNIT_SECONDS, 0 },
	{ FIO_18, "", "read.p99", 742e-6, UNIT_SECONDS, 0 },
	{ FIO_18, "", "read.p99.9", 1237e-6, UNIT_SECONDS, 0 },
	{ FIO_27, "", "read.throughput", 272000, UNIT_RATE, 0 },
	{ FIO_27, "", "read.mean", 55360.06e-9, UNIT_SECONDS, 0 },
	{ FIO_27, "", "read.p99", 104e-6, UNIT_SECONDS, 0 },
	{ FIO_27, "", "write.throughput", 74800, UNIT_RATE, 0 },
	{ FIO_27, "", "write.mean", 200837.48e-9, UNIT_SECONDS, 0 },
	{ FIO_27, "", "write.max", 1015.1e-6, UNIT_SECONDS, 0 },
	{ HYPER_BAD, "", "errors", 3, UNIT_COUNT, 0 },
};

/* Series of values, and summaries where n is that of the values. */
static const struct {
	const char *file, *label, *name;
	size_t n;
	double values[4];
} series[] = {
	{ GOOGLE, "", "runtime", 2, { 1639227.2438353568e-9, 1714393.6117703272e-9 } },
	{ GOOGLE, "", "cpu_time", 2, { 1638741.2935323382e-9, 1712400.4975124374e-9 } },
	{ HYPER, "true", "runtime", 4,
	        { 0.006295815000000001, 0.010114709000000001, 0.008117273000000001, 0.007462344 } },
	{ HYPER, "sleep 0.01", "runtime", 4,
	        { 0.014826338000000001, 0.016219629, 0.01657078, 0.020903034 } },
	{ HYPER_BAD, "", "runtime", 3, { 0, 0.00309483866, 0.00409593166 } },
	{ NUMBERS, "", "value", 4, { 10.1, 10.2, 10.3, 10.4 } },
	{ NUMBERS_B, "", "value", 4, { 11.1, 11.2, 11.0, 11.3 } },
};

static const struct {
	const char *file, *label;
	size_t n;
	double min, max, median, mean, stddev;
} summaries[] = {
	{ PUBLISHED, "x", 30, 44790.57, 48609.38, 45831.065, 45910.616, 745.54679 },
	{ PUBLISHED, "+", 30, 60521.95, 73090.6, 66008.135, 66254.815, 1953.4324 },
	{ GOLDEN, "m1", 4, 10.1, 10.4, 10.3, 10.25, 0.12909944 },
	{ GOLDEN, "m2", 4, 11, 11.3, 11.2, 11.15, 0.12909944 },
	{ NO_SPREAD, "m6", 4, 5, 5, 5, 5, 0 },
	{ NO_SPREAD, "m7", 3, 5, 5, 5, 5, 0 },
};

START_TEST(files_are_recognised_and_judged)
{
	struct output *output = must_read(files[_i].file);
	const struct result *result = &output->results[0];
	ck_assert_str_eq(output->parser->name, files[_i].parser);
	ck_assert_str_eq(output->version, files[_i].version);
	ck_assert_uint_eq(output->result_count, files[_i].results);
	ck_assert_uint_eq(result->errors, files[_i].errors);
	ck_assert_msg(
	        result->incomplete == files[_i].incomplete && result->invalid == files[_i].invalid,
	        "%s: %s", files[_i].file, result->why);
	ck_assert_int_eq(result->why[0] != '\0', result->incomplete || result->invalid);
	output_free(output);
}
END_TEST

START_TEST(metrics_are_found)
{
	struct output *output = must_read(metrics[_i].source);
	expect_metric(output, &metrics[_i]);
	output_free(output);
}
END_TEST

START_TEST(series_are_found)
{
	struct output *output = must_read(series[_i].file);
	const struct result *result = result_labelled(output, series[_i].label);
	const struct series *found = NULL;
	for (size_t i = 0; i < result->series_count; i++)
		if (strcmp(result->series[i].name, series[_i].name) == 0)
			found = &result->series[i];
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->count, series[_i].n);
	for (size_t i = 0; i < found->count; i++)
		ck_assert(is_close(found->values[i], series[_i].values[i]));
	ck_assert_uint_eq(result->summary_count, 0);
	output_free(output);
}
END_TEST

START_TEST(summaries_are_found)
{
	struct output *output = must_read(summaries[_i].file);
	const struct result *result = result_labelled(output, summaries[_i].label);
	ck_assert_uint_eq(result->summary_count, 1);
	const struct summary *found = &result->summaries[0];
	ck_assert_str_eq(found->name, "value");
	ck_assert_uint_eq(found->n, summaries[_i].n);
	ck_assert(is_close(found->min, summaries[_i].min));
	ck_assert(is_close(found->max, summaries[_i].max));
	ck_assert(is_close(found->median, summaries[_i].median));
	ck_assert(is_close(found->mean, summaries[_i].mean));
	ck_assert(is_close(found->stddev, summaries[_i].stddev));
	output_free(output);
}
END_TEST

START_TEST(a_column_of_numbers_is_chosen)
{
	char why[WHY_SIZE];
	struct output *output = output_read_column("tests/data/outputs/" COLUMNS, 2, NULL, why);
	ck_assert_msg(output != NULL, "%s", why);
	const struct series *found = &output->results[0].series[0];
	static const double values[] = { 100, 110, 105, 108 };
	ck_assert_uint_eq(found->count, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_double_eq(found->values[i], values[i]);
	output_free(output);
	ck_assert_ptr_null(output_read_column("tests/data/outputs/" COLUMNS, 1, NULL, why));
	ck_assert_ptr_nonnull(strstr(why, COLUMNS ":1: 'run1' in column 1"));
}
END_TEST

START_TEST(columns_are_parted_by_other_delimiters)
{
	char why[WHY_SIZE], path[] = "/tmp/check_loader_parse.XXXXXX";
	static const char text[] = "a;1,5\nb; 2 ,6;c\n\n;;#;3\nc;\n";
	int file = mkstemp(path);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(write(file, text, sizeof(text) - 1), sizeof(text) - 1);
	close(file);
	struct output *output = output_read_column(path, 2, ";,", why);
	unlink(path);
	ck_assert_msg(output != NULL, "%s", why);
	const struct series *found = &output->results[0].series[0];
	ck_assert_uint_eq(found->count, 2);
	ck_assert_double_eq(found->values[0], 1);
	ck_assert_double_eq(found->values[1], 2);
	output_free(output);
}
END_TEST

START_TEST(a_bad_number_is_told_with_its_line)
{
	char why[WHY_SIZE];
	ck_assert_ptr_null(read_file(BAD_TOKEN, why));
	ck_assert_str_eq(
	        why, "tests/data/outputs/" BAD_TOKEN ":6: 'x6' in column 1; a number is needed");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outputs of tools");
	TCase *tcase = tcase_create("samples");
	tcase_add_loop_test(tcase, files_are_recognised_and_judged, 0, COUNT(files));
	tcase_add_loop_test(tcase, metrics_are_found, 0, COUNT(metrics));
	tcase_add_loop_test(tcase, series_are_found, 0, COUNT(series));
	tcase_add_loop_test(tcase, summaries_are_found, 0, COUNT(summaries));
	tcase_add_test(tcase, a_column_of_numbers_is_chosen);
	tcase_add_test(tcase, columns_are_parted_by_other_delimiters);
	tcase_add_test(tcase, a_bad_number_is_told_with_its_line);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
