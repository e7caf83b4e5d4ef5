package example;

import static java.util.concurrent.TimeUnit.SECONDS;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.RetryInfo;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import kibitz.chess.analysis.v1.AnalysisRequest;
import kibitz.chess.analysis.v1.AnalysisServiceGrpc;
import kibitz.chess.analysis.v1.AnalysisServiceGrpc.AnalysisServiceBlockingStub;
import kibitz.chess.analysis.v1.EvaluateResponse;
import kibitz.chess.analysis.v1.GameServiceGrpc;
import kibitz.chess.analysis.v1.GameServiceGrpc.GameServiceBlockingStub;
import kibitz.chess.analysis.v1.ProbeTablebaseRequest;
import kibitz.chess.analysis.v1.Problem;
import kibitz.chess.analysis.v1.ReviewGameRequest;
import kibitz.chess.analysis.v1.Score;
import kibitz.chess.analysis.v1.StreamEvaluateResponse;

/** Sends example requests to Kibitz: single and streamed analyses, a game review, and requests that exceed a limit. */
public final class Main {
  private static final String ITALIAN_GAME =
      "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";

  private static final List<String> OPENINGS =
      List.of(
          "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
          "rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
          "rnbqkbnr/pp1ppppp/2p5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
          "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
          "rnbqkbnr/ppp1pppp/8/3p4/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2");

  private static final String PAWN_ENDING = "8/1P6/8/3k4/8/8/8/K7 w - - 0 1";

  private static final String FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1";

  private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

  private static final int LOST_MAX = 5;

  public static void main(String[] args) throws Exception {
    var address = URI.create(args.length > 0 ? args[0] : "http://localhost:8080").getAuthority();
    var channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
    try {
      var keyless = AnalysisServiceGrpc.newBlockingStub(channel);
      var key = System.getenv("KIBITZ_API_KEY");
      var service = withKey(keyless, key);
      var games = withKey(GameServiceGrpc.newBlockingStub(channel), key);

      System.out.println(textOf(evaluateWithRetry(service, request(ITALIAN_GAME, 12))));
      watch(service, request(ITALIAN_GAME, 16));
      review(games, ReviewGameRequest.newBuilder().setPgn(FOOLS_MATE).setDepth(10).build());
      exceedPlan(keyless);
      for (var fen : List.of(PAWN_ENDING, ITALIAN_GAME)) {
        lookUp(service, fen);
      }
      for (var opening : OPENINGS) {
        System.out.println(textOf(evaluateWithRetry(service, request(opening, 12))));
      }
    } finally {
      channel.shutdown().awaitTermination(5, SECONDS);
    }
  }

  private static <S extends AbstractStub<S>> S withKey(S service, String key) {
    if (key == null || key.isEmpty()) {
      return service;
    }
    var headers = new Metadata();
    headers.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + key);
    return service.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static AnalysisRequest request(String fen, int depth) {
    return AnalysisRequest.newBuilder().setFen(fen).setDepth(depth).build();
  }

  private static EvaluateResponse evaluateWithRetry(
      AnalysisServiceBlockingStub service, AnalysisRequest request) throws Exception {
    // A deadline is a point in time, so each attempt needs a new one.
    return withRetry(() -> service.withDeadlineAfter(30, SECONDS).evaluate(request));
  }

  private static void watch(AnalysisServiceBlockingStub service, AnalysisRequest request)
      throws Exception {
    var deepest = new AtomicInteger();
    withRetry(
        () -> {
          var events = service.withDeadlineAfter(30, SECONDS).streamEvaluate(request);
          events.forEachRemaining(event -> print(event, deepest));
          return null;
        });
  }

  /** Prints each depth once. After a retry, the stream repeats the depths from the beginning. */
  private static void print(StreamEvaluateResponse event, AtomicInteger deepest) {
    switch (event.getEventCase()) {
      case QUEUED -> System.out.printf("place %d in the queue%n", event.getQueued().getPlace());
      case EVALUATION -> {
        var state = event.getEvaluation();
        var search = state.getSearch();
        if (deepest.getAndAccumulate(search.getDepth(), Math::max) < search.getDepth()) {
          System.out.printf(
              "depth %d: %s %s%s%n",
              search.getDepth(),
              textOf(state.getScore()),
              state.getBestMove().getSan(),
              search.hasStopReason() ? " final" : "");
        }
      }
      default -> {} // Ignore events that this program does not know.
    }
  }

  /** Prints the summary. The stream first sends each move when its review is ready, and at the end the complete review. */
  private static void review(GameServiceBlockingStub games, ReviewGameRequest request)
      throws Exception {
    withRetry(
        () -> {
          var events = games.withDeadlineAfter(30, SECONDS).reviewGame(request);
          events.forEachRemaining(
              event -> {
                if (event.hasReview()) {
                  System.out.printf("review: %s%n", event.getReview().getSummary());
                }
              });
          return null;
        });
  }

  /** Requests a depth that needs an API key. After the refusal, requests the maximum depth without a key. */
  private static void exceedPlan(AnalysisServiceBlockingStub keyless) throws Exception {
    var request = request(ITALIAN_GAME, 30).toBuilder().setMovetimeMs(1000).build();
    try {
      System.out.println(textOf(evaluateWithRetry(keyless, request)));
    } catch (StatusRuntimeException error) {
      var problem = detailOf(error, Problem.class).orElseThrow(() -> error);
      if (!problem.getCode().equals("upgrade_needed")) {
        throw error;
      }
      var allowed = problem.getErrors(0).getAllowed();
      var depth = (int) allowed.getFieldsOrThrow("maximum").getNumberValue();
      System.out.printf(
          "without a key: %s, %s for more; asking for depth %d, 1 s:%n",
          problem.getCode(), problem.getNextAction(), depth);
      var less = request.toBuilder().setDepth(depth).build();
      System.out.println(textOf(evaluateWithRetry(keyless, less)));
    }
  }

  /** Prints what the endgame tables of the service know of a position. If no table knows the position, evaluates it. */
  private static void lookUp(AnalysisServiceBlockingStub service, String fen) throws Exception {
    var request = ProbeTablebaseRequest.newBuilder().setFen(fen).build();
    try {
      var answer = withRetry(() -> service.withDeadlineAfter(30, SECONDS).probeTablebase(request));
      var category = answer.getTablebase().getCategory().name().replace("TABLEBASE_CATEGORY_", "");
      System.out.printf(
          "tablebase: %s, best move %s%n",
          category.toLowerCase(Locale.ROOT), answer.getMoves(0).getSan());
    } catch (StatusRuntimeException error) {
      var problem = detailOf(error, Problem.class).orElseThrow(() -> error);
      if (!problem.getCode().equals("not_in_tablebase")) {
        throw error;
      }
      System.out.printf("%s: %s%n", problem.getCode(), problem.getNextAction());
      System.out.println(textOf(evaluateWithRetry(service, request(fen, 12))));
    }
  }

  /**
   * Runs the call, and retries it if the service requests a delay or if the connection breaks. A retry is safe for analyses,
   * because a search has no side effects. Use this for CreateKey only with an
   * idempotency_key, because a retry could otherwise create two keys.
   */
  private static <T> T withRetry(Supplier<T> call) throws Exception {
    for (var lost = 0; ; ) {
      try {
        return call.get();
      } catch (StatusRuntimeException error) {
        var wait =
            detailOf(error, RetryInfo.class)
                .map(RetryInfo::getRetryDelay)
                .map(delay -> Duration.ofSeconds(delay.getSeconds(), delay.getNanos()));
        if (wait.isPresent() && wait.get().compareTo(LONGEST_WAIT) <= 0) {
          System.out.printf("rate limited, waiting %d s%n", wait.get().toSeconds());
          Thread.sleep(wait.get().toMillis());
        } else if (isLost(error) && lost < LOST_MAX) {
          lost++;
          System.out.println("connection lost, asking again");
          // Wait for a random time, so that clients do not retry all at once.
          // The maximum wait doubles with each retry.
          Thread.sleep(ThreadLocalRandom.current().nextLong(100L << lost));
        } else {
          throw error;
        }
      }
    }
  }

  /**
   * Returns true if the connection broke or the server process ended. Errors of the service contain a Problem. DEADLINE_EXCEEDED
   * is an error of the client, and a retry would not help.
   */
  private static boolean isLost(StatusRuntimeException error) throws InvalidProtocolBufferException {
    return detailOf(error, Problem.class).isEmpty()
        && error.getStatus().getCode() != Status.Code.DEADLINE_EXCEEDED;
  }

  private static <T extends Message> Optional<T> detailOf(StatusRuntimeException error, Class<T> type)
      throws InvalidProtocolBufferException {
    var status = StatusProto.fromThrowable(error);
    for (Any detail : status.getDetailsList()) {
      if (detail.is(type)) {
        return Optional.of(detail.unpack(type));
      }
    }
    return Optional.empty();
  }

  private static String textOf(EvaluateResponse answer) {
    return String.format(
        "best move %s, %s (White's view), depth %d",
        answer.getBestMove().getSan(), textOf(answer.getScore()), answer.getSearch().getDepth());
  }

  private static String textOf(Score score) {
    return score.hasMate()
        ? "mate in " + score.getMate()
        : String.format(Locale.ROOT, "%+.2f", score.getCp() / 100.0);
  }
}
