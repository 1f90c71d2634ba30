#!/usr/bin/env python3
"""Prints Tests/TrawlSessionTests/Authentication/DigestVectors.swift.

SOURCE: the inputs are this project's own; what is expected of them is computed here by Python's hashlib from RFC 7616
section 3.4, apart from the product's code. The examples of RFC 7616 section 3.9 and RFC 2617 section 3.5 stand in
DigestSessionTests.swift with their published answers.

    python3 Tests/Vectors/digest/make.py > Tests/TrawlSessionTests/Authentication/DigestVectors.swift
"""
import hashlib
import itertools

HASHES = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}
USERS = [("user", "realm", "pass"), ("J\u00e4s\u00f8n \u2615", 'a "quoted" \\ realm', "p:a:s:s"), ("", "", "")]
REQUESTS = [("GET", "/", b""), ("POST", "/a/b?x=y,z", b"the body\r\n\0\xff")]
NONCE, CNONCE, COUNT = "bm9uY2U=:17", "0123456789abcdeffedcba9876543210", 0xAB


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def vector(algorithm, session, protection, user, request):
    name, realm, password = user
    method, target, body = request

    def digest(*parts):
        data = b":".join(part if isinstance(part, bytes) else part.encode() for part in parts)
        return hashlib.new(HASHES[algorithm], data).hexdigest()

    first = digest(name, realm, password)
    if session:
        first = digest(first, NONCE, CNONCE)

    def response(method):
        second = [method, target]
        if protection == "auth-int":
            second.append(digest(body))
        last = digest(*second)
        if protection == "":
            return digest(first, NONCE, last)
        return digest(first, NONCE, "%08x" % COUNT, CNONCE, protection, last)

    texts = [algorithm + ("-sess" if session else ""), protection, name, realm, password, method, target]
    fields = ["algorithm", "qop", "user", "realm", "password", "method", "target"]
    parts = ["%s: %s" % (field, quoted(text)) for field, text in zip(fields, texts)]
    parts.append("body: [%s]" % ", ".join(str(byte) for byte in body))
    parts.append("userHash: %s" % quoted(digest(name, realm)))
    parts.append("response: %s" % quoted(response(method)))
    parts.append("serverResponse: %s" % quoted(response("")))
    return parts


print("// Printed by Tests/Vectors/digest/make.py, which computes what is expected with Python's hashlib.")
print("// swift-format-ignore-file\n")
print("enum DigestVectors {")
print("    static let nonce = %s" % quoted(NONCE))
print("    static let clientNonce = %s" % quoted(CNONCE))
print("    static let count: UInt32 = %d\n" % COUNT)
print("    static let all: [DigestVector] = [")
for algorithm, session, protection, user, request in itertools.product(
    HASHES, [False, True], ["", "auth", "auth-int"], USERS, REQUESTS
):
    if session and protection == "":
        continue
    parts = vector(algorithm, session, protection, user, request)
    lines = [", ".join(parts[:5]), ", ".join(parts[5:9]), ", ".join(parts[9:])]
    print("        DigestVector(\n            " + ",\n            ".join(lines) + "),")
print("    ]\n}")
