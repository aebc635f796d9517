"""Run code that needs an event loop of its own."""

from concurrent.futures import ThreadPoolExecutor


def in_thread(call, *arguments):
    """Call a function in another thread, and return its result.

    In the main thread of a process that has run browser tests, an event loop runs, and `asyncio.run` fails.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *arguments).result()
