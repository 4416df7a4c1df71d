// Go's net/http over HTTP/1.1 and HTTP/2, 20 at once.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

type world struct {
	Public, Client, CA, Certificate, Key, Token string
	UserID                                      string   `json:"user_id"`
	CSRs                                        []string `json:"csrs"`
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

func must[T any](value T, err error) T {
	if err != nil {
		fail("%v", err)
	}
	return value
}

// ask makes one call and gives status, body and protocol.
func ask(client *http.Client, method, url string, body []byte, fields map[string]string) (int, []byte, string) {
	request := must(http.NewRequest(method, url, bytes.NewReader(body)))
	for name, value := range fields {
		request.Header.Set(name, value)
	}
	answer := must(client.Do(request))
	defer answer.Body.Close()
	return answer.StatusCode, must(io.ReadAll(answer.Body)), answer.Proto
}

func main() {
	var told world
	if err := json.Unmarshal(must(os.ReadFile(os.Args[1])), &told); err != nil {
		fail("%v", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(os.ReadFile(told.CA)))
	pair := must(tls.LoadX509KeyPair(told.Certificate, told.Key))
	for version := 1; version <= 2; version++ {
		transport := &http.Transport{
			TLSClientConfig:       &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
			ForceAttemptHTTP2:     version == 2,
			ExpectContinueTimeout: 15 * time.Second,
		}
		if version == 1 {
			transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
		}
		client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
		started := time.Now()
		csr := must(json.Marshal(map[string]string{"csr": told.CSRs[version-1]}))
		status, body, protocol := ask(client, "POST", told.Public+"/certificates", csr, map[string]string{
			"Content-Type": "application/json", "Expect": "100-continue"})
		if status != 201 {
			fail("certify: %d %s", status, body)
		}
		if time.Since(started) > 12*time.Second {
			fail("nobody asked for the body")
		}
		session := map[string]string{"Authorization": `Layer session-token="` + told.Token + `"`}
		var all sync.WaitGroup
		for i := 0; i < 20; i++ {
			all.Add(1)
			go func() {
				defer all.Done()
				if status, body, _ := ask(client, "POST", told.Client+"/nonces", nil, nil); status != 201 {
					fail("nonce: %d %s", status, body)
				}
				status, body, _ := ask(client, "GET", told.Client+"/sessions/current", nil, session)
				if status != 200 || !bytes.Contains(body, []byte(told.UserID)) {
					fail("session: %d %s", status, body)
				}
				if status, body, _ := ask(client, "HEAD", told.Client+"/sessions/current", nil, session); status != 200 || len(body) != 0 {
					fail("head: %d %s", status, body)
				}
			}()
		}
		all.Wait()
		fmt.Println(protocol)
	}
}
