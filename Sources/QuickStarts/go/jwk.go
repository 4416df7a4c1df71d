// Public keys in JOSE's form.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
)

// JWK is a public key (RFC 7517), not validated yet.
type JWK struct{ Kid, Kty, Crv, X, Y, N, E string }

// thumbprint names the key (RFC 7638).
func (jwk JWK) thumbprint() string {
	if jwk.Kty == "RSA" {
		return digest([]byte(fmt.Sprintf(`{"e":%q,"kty":"RSA","n":%q}`, jwk.E, jwk.N)))
	}
	return digest([]byte(fmt.Sprintf(`{"crv":%q,"kty":%q,"x":%q,"y":%q}`, jwk.Crv, jwk.Kty, jwk.X, jwk.Y)))
}

// public returns the key, if its point or modulus is valid.
func (jwk JWK) public() (any, error) {
	number := func(text string) *big.Int {
		data, _ := base64.RawURLEncoding.DecodeString(text)
		return new(big.Int).SetBytes(data)
	}
	if jwk.Kty == "RSA" && jwk.E == "AQAB" {
		return &rsa.PublicKey{N: number(jwk.N), E: 65537}, nil
	}
	curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384()}[jwk.Crv]
	if jwk.Kty != "EC" || curve == nil || !curve.IsOnCurve(number(jwk.X), number(jwk.Y)) {
		return nil, errors.New("unsupported kind of key")
	}
	return &ecdsa.PublicKey{Curve: curve, X: number(jwk.X), Y: number(jwk.Y)}, nil
}
