package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// An Operation is one line of a history: a request for one key and its reply, with times.
type Operation struct {
	Client    int     `json:"client"`
	Key       string  `json:"key"`
	Operation string  `json:"operation"`
	Argument  *string `json:"argument"`
	// The reply of the server. Null is a reply, too: the key did not exist, or SET NX stored nothing.
	Result *string `json:"result"`
	// When the request was sent, by the monotonic clock of all times. [ns]
	Call int64 `json:"call"`
	// When it was answered; null if there was no reply: it may be carried out at any time from the call on, or never. [ns]
	Return *int64 `json:"return"`
}

// All operations, and whether they have an argument.
var operations = map[string]bool{"get": false, "set": true, "set-nx": true, "del": false, "incr": false}

// ReadHistory reads a history: one JSON object per line.
func ReadHistory(from io.Reader) ([]Operation, error) {
	var history []Operation
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<24)
	for number := 1; lines.Scan(); number++ {
		var operation Operation
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&operation); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if err := operation.check(); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		history = append(history, operation)
	}
	return history, lines.Err()
}

func (operation Operation) check() error {
	hasArgument, known := operations[operation.Operation]
	switch {
	case !known:
		return fmt.Errorf("operation: there is no %q, but get, set, set-nx, del and incr", operation.Operation)
	case hasArgument && operation.Argument == nil:
		return fmt.Errorf("argument: %s needs one", operation.Operation)
	case !hasArgument && operation.Argument != nil:
		return fmt.Errorf("argument: %s takes none, but here it is %q", operation.Operation, *operation.Argument)
	case operation.Return != nil && *operation.Return < operation.Call:
		return fmt.Errorf("return: %d is before the call, %d", *operation.Return, operation.Call)
	case operation.Return == nil && operation.Result != nil:
		return fmt.Errorf("return: there is a result, %q, but no time", *operation.Result)
	}
	return nil
}

// end is when the operation was answered; one without a reply lasts for ever.
func (operation Operation) end() int64 {
	if operation.Return == nil {
		return math.MaxInt64
	}
	return *operation.Return
}

func (operation Operation) String() string {
	text := fmt.Sprintf("client %d: %s %s", operation.Client, operation.Operation, operation.Key)
	if operation.Argument != nil {
		text += " " + short(*operation.Argument)
	}
	if operation.Return == nil {
		return fmt.Sprintf("%s, called at %d, never answered", text, operation.Call)
	}
	result := "null"
	if operation.Result != nil {
		result = short(*operation.Result)
	}
	return fmt.Sprintf("%s = %s, from %d to %d", text, result, operation.Call, *operation.Return)
}

// short is a value as it is printed, without the rest of a long one.
func short(value string) string {
	const most = 40
	if len(value) <= most {
		return value
	}
	return fmt.Sprintf("%s... (%d bytes)", value[:most], len(value))
}
