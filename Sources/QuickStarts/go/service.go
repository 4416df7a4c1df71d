// What a backend says to Countersign: who has logged in, and its questions about users and tokens.
package main

import (
	"encoding/json"
	"net/url"

	"github.com/golang-jwt/jwt"
)

// identityToken says that this user has just logged in, on the device that has this nonce. Check that first.
func identityToken(user, nonce string) (string, error) {
	return sign("layer-eit;v=1", 300, jwt.MapClaims{"sub": user, "nce": nonce})
}

// user is how far the service has verified a user: level, age flags, whether banned.
func user(externalID string) (json.RawMessage, error) {
	return call("GET", "/provider/users/"+url.PathEscape(externalID), nil)
}

// endSessions signs a user out on every device.
func endSessions(externalID string) error {
	_, err := call("DELETE", "/provider/users/"+url.PathEscape(externalID)+"/sessions", nil)
	return err
}

// doctor is every defect of an identity token, as the service sees it. Nothing is spent.
func doctor(token string) (json.RawMessage, error) {
	return call("POST", "/provider/token-check", map[string]string{"identity_token": token})
}

// receiveEvents says where the service sends security events from now on.
func receiveEvents(target string) error {
	_, err := call("PUT", "/provider/webhook", map[string]string{"url": target})
	return err
}
