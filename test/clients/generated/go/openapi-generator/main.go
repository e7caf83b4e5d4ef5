// Calls Kibitz with what openapi-generator has generated for Go: openapi-generator <address> <address of a newer Kibitz>.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	openapi "example/client"
)

type object = map[string]any

const (
	fen  = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
	mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
)

var ctx = context.Background()

func main() {
	kibitz, newer := clientOf(os.Args[1]), clientOf(os.Args[2])
	evaluation := evaluate(kibitz)

	_, _, err := kibitz.AnalysisAPI.Evaluate(ctx).AnalysisRequest(*openapi.NewAnalysisRequest("FEN: " + fen)).Execute()
	var refusal *openapi.GenericOpenAPIError
	if !errors.As(err, &refusal) {
		log.Fatal(err)
	}
	problem := refusal.Model().(openapi.Problem)
	pointers := []string{}
	for _, fault := range problem.Errors {
		pointers = append(pointers, fault.Pointer)
	}

	requests := []openapi.AnalysisRequest{withDepth(fen, 8), withDepth(mate, 8), *openapi.NewAnalysisRequest("no position")}
	batch, _, err := kibitz.AnalysisAPI.EvaluateBatch(ctx).EvaluateBatchRequest(*openapi.NewEvaluateBatchRequest(requests)).Execute()
	check(err)
	mates, codes := []*int32{}, []*string{}
	for _, item := range batch {
		var mate *int32
		if result := item.Result.Get(); result != nil {
			mate = result.Score.Mate.Get()
		}
		var code *string
		if problem := item.Problem.Get(); problem != nil {
			code = &problem.Code
		}
		mates, codes = append(mates, mate), append(codes, code)
	}

	review := reviewGame(kibitz)
	judgements := []*string{}
	for _, move := range review.Moves {
		judgements = append(judgements, move.Judgement.Get())
	}
	newerEvaluation, newerReview := evaluate(newer), reviewGame(newer)
	phases := []string{}
	for _, move := range newerReview.Moves {
		phases = append(phases, move.Phase)
	}

	check(json.NewEncoder(os.Stdout).Encode(object{
		"answers": object{
			"evaluation":       evaluation,
			"problem":          problem,
			"batch":            batch,
			"review":           review,
			"newer_evaluation": newerEvaluation,
			"newer_review":     newerReview,
		},
		"fields": object{
			"cp":             evaluation.Score.Cp.Get(),
			"mate":           evaluation.Score.Mate.Get(),
			"best":           evaluation.BestMove.Get().Uci,
			"promotion":      evaluation.BestMove.Get().Promotion.Get(),
			"terminal":       evaluation.Terminal.Get(),
			"code":           problem.Code,
			"pointers":       pointers,
			"retry_after_ms": problem.RetryAfterMs.Get(),
			"mates":          mates,
			"codes":          codes,
			"judgements":     judgements,
			"bound":          newerEvaluation.Score.Bound,
			"stop_reason":    newerEvaluation.Search.StopReason.Get(),
			"phases":         phases,
		},
	}))
}

func clientOf(address string) *openapi.APIClient {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: address}}
	return openapi.NewAPIClient(configuration)
}

func evaluate(client *openapi.APIClient) *openapi.EvaluateResult {
	evaluation, _, err := client.AnalysisAPI.Evaluate(ctx).AnalysisRequest(*openapi.NewAnalysisRequest(fen)).Execute()
	check(err)
	return evaluation
}

func reviewGame(client *openapi.APIClient) *openapi.GameReview {
	game := openapi.NewReviewGameRequest()
	game.SetMoves([]string{"f3", "e5", "g4", "Qh4#"})
	game.SetDepth(8)
	review, _, err := client.GameAPI.ReviewGame(ctx).ReviewGameRequest(*game).Execute()
	check(err)
	return review
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
