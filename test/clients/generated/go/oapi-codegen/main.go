// Calls Kibitz with what oapi-codegen has generated: oapi-codegen <address>.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"example/kibitz"
)

type object = map[string]any

func main() {
	client, err := kibitz.NewClientWithResponses(os.Args[1])
	check(err)
	ctx := context.Background()

	const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
	first, err := client.EvaluateWithResponse(ctx, kibitz.AnalysisRequest{Fen: fen})
	check(err)

	answer, err := client.EvaluateWithResponse(ctx, kibitz.AnalysisRequest{Fen: "no position"})
	check(err)
	refused := answer.ApplicationproblemJSON400
	pointers := []string{}
	for _, fault := range refused.Errors {
		pointers = append(pointers, fault.Pointer)
	}

	items, err := client.EvaluateBatchWithResponse(ctx, kibitz.EvaluateBatchRequest{Requests: []kibitz.AnalysisRequest{
		withDepth(fen, 8),
		withDepth("6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", 8),
		{Fen: "no position"},
	}})
	check(err)
	batch := []object{}
	for _, item := range *items.JSON200 {
		seen := object{"index": item.Index, "cp": nil, "mate": nil, "problem": nil}
		if item.Result != nil {
			seen["cp"] = item.Result.Score.Cp
			seen["mate"] = item.Result.Score.Mate
		}
		if item.Problem != nil {
			seen["problem"] = item.Problem.Code
		}
		batch = append(batch, seen)
	}

	moves, depth := []string{"f3", "e5", "g4", "Qh4#"}, 8
	review, err := client.ReviewGameWithResponse(ctx, kibitz.ReviewGameRequest{Moves: &moves, Depth: &depth})
	check(err)
	judgements := []any{}
	for _, move := range review.JSON200.Moves {
		judgements = append(judgements, move.Judgement)
	}

	check(json.NewEncoder(os.Stdout).Encode(object{
		"first": object{
			"cp":      first.JSON200.Score.Cp,
			"best":    first.JSON200.BestMove.Uci,
			"bound":   first.JSON200.Score.Bound,
			"summary": first.JSON200.Summary,
		},
		"refused": object{
			"status":      refused.Status,
			"code":        refused.Code,
			"next_action": refused.NextAction,
			"pointers":    pointers,
		},
		"batch":  batch,
		"review": object{"summary": review.JSON200.Summary, "judgements": judgements},
	}))
}

func withDepth(fen string, depth int) kibitz.AnalysisRequest {
	return kibitz.AnalysisRequest{Fen: fen, Depth: &depth}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
