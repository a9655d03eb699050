"""Threads, subprocesses and forks that print known sums; ends by os._exit(5)."""
import os
import subprocess
import sys
import threading

# An emulated program cannot start another of its own kind, and an emulator may fail when the child
# of a program with threads starts threads.
alone = "alone" in sys.argv
lock = threading.Lock()
condition = threading.Condition()
count = 0
queue = []


def add(rounds):
    global count
    for _ in range(rounds):
        with lock:
            count += 1


def run_threads(number, rounds):
    threads = [threading.Thread(target=add, args=(rounds,)) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def produce(items):
    for item in range(items):
        with condition:
            queue.append(item)
            condition.notify()


def consume(items):
    total = 0
    for _ in range(items):
        with condition:
            while not queue:
                condition.wait()
            total += queue.pop(0)
    return total


def run_forks(number):
    """Each child counts, where it can with threads, and returns the sum as its status."""
    statuses = []
    for i in range(number):
        child = os.fork()
        if child == 0:
            global count
            count = 0
            if alone:
                add(20 + 2 * i)
            else:
                run_threads(2, 10 + i)
            os._exit(count)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return statuses


def square(number):
    run_threads(2, 5)
    return number * number


def run_pool():
    try:
        import multiprocessing
    except ImportError:  # a minimal installation
        return [square(number) for number in range(6)]
    pool = multiprocessing.get_context("fork").Pool(2)
    squares = pool.map(square, range(6))
    pool.close()  # a "with" would kill the workers
    pool.join()
    return squares


def main():
    run_threads(6, 2000)
    print("threads", count)
    producer = threading.Thread(target=produce, args=(500,))
    producer.start()
    print("queue", consume(500))
    producer.join()
    print("forks", run_forks(3))
    print("pool", run_pool())
    if not alone:
        done = subprocess.run(["sort"], input="b\na\n", capture_output=True, text=True)
        print("subprocess", done.returncode, done.stdout.split(), done.stderr)
    sys.stdout.flush()
    os._exit(5)


main()
