package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// An Operation is one line of a history: what a client asked about one key, what it was told, and when.
type Operation struct {
	Client    int     `json:"client"`
	Key       string  `json:"key"`
	Operation string  `json:"operation"`
	Argument  *string `json:"argument"`
	// What the server replied; null is a reply, too: the key was not there, or SET NX stored nothing.
	Result *string `json:"result"`
	// When it was asked and when it was answered, by one monotonic clock. [ns]
	Call int64 `json:"call"`
	// Null if no answer came: it may be carried out at any time from the call on, or never.
	Return *int64 `json:"return"`
}

// Which operations there are, and whether they have an argument.
var operations = map[string]bool{"get": false, "set": true, "set-nx": true, "del": false, "incr": false}

// ReadHistory reads a history, a JSON object a line.
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

// end is when the operation was answered; what never was goes on to the end of time.
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

// short is how much of a value is printed.
func short(value string) string {
	const most = 40
	if len(value) <= most {
		return value
	}
	return fmt.Sprintf("%s... (%d bytes)", value[:most], len(value))
}
