// What a backend takes from Countersign: sessions, which it verifies without a call, and events that end them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt"
)

var (
	ending = map[string]bool{"session-revoked": true, "account-disabled": true, "account-purged": true}
	// Claims are compared below, since the library does not know all of them.
	parser = jwt.NewParser(jwt.WithValidMethods([]string{"RS256", "ES256", "ES384"}), jwt.WithoutClaimsValidation())

	lock                              sync.Mutex // over everything below
	keys                              map[string]any
	keysAt                            time.Time
	proofs, endedSessions, endedUsers memory
)

// serviceKey finds a key of the service. They are fetched once; again only for an unknown one, once a minute.
func serviceKey(id string) (any, error) {
	lock.Lock()
	defer lock.Unlock()
	if keys[id] == nil && time.Since(keysAt) >= time.Minute {
		text, err := answer(client.Get(service + "/.well-known/jwks.json"))
		if err != nil {
			return nil, err
		}
		var set struct{ Keys []JWK }
		if err := json.Unmarshal(text, &set); err != nil {
			return nil, err
		}
		keys, keysAt = map[string]any{}, time.Now()
		for _, jwk := range set.Keys {
			keys[jwk.Kid], _ = jwk.public()
		}
	}
	if keys[id] == nil {
		return nil, errors.New("by an unknown key")
	}
	return keys[id], nil
}

// signedByService gives the claims of a token for this provider.
func signedByService(text, kind, issuer string) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	_, err := parser.ParseWithClaims(text, claims, func(token *jwt.Token) (any, error) {
		id, _ := token.Header["kid"].(string)
		if token.Header["typ"] != kind {
			return nil, errors.New("no " + kind)
		}
		return serviceKey(id)
	})
	if err == nil && (claims["iss"] != issuer || claims["aud"] != provider.ID) {
		err = errors.New("by or for somebody else")
	}
	return claims, err
}

// session gives the claims of a session's token. They are worth nothing until cnf was compared with the device.
func session(token string) (jwt.MapClaims, error) {
	claims, err := signedByService(token, "at+jwt", service)
	if err != nil {
		return nil, refusal(401, "invalid_token", err)
	}
	expires, _ := claims["exp"].(float64)
	signedIn, _ := claims["auth_time"].(float64)
	id, _ := claims["sid"].(string)
	user, _ := claims["external_id"].(string)
	lock.Lock()
	defer lock.Unlock()
	if _, ended := endedSessions.at[id]; ended || expires <= now() || signedIn <= endedUsers.at[user] {
		return nil, Refusal{401, "invalid_token", "the session is over"}
	}
	return claims, nil
}

// event takes a security event (RFC 8417). What it ends is refused from now on, for longer than any token lives.
func event(body string) error {
	claims, err := signedByService(body, "secevent+jwt", realm)
	if err != nil {
		return refusal(400, "invalid_request", err)
	}
	at, _ := claims["toe"].(float64)
	subject, _ := claims["sub_id"].(map[string]any)
	events, _ := claims["events"].(map[string]any)
	lock.Lock()
	defer lock.Unlock()
	endedSessions.forget(600)
	endedUsers.forget(600)
	for name := range events {
		if !ending[name[strings.LastIndex(name, "/")+1:]] {
			continue
		}
		if session, found := subject["session"].(map[string]any); found {
			endedSessions.add(fmt.Sprint(session["id"]), at)
		} else if user, found := subject["sub"].(string); found {
			endedUsers.add(user, math.Max(at, endedUsers.at[user]))
		}
	}
	return nil
}
