package main

import (
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

// The state of one key: its value, if it is present.
type register struct {
	present bool
	value   string
}

// The sequential model of one key: the replies of a server that carries out one operation at a time.
var model = porcupine.Model{
	Init: func() interface{} { return register{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		operation := input.(Operation)
		reply, after, valid := state.(register).apply(operation)
		if !valid {
			return false, state
		}
		return operation.Return == nil || same(reply, operation.Result), after
	},
}

// apply returns the reply and the state of the key after it. Incrementing a value that is not a number is not valid.
func (key register) apply(operation Operation) (reply *string, after register, valid bool) {
	switch operation.Operation {
	case "get":
		if key.present {
			reply = &key.value
		}
		return reply, key, true
	case "set":
		return text("OK"), register{true, *operation.Argument}, true
	case "set-nx":
		if key.present {
			return nil, key, true
		}
		return text("OK"), register{true, *operation.Argument}, true
	case "del":
		if key.present {
			return text("1"), register{}, true
		}
		return text("0"), register{}, true
	default: // incr
		count := int64(0)
		if key.present {
			var err error
			if count, err = strconv.ParseInt(key.value, 10, 64); err != nil {
				return nil, key, false
			}
		}
		next := strconv.FormatInt(count+1, 10)
		return &next, register{true, next}, true
	}
}

func text(value string) *string { return &value }

func same(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// A Verdict is about the history of one key.
type Verdict struct {
	Key     string
	History []Operation
	Result  porcupine.CheckResult
}

// Check checks the history of each key by itself, in the order of their first occurrence: a history is
// linearizable if and only if that of each key is (Herlihy and Wing, 1990, theorem 1). No key may take longer than the limit.
func Check(history []Operation, limit time.Duration) []Verdict {
	var keys []string
	ofKey := map[string][]Operation{}
	for _, operation := range history {
		if _, seen := ofKey[operation.Key]; !seen {
			keys = append(keys, operation.Key)
		}
		ofKey[operation.Key] = append(ofKey[operation.Key], operation)
	}
	var verdicts []Verdict
	for _, key := range keys {
		verdicts = append(verdicts, Verdict{key, ofKey[key], checkKey(ofKey[key], limit)})
	}
	return verdicts
}

func checkKey(history []Operation, limit time.Duration) porcupine.CheckResult {
	var known []porcupine.Operation
	for _, operation := range history {
		// A read without a reply constrains nothing and changes nothing.
		if operation.Operation == "get" && operation.Return == nil {
			continue
		}
		known = append(known, porcupine.Operation{
			ClientId: operation.Client, Input: operation, Call: operation.Call, Return: operation.end(),
		})
	}
	return porcupine.CheckOperationsTimeout(model, known, limit)
}
