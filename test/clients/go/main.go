// Command probe makes a call for each line of JSON on stdin: probe connect|grpc <base URL>
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	// The types of details, for the registry to know.
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

type command struct {
	Method              string            `json:"method"`
	Request             json.RawMessage   `json:"request"`
	Metadata            map[string]string `json:"metadata"`
	DeadlineMs          int               `json:"deadline_ms"`
	CancelAfterMs       int               `json:"cancel_after_ms"`
	CancelAfterMessages int               `json:"cancel_after_messages"`
	Compress            bool              `json:"compress"`
}

type result struct {
	Code             string            `json:"code"`
	Message          string            `json:"message"`
	Details          []detail          `json:"details"`
	Headers          map[string]string `json:"headers"`
	Trailers         map[string]string `json:"trailers"`
	Messages         []json.RawMessage `json:"messages"`
	ElapsedMs        int64             `json:"elapsed_ms"`
	ResponseEncoding *string           `json:"response_encoding"`
}

type detail struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// outcome is the result of a call as the client library reports it.
type outcome struct {
	code              code.Code
	message           string
	details           []proto.Message
	headers, trailers map[string][]string
	encoding          *string
}

// client calls the service with one of the libraries.
type client interface {
	call(ctx context.Context, asked command, received func(proto.Message)) outcome
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: probe connect|grpc <base URL>")
	}
	var asker client
	switch os.Args[1] {
	case "connect":
		asker = newConnectClient(os.Args[2])
	case "grpc":
		asker = newGrpcClient(os.Args[2])
	default:
		log.Fatalf("no client %q", os.Args[1])
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked command
		must(json.Unmarshal(lines.Bytes(), &asked))
		must(answers.Encode(obey(asker, asked)))
	}
	must(lines.Err())
}

func obey(asker client, asked command) result {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if asked.DeadlineMs > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(asked.DeadlineMs)*time.Millisecond)
		defer cancel()
	}
	if asked.CancelAfterMs > 0 {
		defer time.AfterFunc(time.Duration(asked.CancelAfterMs)*time.Millisecond, cancel).Stop()
	}
	begin := time.Now()
	messages := []json.RawMessage{}
	ended := asker.call(ctx, asked, func(message proto.Message) {
		messages = append(messages, protoJSON(message))
		if len(messages) == asked.CancelAfterMessages {
			cancel()
		}
	})
	details := []detail{}
	for _, message := range ended.details {
		details = append(details, detail{string(message.ProtoReflect().Descriptor().FullName()), protoJSON(message)})
	}
	return result{
		Code:             ended.code.String(),
		Message:          ended.message,
		Details:          details,
		Headers:          firstOf(ended.headers),
		Trailers:         firstOf(ended.trailers),
		Messages:         messages,
		ElapsedMs:        time.Since(begin).Milliseconds(),
		ResponseEncoding: ended.encoding,
	}
}

func protoJSON(message proto.Message) json.RawMessage {
	text, err := protojson.Marshal(message)
	must(err)
	return text
}

func firstOf(fields map[string][]string) map[string]string {
	first := map[string]string{}
	for name, values := range fields {
		if len(values) > 0 && !strings.HasSuffix(name, "-bin") {
			first[strings.ToLower(name)] = values[0]
		}
	}
	return first
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
