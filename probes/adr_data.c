/*
 * Follows registers through straight code only: what it cannot tell, it takes for data. Encodings:
 * Arm Architecture Reference Manual (DDI 0487), C4.1.
 */
#include "adr_data.h"

#include "a64.h"

#define FOLLOWED     64u   /* words behind an ADR */
#define COMPARE      16u   /* words before a load in which its index is compared */
#define SEARCHED     4096u /* words before data in which branches behind it are looked for */
#define ARGUMENTS    0xffu /* X0 to X7 */
#define UNBOUNDED    UINT64_MAX
#define CONDITION_HS 2u
#define CONDITION_HI 8u

struct walk {
	const struct adr_code *code;
	size_t at;
	uint64_t target;
	uint32_t exact, indexed; /* registers that hold the address, or one behind it */
	uint64_t offset[32];     /* of the exact ones */
	uint64_t start, end;     /* offsets that loads reach; end 0: none */
	bool loads, jumps, escapes;
};

static uint32_t bit_of(unsigned reg)
{
	return reg == A64_ZR ? 0 : UINT32_C(1) << reg;
}

static uint32_t held(const struct walk *walk)
{
	return walk->exact | walk->indexed;
}

static void reach(struct walk *walk, uint64_t start, uint64_t size)
{
	uint64_t end = size == UNBOUNDED ? UNBOUNDED : start + size;
	if (!walk->loads || start < walk->start)
		walk->start = start;
	if (end > walk->end)
		walk->end = end;
	walk->loads = true;
}

/* Entries that a compare of the index with an immediate, and a branch away from what is above it,
 * leave. */
static uint64_t count_entries(const struct walk *walk, size_t load, unsigned index)
{
	const uint32_t *words = walk->code->words;
	for (size_t i = load; i > 0 && load - i < COMPARE; i--) {
		uint32_t word = words[i - 1];
		bool branches = (word & 0xff000010) == 0x54000000;
		if ((word & 0x7fc0001f) == 0x7100001f && (word >> 5 & 31) == index) {
			unsigned condition = words[i] & 15;
			bool bounds = (words[i] & 0xff000010) == 0x54000000 &&
			              (condition == CONDITION_HS || condition == CONDITION_HI);
			return bounds ? (word >> 10 & 0xfff) + UINT64_C(1) : UNBOUNDED;
		}
		if (!branches && (word & 31) == index)
			return UNBOUNDED;
	}
	return UNBOUNDED;
}

/* A load by a register that holds the address. "Load/store register (unsigned immediate)",
 * "(register offset)"; all others are taken to reach anything. */
static void follow_load(struct walk *walk, size_t at, uint32_t word)
{
	unsigned base = word >> 5 & 31;
	uint64_t offset = walk->offset[base];
	uint64_t size = (word & 0x04800000) == 0x04800000 ? 16 : UINT64_C(1) << (word >> 30);
	bool is_exact = (walk->exact & bit_of(base)) != 0;
	if (is_exact && (word & 0x3b000000) == 0x39000000) {
		reach(walk, offset + (uint64_t)(word >> 10 & 0xfff) * size, size);
	} else if (is_exact && (word & 0x3b200c00) == 0x38200800) {
		uint64_t entries = count_entries(walk, at, word >> 16 & 31);
		reach(walk, offset, entries == UNBOUNDED ? entries : entries * size);
	} else {
		reach(walk, is_exact ? offset : 0, UNBOUNDED);
	}
}

/* An addition to the address, or a copy of it; false if the word is neither. */
static bool follow_sum(struct walk *walk, uint32_t word)
{
	unsigned to = word & 31, left = word >> 5 & 31, right = word >> 16 & 31;
	uint32_t bit = bit_of(to);
	bool by_constant = (word & 0xff800000) == 0x91000000;
	bool copies = (word & 0xffe0ffe0) == 0xaa0003e0;
	bool adds = (word & 0xff000000) == 0x8b000000;
	unsigned from = copies ? right : left;
	if ((by_constant || copies) && (walk->exact & bit_of(from)) != 0) {
		uint64_t more = by_constant ? word >> 10 & 0xfff : 0;
		walk->offset[to] = walk->offset[from] + ((word >> 22 & 1) != 0 ? more << 12 : more);
		walk->exact |= bit;
		walk->indexed &= ~bit;
		return true;
	}
	if (((by_constant || copies) && (walk->indexed & bit_of(from)) != 0) ||
	        (adds && (held(walk) & (bit_of(left) | bit_of(right))) != 0)) {
		walk->exact &= ~bit;
		walk->indexed |= bit;
		return true;
	}
	return false;
}

/* One word behind the ADR; false when nothing more can be told. */
static bool follow(struct walk *walk, size_t at)
{
	uint32_t word = walk->code->words[at];
	uint32_t to = bit_of(word & 31), base = bit_of(word >> 5 & 31);
	bool is_memory = (word & 0x0a000000) == 0x08000000;
	bool is_branch = (word & 0x1c000000) == 0x14000000;
	if (is_memory && (held(walk) & base) != 0) {
		follow_load(walk, at, word);
	} else if ((word & 0xfe9ff000) == 0xd61f0000) { /* BR BLR, also authenticated */
		walk->jumps = walk->jumps || (held(walk) & base) != 0;
		walk->escapes = walk->escapes || (held(walk) & ~base & ARGUMENTS) != 0;
		return false;
	} else if ((word & 0xfc000000) == 0x94000000 || (word & 0xfffff3ff) == 0xd65f03c0) {
		walk->escapes = walk->escapes || (held(walk) & ARGUMENTS) != 0; /* BL RET */
		return (word & 0xfc000000) == 0x94000000;
	} else if (follow_sum(walk, word)) {
		return true;
	} else if (is_memory && (word & 0x00400000) == 0 && (held(walk) & to) != 0) {
		walk->escapes = true; /* stored */
		return true;
	}
	if (!is_branch) {
		walk->exact &= ~to;
		walk->indexed &= ~to;
	}
	return held(walk) != 0;
}

/* B BR RET UDF BRK and the like: the word behind is reached by branches alone. */
static bool goes_on(uint32_t word)
{
	return (word & 0xfc000000) != 0x14000000 && (word & 0xfe9f0000) != 0xd61f0000 &&
	       (word & 0xffff0000) != 0 && (word & 0xffe0001f) != 0xd4200000;
}

/* The first address at or behind `from` that a branch before `from` goes to, or the code's end. */
static uint64_t next_entered(const struct adr_code *code, uint64_t from)
{
	size_t before = (size_t)(from - code->address) / 4;
	uint64_t next = code->address + code->count * UINT64_C(4), target;
	for (size_t i = before > SEARCHED ? before - SEARCHED : 0; i < before; i++) {
		uint64_t address = code->address + i * UINT64_C(4);
		if (a64_branch_target(code->words[i], address, &target) && target >= from &&
		        target < next)
			next = target;
	}
	return next;
}

static bool is_reached(const struct adr_code *code, uint64_t target)
{
	size_t word = (size_t)(target - code->address) / 4;
	return word == 0 || goes_on(code->words[word - 1]) || next_entered(code, target) == target;
}

static bool in_code(const struct adr_code *code, uint64_t address)
{
	return address >= code->address && (address - code->address) / 4 < code->count;
}

bool adr_data_find(const struct adr_code *code, size_t at, struct adr_data *data)
{
	uint32_t word = code->words[at];
	struct walk walk = { .code = code, .at = at };
	const uint64_t sign = UINT64_C(1) << 20;
	uint64_t distance = (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
	walk.target = code->address + at * UINT64_C(4) + ((distance ^ sign) - sign);
	if (!adr_is(word) || !in_code(code, walk.target))
		return false;
	walk.exact = bit_of(word & 31);
	size_t end = code->count - at > FOLLOWED ? at + FOLLOWED : code->count, i = at + 1;
	while (i < end && follow(&walk, i))
		i++;
	/* What is still held at the end may be used by anything. */
	if (!walk.loads && (walk.jumps || (!walk.escapes && held(&walk) == 0)))
		return false;
	if (!walk.loads && is_reached(code, walk.target))
		return false;
	data->start = walk.target + walk.start;
	if (!in_code(code, data->start))
		return false;
	uint64_t code_end = code->address + code->count * UINT64_C(4);
	if (!walk.loads || walk.end == UNBOUNDED)
		data->end = next_entered(code, data->start + 1);
	else
		data->end = walk.target + walk.end < code_end ? walk.target + walk.end : code_end;
	return data->end > data->start;
}
