/*
 * Formats of the tools' other versions, tests and options, and their own errors. The texts are
 * written for this test after the formats that the tools print.
 */
#include "tests/outputs.h"

static const struct result *first(const struct output *output)
{
	return &output->results[0];
}

static void expect_state(const struct output *output, size_t results, bool incomplete, bool invalid)
{
	const struct result *last = output_last(output);
	ck_assert_uint_eq(output->result_count, results);
	ck_assert_msg(last->incomplete == incomplete && last->invalid == invalid, "%s: '%s'",
	        output->parser->name, last->why);
}

/* The text is read as that parser; its last result is not INCOMPLETE and not invalid. */
static struct output *complete(const char *parser, const char *text)
{
	struct output *output = read_as(parser, text);
	expect_state(output, output->result_count, false, false);
	return output;
}

static void incomplete(const char *parser, const char *text, size_t results)
{
	struct output *output = read_as(parser, text);
	expect_state(output, results, true, false);
	output_free(output);
}

static void invalid(const char *parser, const char *text, const char *why)
{
	struct output *output = read_as(parser, text);
	ck_assert_msg(output_last(output)->invalid, "%s", text);
	ck_assert_msg(
	        strstr(output_last(output)->why, why) != NULL, "'%s'", output_last(output)->why);
	output_free(output);
}

#define YCSB_READ                                                                                  \
	"[READ], Operations, 10\n[READ], AverageLatency(us), 5.5\n[READ], MinLatency(us), 1\n"     \
	"[READ], MaxLatency(us), 9\n"
#define YCSB_HEAD "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 10.0\n"

START_TEST(ycsb_runs_sections_and_percentiles)
{
	struct output *output = complete("ycsb",
	        "YCSB Client 0.17.0\n\t" YCSB_HEAD YCSB_READ
	        "[READ], 50thPercentileLatency(us), 5\n[READ], 99.9PercentileLatency(us), 8\n"
	        "[READ], Return=OK, 7\n[READ], Return=NOT_FOUND, 3\n"
	        "[READ-FAILED], Operations, 3\n[READ-FAILED], AverageLatency(us), 1\n"
	        "[READ-FAILED], 50thPercentileLatency(us), 5\n"
	        "[READ-FAILED], 99.9PercentileLatency(us), 8\n" YCSB_HEAD YCSB_READ
	        "[READ], 50thPercentileLatency(us), 6\n[READ], 99.9PercentileLatency(us), 9\n");
	ck_assert_str_eq(output->version, "0.17.0");
	expect_state(output, 2, false, false);
	expect(output, "run=1", "read.median", 5e-6);
	expect(output, "run=1", "read.p99.9", 8e-6);
	expect(output, "run=1", "errors", 3);
	expect(output, "run=2", "read.median", 6e-6);
	expect(output, "run=2", "errors", 0);
	output_free(output);
}
END_TEST

START_TEST(ycsb_other_measurements)
{
	struct output *output = complete("ycsb",
	        YCSB_HEAD "[READ], Operations, 10\n[READ], AverageLatency(ms), 0.5\n"
	                  "[READ], 0, 7\n[READ], >1000, 3\n");
	expect(output, "", "read.mean", 0.5e-3);
	output_free(output);
	output = read_as("ycsb",
	        "2020-01-10 16:30:10:213 520 sec: 972048 operations; 1866.7 current ops/sec; est "
	        "completion in 15 seconds [INSERT: Count=18667] [INSERT-FAILED: Count=2, Max=1]\n"
	        "2020-01-10 16:30:20:213 530 sec: 972050 operations; 0,2 current ops/sec; "
	        "[INSERT-FAILED: Count=5, Max=1] \n");
	expect_state(output, 1, true, false);
	expect(output, "", "errors", 7);
	expect(output, "", "status.operations", 972050);
	expect(output, "", "status.throughput", NAN);
	expect(output, "", "throughput", NAN);
	output_free(output);
	incomplete("ycsb", YCSB_HEAD, 1);
	incomplete("ycsb", YCSB_HEAD "[READ], Operations, 10\n", 1);
	incomplete("ycsb", YCSB_HEAD YCSB_READ, 1);
	incomplete("ycsb", YCSB_HEAD YCSB_READ "[READ], 95thPercentileLatency(us), 8", 1);
}
END_TEST

#define STRESS_ROW "total,        100000,   11688,   11688,   11688,     0.3,     0.3\n"

START_TEST(cassandra_stress_of_other_versions)
{
	struct output *output = complete("cassandra-stress",
	        "total,interval_op_rate,interval_key_rate,avg_latency,elapsed_time\n"
	        "50000,5000,5000,0.0001,10\n90000,4000,4000,0.0001,18\nEND\n");
	const struct metric *rate = result_metric(first(output), "throughput");
	ck_assert_double_eq(rate->value, 5000);
	ck_assert_uint_eq(rate->flags, METRIC_DERIVED);
	expect(output, "", "runtime", 18);
	output_free(output);
	output = complete("cassandra-stress",
	        "Results:\nreal op rate              : 26041\nadjusted op rate          : 26000\n"
	        "adjusted op rate stderr   : 0\nkey rate                  : 26041\n"
	        "latency mean              : 1.5 [READ:1.4, WRITE:1.6]\n"
	        "latency 99.9th percentile : 12.0\nTotal operation time      : 01:00:30\nEND\n");
	expect(output, "", "throughput", 26041);
	expect(output, "", "latency.mean", 1.5e-3);
	expect(output, "", "read.mean", 1.4e-3);
	expect(output, "", "write.mean", 1.6e-3);
	expect(output, "", "latency.p99.9", 12e-3);
	expect(output, "", "runtime", 3630);
	output_free(output);
}
END_TEST

START_TEST(cassandra_stress_that_fails_or_stops)
{
	invalid("cassandra-stress",
	        "Results:\nOp rate : 1 op/s\nTotal errors : 5\nTotal operation time : 00:00:01\n"
	        "FAILURE\n",
	        "FAILURE");
	incomplete("cassandra-stress", "Results:\nOp rate : 1,000 op/s\n", 1);
	incomplete("cassandra-stress", "type       total ops,    op/s\n" STRESS_ROW, 1);
	struct output *output = read_as("cassandra-stress",
	        "Running with 4 threadCount\n" STRESS_ROW
	        "Results:\nOp rate : 1,000 op/s [READ: 600 op/s, WRITE: 400 op/s]\n"
	        "Total operation time : 00:00:01\nRunning with 8 threadCount\n" STRESS_ROW);
	expect_state(output, 2, true, false);
	ck_assert(!first(output)->incomplete);
	expect(output, "threads=4", "throughput", 1000);
	expect(output, "threads=4", "write.throughput", 400);
	expect(output, "threads=8", "throughput", NAN);
	output_free(output);
}
END_TEST

#define SYSBENCH_HEAD                                                                              \
	"sysbench 1.0.20 (using LuaJIT)\n\nRunning the test with following options:\n"             \
	"Number of threads: 2\nThreads started!\n"
#define SYSBENCH_TAIL                                                                              \
	"General statistics:\n    total time:                          2.0s\n"                     \
	"    total number of events:              10\n\nLatency (ms):\n"                           \
	"         min:  0.10\n         avg:  0.20\n         max:  1.00\n"                          \
	"         99th percentile:  0.90\n         sum:  2.0\n\n"                                  \
	"Threads fairness:\n    events (avg/stddev):  5.0/0.00\n"                                  \
	"    execution time (avg/stddev):   1.0/0.00\n"

START_TEST(sysbench_tests)
{
	struct output *output = complete("sysbench",
	        SYSBENCH_HEAD "CPU speed:\n    events per second:  1234.56\n\n" SYSBENCH_TAIL);
	expect(output, "", "throughput", 1234.56);
	expect(output, "", "latency.p99", 0.9e-3);
	output_free(output);
	output = complete("sysbench", SYSBENCH_HEAD SYSBENCH_TAIL); /* mutex, threads */
	const struct metric *rate = result_metric(first(output), "throughput");
	ck_assert_double_eq(rate->value, 5);
	ck_assert_uint_eq(rate->flags, METRIC_DERIVED);
	output_free(output);
	output = complete("sysbench",
	        SYSBENCH_HEAD "Total operations: 1048576 (2193846.20 per second)\n\n"
	                      "1024.00 MiB transferred (100.50 MiB/sec)\n\n" SYSBENCH_TAIL);
	expect(output, "", "throughput", 2193846.20);
	expect(output, "", "bandwidth", 100.5 * (1 << 20));
	output_free(output);
	output = complete("sysbench",
	        SYSBENCH_HEAD "File operations:\n    reads/s:    12.5\n    writes/s:   8.0\n"
	                      "    fsyncs/s:   1.5\n\nThroughput:\n    read, MiB/s:   2.0\n"
	                      "    written, MiB/s:  1.0\n\n" SYSBENCH_TAIL);
	expect(output, "", "read.throughput", 12.5);
	expect(output, "", "fsync.throughput", 1.5);
	expect(output, "", "read.bandwidth", 2.0 * (1 << 20));
	output_free(output);
}
END_TEST

START_TEST(sysbench_of_other_versions)
{
	struct output *output = complete("sysbench",
	        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nDone.\n\n"
	        "Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total\n"
	        "Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (41.25Mb/sec)\n"
	        " 2637.24 Requests/sec executed\n\nTest execution summary:\n"
	        "    total time:                          3.79s\n"
	        "    per-request statistics:\n         avg:                0.20ms\n"
	        "         approx.  95 percentile:   0.50ms\n\nThreads fairness:\n"
	        "    execution time (avg/stddev):   1.0/0.00\n");
	expect(output, "", "throughput", 2637.24);
	expect(output, "", "bandwidth", 41.25 * (1 << 20));
	expect(output, "", "latency.p95", 0.5e-3);
	output_free(output);
	output = complete("sysbench",
	        "sysbench 1.1.0\n    transactions:  10 (5.00 per sec.)\nThroughput:\n"
	        "    events/s (eps):        5.0001\n    time elapsed:        2.0s\n"
	        "    total number of events: 10\n    execution time (avg/stddev): 1/0\n");
	expect(output, "", "throughput", 5);
	expect(output, "", "runtime", 2);
	output_free(output);
	output = complete("sysbench",
	        "sysbench 1.1.0\nThroughput:\n    events/s (eps):        5.0001\n"
	        "    time elapsed:        2.0s\n    execution time (avg/stddev): 1/0\n");
	expect(output, "", "throughput", 5.0001);
	output_free(output);
	output = complete("sysbench", SYSBENCH_HEAD SYSBENCH_TAIL SYSBENCH_HEAD SYSBENCH_TAIL);
	ck_assert_uint_eq(output->result_count, 2);
	ck_assert_str_eq(output->results[0].label, "threads=2");
	ck_assert_str_eq(output->results[1].label, "threads=2");
	output_free(output);
	invalid("sysbench", SYSBENCH_HEAD "FATAL: unable to connect to server\n",
	        "unable to connect");
	incomplete("sysbench", SYSBENCH_HEAD "[ 10s ] thds: 2 tps: 5.00 qps: 5.00\n", 1);
}
END_TEST

START_TEST(super_smack_and_mysqlslap)
{
	struct output *output =
	        complete("super-smack", "Query Barrel Report for client smacker\n"
	                                "connect: max=3ms  min=0ms avg= 1ms from 10 clients \n"
	                                "Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s \n"
	                                "select_akey\t1000\t16\t2\t497.42\n");
	expect(output, "", "connect.mean", 1e-3);
	expect(output, "", "select_akey.throughput", 497.42);
	output_free(output);
	incomplete("super-smack", "Query_type num_queries max_time min_time q_per_s\n", 1);
	output = complete("mysqlslap",
	        "Benchmark\n\tRunning for engine innodb\n"
	        "\tAverage number of seconds to run all queries: 2.000 seconds\n"
	        "\tNumber of clients running queries: 50\n"
	        "\tAverage number of queries per client: 20\n\n"
	        "Benchmark\n\tRunning for engine myisam\n"
	        "\tAverage number of seconds to run all queries: 4.000 seconds\n"
	        "\tNumber of clients running queries: 50\n"
	        "\tAverage number of queries per client: 20\n");
	expect(output, "engine=innodb clients=50 queries=20", "throughput", 500);
	expect(output, "engine=myisam clients=50 queries=20", "throughput", 250);
	output_free(output);
	invalid("mysqlslap", "mysqlslap: Error when connecting to server: 2002\n", "2002");
	incomplete("mysqlslap",
	        "Benchmark\n\tAverage number of seconds to run all queries: 2.000 seconds\n", 1);
}
END_TEST

#define MEMTIER_TABLE                                                                              \
	"Type         Ops/sec     Hits/sec   Misses/sec    MOVED/sec    Latency       KB/sec\n"    \
	"----\nSets  10.00  ---  ---  0.00  1.50000  1.00\n"                                       \
	"Totals  10.00  0.00  0.00  0.00  1.50000  1.00\n\n"                                       \
	"Request Latency Distribution\nType     <= msec         Percent\n----\n"                   \
	"SET       2.300        50.00\n"

START_TEST(memtier_runs)
{
	struct output *output = complete("memtier",
	        "BEST RUN RESULTS\n====\n" MEMTIER_TABLE "SET  3.000  100.00\n\n"
	        "WORST RUN RESULTS\n====\n" MEMTIER_TABLE "SET  3.000  100.00\n---\n");
	expect_state(output, 2, false, false);
	expect(output, "best_run_results", "throughput", 10);
	expect(output, "worst_run_results", "set.mean", 1.5e-3);
	output_free(output);
	incomplete("memtier", MEMTIER_TABLE, 1);
	incomplete("memtier", "Type Ops/sec Hits/sec KB/sec\nSets 1 2 3\n", 1);
}
END_TEST

#define REDIS_HEAD                                                                                 \
	"====== SET ======\n  100000 requests completed in 0.91 seconds\n"                         \
	"  50 parallel clients\n  3 bytes payload\n  keep alive: 1\n\n"                            \
	"Latency by percentile distribution:\n0.000% <= 0.071 milliseconds (cumulative count 3)\n" \
	"100.000% <= 1.079 milliseconds (cumulative count 100000)\n\n"                             \
	"Cumulative distribution of latencies:\n99.000% <= 0.103 milliseconds (cumulative count "  \
	"165)\n\nSummary:\n"
#define REDIS_TAIL                                                                                 \
	"  throughput summary: 110132.16 requests per second\n  latency summary (msec):\n"         \
	"          avg       min       p50       p95       p99       max\n"                        \
	"        0.272     0.080     0.239     0.463     0.575     1.079\n\n"

START_TEST(redis_benchmark_reports)
{
	struct output *output =
	        complete("redis-benchmark", REDIS_HEAD REDIS_TAIL "====== MSET (10 keys) ======\n"
	                                                          "  12.50 requests per second\n");
	expect(output, "", "set.throughput", 110132.16);
	expect(output, "", "set.p99", 0.575e-3);
	ck_assert_uint_eq(result_metric(first(output), "set.p99")->flags, 0);
	expect(output, "", "mset.throughput", 12.5);
	output_free(output);
	output = complete("redis-benchmark", REDIS_HEAD REDIS_TAIL REDIS_HEAD REDIS_TAIL);
	expect(output, "run=1", "set.mean", 0.272e-3);
	expect(output, "run=2", "set.mean", 0.272e-3);
	output_free(output);
	incomplete("redis-benchmark", REDIS_HEAD, 1);
	incomplete("redis-benchmark",
	        REDIS_HEAD "  throughput summary: 110132.16 requests per second\n", 1);
	output = complete("redis-benchmark",
	        "\"PING_INLINE\",\"110132.16\"\n\"MSET (10 keys)\",\"97087.38\"\n"
	        "\"LPUSH\",\"2\"\n\"LPUSH (needed to benchmark LRANGE)\",\"1\"\n");
	expect(output, "", "needed.lpush.throughput", 1);
	expect(output, "", "ping_inline.throughput", 110132.16);
	expect(output, "", "mset.throughput", 97087.38);
	output_free(output);
	output = read_as("redis-benchmark",
	        "Error from server: MISCONF no disk\nSET: 5.00 requests per second\n");
	expect(output, "", "errors", 1);
	output_free(output);
}
END_TEST

#define WRK_HEAD                                                                                   \
	"Running 2m test @ http://h:80\n  2 threads and 500 connections\n"                         \
	"  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"                                    \
	"    Latency    14.01ms   45.76ms   1.71s    97.88%\n"                                     \
	"    Req/Sec    11.72k     6.42k   35.48k    73.02%\n"
#define WRK_TAIL                                                                                   \
	"  2784758 requests in 2.00m, 332.47MB read\n  Non-2xx or 3xx responses: 4\n"              \
	"Requests/sec:  23191.27\nTransfer/sec:      2.77MB\n"

START_TEST(wrk_and_wrk2_distributions)
{
	struct output *output = complete("wrk", WRK_HEAD
	        "  Latency Distribution\n     50%  635.91us\n     99%   91.51ms\n" WRK_TAIL);
	expect(output, "", "latency.median", 635.91e-6);
	expect(output, "", "latency.p99", 91.51e-3);
	expect(output, "", "latency.max", 1.71);
	expect(output, "", "runtime", 120);
	expect(output, "", "errors", 4);
	output_free(output);
	incomplete("wrk", WRK_HEAD, 1);
	output = complete("wrk2",
	        WRK_HEAD "  Latency Distribution (HdrHistogram - Recorded Latency)\n"
	                 " 50.000%    1.37ms\n 99.900%    5.72ms\n100.000%   12.93ms\n\n"
	                 "  Detailed Percentile spectrum:\n"
	                 "       0.067     0.000000            1         1.00\n"
	                 "  Latency Distribution (HdrHistogram - Uncorrected Latency)\n"
	                 " 50.000%    0.37ms\n" WRK_TAIL);
	expect(output, "", "latency.median", 1.37e-3);
	expect(output, "", "latency.p99.9", 5.72e-3);
	output_free(output);
}
END_TEST

#define AB_HEAD                                                                                    \
	"This is ApacheBench, Version 2.3\nDocument Path: /\nConcurrency Level: 5\n"               \
	"Time taken for tests: 1.5 seconds\nComplete requests: 100\nFailed requests: 0\n"          \
	"Requests per second: 66.67 [#/sec] (mean)\n"                                              \
	"Time per request: 75.0 [ms] (mean)\n"
#define AB_TIMES                                                                                   \
	"\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n"                   \
	"Total:        433  668  70.9    670     898\n"

START_TEST(ab_and_its_ends)
{
	struct output *output = complete("ab", AB_HEAD AB_TIMES);
	expect(output, "", "errors", 0);
	expect(output, "", "latency.mean", 75e-3);
	output_free(output);
	incomplete("ab", AB_HEAD, 1);
	incomplete("ab",
	        AB_HEAD AB_TIMES "\nPercentage of the requests served within a certain time (ms)\n"
	                         "  50%    670\n",
	        1);
	invalid("ab",
	        "This is ApacheBench, Version 2.3\nBenchmarking h (be patient)...\n"
	        "apr_socket_recv: Connection refused (111)\n",
	        "Connection refused");
}
END_TEST

#define PGBENCH_HEAD                                                                               \
	"pgbench (15.6)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 1\n"        \
	"number of clients: 10\nnumber of threads: 2\n"                                            \
	"number of transactions actually processed: 5000/5000\n"                                   \
	"number of failed transactions: 2 (0.040%)\nlatency average = 18.395 ms\n"

START_TEST(pgbench_of_other_versions)
{
	struct output *output = complete("pgbench",
	        PGBENCH_HEAD "initial connection time = 21.214 ms\n"
	                     "tps = 543.590099 (without initial connection time)\n"
	                     "SQL script 1: a.sql\n - weight: 1 (targets 50.0% of total)\n"
	                     " - 123 transactions (50% of total, tps = 12.3)\n"
	                     " - latency average = 1.0 ms\n");
	expect(output, "", "throughput", 543.590099);
	expect(output, "", "transactions", 5000);
	expect(output, "", "errors", 2);
	expect(output, "", "connect.time", 21.214e-3);
	expect(output, "", "latency.mean", 18.395e-3);
	output_free(output);
	output = complete("pgbench",
	        "transaction type: x\nnumber of clients: 1\nlatency average: 3.5 ms\n"
	        "tps = 2.5 (including connections establishing)\n"
	        "tps = 2.6 (excluding connections establishing)\n"
	        "transaction type: x\nnumber of clients: 2\n"
	        "tps = 3.5 (including reconnection times)\n");
	expect(output, "x clients=1", "latency.mean", 3.5e-3);
	expect(output, "x clients=1", "throughput", 2.6);
	expect(output, "x clients=2", "throughput", 3.5);
	output_free(output);
	incomplete("pgbench", PGBENCH_HEAD, 1);
	incomplete("pgbench",
	        PGBENCH_HEAD "tps = 5 (without initial connection time)\n"
	                     "pgbench: error: Run was aborted; the above results are incomplete.\n",
	        1);
	invalid("pgbench",
	        "pgbench: error: connection to server failed\ntransaction type: x\n"
	        "tps = 1 (without initial connection time)\n",
	        "connection to server failed");
}
END_TEST

#define FIO_JOB(name, error, rate)                                                                 \
	name ": (groupid=0, jobs=1): err=" error ": pid=1: Sun\n"                                  \
	     "  read : io=126363MB, bw=2106.2MB/s, iops=" rate ", runt= 60001msec\n"               \
	     "    clat (usec): min=3, max=70, avg=13.73, stdev= 5.47\n"                            \
	     "    lat (usec) : 4=0.01%, 10=27.45%\n"                                               \
	     "    bw (KB  /s): min=    1, max=272656, per=12.39%, avg=267098.46, stdev=25744.54\n"

START_TEST(fio_of_version_2_and_several_jobs)
{
	struct output *output = complete("fio",
	        "fio-2.1.9\n" FIO_JOB("one", " 0", "100") FIO_JOB("one", " 0", "200")
	                FIO_JOB("two", " 0", "300") "\nRun status group 0 (all jobs):\n");
	expect_state(output, 3, false, false);
	expect(output, "one", "read.throughput", 100);
	expect(output, "one", "read.bandwidth", 2106.2 * (1 << 20));
	expect(output, "one", "read.bandwidth.mean", 267098.46 * 1024);
	expect(output, "one", "read.runtime", 60.001);
	expect(output, "one", "read.mean", 13.73e-6);
	expect(output, "one#2", "read.throughput", 200);
	expect(output, "two", "read.throughput", 300);
	output_free(output);
	invalid("fio",
	        FIO_JOB("one", "28 (file:io_u.c:1, error=No space)", "1") "Run status group 0\n",
	        "err=28");
}
END_TEST

START_TEST(json_without_repetitions)
{
	struct output *output = complete("google-benchmark",
	        "{\"context\":{\"num_cpus\":1},\"benchmarks\":["
	        "{\"name\":\"b_mean\",\"run_name\":\"b\",\"run_type\":\"aggregate\",\"iterations\":"
	        "5,"
	        "\"aggregate_name\":\"mean\",\"real_time\":3,\"cpu_time\":2,\"time_unit\":\"us\"},"
	        "{\"name\":\"b_stddev\",\"run_name\":\"b\",\"run_type\":\"aggregate\","
	        "\"iterations\":5,\"aggregate_name\":\"stddev\",\"real_time\":1,\"cpu_time\":1,"
	        "\"time_unit\":\"us\"}]}");
	const struct summary *summary = &first(output)->summaries[0];
	ck_assert_uint_eq(summary->n, 5);
	ck_assert(is_close(summary->mean, 3e-6) && is_close(summary->stddev, 1e-6));
	ck_assert(isnan(summary->median));
	output_free(output);
	invalid("google-benchmark",
	        "{\"context\":{\"num_cpus\":1},\"benchmarks\":[{\"name\":\"b\","
	        "\"error_occurred\":true,\"error_message\":\"no file\",\"time_unit\":\"ns\"}]}",
	        "no file");
	invalid("hyperfine",
	        "{\"results\":[{\"command\":\"c\",\"times\":[0.5,0],\"exit_codes\":[0,0]}]}",
	        "took no time");
	invalid("hyperfine",
	        "{\"results\":[{\"command\":\"c\",\"times\":[0.5,1],\"exit_codes\":[0,null]}]}",
	        "1 of 2 runs failed");
	incomplete("hyperfine", "{\"results\":[{\"command\":\"c\",\"times\":[0.5,", 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("versions of tools");
	TCase *tcase = tcase_create("texts");
	tcase_add_test(tcase, ycsb_runs_sections_and_percentiles);
	tcase_add_test(tcase, ycsb_other_measurements);
	tcase_add_test(tcase, cassandra_stress_of_other_versions);
	tcase_add_test(tcase, cassandra_stress_that_fails_or_stops);
	tcase_add_test(tcase, sysbench_tests);
	tcase_add_test(tcase, sysbench_of_other_versions);
	tcase_add_test(tcase, super_smack_and_mysqlslap);
	tcase_add_test(tcase, memtier_runs);
	tcase_add_test(tcase, redis_benchmark_reports);
	tcase_add_test(tcase, wrk_and_wrk2_distributions);
	tcase_add_test(tcase, ab_and_its_ends);
	tcase_add_test(tcase, pgbench_of_other_versions);
	tcase_add_test(tcase, fio_of_version_2_and_several_jobs);
	tcase_add_test(tcase, json_without_repetitions);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
