import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.SplittableRandom;

/** A thread that reads or writes one row after the other, by its key, until it is told to stop. */
final class Worker extends Thread {
	private final Work work;
	private final int number;
	private final Histogram finished = new Histogram(); // guarded by itself
	private long errors;                                // guarded by finished
	private volatile boolean stopped;

	/** What all threads do together; rows is a multiple of threads. */
	static final class Work {
		final String url;
		final boolean writes;
		final int threads;
		final int rows;

		Work(String url, boolean writes, int threads, int rows) {
			this.url = url;
			this.writes = writes;
			this.threads = threads;
			this.rows = rows;
		}
	}

	Worker(Work work, int number) {
		super("worker " + number);
		this.work = work;
		this.number = number;
	}

	void stopSoon() {
		stopped = true;
	}

	/** Moves what was done since the last call into the histogram; returns the errors since then. */
	long take(Histogram to) {
		synchronized (finished) {
			to.add(finished);
			finished.clear();
			long taken = errors;
			errors = 0;
			return taken;
		}
	}

	@Override
	public void run() {
		String sql = work.writes ? "UPDATE data SET field = ? WHERE id = ?" : "SELECT field FROM data WHERE id = ?";
		try (Connection connection = DriverManager.getConnection(work.url);
				PreparedStatement statement = connection.prepareStatement(sql)) {
			SplittableRandom random = new SplittableRandom(number);
			while (!stopped) {
				long begin = System.nanoTime();
				boolean good = work.writes ? write(statement, random) : read(statement, random);
				count(System.nanoTime() - begin, good);
			}
		} catch (SQLException failure) {
			count(0, false);
		}
	}

	private void count(long ns, boolean good) {
		synchronized (finished) {
			if (good) {
				finished.add(ns);
			} else {
				errors++;
			}
		}
	}

	private boolean read(PreparedStatement statement, SplittableRandom random) {
		try {
			statement.setInt(1, random.nextInt(work.rows));
			try (ResultSet found = statement.executeQuery()) {
				return found.next() && found.getString(1).length() == H2Bench.FIELD_LENGTH;
			}
		} catch (SQLException failure) {
			return false;
		}
	}

	/** Every thread has rows of its own, so that none waits for another's transaction. */
	private boolean write(PreparedStatement statement, SplittableRandom random) {
		try {
			int row = random.nextInt(work.rows / work.threads) * work.threads + number;
			statement.setString(1, H2Bench.field(random.nextInt()));
			statement.setInt(2, row);
			return statement.executeUpdate() == 1;
		} catch (SQLException failure) {
			return false;
		}
	}
}
