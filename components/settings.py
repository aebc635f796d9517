"""Settings from environment variables; docs/deployment.md explains them.

All are read and checked here, before the first request. The list is also part of `normscape serve --help`.

NORMSCAPE_PREFIX   the path below which a proxy serves the explorer, such as /normscape/
TRUSTED_PROXIES    the number of proxies in front of the server; each must set X-Forwarded-For,
                   X-Forwarded-Proto and X-Forwarded-Host
HOSTS              the host names that requests may name, separated by commas or spaces; others get status
                   400, except for /healthz
EMBED_ORIGINS      the origins of the sites whose pages may show an embed in a frame, separated by commas or
                   spaces; by default, any site may
IMPRINT_URL        the address of the site's imprint, which all pages but embeds link
PRIVACY_URL        the address of the site's privacy notice, which the same pages link
CLIENT_CPU_BURST   the seconds of CPU time that a client may use at once (20)
CLIENT_CPU_RATE    the seconds of CPU time that it gets back each second (0.25)
CLIENT_TRAININGS   how many trainings of a client may wait or run (4)
WAITING_TRAININGS  how many trainings of all clients may wait (8)
CLIENT_REQUESTS    how many requests of an IP address the nginx of compose.yaml handles at once (500)
BIND               the address and port to listen on
LOG_LEVEL          "debug" to log errors with their tracebacks; "warning", the default, logs one line each
REDIS_URL          the address of a Redis server that queues training jobs and stores their results
CACHE_DIR          the folder for preview pictures, the worker's heartbeat and, without Redis, the queue and
                   the results of training
"""

from __future__ import annotations

import re
import socket
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv6Address
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

LONGEST_PREFIX = 100  # characters
MAX_PROXIES = 10
NGINX_CLIENTS = 5000  # nginx.conf has 10,000 connections, of which a request takes two
LOG_LEVELS = ("warning", "debug")  # the first is the default
LINKS = {"IMPRINT_URL": "Imprint", "PRIVACY_URL": "Privacy notice"}  # setting → text of the link
REDIS_ANSWER_SECONDS = 2.0


Number = TypeVar("Number", int, float)


class WrongSetting(ValueError):
    """Raised for an invalid setting. Its message, one line, names the setting and says what is valid."""


@dataclass(frozen=True)
class Settings:
    """The settings of the web application.

    embed_origins: the origins of the sites that may show embeds in a frame; if it is empty, any site may.
    links: the links at the foot of each page, as pairs (text, URL).
    """

    prefix: str = "/"
    proxies: int = 0
    hosts: tuple[str, ...] = ()
    embed_origins: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    cpu_burst: float = 20.0
    cpu_rate: float = 0.25
    client_trainings: int = 4  # several, because people in a lecture hall share an address
    waiting_trainings: int = 8
    log_level: str = LOG_LEVELS[0]


def read(environment: Mapping[str, str]) -> Settings:
    """Read and check the settings of the web application. Raises WrongSetting if one is invalid.

    A variable that is empty counts as missing. BIND, REDIS_URL and CACHE_DIR are not part of the result;
    other functions read them. CLIENT_REQUESTS is only checked, because nginx applies it.
    """
    number = partial(_number, environment)
    number("CLIENT_REQUESTS", 500, 1, NGINX_CLIENTS)
    return Settings(
        prefix=_prefix(environment.get("NORMSCAPE_PREFIX") or "/"),
        proxies=number("TRUSTED_PROXIES", Settings.proxies, 0, MAX_PROXIES),
        hosts=_hosts(environment.get("HOSTS") or ""),
        embed_origins=_embed_origins(environment.get("EMBED_ORIGINS") or ""),
        links=links(environment),
        cpu_burst=number("CLIENT_CPU_BURST", Settings.cpu_burst, 1, 9999),
        cpu_rate=number("CLIENT_CPU_RATE", Settings.cpu_rate, 0.01, 99),
        client_trainings=number("CLIENT_TRAININGS", Settings.client_trainings, 1, 999),
        waiting_trainings=number("WAITING_TRAININGS", Settings.waiting_trainings, 1, 999),
        log_level=_log_level(environment.get("LOG_LEVEL") or Settings.log_level),
    )


def links(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The links at the foot of each page: pairs (text, URL), from IMPRINT_URL and PRIVACY_URL where set.

    Raises WrongSetting if one is not the URL of a page.
    """
    return tuple((text, url) for name, text in LINKS.items() if (url := _url(environment, name)))


def check_storage(environment: Mapping[str, str]) -> None:
    """Check, before the first request, that Redis (or without it the cache folder) can be used.

    Creates the folder if it does not exist. Raises WrongSetting if nothing can be written to it, if REDIS_URL
    is invalid, if Redis refuses the connection, or if its Python package is not installed. If Redis does not
    answer yet, only a warning is printed.
    """
    if url := redis_url(environment):
        _reach_redis(url)
    else:
        _reach_folder(cache_folder(environment))


def _reach_folder(folder: Path) -> None:
    try:
        if folder.exists() and not folder.is_dir():
            raise WrongSetting(f"CACHE_DIR: {folder} is not a folder")
        tempfile.TemporaryFile(dir=made_folder(folder)).close()
    except OSError as problem:
        raise WrongSetting(f"CACHE_DIR: nothing can be written to {folder}: {problem.strerror}") from None


def _reach_redis(url: str) -> None:
    """Try once to connect to Redis.

    Raises WrongSetting if Redis refuses, its package is not installed, or the URL is invalid. If Redis does
    not answer, only a warning is printed, because it may start later.
    """
    try:
        import redis
    except ImportError:
        raise WrongSetting("REDIS_URL needs a package that is missing: redis") from None
    try:
        redis.Redis.from_url(
            url, socket_timeout=REDIS_ANSWER_SECONDS, socket_connect_timeout=REDIS_ANSWER_SECONDS
        ).ping()
    except (ValueError, TypeError):  # whose texts may contain a part of the password
        raise WrongSetting(
            "REDIS_URL is no address such as redis://host:6379/0. In a password, write all characters but "
            "letters and digits as %XX, such as %2F for /"
        ) from None
    except redis.AuthenticationError:
        raise WrongSetting("REDIS_URL: Redis refused the password, or needs one") from None
    except redis.ResponseError as problem:
        raise WrongSetting(f"REDIS_URL: Redis refused the connection: {problem}") from None
    except redis.RedisError as problem:
        wait = "until it does, nothing can be trained or stored"
        if isinstance(problem.__context__, socket.gaierror):
            wait += (
                ". Check the host name in REDIS_URL; Compose starts “redis” only with COMPOSE_PROFILES=scale"
            )
        print(f"normscape: Redis does not answer yet ({problem}); {wait}", file=sys.stderr)


def redis_url(environment: Mapping[str, str]) -> str:
    """The URL of Redis; "" if the setting is missing. Raises WrongSetting if it is invalid."""
    url = environment.get("REDIS_URL") or ""
    if url and not re.match(r"(redis|rediss|unix)://\S+$", url):
        raise WrongSetting("REDIS_URL is not an address like redis://host:6379/0")
    return url


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder for data on disk, from CACHE_DIR. The default is `normscape` in the user's cache folder.

    The folder may not exist yet.
    """
    home = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(environment.get("CACHE_DIR") or f"{home}/normscape").expanduser().absolute()


def made_folder(folder: Path) -> Path:
    """Return the folder; if it does not exist, create it, for its owner only. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def bind(environment: Mapping[str, str]) -> tuple[str, int]:
    """The host and port to listen on, from BIND. The default is 127.0.0.1:8050. Raises WrongSetting."""
    text = environment.get("BIND") or "127.0.0.1:8050"
    try:
        address = urlsplit(f"//{text}")
        host, port = address.hostname, address.port
    except ValueError:
        host, port = None, None
    if not host or port is None or text.count("/"):
        raise WrongSetting(f"BIND={text} is not a host and a port, like 127.0.0.1:8050 or [::1]:8050")
    return host, port


def _number(environment: Mapping[str, str], name: str, default: Number, least: float, most: float) -> Number:
    """The number in the variable `name`; `default` if the variable is missing or empty.

    Its text must have 1 to 4 digits, without a sign or exponent. Unless `default` is a whole number, a
    decimal point and 1 to 4 more digits may follow. Raises WrongSetting for any other text, and for a number
    outside `least` … `most`.
    """
    kind, text = type(default), environment.get(name) or str(default)
    digits = "[0-9]{1,4}" if kind is int else r"[0-9]{1,4}(\.[0-9]{1,4})?"
    if not re.fullmatch(digits, text) or not least <= kind(text) <= most:
        what = "a whole number" if kind is int else "a number"
        raise WrongSetting(f"{name}={text} is not {what} from {least} to {most}")
    return kind(text)


def _url(environment: Mapping[str, str], name: str) -> str:
    """The URL of a page in the variable `name`; "" if there is none. Raises WrongSetting."""
    url = environment.get(name) or ""
    if url and not re.fullmatch(r"https?://[^\s/?#]+([/?#]\S*)?", url):
        raise WrongSetting(f"{name}={url} is not an address like https://www.teach.example/imprint")
    return url


def _prefix(text: str) -> str:
    if not re.fullmatch(r"/([\w.~-]+/)*", text, re.ASCII):
        raise WrongSetting(
            f"NORMSCAPE_PREFIX={text} is not a path with a slash at both ends, like /normscape/"
        )
    if len(text) > LONGEST_PREFIX or {".", ".."} & set(text.split("/")):
        raise WrongSetting(f"NORMSCAPE_PREFIX={text[:LONGEST_PREFIX]} is too long, or has . or .. as a part")
    return text


def _log_level(text: str) -> str:
    if text not in LOG_LEVELS:
        raise WrongSetting(f"LOG_LEVEL={text} is not {' or '.join(LOG_LEVELS)}")
    return text


def _embed_origins(text: str) -> tuple[str, ...]:
    origins = _listed(text)
    for origin in origins:
        if not re.fullmatch(r"https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?", origin):
            raise WrongSetting(
                f"EMBED_ORIGINS: {origin} is not an origin like https://moodle.teach.example, without a path"
            )
    return origins


def _listed(text: str) -> tuple[str, ...]:
    """The parts of `text` between commas or white space, in lower case and without empty parts."""
    return tuple(filter(None, re.split(r"[,\s]+", text.lower())))


def _hosts(text: str) -> tuple[str, ...]:
    names = _listed(text)
    for name in names:
        try:
            if re.fullmatch(r"\[[0-9a-f:.]+\]", name):
                IPv6Address(name[1:-1])
            elif re.fullmatch(r"\.?[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*", name):
                name.removeprefix(".").encode().decode("idna")
            else:
                raise ValueError
        except UnicodeError:  # of a part that begins with xn--
            raise WrongSetting(f"HOSTS: {name} is a name that Python cannot decode") from None
        except ValueError:
            wrong = f"HOSTS: {name} is not a name like teach.example, without scheme and port"
            raise WrongSetting(wrong) from None
    return names
