// Command connect calls a Kibitz service with connect-go: go run ./connect [address]
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"

	analysisv1 "example.com/kibitz/gen/chess/analysis/v1"
	"example.com/kibitz/gen/chess/analysis/v1/analysisv1connect"
)

const (
	italianGame = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
	pawnEnding  = "8/1P6/8/3k4/8/8/8/K7 w - - 0 1"
	foolsMate   = "1. f3 e5 2. g4 Qh4# 0-1"
	longestWait = time.Minute
	lostMax     = 5
)

var openings = []string{
	"rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
	"rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
	"rnbqkbnr/pp1ppppp/2p5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
	"rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
	"rnbqkbnr/ppp1pppp/8/3p4/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2",
}

func main() {
	address := "http://localhost:8080"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	client := analysisv1connect.NewAnalysisServiceClient(http.DefaultClient, address)
	games := analysisv1connect.NewGameServiceClient(http.DefaultClient, address)
	if err := run(context.Background(), client, games); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, client analysisv1connect.AnalysisServiceClient, games analysisv1connect.GameServiceClient) error {
	withKey, call := connect.NewClientContext(ctx)
	if key := os.Getenv("KIBITZ_API_KEY"); key != "" {
		call.RequestHeader().Set("Authorization", "Bearer "+key)
	}

	if err := evaluate(withKey, client, &analysisv1.AnalysisRequest{Fen: italianGame, Depth: proto.Uint32(12)}); err != nil {
		return err
	}
	if err := watch(withKey, client, &analysisv1.AnalysisRequest{Fen: italianGame, Depth: proto.Uint32(16)}); err != nil {
		return err
	}
	if err := review(withKey, games, &analysisv1.ReviewGameRequest{Pgn: proto.String(foolsMate), Depth: proto.Uint32(10)}); err != nil {
		return err
	}
	if err := exceedPlan(ctx, client); err != nil {
		return err
	}
	for _, fen := range []string{pawnEnding, italianGame} {
		if err := lookUp(withKey, client, fen); err != nil {
			return err
		}
	}
	for _, fen := range openings {
		if err := evaluate(withKey, client, &analysisv1.AnalysisRequest{Fen: fen, Depth: proto.Uint32(12)}); err != nil {
			return err
		}
	}
	return nil
}

func evaluate(ctx context.Context, client analysisv1connect.AnalysisServiceClient, request *analysisv1.AnalysisRequest) error {
	return withRetry(ctx, func(ctx context.Context) error {
		answer, err := client.Evaluate(ctx, request)
		if err != nil {
			return err
		}
		fmt.Printf("best move %s, %s (White's view), depth %d\n", answer.BestMove.GetSan(), scoreText(answer.Score), answer.Search.Depth)
		return nil
	})
}

// watch prints each depth once. After a retry, the stream repeats the depths from the beginning.
func watch(ctx context.Context, client analysisv1connect.AnalysisServiceClient, request *analysisv1.AnalysisRequest) error {
	deepest := uint32(0)
	return withRetry(ctx, func(ctx context.Context) error {
		stream, err := client.StreamEvaluate(ctx, request)
		if err != nil {
			return err
		}
		defer stream.Close()
		for stream.Receive() {
			event := stream.Msg()
			if state := event.GetEvaluation(); state == nil || state.Search.Depth > deepest {
				deepest = max(deepest, state.GetSearch().GetDepth())
				fmt.Print(eventText(event))
			}
		}
		return stream.Err()
	})
}

// review prints the summary of a game. The stream first sends each move when its review is ready, and at the end the complete review.
func review(ctx context.Context, games analysisv1connect.GameServiceClient, request *analysisv1.ReviewGameRequest) error {
	return withRetry(ctx, func(ctx context.Context) error {
		stream, err := games.ReviewGame(ctx, request)
		if err != nil {
			return err
		}
		defer stream.Close()
		for stream.Receive() {
			if review := stream.Msg().GetReview(); review != nil {
				fmt.Printf("review: %s\n", review.Summary)
			}
		}
		return stream.Err()
	})
}

// exceedPlan requests a depth that needs an API key. After the refusal, it requests the maximum depth without a key.
func exceedPlan(ctx context.Context, client analysisv1connect.AnalysisServiceClient) error {
	request := &analysisv1.AnalysisRequest{Fen: italianGame, Depth: proto.Uint32(30), MovetimeMs: proto.Uint32(1000)}
	err := evaluate(ctx, client, request)
	problem, found := detailOf[*analysisv1.Problem](err)
	if !found || problem.Code != "upgrade_needed" {
		return err
	}
	allowed := problem.Errors[0].Allowed.AsMap()
	request.Depth = proto.Uint32(uint32(allowed["maximum"].(float64)))
	fmt.Printf("without a key: %s, %s for more; asking for depth %d, 1 s:\n", problem.Code, problem.NextAction, *request.Depth)
	return evaluate(ctx, client, request)
}

// lookUp prints what the endgame tables of the service know of a position. If no table knows the position, lookUp evaluates it.
func lookUp(ctx context.Context, client analysisv1connect.AnalysisServiceClient, fen string) error {
	err := withRetry(ctx, func(ctx context.Context) error {
		answer, err := client.ProbeTablebase(ctx, &analysisv1.ProbeTablebaseRequest{Fen: fen})
		if err != nil {
			return err
		}
		category := strings.TrimPrefix(answer.Tablebase.Category.String(), "TABLEBASE_CATEGORY_")
		fmt.Printf("tablebase: %s, best move %s\n", strings.ToLower(category), answer.Moves[0].San)
		return nil
	})
	problem, found := detailOf[*analysisv1.Problem](err)
	if !found || problem.Code != "not_in_tablebase" {
		return err
	}
	fmt.Printf("%s: %s\n", problem.Code, problem.NextAction)
	return evaluate(ctx, client, &analysisv1.AnalysisRequest{Fen: fen, Depth: proto.Uint32(12)})
}

// withRetry runs call, and retries it if the service requests a delay or if the connection breaks. A retry is safe for analyses,
// because a search has no side effects. Use withRetry for CreateKey only with an
// idempotency_key, because a retry could otherwise create two keys.
func withRetry(ctx context.Context, call func(context.Context) error) error {
	for lost := 0; ; {
		attempt, cancel := context.WithTimeout(ctx, 30*time.Second)
		err := call(attempt)
		cancel()
		retry, isLimited := detailOf[*errdetails.RetryInfo](err)
		wait := retry.GetRetryDelay().AsDuration()
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case isLimited && wait <= longestWait:
			fmt.Printf("rate limited, waiting %.0f s\n", wait.Seconds())
		case isLost(err) && lost < lostMax:
			lost++
			fmt.Println("connection lost, asking again")
			// Wait for a random time, so that clients do not retry all at once. The maximum wait doubles with each retry.
			wait = rand.N(100 * time.Millisecond << lost)
		default:
			return err
		}
		time.Sleep(wait)
	}
}

// isLost reports whether the connection broke or the server process ended. Errors of the service contain a Problem.
// DeadlineExceeded is an error of the client, and a retry would not help.
func isLost(err error) bool {
	_, isRefused := detailOf[*analysisv1.Problem](err)
	return !isRefused && connect.CodeOf(err) != connect.CodeDeadlineExceeded
}

// detailOf returns the error detail of type T. found is false if the error has no such detail.
func detailOf[T proto.Message](err error) (detail T, found bool) {
	var refused *connect.Error
	if !errors.As(err, &refused) {
		return detail, false
	}
	for _, packed := range refused.Details() {
		if value, err := packed.Value(); err == nil {
			if detail, found = value.(T); found {
				return detail, true
			}
		}
	}
	return detail, false
}

// eventText describes a queue position or an evaluation. It returns an empty string for any other event.
func eventText(event *analysisv1.StreamEvaluateResponse) string {
	if queued := event.GetQueued(); queued != nil {
		return fmt.Sprintf("place %d in the queue\n", queued.Place)
	}
	state := event.GetEvaluation()
	if state == nil {
		return ""
	}
	final := ""
	if state.Search.StopReason != nil {
		final = " final"
	}
	return fmt.Sprintf("depth %d: %s %s%s\n", state.Search.Depth, scoreText(state.Score), state.BestMove.GetSan(), final)
}

func scoreText(score *analysisv1.Score) string {
	if mate, ok := score.Value.(*analysisv1.Score_Mate); ok {
		return fmt.Sprintf("mate in %d", mate.Mate)
	}
	return fmt.Sprintf("%+.2f", float64(score.GetCp())/100)
}
