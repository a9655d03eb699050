import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Seconds of reads or of writes, and their figures in the form in which cassandra-stress 3 prints them. */
final class Phase {
	private static final long INTERVAL_NS = 100_000_000;
	private static final String HEAD = "type       total ops,    op/s,    pk/s,   row/s,    mean,     med,     .95,"
			+ "     .99,    .999,     max,   time,   stderr, errors,  gc: #,  max ms,  sum ms,  sdv ms,      mb";

	private final Worker.Work work;
	private final int seconds;
	private final PrintStream out;
	private final Histogram all = new Histogram();
	private long errors;

	Phase(Worker.Work work, int seconds, PrintStream out) {
		this.work = work;
		this.seconds = seconds;
		this.out = out;
	}

	private String kind() {
		return work.writes ? "WRITE" : "READ";
	}

	/** Returns how many operations failed. */
	long run() throws InterruptedException {
		long collections = collections();
		long collecting = collectingMs();
		print("Running %s with %d threads %d seconds%n%s%n", kind(), work.threads, seconds, HEAD);
		List<Worker> workers = new ArrayList<>();
		for (int i = 0; i < work.threads; i++) {
			workers.add(new Worker(work, i));
		}
		long begin = System.nanoTime();
		workers.forEach(Thread::start);
		watch(workers, begin);
		workers.forEach(Worker::stopSoon);
		for (Worker worker : workers) {
			worker.join();
		}
		double took = (System.nanoTime() - begin) / 1e9;
		for (Worker worker : workers) {
			errors += worker.take(all);
		}
		printResults(took, collections() - collections, collectingMs() - collecting);
		return errors;
	}

	private void watch(List<Worker> workers, long begin) throws InterruptedException {
		Histogram interval = new Histogram();
		long end = begin + seconds * 1_000_000_000L;
		long last = begin;
		for (long next = begin + INTERVAL_NS; next <= end; next += INTERVAL_NS) {
			long rest = next - System.nanoTime();
			Thread.sleep(Math.max(rest, 0) / 1_000_000, (int) (Math.max(rest, 0) % 1_000_000));
			interval.clear();
			for (Worker worker : workers) {
				errors += worker.take(interval);
			}
			all.add(interval);
			long now = System.nanoTime();
			printRow(interval, (now - last) / 1e9, (now - begin) / 1e9);
			last = now;
		}
	}

	private void printRow(Histogram interval, double length, double time) {
		long rate = Math.round(interval.count() / length);
		print("total, %12d, %7d, %7d, %7d, %7.4f, %7.4f, %7.4f, %7.4f, %7.4f, %7.2f, %6.2f,"
				+ "  0.00000, %6d,      0,       0,       0,       0,       0%n",
				all.count(), rate, rate, rate, interval.meanMs(), interval.quantileMs(0.5),
				interval.quantileMs(0.95), interval.quantileMs(0.99), interval.quantileMs(0.999),
				interval.maxMs(), time, errors);
	}

	private void printResults(double took, long collections, long collectingMs) {
		long rate = Math.round(all.count() / took);
		print("%n%nResults:%n");
		printBoth("Op rate", "%,d op/s", rate);
		printBoth("Partition rate", "%,d pk/s", rate);
		printBoth("Row rate", "%,d row/s", rate);
		printBoth("Latency mean", "%.4f ms", all.meanMs());
		printBoth("Latency median", "%.4f ms", all.quantileMs(0.5));
		printBoth("Latency 95th percentile", "%.4f ms", all.quantileMs(0.95));
		printBoth("Latency 99th percentile", "%.4f ms", all.quantileMs(0.99));
		printBoth("Latency 99.9th percentile", "%.4f ms", all.quantileMs(0.999));
		printBoth("Latency max", "%.4f ms", all.maxMs());
		printBoth("Total partitions", "%,d", all.count());
		printBoth("Total errors", "%,d", errors);
		print("%-26s: %d%n", "Total GC count", collections);
		print("%-26s: %.1f seconds%n", "Total GC time", collectingMs / 1e3);
		long whole = Math.round(took);
		print("%-26s: %02d:%02d:%02d%n%n", "Total operation time", whole / 3600, whole / 60 % 60, whole % 60);
	}

	/** The figure of all operations, and that of their one kind. */
	private void printBoth(String label, String format, Object value) {
		String text = String.format(Locale.ROOT, format, value);
		print("%-26s: %s [%s: %s]%n", label, text, kind(), text);
	}

	private void print(String format, Object... values) {
		out.printf(Locale.ROOT, format, values);
	}

	private static long collections() {
		return ManagementFactory.getGarbageCollectorMXBeans().stream()
				.mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
	}

	private static long collectingMs() {
		return ManagementFactory.getGarbageCollectorMXBeans().stream()
				.mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
	}
}
