// Checks by Porcupine whether a history of operations on single keys is linearizable.
//
//	linearizable [--limit 60s] HISTORY
//
// Exit status: 0 if it is; 1 if it is not, or if that was not decided within the limit; 2 if the history can't be read.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

func main() {
	limit := flag.Duration("limit", time.Minute, "the longest time to check one key")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: linearizable [--limit 60s] HISTORY")
		os.Exit(2)
	}
	file, err := os.Open(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	history, err := ReadHistory(file)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %s: %v\n", flag.Arg(0), err)
		os.Exit(2)
	}
	os.Exit(report(os.Stdout, Check(history, *limit)))
}

// report writes the verdicts and returns the exit status.
func report(output io.Writer, verdicts []Verdict) int {
	operations, unanswered, bad := 0, 0, 0
	for _, verdict := range verdicts {
		operations += len(verdict.History)
		for _, operation := range verdict.History {
			if operation.Return == nil {
				unanswered++
			}
		}
		if verdict.Result == porcupine.Ok {
			continue
		}
		bad++
		if verdict.Result == porcupine.Unknown {
			fmt.Fprintf(output, "%s: not decided within the limit\n", verdict.Key)
			continue
		}
		fmt.Fprintf(output, "%s: NOT linearizable\n", verdict.Key)
		for _, operation := range verdict.History {
			fmt.Fprintf(output, "  %s\n", operation)
		}
	}
	fmt.Fprintf(output, "keys %d, operations %d, of which %d never answered; not linearizable or not decided: %d\n",
		len(verdicts), operations, unanswered, bad)
	if bad > 0 {
		return 1
	}
	return 0
}
