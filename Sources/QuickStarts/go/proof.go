// The proof that a device has the key that its token is bound to.
package main

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/golang-jwt/jwt"
)

var origin = setting("ORIGIN", "http://127.0.0.1:8460") // this backend, as devices see it

type proofClaims struct {
	Htm, Htu, Ath, Jti string
	Iat                float64
}

// Valid checks nothing: the claims are compared below.
func (proofClaims) Valid() error { return nil }

// bound returns the thumbprint that a token is bound to, of the kind "jkt" or "x5t#S256".
func bound(claims jwt.MapClaims, kind string) string {
	confirmation, _ := claims["cnf"].(map[string]any)
	name, _ := confirmation[kind].(string)
	return name
}

// checkProof accepts a DPoP proof (RFC 9449) for this request and token, by the key of this thumbprint, once.
func checkProof(text string, request *http.Request, token, thumbprint string) error {
	var claims proofClaims
	proof, err := parser.ParseWithClaims(text, &claims, func(proof *jwt.Token) (any, error) {
		var jwk JWK
		data, _ := json.Marshal(proof.Header["jwk"])
		if json.Unmarshal(data, &jwk) != nil || jwk.thumbprint() != thumbprint {
			return nil, errors.New("by another key than the token's")
		}
		return jwk.public()
	})
	if err != nil {
		return refusal(401, "invalid_dpop_proof", err)
	}
	// Routers shorten request.URL, but not what the device sent.
	sent, err := url.ParseRequestURI(request.RequestURI)
	if err != nil || proof.Header["typ"] != "dpop+jwt" || proof.Header["crit"] != nil || claims.Htm != request.Method ||
		claims.Htu != origin+sent.EscapedPath() || claims.Ath != digest([]byte(token)) ||
		math.Abs(now()-claims.Iat) > 60 || claims.Jti == "" {
		return Refusal{401, "invalid_dpop_proof", "for another request or token, or over a minute old"}
	}
	name := thumbprint + " " + digest([]byte(claims.Jti))
	lock.Lock()
	defer lock.Unlock()
	for _, dropped := range proofs.forget(120) {
		key, _, _ := strings.Cut(dropped, " ")
		if proofsOf[key]--; proofsOf[key] == 0 {
			delete(proofsOf, key)
		}
	}
	if _, used := proofs.at[name]; used || proofsOf[thumbprint] >= 1_000 || len(proofs.order) >= 100_000 {
		return Refusal{401, "invalid_dpop_proof", "used before, or too many in two minutes"}
	}
	proofs.add(name, now())
	proofsOf[thumbprint]++
	return nil
}

// verify returns the session of a request with `Authorization: DPoP …` and a proof.
func verify(request *http.Request) (jwt.MapClaims, error) {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	shown := request.Header.Values("DPoP")
	if !strings.EqualFold(scheme, "DPoP") || len(shown) != 1 {
		return nil, Refusal{401, "invalid_token", "a DPoP token and one proof are required"}
	}
	claims, err := session(token)
	if err == nil {
		err = checkProof(shown[0], request, token, bound(claims, "jkt"))
	}
	return claims, err
}
