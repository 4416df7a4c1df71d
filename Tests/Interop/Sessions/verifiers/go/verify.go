// Verifies sessions' tokens by Debian's golang-jwt: go run verify.go WORLD prints one verdict for each case.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"time"

	"github.com/golang-jwt/jwt"
)

type webKey struct{ Kty, Kid, Alg, Crv, N, E, X, Y string }

type world struct {
	JwksURI string `json:"jwks_uri"`
	CA      string `json:"ca"`
	Issuer  string `json:"issuer"`
	Cases   []struct {
		Token, Audience, Certificate string
		JWK                          *webKey
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) *big.Int {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	check(err)
	return new(big.Int).SetBytes(bytes)
}

func (key webKey) public() interface{} {
	if key.Kty == "EC" {
		return &ecdsa.PublicKey{Curve: elliptic.P256(), X: number(key.X), Y: number(key.Y)}
	}
	return &rsa.PublicKey{N: number(key.N), E: int(number(key.E).Int64())}
}

func digest(bytes []byte) string {
	sum := sha256.Sum256(bytes)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (key webKey) thumbprint() string {
	if key.Kty == "EC" {
		return digest([]byte(fmt.Sprintf(`{"crv":%q,"kty":"EC","x":%q,"y":%q}`, key.Crv, key.X, key.Y)))
	}
	return digest([]byte(fmt.Sprintf(`{"e":%q,"kty":"RSA","n":%q}`, key.E, key.N)))
}

func fetch(world world) map[string]webKey {
	authority, err := os.ReadFile(world.CA)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
	answer, err := client.Get(world.JwksURI)
	check(err)
	defer answer.Body.Close()
	var set struct{ Keys []webKey }
	check(json.NewDecoder(answer.Body).Decode(&set))
	keys := map[string]webKey{}
	for _, key := range set.Keys {
		keys[key.Kid] = key
	}
	return keys
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var world world
	check(json.Unmarshal(text, &world))
	keys := fetch(world)
	for _, one := range world.Cases {
		claims := jwt.MapClaims{}
		parser := jwt.Parser{ValidMethods: []string{"RS256", "ES256"}}
		_, err := parser.ParseWithClaims(one.Token, claims, func(token *jwt.Token) (interface{}, error) {
			kid, _ := token.Header["kid"].(string)
			key, found := keys[kid]
			if !found || key.Alg != token.Method.Alg() || token.Header["typ"] != "at+jwt" {
				return nil, errors.New("header")
			}
			return key.public(), nil
		})
		if err == nil && !(claims.VerifyIssuer(world.Issuer, true) && claims.VerifyAudience(one.Audience, true) &&
			claims.VerifyExpiresAt(time.Now().Unix(), true)) {
			err = errors.New("claims")
		}
		if err == nil {
			bound, _ := claims["cnf"].(map[string]interface{})
			if expected, isKey := bound["jkt"]; isKey {
				if one.JWK == nil || one.JWK.thumbprint() != expected {
					err = errors.New("jkt")
				}
			} else if block, _ := pem.Decode([]byte(one.Certificate)); block == nil ||
				digest(block.Bytes) != bound["x5t#S256"] {
				err = errors.New("x5t")
			}
		}
		if err != nil {
			fmt.Println("refused", err)
		} else {
			fmt.Println("accepted", claims["sub"])
		}
	}
}
