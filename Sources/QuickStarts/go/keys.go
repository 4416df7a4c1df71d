// The keys of the service.
package main

import (
	"encoding/json"
	"errors"
	"sync"
	"time"
)

var (
	fetching sync.Mutex // over keysAt; tokens with a known key do not wait for it
	keysAt   time.Time  // when keys were requested
	keysLock sync.Mutex // over keys, for a moment
	keys     map[string]any
)

// known returns a fetched key, and whether any was fetched.
func known(id string) (any, bool) {
	keysLock.Lock()
	defer keysLock.Unlock()
	return keys[id], len(keys) > 0
}

// serviceKey finds a key. Keys are fetched once, and again only for an unknown one, at most once a minute.
func serviceKey(id string) (any, error) {
	if key, _ := known(id); key != nil {
		return key, nil
	}
	fetching.Lock()
	defer fetching.Unlock()
	key, some := known(id)
	pause := time.Minute
	if !some {
		pause = 5 * time.Second
	}
	if key == nil && time.Since(keysAt) >= pause {
		keysAt = time.Now()
		if err := fetchKeys(); err != nil {
			return nil, err
		}
		key, some = known(id)
	}
	if !some {
		return nil, Refusal{503, "temporarily_unavailable", "the service's keys are not known yet"}
	}
	if key == nil {
		return nil, errors.New("by an unknown key")
	}
	return key, nil
}

func fetchKeys() error {
	text, err := answer(client.Get(service + "/.well-known/jwks.json"))
	if err != nil {
		return err
	}
	var set struct{ Keys []JWK }
	if err := json.Unmarshal(text, &set); err != nil {
		return err
	}
	found := map[string]any{}
	for _, jwk := range set.Keys {
		found[jwk.Kid], _ = jwk.public()
	}
	keysLock.Lock()
	defer keysLock.Unlock()
	keys = found
	return nil
}
