/*
 * A linear walk needs lengths alone, and a full decoder is tens of times slower. Opcode maps: Intel
 * 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A; XOP: AMD64
 * Architecture Programmer's Manual, volume 6.
 */
#include "x86_length.h"

#include <stdint.h>

#define LONGEST 15 /* more is a fault */

/* What follows an opcode. */
enum {
	BAD = 0x80,
	NONE = 0,
	SPECIAL = 0x40, /* depends on more than the opcode and on REX */
	MODRM = 0x10,
	IMM8 = 1,
	IMM16 = 2,
	IMM24 = 3, /* ENTER */
	IMMZ = 4,  /* 4 bytes, 2 with an operand-size prefix */
	IMMV = 5,  /* MOV: 8 bytes with REX.W */
	REL32 = 6, /* 4 bytes whatever the prefixes */
	MOFFS = 7, /* 8 bytes, 4 with an address-size prefix */
	TEST8 = 8, /* IMM8 for TEST alone of its group */
	TESTZ = 9,
	IMMEDIATE = 0x0f,
};

#define M  MODRM
#define M8 (MODRM | IMM8)
#define MZ (MODRM | IMMZ)
#define MS (MODRM | SPECIAL)

static const uint8_t one_byte[256] = {
	/* clang-format off */
	M, M, M, M, IMM8, IMMZ, BAD, BAD, M, M, M, M, IMM8, IMMZ, BAD, BAD,
	M, M, M, M, IMM8, IMMZ, BAD, BAD, M, M, M, M, IMM8, IMMZ, BAD, BAD,
	M, M, M, M, IMM8, IMMZ, BAD, BAD, M, M, M, M, IMM8, IMMZ, BAD, BAD,
	M, M, M, M, IMM8, IMMZ, BAD, BAD, M, M, M, M, IMM8, IMMZ, BAD, BAD,
	BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
	NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
	BAD, BAD, BAD, M, BAD, BAD, BAD, BAD, IMMZ, MZ, IMM8, M8, NONE, NONE, NONE, NONE,
	IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8,
	M8, MZ, BAD, M8, M, M, MS, MS, M, M, M, M, M, M, M, MS,
	NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, BAD, NONE, NONE, NONE, NONE, NONE,
	MOFFS, MOFFS, MOFFS, MOFFS, NONE, NONE, NONE, NONE, IMM8, IMMZ, NONE, NONE, NONE, NONE, NONE, NONE,
	IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMMV, IMMV, IMMV, IMMV, IMMV, IMMV, IMMV, IMMV,
	M8, M8, IMM16, NONE, BAD, BAD, M8, MZ, IMM24, NONE, IMM16, NONE, NONE, IMM8, BAD, NONE,
	M, M, M, M, BAD, BAD, BAD, NONE, M, M, M, M, M, M, M, M,
	IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, REL32, REL32, BAD, IMM8, NONE, NONE, NONE, NONE,
	BAD, NONE, BAD, BAD, NONE, NONE, MS | TEST8, MS | TESTZ, NONE, NONE, NONE, NONE, NONE, NONE, M, M,
	/* clang-format on */
};

static const uint8_t two_byte[256] = {
	/* clang-format off */
	M, M, M, M, BAD, NONE, NONE, NONE, NONE, NONE, BAD, NONE, BAD, M, NONE, M8,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, BAD, BAD, BAD, BAD, M, M, M, M, M, M, M, M,
	NONE, NONE, NONE, NONE, NONE, NONE, BAD, NONE, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M8, M8, M8, M8, M, M, M, NONE, MS, M, BAD, BAD, M, M, M, M,
	REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32, REL32,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	NONE, NONE, NONE, M, M8, M, M, M, NONE, NONE, NONE, M, M8, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M8, M, M, M, M, M,
	M, M, M8, M, M8, M8, M8, M, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* clang-format on */
};

struct reader {
	const unsigned char *bytes;
	size_t count, at;
	bool operand_size, address_size, wide, lock, repeat_not_zero;
};

/* The next byte; 0 behind the end, which x86_length finds out at its end. */
static unsigned char next(struct reader *reader)
{
	size_t at = reader->at++;
	return at < reader->count ? reader->bytes[at] : 0;
}

static unsigned char peek(const struct reader *reader)
{
	return reader->at < reader->count ? reader->bytes[reader->at] : 0;
}

/* A REX prefix counts just before the opcode. */
static void read_prefixes(struct reader *reader)
{
	for (; reader->at < reader->count && reader->at < LONGEST; reader->at++) {
		switch (reader->bytes[reader->at]) {
		case 0x66:
			reader->operand_size = true;
			break;
		case 0x67:
			reader->address_size = true;
			break;
		case 0xf0:
			reader->lock = true;
			break;
		case 0xf2:
			reader->repeat_not_zero = true;
			break;
		case 0xf3:
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
			break;
		default:
			if ((peek(reader) & 0xf0) == 0x40)
				reader->wide = next(reader) & 8;
			return;
		}
	}
}

/* ModRM, SIB and the displacement. Returns ModRM. */
static unsigned read_address(struct reader *reader)
{
	unsigned modrm = next(reader), mod = modrm >> 6, rm = modrm & 7;
	unsigned base = mod != 3 && rm == 4 ? next(reader) & 7u : rm;
	if (mod == 1)
		reader->at += 1;
	else if (mod == 2 || (mod == 0 && base == 5))
		reader->at += 4;
	return modrm;
}

static unsigned immediate_size(const struct reader *reader, unsigned kind, unsigned modrm)
{
	bool is_test = (modrm >> 3 & 7) < 2;
	unsigned natural = reader->operand_size && !reader->wide ? 2 : 4;
	switch (kind & IMMEDIATE) {
	case IMMZ:
		return natural;
	case IMMV:
		return reader->wide ? 8 : natural;
	case REL32:
		return 4;
	case MOFFS:
		return reader->address_size ? 4 : 8;
	case TEST8:
		return is_test ? 1 : 0;
	case TESTZ:
		return is_test ? natural : 0;
	}
	return kind & IMMEDIATE; /* that many bytes */
}

static unsigned finish(struct reader *reader, unsigned kind, bool exchanges, bool *is_atomic)
{
	if (kind & BAD)
		return 0;
	unsigned modrm = kind & MODRM ? read_address(reader) : 0;
	reader->at += immediate_size(reader, kind, modrm);
	if (reader->at > reader->count || reader->at > LONGEST)
		return 0;
	*is_atomic = reader->lock || (exchanges && modrm >> 6 != 3);
	return (unsigned)reader->at;
}

/* Opcodes of the vector maps have ModRM, but VZEROUPPER; map 3 has immediates, map 1 those that it
 * has without a prefix. */
static unsigned vector_kind(unsigned map, unsigned opcode, bool is_evex)
{
	if (map == 1 && opcode == 0x77 && !is_evex)
		return NONE;
	bool has_immediate = map == 3 || (map == 1 && (two_byte[opcode] & IMMEDIATE) == IMM8);
	return map == 0 ? BAD : has_immediate ? M8 : M;
}

/* VEX and EVEX behind their first byte. */
static unsigned read_vector(struct reader *reader, unsigned first, bool *is_atomic)
{
	unsigned map = 1;
	if (first != 0xc5)
		map = next(reader) & (first == 0x62 ? 7u : 31u);
	reader->at += first == 0x62 ? 2 : 1;
	unsigned opcode = next(reader);
	return finish(reader, vector_kind(map, opcode, first == 0x62), false, is_atomic);
}

/* 8F is POP, unless what would be its ModRM names one of XOP's maps. */
static unsigned read_xop(struct reader *reader, bool *is_atomic)
{
	unsigned map = next(reader) & 31u;
	reader->at += 2;
	return finish(reader,
	        map == 8    ? M8
	        : map == 9  ? M
	        : map == 10 ? (M | REL32)
	                    : BAD,
	        false, is_atomic);
}

/* Behind 0F. SSE4a's EXTRQ and INSERTQ have two immediates, where VMREAD has none. */
static unsigned read_escaped(struct reader *reader, bool *is_atomic)
{
	unsigned opcode = next(reader);
	if (opcode == 0x38 || opcode == 0x3a) {
		next(reader);
		return finish(reader, opcode == 0x3a ? M8 : M, false, is_atomic);
	}
	unsigned kind = two_byte[opcode];
	if (opcode == 0x78 && (reader->operand_size || reader->repeat_not_zero))
		kind = M | IMM16;
	return finish(reader, kind, false, is_atomic);
}

unsigned x86_length(const unsigned char *bytes, size_t count, bool *is_atomic)
{
	struct reader reader = { .bytes = bytes, .count = count };
	*is_atomic = false;
	read_prefixes(&reader);
	unsigned opcode = next(&reader);
	if (opcode == 0x0f)
		return read_escaped(&reader, is_atomic);
	if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62)
		return read_vector(&reader, opcode, is_atomic);
	if (opcode == 0x8f && (peek(&reader) & 31) >= 8)
		return read_xop(&reader, is_atomic);
	return finish(&reader, one_byte[opcode], opcode == 0x86 || opcode == 0x87, is_atomic);
}

/* What the fast way needs of ModRM: its own byte, SIB, the displacement. */
static unsigned address_size(const unsigned char *bytes)
{
	static const uint8_t displacements[4] = { 0, 1, 4, 0 };
	unsigned mod = bytes[0] >> 6, rm = bytes[0] & 7u;
	unsigned has_sib = mod != 3 && rm == 4;
	unsigned base = has_sib ? bytes[1] & 7u : rm;
	return 1 + has_sib + displacements[mod] + (mod == 0 && base == 5 ? 4 : 0);
}

/* The length of an instruction without prefixes but REX that cannot be atomic, 16 bytes being
 * there; 0 for all others. */
static inline unsigned simple_length(const unsigned char *bytes)
{
	static const uint8_t immediates[16] = {
		[IMM8] = 1,
		[IMM16] = 2,
		[IMM24] = 3,
		[IMMZ] = 4,
		[IMMV] = 4,
		[REL32] = 4,
		[MOFFS] = 8,
	};
	unsigned has_rex = (bytes[0] & 0xf0) == 0x40;
	unsigned length = has_rex + 1, kind = one_byte[bytes[has_rex]];
	if (bytes[has_rex] == 0x0f)
		kind = two_byte[bytes[length++]];
	if (kind & (BAD | SPECIAL))
		return 0;
	if ((kind & IMMEDIATE) == IMMV && has_rex && bytes[0] & 8)
		return 0;
	if (kind & MODRM)
		length += address_size(bytes + length);
	return length + immediates[kind & IMMEDIATE];
}

size_t x86_next_atomic(
        const unsigned char *bytes, size_t from, size_t stop, size_t end, unsigned *length)
{
	while (from < stop) {
		bool is_atomic = false;
		*length = end - from >= 16 ? simple_length(bytes + from) : 0;
		if (*length == 0)
			*length = x86_length(bytes + from, end - from, &is_atomic);
		if (is_atomic)
			break;
		from += *length != 0 ? *length : 1;
	}
	return from;
}
