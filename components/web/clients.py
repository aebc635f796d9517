"""Who asks: an address, so that one client's share can be told from another's."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from flask import Request

NETWORK = 64  # bits of an IPv6 address that one household has; the others are its own to choose


def client(request: Request) -> str:
    """The address as far as proxies are believed, of IPv6 the network; "" for all that have none."""
    try:
        address = ip_address(request.remote_addr or "")
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((int(address), NETWORK), strict=False))
    return str(address)
