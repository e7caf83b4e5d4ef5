package example;

import static java.util.concurrent.TimeUnit.SECONDS;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import kibitz.chess.analysis.v1.AnalysisRequest;
import kibitz.chess.analysis.v1.AnalysisServiceGrpc;
import kibitz.chess.analysis.v1.AnalysisServiceGrpc.AnalysisServiceBlockingStub;
import kibitz.chess.analysis.v1.EvaluateResponse;
import kibitz.chess.analysis.v1.GetPriceRequest;
import kibitz.chess.analysis.v1.Score;
import kibitz.chess.analysis.v1.StopReason;

/** Asks Kibitz for evaluations: at once, as a stream, deeper than allowed, and faster than allowed. */
public final class Main {
  private static final String FEN =
      "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";

  private static final List<String> OPENINGS =
      List.of(
          "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
          "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
          "rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - 0 1",
          "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1",
          "rnbqkbnr/pppppppp/8/8/8/6P1/PPPPPP1P/RNBQKBNR b KQkq - 0 1");

  public static void main(String[] args) throws Exception {
    var address = URI.create(args.length > 0 ? args[0] : "http://localhost:8080").getAuthority();
    var channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
    try {
      var keyless = AnalysisServiceGrpc.newBlockingStub(channel);
      var service = withKey(keyless, System.getenv("KIBITZ_API_KEY"));

      System.out.println(describe(evaluateWithRetry(service, request(FEN, 12))));
      stream(service, request(FEN, 14));
      System.out.println(describe(evaluateAsDeepAsAllowed(keyless, FEN, 30)));
      for (var opening : OPENINGS) {
        System.out.println(describe(evaluateWithRetry(service, request(opening, 6))));
      }
    } finally {
      channel.shutdown().awaitTermination(5, SECONDS);
    }
  }

  private static AnalysisServiceBlockingStub withKey(
      AnalysisServiceBlockingStub service, String key) {
    if (key == null) {
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
    // A deadline is a point in time: one for every try.
    return withRetry(() -> service.withDeadlineAfter(30, SECONDS).evaluate(request));
  }

  private static void stream(AnalysisServiceBlockingStub service, AnalysisRequest request)
      throws Exception {
    var states =
        withRetry(
            () -> {
              var answers = service.withDeadlineAfter(30, SECONDS).streamEvaluate(request);
              answers.hasNext(); // A refusal comes with the first answer.
              return answers;
            });
    while (states.hasNext()) {
      var state = states.next();
      var search = state.getSearch();
      var last = search.getStopReason() != StopReason.STOP_REASON_UNSPECIFIED;
      System.out.printf(
          "depth %d: %s %s%s%n",
          search.getDepth(),
          scoreText(state.getScore()),
          state.getBestMove().getSan(),
          last ? " (final)" : "");
    }
  }

  /** What a plan can never run is refused at once; the price list says how deep it may ask. */
  private static EvaluateResponse evaluateAsDeepAsAllowed(
      AnalysisServiceBlockingStub keyless, String fen, int depth) throws Exception {
    try {
      return evaluateWithRetry(keyless, request(fen, depth));
    } catch (StatusRuntimeException error) {
      var info = detail(error, ErrorInfo.class).map(ErrorInfo::getMetadataMap).orElseThrow(() -> error);
      if (!info.get("code").equals("upgrade_needed")) {
        throw error;
      }
      System.out.printf("%s, next action: %s%n", info.get("code"), info.get("next_action"));
      var plans = keyless.getPrice(GetPriceRequest.getDefaultInstance()).getPlansList();
      var plan = plans.stream().filter(each -> !each.getRequiresKey()).findFirst().orElseThrow();
      return evaluateWithRetry(keyless, request(fen, plan.getLimits().getDepthMax()));
    }
  }

  /** Tries again where the service says when to come back. */
  private static <T> T withRetry(Supplier<T> call) throws Exception {
    for (int attempt = 1; ; attempt++) {
      try {
        return call.get();
      } catch (StatusRuntimeException error) {
        var retry = detail(error, RetryInfo.class);
        if (retry.isEmpty() || attempt == 5) {
          throw error;
        }
        var delay = retry.get().getRetryDelay();
        var wait = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
        var why = error.getStatus().getCode() == Status.Code.RESOURCE_EXHAUSTED ? "rate limited" : "busy";
        System.out.printf("%s, waiting %d s%n", why, wait.plusMillis(999).toSeconds());
        Thread.sleep(wait.toMillis());
      }
    }
  }

  private static <T extends Message> Optional<T> detail(StatusRuntimeException error, Class<T> type)
      throws InvalidProtocolBufferException {
    var status = StatusProto.fromThrowable(error);
    for (Any detail : status.getDetailsList()) {
      if (detail.is(type)) {
        return Optional.of(detail.unpack(type));
      }
    }
    return Optional.empty();
  }

  private static String describe(EvaluateResponse answer) {
    return String.format(
        "best move %s, %s (White's view), depth %d",
        answer.getBestMove().getSan(), scoreText(answer.getScore()), answer.getSearch().getDepth());
  }

  private static String scoreText(Score score) {
    return score.hasMate()
        ? "mate in " + score.getMate()
        : String.format(Locale.ROOT, "%+.2f", score.getCp() / 100.0);
  }
}
