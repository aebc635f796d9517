"""The format (MIME type) in which the browser records videos of a figure."""

import pytest

H264, PLAIN_H264, MP4, WEBM = (
    "video/mp4;codecs=avc1.42E01E", "video/mp4;codecs=avc1", "video/mp4", "video/webm"
)  # fmt: skip


@pytest.mark.parametrize(
    ("types", "wanted"),
    [
        ([WEBM, MP4, PLAIN_H264, H264], H264),
        ([WEBM, MP4, PLAIN_H264], PLAIN_H264),
        ([WEBM, MP4], WEBM),  # Chromium without H.264 writes VP9 into an MP4, which few programs open
        ([WEBM], WEBM),
        ([MP4], MP4),
        ([], None),
        (None, None),
    ],
)
def test_a_film_is_h264_where_the_browser_records_it(node, types, wanted):
    found = node.ask("recorded", types=types)
    assert (found and found["type"]) == wanted
    if found:
        assert found["ending"] == found["name"].lower() == wanted[6:].partition(";")[0]
