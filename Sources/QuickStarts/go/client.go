// The provider's key, and calls that it signs.
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/golang-jwt/jwt"
)

var (
	service  = setting("SERVICE", "https://127.0.0.1:8440") // its public URL, the issuer of session tokens
	realm    = setting("REALM", "localhost")                // its name, the issuer of security events
	provider struct {
		ID    string `json:"provider_id"`
		KeyID string `json:"key_id"`
	} // from `provider add --json`
	key       any               // an *rsa.PrivateKey or *ecdsa.PrivateKey
	algorithm jwt.SigningMethod = jwt.SigningMethodES256
	client                      = &http.Client{Timeout: 5 * time.Second}
)

func init() {
	must(json.Unmarshal(read(setting("PROVIDER", "provider.json")), &provider))
	block, _ := pem.Decode(read(setting("KEY", "provider.key")))
	if block == nil {
		log.Fatal("KEY is not a PEM file")
	}
	var err error
	key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	must(err)
	if _, isRSA := key.(*rsa.PrivateKey); isRSA {
		algorithm = jwt.SigningMethodRS256
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(read(setting("CA", "Keys/ca.pem")))
	client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
}

func setting(name, usual string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return usual
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(path string) []byte {
	data, err := os.ReadFile(path)
	must(err)
	return data
}

// digest returns SHA-256 in base64url, as in JOSE.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// sign makes a token of this provider, for life seconds.
func sign(contentType string, life int64, claims jwt.MapClaims) (string, error) {
	now := time.Now().Unix()
	claims["iss"], claims["aud"], claims["iat"], claims["exp"] = provider.ID, realm, now, now+life
	token := jwt.NewWithClaims(algorithm, claims)
	token.Header["cty"], token.Header["kid"] = contentType, provider.KeyID
	return token.SignedString(key)
}

// call sends a request with a token for this one request. The response is JSON, or empty.
func call(method, path string, value any) (json.RawMessage, error) {
	var body []byte
	if value != nil {
		body, _ = json.Marshal(value)
	}
	id := make([]byte, 16)
	rand.Read(id)
	token, err := sign("layer-provider;v=1", 60, jwt.MapClaims{
		"jti": hex.EncodeToString(id), "htm": method, "htu": service + path, "body_sha256": digest(body)})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(method, service+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	return answer(client.Do(request))
}

// answer reads the service's response.
func answer(response *http.Response, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, Refusal{503, "temporarily_unavailable", err.Error()}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode >= 300 {
		err = Refusal{502, "service_refused", string(text)}
	}
	return text, err
}
