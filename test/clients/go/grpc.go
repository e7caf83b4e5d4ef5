package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net/url"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	analysisv1 "example.com/kibitz/gen/chess/analysis/v1"
)

type grpcClient struct {
	analysis analysisv1.AnalysisServiceClient
	keys     analysisv1.KeyServiceClient
}

func newGrpcClient(baseURL string) client {
	service, err := url.Parse(baseURL)
	must(err)
	connection, err := grpc.NewClient(service.Host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	return &grpcClient{analysisv1.NewAnalysisServiceClient(connection), analysisv1.NewKeyServiceClient(connection)}
}

func (c *grpcClient) call(ctx context.Context, asked command, received func(proto.Message)) outcome {
	for name, value := range asked.Metadata {
		ctx = metadata.AppendToOutgoingContext(ctx, name, value)
	}
	var headers, trailers metadata.MD
	options := []grpc.CallOption{grpc.Header(&headers), grpc.Trailer(&trailers)}
	if asked.Compress {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	ended := status.Convert(c.send(ctx, asked, options, received))
	reported := outcome{code: code.Code(ended.Code()), message: ended.Message(), headers: headers, trailers: trailers}
	for _, value := range ended.Details() {
		reported.details = append(reported.details, value.(proto.Message))
	}
	return reported
}

func (c *grpcClient) send(ctx context.Context, asked command, options []grpc.CallOption, received func(proto.Message)) error {
	switch asked.Method {
	case "Evaluate":
		return grpcUnary(ctx, c.analysis.Evaluate, asked, options, received)
	case "FindBestMove":
		return grpcUnary(ctx, c.analysis.FindBestMove, asked, options, received)
	case "GetPrice":
		return grpcUnary(ctx, c.analysis.GetPrice, asked, options, received)
	case "GetKey":
		return grpcUnary(ctx, c.keys.GetKey, asked, options, received)
	case "CreateKey":
		return grpcUnary(ctx, c.keys.CreateKey, asked, options, received)
	case "StreamEvaluate":
		return c.stream(ctx, asked, options, received)
	}
	log.Fatalf("no method %q", asked.Method)
	return nil
}

func (c *grpcClient) stream(ctx context.Context, asked command, options []grpc.CallOption, received func(proto.Message)) error {
	request := new(analysisv1.AnalysisRequest)
	must(protojson.Unmarshal(asked.Request, request))
	stream, err := c.analysis.StreamEvaluate(ctx, request, options...)
	if err != nil {
		return err
	}
	for {
		state, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		received(state)
	}
}

func grpcUnary[Request, Response any](
	ctx context.Context,
	send func(context.Context, *Request, ...grpc.CallOption) (*Response, error),
	asked command,
	options []grpc.CallOption,
	received func(proto.Message),
) error {
	request := new(Request)
	must(protojson.Unmarshal(asked.Request, any(request).(proto.Message)))
	answer, err := send(ctx, request, options...)
	if err == nil {
		received(any(answer).(proto.Message))
	}
	return err
}
