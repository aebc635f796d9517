"""Run code that needs an event loop of its own."""

from concurrent.futures import ThreadPoolExecutor


def in_thread(call, *arguments):
    """The result of a call in another thread.

    In the main thread of a process that has run browser tests, an event loop runs, and `asyncio.run` fails.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *arguments).result()
