package main

import "errors"

// Refusal is an error response.
type Refusal struct {
	Status       int
	Code, Reason string
}

func (refusal Refusal) Error() string { return refusal.Reason }

// refusal is the reason of an error, unless that is a refusal already.
func refusal(status int, code string, err error) error {
	var already Refusal
	if errors.As(err, &already) {
		return already
	}
	return Refusal{status, code, err.Error()}
}
