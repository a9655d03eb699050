import java.io.OutputStream;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Loads an H2 database in memory and measures reads, and then writes, by key, from threads of this same process:
 * all that a query allocates comes from this process's heap.
 * Arguments: THREADS SECONDS ROWS.
 */
public final class H2Bench {
	static final int FIELD_LENGTH = 170; // as in a row of cassandra-stress: 5 columns of 34 bytes
	/** After one round, the compiler of the virtual machine has not come far, and hides what allocation costs. */
	private static final int WARMUP_ROUNDS = 4;
	private static final String URL = "jdbc:h2:mem:bench;DB_CLOSE_DELAY=-1";

	private H2Bench() {
	}

	static String field(int seed) {
		char[] letters = new char[FIELD_LENGTH];
		for (int i = 0; i < FIELD_LENGTH; i++) {
			letters[i] = (char) ('a' + ((seed >>> (i % 27)) & 15));
		}
		return new String(letters);
	}

	private static void load(int rows) throws SQLException {
		try (Connection connection = DriverManager.getConnection(URL); Statement table = connection.createStatement()) {
			table.execute("CREATE TABLE data (id INT PRIMARY KEY, field VARCHAR(" + FIELD_LENGTH + "))");
			try (PreparedStatement insert = connection.prepareStatement("INSERT INTO data VALUES (?, ?)")) {
				for (int i = 0; i < rows; i++) {
					insert.setInt(1, i);
					insert.setString(2, field(i));
					insert.executeUpdate();
				}
			}
		}
	}

	private static int number(String[] arguments, int index) {
		try {
			int value = Integer.parseInt(arguments[index]);
			if (value > 0) {
				return value;
			}
		} catch (NumberFormatException | ArrayIndexOutOfBoundsException wrong) {
			// Said below.
		}
		System.err.println("H2Bench: THREADS SECONDS ROWS are needed, numbers from 1 on");
		System.exit(64);
		return 0;
	}

	public static void main(String[] arguments) throws Exception {
		int threads = number(arguments, 0);
		int seconds = number(arguments, 1);
		int rows = Math.max(number(arguments, 2) / threads, 1) * threads;
		load(rows);
		Worker.Work reads = new Worker.Work(URL, false, threads, rows);
		Worker.Work writes = new Worker.Work(URL, true, threads, rows);
		PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
		for (int i = 0; i < WARMUP_ROUNDS; i++) {
			new Phase(reads, seconds, nowhere).run();
			new Phase(writes, seconds, nowhere).run();
		}
		long errors = new Phase(reads, seconds, System.out).run() + new Phase(writes, seconds, System.out).run();
		System.out.println("END");
		System.exit(errors == 0 ? 0 : 1);
	}
}
