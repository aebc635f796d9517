from learning.prose import HELD, prose, split

TEXT = """# A title

A lead with **strong** words. And $x$ of it. The end.

$$
a = b
$$

1. one: first
2. two, $y$

| a | table |
| --- | --- |

### A stop
@ progress=1
? A question?
- no
- * yes
"""


def test_what_is_left_is_what_a_reader_reads():
    assert prose(TEXT).split("\n") == [
        "A title",
        "A lead with strong words. The end.",
        "one: first",
        "A stop",
        "A question?",
        "no",
        "yes",
    ]


def test_the_end_of_each_text_is_held_back():
    first, second = (["abc"] * 20, ["cab"] * 10)
    learned, held = split(["\n".join(first), "\n".join(second)])
    assert learned.split("\n") == first[:18] + second[:9]
    assert held.split("\n") == ["abc", "abc", "cab"] and HELD == 0.1


def test_what_is_held_back_has_no_other_characters():
    learned, held = split(["\n".join(["ab"] * 18 + ["ba", "xy"])])
    assert set(held) <= set(learned) and held == "ba"
