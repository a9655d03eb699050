/*
 * The text report's stacks of sampled waits, and its picture of how long waits were.
 */
#include "text_table.h"

#include "write.h"

#define BAR_WIDTH    50
#define FRAMES_SHOWN 10
#define STACKS_SHOWN 3 /* unless more rows are asked for: they are long */

static void print_chain(const struct view *view, const struct stack_row *row)
{
	static const char *const ends[] = {
		[STACK_COMPLETE] = "",
		[STACK_DEPTH] = "(cut at the depth of ABSHIM_STACKS)",
		[STACK_SIGNAL] = "(a signal handler)",
		[STACK_UNKNOWN] = "(code without unwind tables)",
	};
	uint32_t shown = row->depth < FRAMES_SHOWN ? row->depth : FRAMES_SHOWN;
	for (uint32_t i = 0; i < shown; i++) {
		struct place place;
		symbols_find_call(view->symbols, row->frames[i], &place);
		fprintf(view->out, "%*s", i == 0 ? 0 : TABLE_NAME_COLUMN, "");
		table_place(view, &place, TABLE_WIDTH - TABLE_NAME_COLUMN);
		fputc('\n', view->out);
	}
	if (shown < row->depth)
		fprintf(view->out, "%*s(%u more)\n", TABLE_NAME_COLUMN, "", row->depth - shown);
	else if (row->end < sizeof(ends) / sizeof(*ends) && ends[row->end][0] != '\0')
		fprintf(view->out, "%*s%s\n", TABLE_NAME_COLUMN, "", ends[row->end]);
}

/* The chains that waits were sampled with come first. */
static size_t count_chains(const struct model *model, uint64_t *wait_ns)
{
	size_t count = 0;
	for (; count < model->chain_count && model->chains[count].waits > 0; count++)
		*wait_ns += model->chains[count].wait_ns_total;
	return count;
}

static void print_sampling(const struct view *view)
{
	const struct model_gaps *gaps = &view->model->gaps;
	char taken[TEXT_NUMBER_SIZE], due[TEXT_NUMBER_SIZE], cost[TEXT_NUMBER_SIZE];
	fprintf(view->out, "  stacks of %s of %s waits and releases",
	        text_count(taken, gaps->stacks_taken), text_count(due, gaps->stacks_due));
	if (gaps->stacks_taken > 0)
		fprintf(view->out, "; taking one took %s",
		        text_duration(cost, gaps->stack_ns_total / gaps->stacks_taken));
	fputc('\n', view->out);
}

void table_of_stacks(const struct view *view)
{
	uint64_t wait_ns = 0;
	size_t count = count_chains(view->model, &wait_ns);
	if (count == 0)
		return;
	struct view few = *view;
	if (few.top <= WRITE_DEFAULT_TOP && few.top > STACKS_SHOWN)
		few.top = STACKS_SHOWN;
	size_t shown = table_heading(&few, "Stacks, by time waited with them", count);
	print_sampling(view);
	table_waits_heading(view, "stack, the innermost call first");
	for (size_t i = 0; i < shown; i++) {
		const struct stack_row *row = &view->model->chains[i];
		char numbers[4][TEXT_NUMBER_SIZE];
		fprintf(view->out, "%9s %8s %11s %9s %9s   ",
		        text_duration(numbers[0], row->wait_ns_total),
		        text_percent(numbers[1], row->wait_ns_total, wait_ns),
		        text_count(numbers[2], row->waits),
		        text_duration(numbers[3], row->wait_ns_total / row->waits), "");
		print_chain(view, row);
	}
}

void table_of_histogram(const struct view *view)
{
	uint64_t histogram[RECORD_BUCKETS] = { 0 };
	for (int family = 0; family < FAMILY_COUNT; family++)
		for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++)
			histogram[bucket] += view->model->histograms[family][bucket];
	uint64_t most = 0, all = 0;
	int first = RECORD_BUCKETS, last = -1;
	for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++) {
		if (histogram[bucket] == 0)
			continue;
		all += histogram[bucket];
		most = histogram[bucket] > most ? histogram[bucket] : most;
		first = bucket < first ? bucket : first;
		last = bucket;
	}
	if (last < 0)
		return;
	char lost[TEXT_NUMBER_SIZE];
	fputs("\nWaits by length", view->out);
	if (view->model->gaps.lost_waits > 0)
		fprintf(view->out, ", without the %s that found no room in the tables",
		        text_count(lost, view->model->gaps.lost_waits));
	fprintf(view->out, "\n%9s %12s\n", "from", "waits");
	for (int bucket = first; bucket <= last; bucket++) {
		char from[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
		int length = (int)((double)histogram[bucket] * BAR_WIDTH / (double)most + 0.5);
		if (length == 0 && histogram[bucket] > 0)
			length = 1;
		fprintf(view->out, "%9s %12s %8s",
		        text_duration(from, bucket == 0 ? 0 : UINT64_C(1) << bucket),
		        text_count(count, histogram[bucket]),
		        text_percent(share, histogram[bucket], all));
		for (int i = 0; i < length; i++)
			fputs(i == 0 ? "  #" : "#", view->out);
		fputc('\n', view->out);
	}
}
