// Command traffic calls the service without end, as many callers over one connection, with the usual policy of retries:
// traffic <host:port> <callers>. Reads an array of questions, then until its input ends; prints what became of them.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	analysisv1 "example.com/kibitz/gen/chess/analysis/v1"
)

// As in the documentation of gRPC.
const retries = `{"methodConfig": [{
	"name": [{"service": "chess.analysis.v1.AnalysisService"}],
	"retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}
}]}`

type question struct {
	Fen   string `json:"fen"`
	Depth uint32 `json:"depth"`
	// The service's default if empty.
	Engine string `json:"engine"`
}

type counts struct {
	Calls    int64    `json:"calls"`
	Failures []string `json:"failures"`
}

func main() {
	callers, err := strconv.Atoi(os.Args[2])
	must(err)
	connection, err := grpc.NewClient(os.Args[1],
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(retries))
	must(err)
	client := analysisv1.NewAnalysisServiceClient(connection)

	input := json.NewDecoder(os.Stdin)
	var questions []question
	must(input.Decode(&questions))
	var over atomic.Bool
	var next, calls atomic.Int64
	var failures []string
	var guard sync.Mutex
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for !over.Load() {
				asked := questions[int(next.Add(1)-1)%len(questions)]
				calls.Add(1)
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				request := &analysisv1.AnalysisRequest{Fen: asked.Fen, Depth: proto.Uint32(asked.Depth)}
				if asked.Engine != "" {
					request.Engine = proto.String(asked.Engine)
				}
				_, err := client.Evaluate(ctx, request)
				cancel()
				if err != nil {
					guard.Lock()
					failures = append(failures, err.Error())
					guard.Unlock()
				}
			}
		})
	}
	_, err = io.Copy(io.Discard, input.Buffered())
	must(err)
	_, err = io.Copy(io.Discard, os.Stdin)
	must(err)
	over.Store(true)
	running.Wait()
	must(json.NewEncoder(os.Stdout).Encode(counts{calls.Load(), append([]string{}, failures...)}))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
