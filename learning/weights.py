"""Encode a trained network as a text that fits into a URL, and decode it."""

import base64
import binascii
import struct
import zlib
from typing import Any

import numpy as np

from learning.attention import NORMS, AttentionClassifier
from learning.file_error import FileError
from learning.network import MIDDLES, Network

Array = np.ndarray

LINEARS, ATTENTION = 1, 2  # the kind of network, in the first byte
LINEARS_HEADER = struct.Struct("<BBBBBd")  # kind, middle, inputs, outputs, depth, eps
ATTENTION_HEADER = struct.Struct("<BBBB")  # kind, classes, width, norm
MAX_HALF_PRECISION = 1000.0  # up to this, half precision keeps three digits; our weights are below 10
LARGEST_WEIGHT = 1e6  # products of a few such weights can still be drawn in single precision
MAX_LINK_CHARACTERS = 3000  # some servers refuse a request whose first line is longer than about 4,000


def weights_text(network: Any, flat: Array) -> str:
    """Encode a network and its parameters (P,) as URL-safe base64 with a checksum.

    Parameters of feed-forward networks are stored in single precision. Those of attention networks, which
    have more, are stored in half precision. Raises FileError if the text would be too long, a parameter does
    not fit, or a link cannot name the network's activation.
    """
    count = network.parameter_count
    if np.shape(flat) != (count,):
        raise FileError(f"this network has {count} parameters: got an array of shape {np.shape(flat)}")
    data = _attention(network, flat) if isinstance(network, AttentionClassifier) else _linears(network, flat)
    text = base64.urlsafe_b64encode(data + struct.pack("<I", zlib.crc32(data))).decode().rstrip("=")
    if len(text) > MAX_LINK_CHARACTERS:
        raise FileError(
            f"this network is too large for a link: {len(text)} characters, {MAX_LINK_CHARACTERS} fit"
        )
    return text


def _linears(network: Network, flat: Array) -> bytes:
    if network.middle not in MIDDLES:
        raise FileError(
            f"a network with {network.middle} cannot be in a link: save the run as a file instead"
        )
    middle = list(MIDDLES).index(network.middle)
    head = LINEARS_HEADER.pack(LINEARS, middle, network.inputs, network.outputs, network.depth, network.eps)
    return head + bytes(network.hidden_widths) + finite(flat, "weights").astype("<f4").tobytes()


def _attention(network: AttentionClassifier, flat: Array) -> bytes:
    flat = finite(flat, "weights")
    if (abs(flat) > MAX_HALF_PRECISION).any():
        raise FileError(
            f"a weight beyond ±{MAX_HALF_PRECISION:g} does not fit into a link: "
            "save the run as a file instead"
        )
    head = ATTENTION_HEADER.pack(ATTENTION, network.classes, network.width, list(NORMS).index(network.norm))
    return head + flat.astype("<f2").tobytes()


def network_of(text: str) -> tuple[Network | AttentionClassifier, Array]:
    """Decode a text that `weights_text` returned: the architecture of the network, and its parameters (P,).

    Raises FileError for any other text.
    """
    if len(text) > MAX_LINK_CHARACTERS:
        raise FileError(f"a network in a link has at most {MAX_LINK_CHARACTERS} characters: got {len(text)}")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise FileError("a network in a link has only letters, digits, - and _, and all of them") from None
    body, checksum = data[:-4], data[-4:]
    head = ATTENTION_HEADER if body[:1] == bytes([ATTENTION]) else LINEARS_HEADER
    if len(body) < head.size or checksum != struct.pack("<I", zlib.crc32(body)):
        raise FileError("this network is not whole: the link was cut or changed")
    if body[0] not in (LINEARS, ATTENTION):
        raise FileError(
            f"this network comes from another version: its kind {body[0]} is unknown here; train it again"
        )
    network: Network | AttentionClassifier
    network, kind, flat = _attention_of(body) if body[0] == ATTENTION else _linears_of(body)
    if len(flat) != kind.itemsize * network.parameter_count:
        numbers = f"{len(flat) / kind.itemsize:g}"
        raise FileError(f"this network needs {network.parameter_count} parameters: the link has {numbers}")
    return network, bounded(np.frombuffer(flat, kind))


def _linears_of(body: bytes) -> tuple[Network, np.dtype, bytes]:
    _, middle, inputs, outputs, depth, eps = LINEARS_HEADER.unpack_from(body)
    if middle >= len(MIDDLES):
        raise FileError(
            f"this network comes from another version: its step {middle} is unknown here; train it again"
        )
    widths, flat = (
        tuple(body[LINEARS_HEADER.size : LINEARS_HEADER.size + depth]),
        body[LINEARS_HEADER.size + depth :],
    )
    return named(inputs, outputs, depth, list(MIDDLES)[middle], eps, widths), np.dtype("<f4"), flat


def _attention_of(body: bytes) -> tuple[AttentionClassifier, np.dtype, bytes]:
    _, classes, width, norm = ATTENTION_HEADER.unpack_from(body)
    if norm >= len(NORMS):
        raise FileError(
            f"this network comes from another version: its norm {norm} is unknown here; train it again"
        )
    try:
        network = AttentionClassifier(classes, width, list(NORMS)[norm])
    except ValueError as problem:
        raise FileError(f"the network is none of ours: {problem}") from None
    return network, np.dtype("<f2"), body[ATTENTION_HEADER.size :]


def named(inputs, outputs, depth, middle, eps, widths) -> Network:
    """Make a `Network` with given sizes; its field `widths` is None if all widths are equal.

    So networks of equal widths compare equal, however they were made. widths: the width of each hidden layer.
    middle: the activation or norm between the Linears. Raises FileError for sizes outside the limits.
    """
    alike = len(set(widths)) <= 1
    width = widths[0] if widths else 1
    try:
        return Network(inputs, width, depth, outputs, middle, eps, None if alike else widths)
    except (TypeError, ValueError) as problem:
        raise FileError(f"the network is none of ours: {problem}") from None


def bounded(weights: Any) -> Array:
    """Convert weights to single precision. Raises FileError unless all are within ±LARGEST_WEIGHT."""
    weights = finite(weights, "weights")
    if (abs(weights) > LARGEST_WEIGHT).any():
        raise FileError(f"weights are numbers, −{LARGEST_WEIGHT:g} … {LARGEST_WEIGHT:g}")
    return weights


def finite(array: Any, name: str) -> Array:
    """Convert numbers to single precision. Raises FileError unless all are finite.

    name: what the error message calls the array.
    """
    with np.errstate(over="ignore"):
        array = np.asarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        raise FileError(f"{name} has a number that is not finite")
    return array
