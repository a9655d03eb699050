/*
 * Subdirectories for better CPUs: glibc-hwcaps (since glibc 2.33), and what came before: tls,
 * platforms, and on AArch64 atomics (until glibc 2.36). The CPU of another machine is not known:
 * one with LSE is taken for AArch64, the baseline for x86-64.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "resolve_system.h"

#define LEGACY_TLS     (1ull << 63)
#define LEGACY_ATOMICS (1ull << 8) /* HWCAP_ATOMICS */
#define LEGACY_X86_64  (1ull << 1)
#define LEGACY_AVX512  (1ull << 2)
#define LEGACY_HASWELL (1ull << 50)

struct cpu {
	unsigned level;       /* 1 to 4: x86-64-v1 ... */
	bool haswell, avx512; /* what Intel's CPUs were called before there were levels */
	bool lse;
};

#if defined(__x86_64__)
#include <cpuid.h>

struct features {
	unsigned c1, b7, c80000001, xcr0;
	bool intel;
};

static bool has(unsigned word, unsigned bits)
{
	return (word & bits) == bits;
}

static struct features read_features(void)
{
	struct features features = { .c1 = 0 };
	unsigned a, b, c, d;
	if (__get_cpuid(0, &a, &b, &c, &d))
		features.intel = b == signature_INTEL_ebx;
	if (__get_cpuid(1, &a, &b, &c, &d))
		features.c1 = c;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		features.b7 = b;
	if (__get_cpuid(0x80000001, &a, &b, &c, &d))
		features.c80000001 = c;
	if (has(features.c1, bit_OSXSAVE))
		__asm__("xgetbv" : "=a"(features.xcr0), "=d"(d) : "c"(0));
	return features;
}

/* Levels by the x86-64 psABI, table "Micro-Architecture Levels"; the state that the kernel saves
 * must be there too. */
static struct cpu read_cpu(void)
{
	struct features f = read_features();
	struct cpu cpu = { .level = 1 };
	bool ymm = has(f.xcr0, 0x6), zmm = has(f.xcr0, 0xe6);
	bool avx2 = ymm && has(f.b7, bit_AVX2);
	if (has(f.c1,
	            bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) &&
	        has(f.c80000001, bit_LAHF_LM))
		cpu.level = 2;
	if (cpu.level == 2 && avx2 && has(f.c1, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) &&
	        has(f.b7, bit_BMI | bit_BMI2) && has(f.c80000001, bit_LZCNT))
		cpu.level = 3;
	if (cpu.level == 3 && zmm &&
	        has(f.b7, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL))
		cpu.level = 4;
	cpu.haswell = f.intel && avx2 && has(f.b7, bit_BMI | bit_BMI2) &&
	              has(f.c1, bit_FMA | bit_MOVBE | bit_POPCNT) && has(f.c80000001, bit_LZCNT);
	cpu.avx512 = f.intel && zmm && has(f.b7, bit_AVX512CD);
	return cpu;
}
#else
static struct cpu read_cpu(void)
{
	return (struct cpu){ .level = 1, .lse = (getauxval(AT_HWCAP) & LEGACY_ATOMICS) != 0 };
}
#endif

#define WORDS 4u

/* The old subdirectories: every choice of these words, in this order, the longest first, as
 * _dl_important_hwcaps made them. NULL: not on this CPU. */
static bool add_legacy(struct system *system, const char *const words[WORDS])
{
	for (unsigned choice = (1u << WORDS) - 1; choice > 0; choice--) {
		char path[64] = "";
		bool possible = true;
		for (unsigned i = 0; i < WORDS; i++) {
			if ((choice & (1u << (WORDS - 1)) >> i) == 0)
				continue;
			possible &= words[i] != NULL;
			if (words[i] != NULL)
				strcat(strcat(path, words[i]), "/");
		}
		if (possible && !texts_add(&system->subdirectories, path))
			return false;
	}
	return true;
}

static bool add_levels(struct system *system, unsigned level)
{
	for (; level > 1; level--, system->hwcaps++)
		if (!texts_format(&system->subdirectories, "glibc-hwcaps/x86-64-v%u/", level))
			return false;
	return true;
}

bool system_read_cpu(struct system *system)
{
	bool is_x86 = system->machine == EM_X86_64;
	struct cpu cpu = { .level = 1, .lse = true };
#if defined(__x86_64__)
	bool is_own = is_x86;
#else
	bool is_own = !is_x86;
#endif
	if (is_own)
		cpu = read_cpu();
	system->platform = !is_x86 ? "aarch64" : cpu.haswell ? "haswell" : "x86_64";
	if (system->legacy)
		system->legacy_hwcap = LEGACY_TLS;
	if (system->legacy && is_x86)
		system->legacy_hwcap |= LEGACY_X86_64 | (cpu.avx512 ? LEGACY_AVX512 : 0) |
		                        (cpu.haswell ? LEGACY_HASWELL : 0);
	else if (system->legacy && cpu.lse)
		system->legacy_hwcap |= LEGACY_ATOMICS;
	const char *words[WORDS] = { "tls", system->platform, NULL, NULL };
	if (is_x86) {
		words[2] = cpu.avx512 ? "avx512_1" : NULL;
		words[3] = "x86_64";
	} else {
		words[2] = cpu.lse ? "atomics" : NULL;
	}
	return (system->is_musl || !is_x86 || add_levels(system, cpu.level)) &&
	       (!system->legacy || add_legacy(system, words)) &&
	       texts_add(&system->subdirectories, "");
}
