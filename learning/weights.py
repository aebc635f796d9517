"""One trained network as a text that fits into a link."""

import base64
import binascii
import struct
import zlib
from typing import Any

import numpy as np

from learning.network import MIDDLES, Network

Array = np.ndarray

VERSION = 1
HEAD = struct.Struct("<BBBBBd")  # version, middle, inputs, outputs, depth, eps
LARGEST_WEIGHT = 1e6  # products of a few of them can still be drawn in single precision
LONGEST = 3000  # characters; servers cut a request's first line at some 4,000


class FilmError(ValueError):
    """A file or a link that holds no film or network; the message says why."""


def weights_text(network: Any, flat: Array) -> str:
    """One network with its parameters (P,) in letters, digits, "-" and "_": single precision, and a checksum.

    Raises FilmError where it does not fit into a link.
    """
    if not isinstance(network, Network):
        raise FilmError("only a network of Linears fits into a link: save the run as a file instead")
    if np.shape(flat) != (network.size,):
        raise FilmError(f"this network has {network.size} parameters: got an array of shape {np.shape(flat)}")
    middle = list(MIDDLES).index(network.middle)
    head = HEAD.pack(VERSION, middle, network.inputs, network.outputs, network.depth, network.eps)
    data = head + bytes(network.hidden) + finite(flat, "weights").astype("<f4").tobytes()
    text = base64.urlsafe_b64encode(data + struct.pack("<I", zlib.crc32(data))).decode().rstrip("=")
    if len(text) > LONGEST:
        raise FilmError(f"this network is too large for a link: {len(text)} characters, {LONGEST} fit")
    return text


def network_of(text: str) -> tuple[Network, Array]:
    """The network of `weights_text` and its parameters (P,). Raises FilmError for any other text."""
    if len(text) > LONGEST:
        raise FilmError(f"a network in a link has at most {LONGEST} characters: got {len(text)}")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise FilmError("a network in a link has only letters, digits, - and _, and all of them") from None
    body, checksum = data[:-4], data[-4:]
    if len(body) < HEAD.size or checksum != struct.pack("<I", zlib.crc32(body)):
        raise FilmError("this network is not whole: the link was cut or changed")
    version, middle, inputs, outputs, depth, eps = HEAD.unpack_from(body)
    if version != VERSION or middle >= len(MIDDLES):
        raise FilmError(f"this network comes from another version, {version}; this one reads {VERSION}")
    widths = tuple(body[HEAD.size : HEAD.size + depth])
    flat = body[HEAD.size + depth :]
    network = named(inputs, outputs, depth, list(MIDDLES)[middle], eps, widths)
    if len(flat) != 4 * network.size:
        raise FilmError(f"this network needs {network.size} parameters: the link has {len(flat) / 4:g}")
    return network, bounded(np.frombuffer(flat, dtype="<f4"))


def named(inputs, outputs, depth, middle, eps, widths) -> Network:
    """Equal widths become one width, so that a network and its copy are equal."""
    alike = len(set(widths)) <= 1
    width = widths[0] if widths else 1
    try:
        return Network(inputs, width, depth, outputs, middle, eps, None if alike else widths)
    except (TypeError, ValueError) as problem:
        raise FilmError(f"the network is none of ours: {problem}") from None


def bounded(weights: Any) -> Array:
    """Weights in single precision. Raises FilmError where one is not within ±LARGEST_WEIGHT."""
    weights = finite(weights, "weights")
    if (abs(weights) > LARGEST_WEIGHT).any():
        raise FilmError(f"weights are numbers, −{LARGEST_WEIGHT:g} … {LARGEST_WEIGHT:g}")
    return weights


def finite(array: Any, name: str) -> Array:
    """The numbers in single precision. Raises FilmError where one is no finite number."""
    with np.errstate(over="ignore"):
        array = np.asarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        raise FilmError(f"{name} has a number that is not finite")
    return array
