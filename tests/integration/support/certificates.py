"""Certificates made by the real openssl, in a folder of the test's own."""
import os
import ssl
import subprocess


def make_pair(folder, name, common_name="tidewatt test"):
    """A self-signed certificate for 127.0.0.1 and localhost. Returns the paths of certificate and key."""
    certificate, key = os.path.join(folder, f"{name}.pem"), os.path.join(folder, f"{name}.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={common_name}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


def der_of(certificate):
    with open(certificate, encoding="ascii") as file:
        return ssl.PEM_cert_to_DER_cert(file.read())


def served(port):
    """The certificate that a new connection is shown, as DER."""
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port)))
