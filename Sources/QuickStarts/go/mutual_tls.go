// The backend with its own TLS: it sees the device's certificate, which a token is bound to (RFC 8705).
package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strings"

	"github.com/golang-jwt/jwt"
)

// verifyCertificate returns the session of a request with `Authorization: Bearer …` by the token's own device.
func verifyCertificate(request *http.Request) (jwt.MapClaims, error) {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, Refusal{401, "invalid_token", "a Bearer token is required"}
	}
	claims, err := session(token)
	if err == nil && bound(claims, "x5t#S256") != digest(request.TLS.PeerCertificates[0].Raw) {
		err = Refusal{401, "invalid_token", "bound to another certificate"}
	}
	return claims, err
}

// serveMutualTLS accepts only connections with a certificate of the service's authority.
func serveMutualTLS(server *http.Server, listener net.Listener) error {
	authority, err := answer(client.Get(service + "/certificates/authority"))
	must(err)
	devices := x509.NewCertPool()
	devices.AppendCertsFromPEM(authority)
	server.Handler = backend{verifyCertificate, "Bearer"}
	server.TLSConfig = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: devices}
	return server.ServeTLS(listener, setting("TLS_CERTIFICATE", "backend.pem"), setting("TLS_KEY", "backend.key"))
}
