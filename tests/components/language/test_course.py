"""The course contains every scene once, each with a sentence that leads to it."""

import pytest

from components.language import course
from components.language.scene import scenes
from tests.scenes.rules import keep


@pytest.mark.all_scenes
def test_every_scene_has_a_chapter():
    named = [step.scene.slug for chapter in course.chapters() for step in chapter.scenes]
    for slug in scenes():
        keep("course", slug, named.count(slug) == 1, f"{named.count(slug)} lines")


@pytest.mark.all_scenes
def test_chapters_are_numbered_questions_with_bridges():
    for chapter in course.chapters():
        assert chapter.title.endswith("?") and chapter.about and chapter.scenes
        assert [step.number for step in chapter.scenes] == list(range(1, len(chapter.scenes) + 1))
        assert all(step.bridge and "$" not in step.bridge for step in chapter.scenes)
    numbers = [chapter.number for chapter in course.chapters()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_before_and_after_lead_through_all_of_it():
    slug, met = course.chapters()[0].scenes[0].scene.slug, []
    assert course.previous_and_next(slug)[0] is None
    while slug:
        met.append(slug)
        before, after = course.previous_and_next(slug)
        assert (before is None) == (len(met) == 1) and (before is None or before.scene.slug == met[-2])
        slug = after and after.scene.slug
    assert sorted(met) == sorted(scenes())


def test_a_scene_without_a_chapter_has_no_place():
    assert course.in_course("nowhere") is None and course.previous_and_next("nowhere") == (None, None)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("## A?\n- nowhere: x\n", "'nowhere', which is no scene"),
        ("## A?\n- fold: x\n\n## B?\n- fold: y\n", "there twice"),
        ("## A?\n- fold: x\n- some-slug: y\n", "'A[?]' has a line '- …' that is not"),
        ("## A?\nFirst.\n\n## B?\n- fold: x\n", "'A[?]' has no scenes"),
    ],
)
def test_a_wrong_line_is_an_error(text, wrong):
    with pytest.raises(ValueError, match=wrong):
        course.read(text, scenes())


def test_chapters_and_their_scenes_are_numbered():
    found = course.read("## A?\n- shear: x\n\n## B?\nSecond.\n- fold: $x$ folds\n", scenes())
    assert [(c.number, c.title, c.about) for c in found] == [(1, "A?", ""), (2, "B?", "Second.")]
    assert found[1].scenes[0].label == "2.1" and "<math" in found[1].scenes[0].bridge
