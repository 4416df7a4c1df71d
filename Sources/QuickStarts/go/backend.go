// A backend with its own users, whose sessions Countersign keeps: a small HTTP server on loopback.
package main

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/golang-jwt/jwt"
)

var accounts = map[string]string{"ada": "correct horse", "ben": "battery staple"} // in place of your table of hashes

// backend handles requests. see verifies the device.
type backend struct {
	see    func(*http.Request) (jwt.MapClaims, error)
	scheme string
}

func (backend backend) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	request.Body = http.MaxBytesReader(response, request.Body, 65_536)
	status, value, err := backend.act(request)
	if err != nil {
		already := Refusal{400, "invalid_request", err.Error()}
		errors.As(err, &already)
		status, value = already.Status, map[string]string{"error": already.Code, "error_description": already.Reason}
		if status == 401 {
			response.Header().Set("WWW-Authenticate", fmt.Sprintf("%s error=%q", backend.scheme, already.Code))
		}
	}
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(status)
	if value != nil {
		json.NewEncoder(response).Encode(value)
	}
}

// act handles the request, and returns a status and a value for the response.
func (backend backend) act(request *http.Request) (int, any, error) {
	var asked struct {
		User, Password, Nonce string
		Token                 string `json:"identity_token"`
	}
	switch name := request.Method + " " + request.URL.Path; name {
	case "POST /login", "POST /doctor":
		if err := json.NewDecoder(request.Body).Decode(&asked); err != nil {
			return 0, nil, err
		}
		if name == "POST /doctor" {
			found, err := doctor(asked.Token)
			return 200, found, err
		}
		wanted, known := accounts[asked.User]
		if !known || subtle.ConstantTimeCompare([]byte(wanted), []byte(asked.Password)) == 0 {
			return 0, nil, Refusal{403, "access_denied", "user or password is wrong"}
		}
		token, err := identityToken(asked.User, asked.Nonce)
		return 200, map[string]string{"identity_token": token}, err
	case "POST /events":
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = event(string(body))
		}
		return 202, nil, err
	case "GET /me", "GET /me/user", "DELETE /me/sessions":
		claims, err := backend.see(request)
		if err != nil || name == "GET /me" {
			return 200, claims, err
		}
		id, _ := claims["external_id"].(string)
		if name == "DELETE /me/sessions" {
			return 204, nil, endSessions(id)
		}
		found, err := user(id)
		return 200, found, err
	}
	return 0, nil, Refusal{404, "not_found", "unknown call"}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+setting("PORT", "8460"))
	must(err)
	if events := os.Getenv("EVENTS"); events != "" {
		if err := receiveEvents(events); err != nil {
			log.Fatal("EVENTS was not registered (a URL on loopback needs countersign serve --loopback-urls): ", err)
		}
	}
	log.Print("ready: ", origin)
	server := &http.Server{Handler: backend{verify, "DPoP"}, ReadHeaderTimeout: 10 * time.Second}
	if len(os.Args) > 1 && os.Args[1] == "mutual-tls" {
		must(serveMutualTLS(server, listener))
	}
	must(server.Serve(listener))
}
