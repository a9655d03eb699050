/*
 * The middle 80 % of what cassandra-stress prints while it runs. The texts are written for this
 * test.
 */
#include "tests/outputs.h"

#define STRESS_END(kind)                                                                           \
	"Results:\nOp rate : 50 op/s [" kind ": 50 op/s]\nTotal operation time : 00:00:01\n"

/* Rows at 10 and at 90 % of what was asked for are not in the middle. */
START_TEST(cassandra_stress_middle_of_rows)
{
	struct output *output = read_as("cassandra-stress",
	        "Running WRITE with 4 threads for 1000 iteration\n"
	        "type       total ops, adj row/s,    op/s,   time\n"
	        "total,           100,   1,   1,   1.0\ntotal,           101,   1,  10,   2.0\n"
	        "WRITE,           500,   1,   7,   2.5\ntotal,           899,   1,  30,   3.0\n"
	        "total,           900,   1,   2,   4.0\n" STRESS_END(
	                "WRITE") "Running [insert] with 8 threads 2 minutes\n"
	                         "type,      total ops,    op/s,   time\n"
	                         "total,             1,   1,  12.0\ntotal,             2,  40,  "
	                         "12.1\n"
	                         "total,             3,  60, 107.9\ntotal,             4,   5, "
	                         "108.0\n" STRESS_END(
	                                 "insert") "Running [insert, simple] with 9 threads for "
	                                           "100 iteration\n"
	                                           "type       total ops,    op/s\ntotal,          "
	                                           "  50,   3\n" STRESS_END(
	                                                   "insert") "Running READ with 10 threads "
	                                                             "until stderr of mean < 0.02\n"
	                                                             "type       total ops,    "
	                                                             "op/s\ntotal,            50,  "
	                                                             " 3\n" STRESS_END("READ"));
	expect(output, "threads=4", "write.middle80.throughput", 20);
	expect(output, "threads=8", "insert.middle80.throughput", 50);
	expect(output, "threads=9", "middle80.throughput", 3);
	expect(output, "threads=10", "read.middle80.throughput", NAN);
	expect(output, "threads=10", "middle80.throughput", NAN);
	expect(output, "threads=10", "read.throughput", 50);
	output_free(output);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("middle of cassandra-stress");
	TCase *tcase = tcase_create("texts");
	tcase_add_test(tcase, cassandra_stress_middle_of_rows);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
