"""An API server as its clients see it: objects in, objects out. Standard library only."""

import http.client
import json
import select
import ssl
import threading
import time
from urllib.parse import urlencode

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PATCH = "application/strategic-merge-patch+json"


class Refused(Exception):
    """An answer that is not 2xx: its code, its reason and what the server said."""

    def __init__(self, code, reason, message):
        super().__init__("%s %s: %s" % (code, reason, message))
        self.code, self.reason = code, reason


class Client:
    """What one user may do at one server. Any thread may use it; each has its own connection."""

    def __init__(self, port, ca_file, token):
        self.port, self.token = port, token
        self.tls = ssl.create_default_context(cafile=ca_file)
        self.local = threading.local()
        self.known = {}

    # Requests

    def _connect(self, timeout):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout,
                                           context=self.tls)

    def _connection(self):
        """This thread's. One that an idle server has something to say on was closed by it."""
        kept = getattr(self.local, "connection", None)
        if kept and kept.sock and select.select([kept.sock], [], [], 0)[0]:
            kept.close()
        if not kept:
            kept = self.local.connection = self._connect(30)
        return kept

    def _send(self, connection, method, path, body=None, **headers):
        headers["Authorization"] = "Bearer " + self.token
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise
        if response.status >= 300:
            raise self._refusal(response)
        return response

    @staticmethod
    def _refusal(response):
        text = response.read().decode()
        try:
            said = json.loads(text)
        except ValueError:
            said = {}
        return Refused(response.status, said.get("reason", ""), said.get("message", text))

    def request(self, method, path, body=None, content_type="application/json", accept="*/*"):
        """The server's answer: an object, or text where it is none."""
        headers = {"Content-Type": content_type, "Accept": accept}
        response = self._send(self._connection(), method, path, body, **headers)
        text = response.read().decode()
        return json.loads(text) if "json" in response.headers.get("Content-Type", "") else text

    # Where kinds live

    def _discover(self):
        """{(apiVersion, kind) and (None, kind): (root, resource, namespaced)}, the core first."""
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=DISCOVERY)["items"]:
                name = group["metadata"].get("name")
                for version in group["versions"]:
                    api = "%s/%s" % (name, version["version"]) if name else version["version"]
                    for resource in version["resources"]:
                        kind = resource.get("responseKind", {}).get("kind")
                        place = ("%s/%s" % (root, api), resource["resource"],
                                 resource["scope"] == "Namespaced")
                        self.known.setdefault((api, kind), place)
                        self.known.setdefault((None, kind), place)

    def path(self, kind, name=None, namespace=None, api=None, sub=None):
        """Of a kind, or of one object of it. Without `api`: the first group that has the kind.
        No namespace: of an object "default", of a kind all of them."""
        if (api, kind) not in self.known:
            self._discover()
        root, resource, namespaced = self.known[api, kind]
        if namespaced and (namespace or name):
            root += "/namespaces/" + (namespace or "default")
        return "/".join(part for part in (root, resource, name, sub) if part)

    # Objects

    def create(self, obj):
        meta = obj["metadata"]
        path = self.path(obj["kind"], "", meta.get("namespace", "default"), obj["apiVersion"])
        return self.request("POST", path, obj)

    def get(self, kind, name, namespace=None, **where):
        return self.request("GET", self.path(kind, name, namespace, **where))

    def list(self, kind, namespace=None, api=None, **query):
        return self._list(self.path(kind, None, namespace, api), query)["items"]

    def patch(self, kind, name, patch, namespace=None, **where):
        return self.request("PATCH", self.path(kind, name, namespace, **where), patch, PATCH)

    def delete(self, kind, name, namespace=None, grace=0, **where):
        """At once unless a grace period is given: nobody plays the kubelet."""
        return self.request("DELETE", self.path(kind, name, namespace, **where),
                            {"kind": "DeleteOptions", "apiVersion": "v1",
                             "gracePeriodSeconds": grace})

    # Waiting

    def _list(self, path, query):
        return self.request("GET", path + ("?" + urlencode(query) if query else ""))

    def watch(self, path, version, timeout, **query):
        """(type, object) of each change after `version`; TimeoutError after `timeout` seconds,
        Refused with 410 when the server has forgotten `version`."""
        deadline = time.monotonic() + timeout
        connection = self._connect(timeout)
        query.update(watch=1, resourceVersion=version)
        try:
            response = self._send(connection, "GET", path + "?" + urlencode(query))
            while line := response.readline():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    said = event["object"]
                    raise Refused(said["code"], said["reason"], said["message"])
                yield event["type"], event["object"]
                connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
        finally:
            connection.close()

    def wait_for(self, kind, test, count=1, timeout=30, namespace=None, api=None, **query):
        """Until `count` objects pass `test` (0: until none does); those that do, by name. It
        outlives a restart of the server, and raises TimeoutError with how far it came."""
        deadline = time.monotonic() + timeout
        passing = {}
        while (left := deadline - time.monotonic()) > 0:
            try:
                path = self.path(kind, None, namespace, api)
                now = self._list(path, query)
                passing = {key(obj): obj for obj in now["items"] if test(obj)}
                if enough(passing, count):
                    return passing
                version = now["metadata"]["resourceVersion"]
                for what, obj in self.watch(path, version, left, **query):
                    passing.pop(key(obj), None)
                    if what != "DELETED" and test(obj):
                        passing[key(obj)] = obj
                    if enough(passing, count):
                        return passing
            except (ConnectionError, ssl.SSLError, http.client.HTTPException):
                time.sleep(0.05)  # it is being restarted
            except TimeoutError:
                break
            except Refused as refused:
                if refused.code not in (410, 429, 500, 503):
                    raise
                time.sleep(0.05)
        raise TimeoutError("%d of %d %ss after %s s" % (len(passing), count, kind, timeout))


def key(obj):
    meta = obj["metadata"]
    return "/".join(part for part in (meta.get("namespace"), meta["name"]) if part)


def enough(passing, count):
    return len(passing) >= count if count else not passing
