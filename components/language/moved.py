"""Old links: where a link leads now if another scene shows its state (`Scene.moved`)."""

from urllib.parse import parse_qsl, urlencode

from components.language.scene import Scene, scenes


def forwarded(scene: Scene, query: str) -> tuple[str, str] | None:
    """The slug and the query to which an old link of `scene` leads now; None for a link that is not old.

    `Scene.moved` maps some pairs (name, value) of a query to slugs. The new slug is the first of these slugs,
    in the order of the query, that differs from the slug of `scene`. If none differs, the slug stays the
    same. A choice is *gone* if `scene` has or had it, and the scene of the new slug does not have it. The new
    query is the old one, with these changes:

    - Pairs that `Scene.moved` maps to the new slug are left out.
    - If the slug is new, pairs whose name is a choice that is gone are left out.
    - In the value of `controls`, the names of choices that are gone are left out. Without a name left, the
      value is 0.
    """
    if not scene.moved:
        return None
    pairs = [(part, *(parse_qsl(part, keep_blank_values=True) or [("", "")])[0]) for part in query.split("&")]
    places = [scene.moved[name, value] for _, name, value in pairs if (name, value) in scene.moved]
    slug = next((place for place in places if place != scene.slug), scene.slug)
    former = {name for name, _ in scene.moved} | {choice.name for choice in scene.choices}
    gone = former - {"tour", *(choice.name for choice in scenes()[slug].choices)}
    kept = []
    for part, name, value in pairs:
        if scene.moved.get((name, value)) == slug or (slug != scene.slug and name in gone):
            continue
        if name == "controls" and not gone.isdisjoint(controls := value.split(",")):
            part = urlencode({name: ",".join(each for each in controls if each not in gone) or "0"}, safe=",")
        kept.append(part)
    new = "&".join(kept)
    return None if (slug, new) == (scene.slug, query) else (slug, new)
