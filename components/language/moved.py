"""Old links: where a link leads now if another scene shows its state (`Scene.moved`)."""

from urllib.parse import parse_qsl, urlencode

from components.language.scene import Scene, scenes


def forwarded(scene: Scene, query: str) -> tuple[str, str] | None:
    """The slug and the query to which an old link of `scene` leads now; None for a link that is not old.

    `Scene.moved` maps some pairs (name, value) of a query to slugs. The new slug is the first of these that
    is not the slug of `scene`, or else the slug of `scene`. The new query is the old one without:

    - pairs that `Scene.moved` maps to the new slug
    - names, in the list `controls`, of choices that `scene` has or had and that the new scene does not have
    - values of such choices, if the new scene is not `scene` itself
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
