package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"oracle/live"
)

// Question is one line of serve's input.
type Question struct {
	Pod      string `json:"pod"`
	Manifest string `json:"manifest"`
	Validate bool   `json:"validate"` // also say which objects an API server would have refused
}

// Answer is one line of serve's output.
type Answer struct {
	*Result
	Failed  string   `json:"failed,omitempty"`  // the case could not be evaluated at all: no verdict of the scheduler
	Invalid []string `json:"invalid,omitempty"` // what an API server would have refused
}

func answer(text []byte) *Answer {
	var q Question
	if err := json.Unmarshal(text, &q); err != nil {
		return &Answer{Failed: err.Error()}
	}
	objs, err := live.Decode([]byte(q.Manifest))
	if err != nil {
		return &Answer{Failed: err.Error()}
	}
	a := &Answer{}
	if q.Validate {
		for _, o := range objs {
			errs, err := live.Validate(o)
			if err != nil {
				return &Answer{Failed: err.Error()}
			}
			for _, e := range errs {
				a.Invalid = append(a.Invalid, fmt.Sprintf("%s: %v", live.NameOf(o), e))
			}
		}
	}
	if a.Result, err = Evaluate(objs, q.Pod); err != nil {
		a.Result, a.Failed = nil, err.Error()
	}
	return a
}

// serve answers lines as they come and in their order, at most `jobs` at once.
func serve(r io.Reader, w io.Writer, jobs int) error {
	pending := make(chan chan *Answer, jobs-1)
	asked := make(chan error, 1)
	go func() {
		defer close(pending)
		lines := bufio.NewReaderSize(r, 1<<20)
		for {
			text, err := lines.ReadBytes('\n')
			if len(text) > 1 {
				done := make(chan *Answer, 1)
				pending <- done
				go func() { done <- answer(text) }()
			}
			if err == io.EOF {
				asked <- nil
				return
			} else if err != nil {
				asked <- err
				return
			}
		}
	}()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for done := range pending {
		if err := enc.Encode(<-done); err != nil {
			return err
		}
	}
	return <-asked
}
