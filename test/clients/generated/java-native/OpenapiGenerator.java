import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AnalysisApi;
import org.openapitools.client.api.GameApi;
import org.openapitools.client.model.AnalysisRequest;
import org.openapitools.client.model.EvaluateBatchRequest;
import org.openapitools.client.model.EvaluateBatchResult;
import org.openapitools.client.model.EvaluateResult;
import org.openapitools.client.model.Fault;
import org.openapitools.client.model.GameReview;
import org.openapitools.client.model.MoveReview;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.ReviewGameRequest;

/** Calls Kibitz with what openapi-generator --library native has generated for Java: OpenapiGenerator.java <address> <address of a newer Kibitz>. */
class OpenapiGenerator {
  public static void main(String[] args) throws Exception {
    ObjectMapper mapper = ApiClient.createDefaultObjectMapper();
    ApiClient kibitz = clientOf(args[0]);
    ApiClient newer = clientOf(args[1]);
    AnalysisApi analysis = new AnalysisApi(kibitz);
    String fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
    EvaluateResult evaluation = analysis.evaluate(new AnalysisRequest().fen(fen));
    Problem problem = null;
    try {
      analysis.evaluate(new AnalysisRequest().fen("FEN: " + fen));
    } catch (ApiException error) {
      problem = mapper.readValue(error.getResponseBody(), Problem.class);
    }
    String mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
    List<AnalysisRequest> requests =
        Arrays.asList(
            new AnalysisRequest().fen(fen).depth(8),
            new AnalysisRequest().fen(mate).depth(8),
            new AnalysisRequest().fen("no position"));
    List<EvaluateBatchResult> batch =
        analysis.evaluateBatch(new EvaluateBatchRequest().requests(requests));
    ReviewGameRequest game =
        new ReviewGameRequest().moves(Arrays.asList("f3", "e5", "g4", "Qh4#")).depth(8);
    GameReview review = new GameApi(kibitz).reviewGame(game);
    EvaluateResult newerEvaluation = new AnalysisApi(newer).evaluate(new AnalysisRequest().fen(fen));
    GameReview newerReview = new GameApi(newer).reviewGame(game);

    Map<String, Object> seen =
        object(
            "answers",
            object(
                "evaluation", evaluation,
                "problem", problem,
                "batch", batch,
                "review", review,
                "newer_evaluation", newerEvaluation,
                "newer_review", newerReview),
            "fields",
            object(
                "cp", evaluation.getScore().getCp(),
                "mate", evaluation.getScore().getMate(),
                "best", evaluation.getBestMove().getUci(),
                "promotion", evaluation.getBestMove().getPromotion(),
                "terminal", evaluation.getTerminal(),
                "code", problem.getCode(),
                "pointers", problem.getErrors().stream().map(Fault::getPointer).toList(),
                "retry_after_ms", problem.getRetryAfterMs(),
                "mates", batch.stream().map(OpenapiGenerator::mateOf).toList(),
                "codes", batch.stream().map(OpenapiGenerator::codeOf).toList(),
                "judgements", review.getMoves().stream().map(MoveReview::getJudgement).toList(),
                "bound", newerEvaluation.getScore().getBound(),
                "stop_reason", newerEvaluation.getSearch().getStopReason(),
                "phases", newerReview.getMoves().stream().map(MoveReview::getPhase).toList()));
    mapper.setSerializationInclusion(JsonInclude.Include.ALWAYS);
    System.out.println(mapper.writeValueAsString(seen));
  }

  private static ApiClient clientOf(String address) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(address);
    return client.setReadTimeout(Duration.ofMinutes(2));
  }

  private static Integer mateOf(EvaluateBatchResult item) {
    return item.getResult() == null ? null : item.getResult().getScore().getMate();
  }

  private static String codeOf(EvaluateBatchResult item) {
    return item.getProblem() == null ? null : item.getProblem().getCode();
  }

  private static Map<String, Object> object(Object... namesAndValues) {
    Map<String, Object> made = new LinkedHashMap<>();
    for (int at = 0; at < namesAndValues.length; at += 2) {
      made.put((String) namesAndValues[at], namesAndValues[at + 1]);
    }
    return made;
  }
}
