import com.google.gson.GsonBuilder;
import java.util.ArrayList;
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
import org.openapitools.client.model.EvaluateResult;
import org.openapitools.client.model.Fault;
import org.openapitools.client.model.GameReview;
import org.openapitools.client.model.MoveReview;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.ReviewGameRequest;

/** Calls Kibitz with what openapi-generator has generated for Java: the address is the only argument. */
public class OpenapiGenerator {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient().setBasePath(args[0]);
    client.setReadTimeout(120_000);
    AnalysisApi analysis = new AnalysisApi(client);
    String fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
    EvaluateResult first = analysis.evaluate(new AnalysisRequest().fen(fen));
    Problem refused = null;
    try {
      analysis.evaluate(new AnalysisRequest().fen("no position"));
    } catch (ApiException error) {
      refused = Problem.fromJson(error.getResponseBody());
    }
    String mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
    List<AnalysisRequest> requests =
        Arrays.asList(
            new AnalysisRequest().fen(fen).depth(8),
            new AnalysisRequest().fen(mate).depth(8),
            new AnalysisRequest().fen("no position"));
    List<Map<String, Object>> batch = new ArrayList<>();
    for (var item : analysis.evaluateBatch(new EvaluateBatchRequest().requests(requests))) {
      EvaluateResult result = item.getResult();
      batch.add(
          object(
              "index", item.getIndex(),
              "cp", result == null ? null : result.getScore().getCp(),
              "mate", result == null ? null : result.getScore().getMate(),
              "problem", item.getProblem() == null ? null : item.getProblem().getCode()));
    }
    GameReview review =
        new GameApi(client)
            .reviewGame(new ReviewGameRequest().moves(Arrays.asList("f3", "e5", "g4", "Qh4#")).depth(8));
    Map<String, Object> seen =
        object(
            "first",
                object(
                    "cp", first.getScore().getCp(),
                    "best", first.getBestMove().getUci(),
                    "bound", first.getScore().getBound(),
                    "summary", first.getSummary()),
            "refused",
                object(
                    "status", refused.getStatus(),
                    "code", refused.getCode(),
                    "next_action", refused.getNextAction(),
                    "pointers", refused.getErrors().stream().map(Fault::getPointer).toList()),
            "batch", batch,
            "review",
                object(
                    "summary", review.getSummary(),
                    "judgements", review.getMoves().stream().map(MoveReview::getJudgement).toList()));
    System.out.println(new GsonBuilder().serializeNulls().create().toJson(seen));
    System.exit(0);
  }

  private static Map<String, Object> object(Object... namesAndValues) {
    Map<String, Object> made = new LinkedHashMap<>();
    for (int at = 0; at < namesAndValues.length; at += 2) {
      made.put((String) namesAndValues[at], namesAndValues[at + 1]);
    }
    return made;
  }
}
