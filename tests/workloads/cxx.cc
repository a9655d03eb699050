/*
 * C++ programs' use of locks: the standard library's mutexes and condition variables, exceptions
 * that leave a locked region, and code that runs before main and after a thread's function. Prints
 * what comes out, which is the same in every run.
 *
 *	cxx --list	the names of all cases
 *	cxx all|CASE	runs them; every line begins with the case's name
 */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using namespace std::chrono_literals;

const char *case_name = "start";
constexpr unsigned case_seconds = 60;

__attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
	std::va_list arguments;
	va_start(arguments, format);
	std::printf("%s: ", case_name);
	std::vprintf(format, arguments);
	std::printf("\n");
	va_end(arguments);
}

void hangs(int)
{
	static const char text[] = ": HANGS\n";
	if (write(1, case_name, std::strlen(case_name)) < 0 || write(1, text, sizeof(text) - 1) < 0)
		_exit(99);
	_exit(98);
}

/* Runs the function in that many threads and waits for all. */
template <class Function> void in_threads(int count, Function function)
{
	std::vector<std::thread> threads;
	for (int i = 0; i < count; i++)
		threads.emplace_back(function, i);
	for (auto &thread : threads)
		thread.join();
}

/* Constructors of static objects run before main, in a library's order and the program's. */
struct Early {
	std::mutex mutex;
	int locked = 0;
	Early()
	{
		for (int i = 0; i < 100; i++) {
			std::lock_guard<std::mutex> guard(mutex);
			locked++;
		}
		std::thread([this] {
			std::lock_guard<std::mutex> guard(mutex);
			locked++;
		}).join();
	}
	~Early()
	{
		std::lock_guard<std::mutex> guard(mutex);
		std::printf("after main: locked %d\n", locked + 1);
	}
};

Early early;

void before_main()
{
	say("locked %d", early.locked);
}

template <class Mutex> void count_under(const char *name)
{
	Mutex mutex;
	unsigned long counter = 0;
	in_threads(4, [&](int) {
		for (int i = 0; i < 1000; i++) {
			std::lock_guard<Mutex> guard(mutex);
			counter++;
		}
	});
	say("%s: counted %lu", name, counter);
}

void exclusion()
{
	count_under<std::mutex>("mutex");
	count_under<std::timed_mutex>("timed_mutex");
	count_under<std::recursive_mutex>("recursive_mutex");
	count_under<std::recursive_timed_mutex>("recursive_timed_mutex");
	count_under<std::shared_mutex>("shared_mutex");
	count_under<std::shared_timed_mutex>("shared_timed_mutex");
}

template <class Mutex> void time_out(const char *name)
{
	Mutex mutex;
	std::unique_lock<Mutex> held(mutex);
	std::thread([&] {
		auto steady = std::chrono::steady_clock::now() + 5ms;
		say("%s: try_lock %d", name, mutex.try_lock());
		say("%s: try_lock_for %d", name, mutex.try_lock_for(5ms));
		say("%s: try_lock_until %d", name, mutex.try_lock_until(steady));
		say("%s: early %d", name, std::chrono::steady_clock::now() < steady);
		auto system = std::chrono::system_clock::now() + 5ms;
		say("%s: try_lock_until %d", name, mutex.try_lock_until(system));
		say("%s: early %d", name, std::chrono::system_clock::now() < system);
		say("%s: try_lock_for a negative time %d", name, mutex.try_lock_for(-1s));
	}).join();
	held.unlock();
	std::thread([&] {
		bool locked = mutex.try_lock_for(1h);
		say("%s: try_lock_for when free %d", name, locked);
		if (locked)
			mutex.unlock();
	}).join();
}

void timed_mutexes()
{
	time_out<std::timed_mutex>("timed_mutex");
	time_out<std::recursive_timed_mutex>("recursive_timed_mutex");
	time_out<std::shared_timed_mutex>("shared_timed_mutex");
}

void recursion()
{
	std::recursive_timed_mutex mutex;
	bool granted = mutex.try_lock_for(5ms) && mutex.try_lock() && mutex.try_lock_for(5ms);
	auto try_elsewhere = [&] {
		return std::async(std::launch::async, [&] {
			bool locked = mutex.try_lock();
			if (locked)
				mutex.unlock();
			return locked;
		}).get();
	};
	say("granted %d, elsewhere %d", granted, try_elsewhere());
	mutex.unlock();
	mutex.unlock();
	say("elsewhere %d", try_elsewhere());
	mutex.unlock();
	say("elsewhere %d", try_elsewhere());
}

void condition_variables()
{
	std::mutex mutex;
	std::condition_variable condition;
	std::unique_lock<std::mutex> lock(mutex);
	bool come = false;
	auto begun = std::chrono::steady_clock::now();
	say("wait_for %d", condition.wait_for(lock, 5ms, [&] { return come; }));
	say("early %d", std::chrono::steady_clock::now() - begun < 5ms);
	auto until = std::chrono::system_clock::now() + 5ms;
	say("wait_until %d", condition.wait_until(lock, until, [&] { return come; }));
	say("owns %d, elsewhere %d", lock.owns_lock(),
	        std::async(std::launch::async, [&] { return mutex.try_lock(); }).get());
	std::thread other([&] {
		std::lock_guard<std::mutex> guard(mutex);
		come = true;
		condition.notify_all();
	});
	say("wait_for %d", condition.wait_for(lock, 1h, [&] { return come; }));
	lock.unlock();
	other.join();
}

void turns()
{
	std::mutex mutex;
	std::condition_variable condition;
	int taken = 0;
	in_threads(3, [&](int player) {
		std::unique_lock<std::mutex> lock(mutex);
		while (taken < 300) {
			if (!condition.wait_for(
			            lock, 1h, [&] { return taken >= 300 || taken % 3 == player; }))
				say("a wait ended early");
			if (taken < 300)
				taken++;
			condition.notify_all();
		}
	});
	say("%d turns", taken);
}

/* Any lock will do: condition_variable_any has a mutex of its own beside it. */
void any_lock()
{
	std::recursive_mutex mutex;
	std::condition_variable_any condition;
	bool come = false;
	std::thread other([&] {
		std::lock_guard<std::recursive_mutex> guard(mutex);
		come = true;
		condition.notify_one();
	});
	std::unique_lock<std::recursive_mutex> lock(mutex);
	say("wait_for %d", condition.wait_for(lock, 1h, [&] { return come; }));
	say("wait_for %d", condition.wait_for(lock, 5ms, [] { return false; }));
	lock.unlock();
	other.join();
}

void exceptions()
{
	std::mutex mutex;
	int counter = 0;
	std::atomic<int> caught{ 0 };
	in_threads(4, [&](int) {
		for (int i = 0; i < 100; i++) {
			try {
				std::lock_guard<std::mutex> guard(mutex);
				counter++;
				throw std::runtime_error("in a locked region");
			} catch (const std::runtime_error &) {
				caught++;
			}
		}
	});
	say("counted %d, caught %d", counter, caught.load());
	std::unique_lock<std::mutex> lock(mutex);
	try {
		lock.lock();
	} catch (const std::system_error &error) {
		say("lock of one's own: %s",
		        error.code() == std::errc::resource_deadlock_would_occur
		                ? "resource_deadlock_would_occur"
		                : "another error");
	}
	lock.unlock();
	say("try_lock %d", mutex.try_lock());
	mutex.unlock();
}

std::mutex late_mutex;
int late_counter;

struct Late {
	int times;
	explicit Late(int number) : times(number)
	{
	}
	~Late()
	{
		for (int i = 0; i < times; i++) {
			std::lock_guard<std::mutex> guard(late_mutex);
			late_counter++;
		}
	}
};

thread_local Late late_object(10);

void thread_locals()
{
	late_counter = 0;
	in_threads(8, [](int) {
		std::lock_guard<std::mutex> guard(late_mutex);
		late_counter += late_object.times;
	});
	say("counted %d", late_counter);
	std::thread detached([] { late_object.times = 20; });
	detached.detach();
	for (;;) {
		std::lock_guard<std::mutex> guard(late_mutex);
		if (late_counter == 8 * 20 + 20)
			break;
	}
	std::this_thread::sleep_for(2ms); /* the last unlock */
	say("counted %d", late_counter);
}

void several_at_once()
{
	std::mutex first, second;
	std::timed_mutex third;
	unsigned long counter = 0;
	in_threads(4, [&](int number) {
		for (int i = 0; i < 200; i++) {
			if (number % 2 == 0) {
				std::scoped_lock guard(first, second, third);
				counter++;
			} else {
				std::scoped_lock guard(third, second, first);
				counter++;
			}
		}
	});
	say("counted %lu", counter);
}

void once()
{
	std::once_flag flag;
	std::atomic<int> tried{ 0 };
	int done = 0;
	in_threads(4, [&](int) {
		try {
			std::call_once(flag, [&] {
				std::this_thread::sleep_for(10ms);
				if (tried++ < 2)
					throw std::runtime_error("not yet");
				done++;
			});
		} catch (const std::runtime_error &) {
		}
	});
	say("tried %d, done %d", tried.load(), done);
}

struct Case {
	const char *name;
	void (*run)();
};

const Case cases[] = {
	{ "before-main", before_main },
	{ "exclusion", exclusion },
	{ "timed-mutexes", timed_mutexes },
	{ "recursion", recursion },
	{ "condition-variables", condition_variables },
	{ "turns", turns },
	{ "any-lock", any_lock },
	{ "exceptions", exceptions },
	{ "thread-locals", thread_locals },
	{ "several-at-once", several_at_once },
	{ "once", once },
};

} // namespace

int main(int argc, char **argv)
{
	bool found = argc == 2 && std::strcmp(argv[1], "--list") == 0;
	std::signal(SIGALRM, hangs);
	for (const Case &one : cases) {
		if (found) {
			std::puts(one.name);
			continue;
		}
		if (argc != 2 ||
		        (std::strcmp(argv[1], "all") != 0 && std::strcmp(argv[1], one.name) != 0))
			continue;
		case_name = one.name;
		alarm(case_seconds);
		one.run();
		alarm(0);
		std::fflush(stdout);
	}
	return 0;
}
