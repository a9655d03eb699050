// Locks of C++ at unusual times: in static constructors and their threads before main, in
// thread_local destructors, in static destructors after main; timed, recursive and with condition
// variables. The last destructor prints how many acquisitions there were.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

constexpr int threads = 4, rounds = 500;
constexpr auto long_enough = std::chrono::minutes(1);
constexpr auto short_enough = std::chrono::milliseconds(2);

std::mutex mutex;
unsigned long acquired; // under the mutex: every acquisition of every mutex here

void count(unsigned long others)
{
	std::lock_guard<std::mutex> hold(mutex);
	acquired += 1 + others;
}

struct last_words {
	~last_words()
	{
		count(0);
		std::printf("acquired %lu\n", acquired);
	}
};

struct late {
	~late()
	{
		count(0);
	}
};

void work()
{
	thread_local late at_end;
	(void)&at_end;
	for (int i = 0; i < rounds; i++)
		count(0);
}

// Runs threads while the program is being constructed, and when it is taken down.
struct early {
	early()
	{
		run();
	}
	~early()
	{
		run();
	}
	static void run()
	{
		std::vector<std::thread> all;
		for (int i = 0; i < threads; i++)
			all.emplace_back(work);
		for (auto &thread : all)
			thread.join();
	}
};

last_words words;
early first;

// One thread holds the timed mutex until the other has given up once.
void time_out()
{
	std::timed_mutex timed;
	std::mutex state;
	std::condition_variable changed;
	bool held = false, given_up = false;
	std::thread holder([&] {
		std::lock_guard<std::timed_mutex> hold(timed);
		std::unique_lock<std::mutex> lock(state);
		held = true;
		changed.notify_all();
		changed.wait_for(lock, long_enough, [&] { return given_up; });
	});
	{
		std::unique_lock<std::mutex> lock(state);
		changed.wait_for(lock, long_enough, [&] { return held; });
	}
	bool too_early = timed.try_lock_for(short_enough);
	{
		std::lock_guard<std::mutex> lock(state);
		given_up = true;
		changed.notify_all();
	}
	bool in_time = timed.try_lock_for(long_enough);
	timed.unlock();
	holder.join();
	count(5); // timed twice, state three times
	std::printf("too early %d, in time %d\n", too_early, in_time);
}

void lock_again()
{
	std::recursive_mutex recursive;
	std::lock_guard<std::recursive_mutex> once(recursive);
	std::lock_guard<std::recursive_mutex> twice(recursive);
	std::thread([&] { std::printf("by another: %d\n", recursive.try_lock()); }).join();
	count(2);
}

} // namespace

int main()
{
	time_out();
	lock_again();
	try {
		std::lock_guard<std::mutex> hold(mutex);
		acquired++;
		throw 7;
	} catch (int thrown) {
		std::printf("thrown %d\n", thrown);
	}
	return 6;
}
