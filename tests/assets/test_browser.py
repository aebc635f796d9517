"""Preferences of a reader whose browser refuses its storage, as with cookies blocked."""


def test_without_storage_a_preference_lasts_as_long_as_the_page(node):
    texts = ["off", "on", None]
    assert node.ask("storedWithoutStorage", key="keys", texts=texts) == [None, *texts]
