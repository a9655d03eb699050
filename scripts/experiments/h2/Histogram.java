/** How long operations took, in buckets of a 32nd of a power of two of nanoseconds. */
final class Histogram {
	private static final int PARTS_BITS = 5;
	private static final int PARTS = 1 << PARTS_BITS;

	private final long[] counts = new long[64 * PARTS];
	private long count;
	private long sumNs;
	private long maxNs;

	void add(long ns) {
		counts[bucket(ns)]++;
		count++;
		sumNs += ns;
		maxNs = Math.max(maxNs, ns);
	}

	void add(Histogram other) {
		for (int i = 0; i < counts.length; i++) {
			counts[i] += other.counts[i];
		}
		count += other.count;
		sumNs += other.sumNs;
		maxNs = Math.max(maxNs, other.maxNs);
	}

	void clear() {
		java.util.Arrays.fill(counts, 0);
		count = sumNs = maxNs = 0;
	}

	long count() {
		return count;
	}

	double meanMs() {
		return count == 0 ? 0 : sumNs / 1e6 / count;
	}

	double maxMs() {
		return maxNs / 1e6;
	}

	/** The upper end of the bucket in which that share of all operations, 0 to 1, has been reached. */
	double quantileMs(double share) {
		long wanted = (long) Math.ceil(share * count);
		long seen = 0;
		for (int i = 0; i < counts.length; i++) {
			seen += counts[i];
			if (seen >= wanted && seen > 0) {
				return Math.min(upperEnd(i), maxNs) / 1e6;
			}
		}
		return 0;
	}

	private static int bucket(long ns) {
		if (ns < PARTS) {
			return (int) Math.max(ns, 0);
		}
		int power = 63 - Long.numberOfLeadingZeros(ns);
		return (power - PARTS_BITS + 1) * PARTS + (int) (ns >> (power - PARTS_BITS)) - PARTS;
	}

	private static long upperEnd(int bucket) {
		if (bucket < PARTS) {
			return bucket;
		}
		int power = bucket / PARTS + PARTS_BITS - 1;
		return ((long) (bucket % PARTS + PARTS + 1) << (power - PARTS_BITS)) - 1;
	}
}
