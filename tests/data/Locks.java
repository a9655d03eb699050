import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that exclude each other by monitors, by ReentrantLock, and by waiting; and many that live
 * shortly. Prints the sums; with the argument "stay" it then waits to be ended.
 */
public class Locks {
	private static final int THREADS = 8, ROUNDS = 20000, SHORT_THREADS = 1000;
	private static final Object monitor = new Object();
	private static final ReentrantLock lock = new ReentrantLock();
	private static long byMonitor, byLock, byShort;
	private static int turn;

	private static void count() {
		for (int i = 0; i < ROUNDS; i++) {
			synchronized (monitor) {
				byMonitor++;
			}
			lock.lock();
			try {
				byLock++;
			} finally {
				lock.unlock();
			}
		}
	}

	private static void alternate(int self, CountDownLatch done) {
		synchronized (monitor) {
			for (int i = 0; i < 500; i++) {
				while (turn % 2 != self) {
					try {
						monitor.wait();
					} catch (InterruptedException e) {
						return;
					}
				}
				turn++;
				monitor.notifyAll();
			}
		}
		done.countDown();
	}

	private static void addShort() {
		synchronized (monitor) {
			byShort++;
		}
	}

	public static void main(String[] arguments) throws InterruptedException {
		Thread[] threads = new Thread[THREADS];
		for (int i = 0; i < THREADS; i++) {
			threads[i] = new Thread(Locks::count);
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		CountDownLatch done = new CountDownLatch(2);
		for (int i = 0; i < 2; i++) {
			int self = i;
			new Thread(() -> alternate(self, done)).start();
		}
		done.await();
		for (int i = 0; i < SHORT_THREADS; i++) {
			Thread thread = new Thread(Locks::addShort);
			thread.start();
			if (i % 4 == 3)
				thread.join();
		}
		while (true) {
			synchronized (monitor) {
				if (byShort == SHORT_THREADS)
					break;
			}
			Thread.sleep(1);
		}
		System.out.println(byMonitor + " " + byLock + " " + turn + " " + byShort);
		if (arguments.length > 0 && arguments[0].equals("stay"))
			Thread.sleep(60000);
		System.exit(3);
	}
}
