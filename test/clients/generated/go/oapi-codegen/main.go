// Calls Kibitz with what oapi-codegen has generated: oapi-codegen <address> <address of a newer Kibitz>.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"example/kibitz"
)

type object = map[string]any

const (
	fen  = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
	mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
)

var ctx = context.Background()

func main() {
	service, newer := clientOf(os.Args[1]), clientOf(os.Args[2])
	evaluation := evaluate(service, fen).JSON200

	problem := evaluate(service, "FEN: "+fen).ApplicationproblemJSON400
	pointers := []string{}
	for _, fault := range problem.Errors {
		pointers = append(pointers, fault.Pointer)
	}

	batch, err := service.EvaluateBatchWithResponse(ctx, kibitz.EvaluateBatchRequest{
		Requests: []kibitz.AnalysisRequest{withDepth(fen, 8), withDepth(mate, 8), {Fen: "no position"}},
	})
	check(err)
	mates, codes := []*int32{}, []*string{}
	for _, item := range *batch.JSON200 {
		var mate *int32
		if item.Result != nil {
			mate = item.Result.Score.Mate
		}
		var code *string
		if item.Problem != nil {
			code = &item.Problem.Code
		}
		mates, codes = append(mates, mate), append(codes, code)
	}

	review := reviewGame(service)
	judgements := []*string{}
	for _, move := range review.Moves {
		judgements = append(judgements, move.Judgement)
	}
	newerEvaluation, newerReview := evaluate(newer, fen).JSON200, reviewGame(newer)
	phases := []string{}
	for _, move := range newerReview.Moves {
		phases = append(phases, move.Phase)
	}

	check(json.NewEncoder(os.Stdout).Encode(object{
		"answers": object{
			"evaluation":       evaluation,
			"problem":          problem,
			"batch":            batch.JSON200,
			"review":           review,
			"newer_evaluation": newerEvaluation,
			"newer_review":     newerReview,
		},
		"fields": object{
			"cp":             evaluation.Score.Cp,
			"mate":           evaluation.Score.Mate,
			"best":           evaluation.BestMove.Uci,
			"promotion":      evaluation.BestMove.Promotion,
			"terminal":       evaluation.Terminal,
			"code":           problem.Code,
			"pointers":       pointers,
			"retry_after_ms": problem.RetryAfterMs,
			"mates":          mates,
			"codes":          codes,
			"judgements":     judgements,
			"bound":          newerEvaluation.Score.Bound,
			"stop_reason":    newerEvaluation.Search.StopReason,
			"phases":         phases,
		},
	}))
}

func clientOf(address string) *kibitz.ClientWithResponses {
	client, err := kibitz.NewClientWithResponses(address)
	check(err)
	return client
}

func evaluate(client *kibitz.ClientWithResponses, fen string) *kibitz.EvaluateResponse {
	answer, err := client.EvaluateWithResponse(ctx, kibitz.AnalysisRequest{Fen: fen})
	check(err)
	return answer
}

func reviewGame(client *kibitz.ClientWithResponses) *kibitz.GameReview {
	moves, depth := []string{"f3", "e5", "g4", "Qh4#"}, 8
	answer, err := client.ReviewGameWithResponse(ctx, kibitz.ReviewGameRequest{Moves: &moves, Depth: &depth})
	check(err)
	return answer.JSON200
}

func withDepth(fen string, depth int) kibitz.AnalysisRequest {
	return kibitz.AnalysisRequest{Fen: fen, Depth: &depth}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
