// What a backend accepts from Countersign: sessions, verified without a call, and events that end them.
package main

import (
	"errors"
	"math"
	"strings"
	"sync"

	"github.com/golang-jwt/jwt"
)

var (
	ending = map[string]bool{"session-revoked": true, "account-disabled": true, "account-purged": true}
	// Claims are compared below, since the library does not know all of them.
	parser = jwt.NewParser(jwt.WithValidMethods([]string{"RS256", "ES256", "ES384"}), jwt.WithoutClaimsValidation())

	lock                              sync.Mutex // over everything below
	proofs, endedSessions, endedUsers memory
	proofsOf                          = map[string]int{} // the number of proofs of each device's key
)

// signedByService returns the claims of a token for this provider.
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
		err = errors.New("wrong issuer or audience")
	}
	return claims, err
}

// session returns the claims of a session's token. They prove nothing until cnf was compared with the device.
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
		return nil, Refusal{401, "invalid_token", "the session has ended"}
	}
	return claims, nil
}

// event receives a security event (RFC 8417). Sessions that it ends are refused, longer than any token lives.
func event(body string) error {
	claims, err := signedByService(body, "secevent+jwt", realm)
	if err != nil {
		return refusal(400, "invalid_request", err)
	}
	at, _ := claims["toe"].(float64)
	subject, _ := claims["sub_id"].(map[string]any)
	events, _ := claims["events"].(map[string]any)
	ended, whose := &endedUsers, subject["sub"]
	if session, found := subject["session"].(map[string]any); found {
		ended, whose = &endedSessions, session["id"]
	}
	lock.Lock()
	defer lock.Unlock()
	ended.forget(600)
	for name := range events {
		if !ending[name[strings.LastIndex(name, "/")+1:]] {
			continue
		}
		known, isText := whose.(string)
		if !isText {
			return Refusal{400, "invalid_request", "the event has an unknown form of subject"}
		}
		ended.add(known, math.Max(at, ended.at[known]))
	}
	return nil
}
