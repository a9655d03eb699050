/*
 * std::atomic in several threads, with exceptions thrown between atomics and past objects that undo
 * theirs. Prints "right" when every sum is exact.
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <execinfo.h>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

constexpr int threads = 4, rounds = 600;

std::atomic<int> entered, caught, inside, failed;
std::atomic<std::uint64_t> sum;
std::atomic<unsigned char> small;
std::atomic_flag taken = ATOMIC_FLAG_INIT;
long guarded;

struct guest {
	guest()
	{
		inside.fetch_add(1, std::memory_order_acq_rel);
	}
	~guest()
	{
		inside.fetch_sub(1, std::memory_order_release);
	}
	guest(const guest &) = delete;
	guest &operator=(const guest &) = delete;
};

__attribute__((noinline)) void enter(int round)
{
	guest here;
	entered++;
	sum += static_cast<std::uint64_t>(round);
	if (round % 8 == 3)
		throw std::runtime_error("between atomics");
	small.fetch_xor(0x80, std::memory_order_relaxed);
	while (taken.test_and_set(std::memory_order_acquire))
		std::this_thread::yield();
	guarded++;
	taken.clear(std::memory_order_release);
}

void work(std::shared_ptr<int> shared)
{
	for (int round = 0; round < rounds; round++) {
		std::shared_ptr<int> copy = shared;
		try {
			enter(round);
		} catch (const std::runtime_error &) {
			caught.fetch_add(1);
		}
		void *frames[16];
		if (round % 200 == 0 && backtrace(frames, 16) < 2)
			failed++;
	}
}

bool sums_are_right()
{
	const long all = threads * rounds, thrown = all / 8;
	auto shared = std::make_shared<int>(7);
	std::vector<std::thread> running;
	for (int i = 0; i < threads; i++)
		running.emplace_back(work, shared);
	for (std::thread &thread : running)
		thread.join();
	return entered == all && caught == thrown && inside == 0 && failed == 0 &&
	       sum == static_cast<std::uint64_t>(threads) * rounds * (rounds - 1) / 2 &&
	       small == 0 && guarded == all - thrown && shared.use_count() == 1;
}

} // namespace

int main()
{
	bool right = sums_are_right();
	std::puts(right ? "right" : "wrong");
	return right ? 0 : 1;
}
