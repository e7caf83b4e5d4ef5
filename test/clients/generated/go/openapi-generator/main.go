// Calls Kibitz with what openapi-generator has generated for Go: openapi-generator <address>.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	"example/openapi"
)

type object = map[string]any

func main() {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: os.Args[1]}}
	client := openapi.NewAPIClient(configuration)
	ctx := context.Background()

	const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
	first, _, err := client.AnalysisAPI.Evaluate(ctx).AnalysisRequest(*openapi.NewAnalysisRequest(fen)).Execute()
	check(err)

	_, _, err = client.AnalysisAPI.Evaluate(ctx).AnalysisRequest(*openapi.NewAnalysisRequest("no position")).Execute()
	var refusal *openapi.GenericOpenAPIError
	if !errors.As(err, &refusal) {
		log.Fatal(err)
	}
	refused := refusal.Model().(openapi.Problem)
	pointers := []string{}
	for _, fault := range refused.Errors {
		pointers = append(pointers, fault.Pointer)
	}

	requests := []openapi.AnalysisRequest{
		withDepth(fen, 8),
		withDepth("6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", 8),
		*openapi.NewAnalysisRequest("no position"),
	}
	items, _, err := client.AnalysisAPI.EvaluateBatch(ctx).EvaluateBatchRequest(*openapi.NewEvaluateBatchRequest(requests)).Execute()
	check(err)
	batch := []object{}
	for _, item := range items {
		seen := object{"index": item.Index, "cp": nil, "mate": nil, "problem": nil}
		if result := item.Result.Get(); result != nil {
			seen["cp"] = result.Score.Cp.Get()
			seen["mate"] = result.Score.Mate.Get()
		}
		if problem := item.Problem.Get(); problem != nil {
			seen["problem"] = problem.Code
		}
		batch = append(batch, seen)
	}

	game := openapi.NewReviewGameRequest()
	game.SetMoves([]string{"f3", "e5", "g4", "Qh4#"})
	game.SetDepth(8)
	review, _, err := client.GameAPI.ReviewGame(ctx).ReviewGameRequest(*game).Execute()
	check(err)
	judgements := []any{}
	for _, move := range review.Moves {
		judgements = append(judgements, move.Judgement.Get())
	}

	check(json.NewEncoder(os.Stdout).Encode(object{
		"first": object{
			"cp":      first.Score.Cp.Get(),
			"best":    first.BestMove.Get().Uci,
			"bound":   first.Score.Bound,
			"summary": first.Summary,
		},
		"refused": object{
			"status":      refused.Status,
			"code":        refused.Code,
			"next_action": refused.NextAction,
			"pointers":    pointers,
		},
		"batch":  batch,
		"review": object{"summary": review.Summary, "judgements": judgements},
	}))
}

func withDepth(fen string, depth int32) openapi.AnalysisRequest {
	request := openapi.NewAnalysisRequest(fen)
	request.SetDepth(depth)
	return *request
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
