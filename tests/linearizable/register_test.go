package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// verdict is the exit status for a history that is written as one line per operation:
// client, operation, argument (- for none), result (- for null, ? for unknown), call, return.
func verdict(t *testing.T, history string) int {
	t.Helper()
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(history), "\n") {
		field := strings.Fields(line)
		argument, result, end := quoted(field[2]), quoted(field[3]), field[5]
		if field[3] == "?" {
			result, end = "null", "null"
		}
		lines = append(lines, `{"client":`+field[0]+`,"key":"k","operation":"`+field[1]+`","argument":`+argument+
			`,"result":`+result+`,"call":`+field[4]+`,"return":`+end+`}`)
	}
	operations, err := ReadHistory(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	status := report(&output, Check(operations, time.Minute))
	t.Log(output.String())
	return status
}

func quoted(field string) string {
	if field == "-" {
		return "null"
	}
	return `"` + field + `"`
}

func TestHistories(t *testing.T) {
	for _, test := range []struct {
		name, history string
		status        int
	}{
		{"one after another", `
			0 get - - 0 1
			0 set a OK 2 3
			1 get - a 4 5
			1 set-nx b - 6 7
			0 del - 1 8 9
			0 del - 0 10 11
			1 set-nx b OK 12 13
			0 get - b 14 15`, 0},
		{"at once, in either order", `
			0 set a OK 0 10
			1 set b OK 0 10
			2 get - b 1 9
			2 get - a 11 12`, 0},
		{"counted", `
			0 incr - 1 0 5
			1 incr - 2 0 5
			0 get - 2 6 7`, 0},
		{"a stale read", `
			0 set a OK 0 1
			0 set b OK 2 3
			1 get - a 4 5`, 1},
		{"reads that go back", `
			0 set a OK 0 1
			0 set b OK 2 9
			1 get - b 3 4
			2 get - a 5 6`, 1},
		{"a lost write", `
			0 set a OK 0 1
			1 get - - 2 3`, 1},
		{"a deleted value that came back", `
			0 set a OK 0 1
			0 del - 1 2 3
			1 get - a 4 5`, 1},
		{"counted twice", `
			0 incr - 1 0 1
			0 get - 2 2 3`, 1},
		{"stored twice by SET NX", `
			0 set-nx a OK 0 5
			1 set-nx b OK 0 5`, 1},
		{"an unknown outcome that came late", `
			0 set a OK 0 1
			1 set b ? 2 0
			0 get - a 3 4
			0 get - b 5 6`, 0},
		{"an unknown outcome that never came", `
			0 set a OK 0 1
			1 del - ? 2 0
			0 get - a 3 4`, 0},
		{"an unknown outcome that came and went", `
			0 set a OK 0 1
			1 set b ? 2 0
			0 get - b 3 4
			0 get - a 5 6`, 1},
		{"seen before it was asked", `
			0 get - b 0 1
			1 set b ? 2 0`, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if status := verdict(t, test.history); status != test.status {
				t.Errorf("exit status %d instead of %d", status, test.status)
			}
		})
	}
}

func TestKeysAreCheckedSeparately(t *testing.T) {
	history, err := ReadHistory(strings.NewReader(`{"client":0,"key":"a","operation":"set","argument":"1","result":"OK","call":0,"return":1}
{"client":0,"key":"b","operation":"get","argument":null,"result":"1","call":2,"return":3}`))
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	if report(&output, Check(history, time.Minute)) != 1 || !strings.HasPrefix(output.String(), "b: NOT linearizable\n") {
		t.Error(output.String())
	}
}

func TestMalformedHistoriesAreRefused(t *testing.T) {
	for line, message := range map[string]string{
		`{"client":0`: "line 1: unexpected EOF",
		`{"client":0,"key":"k","operation":"put","call":0,"return":1}`:                `there is no "put"`,
		`{"client":0,"key":"k","operation":"set","result":"OK","call":0,"return":1}`:  "set needs one",
		`{"client":0,"key":"k","operation":"get","argument":"a","call":0,"return":1}`: "get takes none",
		`{"client":0,"key":"k","operation":"get","call":2,"return":1}`:                "before the call",
		`{"client":0,"key":"k","operation":"get","result":"a","call":2}`:              "but no time",
		`{"client":0,"key":"k","operation":"get","reply":"a","call":2}`:               `unknown field "reply"`,
	} {
		if _, err := ReadHistory(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
