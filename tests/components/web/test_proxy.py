"""The client's address, directly or through a proxy."""

import pytest
from flask import Flask, request

from components import settings
from components.web import security
from components.web.budget import client

ADDRESSES = {
    "192.0.2.7": "192.0.2.7",
    "::ffff:192.0.2.7": "192.0.2.7",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:db8:1:2::": "2001:db8:1:2::/64",
    "2001:db8:1:3::": "2001:db8:1:3::/64",
    "fe80::1%eth0": "fe80::/64",
    "\ud800": "",
    "x" * 9000: "",
    "": "",
}


@pytest.mark.parametrize(("address", "name"), ADDRESSES.items(), ids=[*map(str, range(len(ADDRESSES)))])
def test_a_client_is_an_address_or_a_network_of_ipv6(address, name):
    with Flask("here").test_request_context(environ_base={"REMOTE_ADDR": address}):
        assert client(request) == name


@pytest.mark.parametrize(("proxies", "name"), [("0", "10.0.0.1"), ("1", "192.0.2.7"), ("2", "192.0.2.9")])
def test_proxies_are_believed_as_the_settings_say(proxies, name):
    server = Flask("here")
    server.add_url_rule("/", "who", lambda: client(request))
    security.stand_behind(server, settings.read({"TRUSTED_PROXIES": proxies}))
    said = {"X-Forwarded-For": "192.0.2.1, 192.0.2.9, 192.0.2.7"}
    assert server.test_client().get("/", headers=said, environ_base={"REMOTE_ADDR": "10.0.0.1"}).text == name
