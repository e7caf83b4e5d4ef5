package main

import (
	"context"
	"errors"
	"log"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"example.com/kibitz/gen/chess/analysis/v1/analysisv1connect"
)

type connectClient struct {
	plain, compressing connectServices
}

type connectServices struct {
	analysis analysisv1connect.AnalysisServiceClient
	keys     analysisv1connect.KeyServiceClient
}

func newConnectClient(baseURL string) client {
	open := func(options ...connect.ClientOption) connectServices {
		return connectServices{
			analysisv1connect.NewAnalysisServiceClient(http.DefaultClient, baseURL, options...),
			analysisv1connect.NewKeyServiceClient(http.DefaultClient, baseURL, options...),
		}
	}
	return &connectClient{plain: open(), compressing: open(connect.WithSendGzip())}
}

func (c *connectClient) call(ctx context.Context, asked command, received func(proto.Message)) outcome {
	services := c.plain
	if asked.Compress {
		services = c.compressing
	}
	ctx, info := connect.NewClientContext(ctx)
	for name, value := range asked.Metadata {
		info.RequestHeader().Set(name, value)
	}
	headers, trailers, err := services.send(ctx, info, asked, received)
	if err == nil {
		return outcome{code: code.Code_OK, headers: headers, trailers: trailers, encoding: encodingOf(headers)}
	}
	var refused *connect.Error
	if !errors.As(err, &refused) {
		log.Fatal(err)
	}
	ended := outcome{code: code.Code(refused.Code()), message: refused.Message(), headers: refused.Meta(), trailers: trailers}
	for _, packed := range refused.Details() {
		value, err := packed.Value()
		must(err)
		ended.details = append(ended.details, value)
	}
	return ended
}

func (s connectServices) send(ctx context.Context, info connect.CallInfo, asked command, received func(proto.Message)) (headers, trailers http.Header, err error) {
	switch asked.Method {
	case "Evaluate":
		err = connectUnary(ctx, s.analysis.Evaluate, asked, received)
	case "FindBestMove":
		err = connectUnary(ctx, s.analysis.FindBestMove, asked, received)
	case "GetPrice":
		err = connectUnary(ctx, s.analysis.GetPrice, asked, received)
	case "GetKey":
		err = connectUnary(ctx, s.keys.GetKey, asked, received)
	case "CreateKey":
		err = connectUnary(ctx, s.keys.CreateKey, asked, received)
	case "StreamEvaluate":
		stream, err := s.analysis.StreamEvaluate(ctx, requestOf(s.analysis.StreamEvaluate, asked))
		if err != nil {
			return nil, nil, err
		}
		defer stream.Close()
		for stream.Receive() {
			received(stream.Msg())
		}
		return stream.ResponseHeader(), stream.ResponseTrailer(), stream.Err()
	default:
		log.Fatalf("no method %q", asked.Method)
	}
	return info.ResponseHeader(), info.ResponseTrailer(), err
}

func connectUnary[Request, Response any](
	ctx context.Context,
	send func(context.Context, *Request) (*Response, error),
	asked command,
	received func(proto.Message),
) error {
	answer, err := send(ctx, requestOf(send, asked))
	if err == nil {
		received(any(answer).(proto.Message))
	}
	return err
}

// requestOf reads the request that a generated method takes.
func requestOf[Request, Answer any](_ func(context.Context, *Request) (Answer, error), asked command) *Request {
	request := new(Request)
	must(protojson.Unmarshal(asked.Request, any(request).(proto.Message)))
	return request
}

func encodingOf(headers http.Header) *string {
	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding"} {
		if encoding := headers.Get(name); encoding != "" {
			return &encoding
		}
	}
	return nil
}
