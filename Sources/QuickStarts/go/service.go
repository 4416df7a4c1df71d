// A backend's calls to Countersign: identity tokens, and queries about users and tokens.
package main

import (
	"encoding/json"
	"net/url"

	"github.com/golang-jwt/jwt"
)

// identityToken states that this user has just logged in on the device with this nonce. Check that first.
func identityToken(user, nonce string) (string, error) {
	return sign("layer-eit;v=1", 300, jwt.MapClaims{"sub": user, "nce": nonce})
}

// user returns a user's level, age flags and ban, by the service.
func user(externalID string) (json.RawMessage, error) {
	return call("GET", "/provider/users/"+url.PathEscape(externalID), nil)
}

// endSessions signs a user out on every device.
func endSessions(externalID string) error {
	_, err := call("DELETE", "/provider/users/"+url.PathEscape(externalID)+"/sessions", nil)
	return err
}

// doctor returns every defect that the service finds in an identity token. It does not spend the nonce.
func doctor(token string) (json.RawMessage, error) {
	return call("POST", "/provider/token-check", map[string]string{"identity_token": token})
}

// receiveEvents sets the URL to which the service sends security events.
func receiveEvents(target string) error {
	_, err := call("PUT", "/provider/webhook", map[string]string{"url": target})
	return err
}
