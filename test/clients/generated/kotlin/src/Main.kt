import org.openapitools.client.apis.AnalysisApi
import org.openapitools.client.apis.GameApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.AnalysisRequest
import org.openapitools.client.models.EvaluateBatchRequest
import org.openapitools.client.models.Problem
import org.openapitools.client.models.ReviewGameRequest
import java.time.Duration
import kotlin.system.exitProcess

/** Calls Kibitz with what openapi-generator has generated for Kotlin: MainKt <address> <address of a newer Kibitz>. */
fun main(addresses: Array<String>) {
    val (address, newerAddress) = addresses
    ApiClient.builder.readTimeout(Duration.ofMinutes(2))
    val analysis = AnalysisApi(address)
    val fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
    val evaluation = analysis.evaluate(AnalysisRequest(fen))
    val problem = try {
        analysis.evaluate(AnalysisRequest("FEN: $fen"))
        error("a text around a FEN was answered")
    } catch (error: ClientException) {
        val body = (error.response as ClientError<*>).body as String
        Serializer.moshi.adapter(Problem::class.java).fromJson(body)!!
    }
    val mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
    val requests = listOf(
        AnalysisRequest(fen, depth = 8),
        AnalysisRequest(mate, depth = 8),
        AnalysisRequest("no position"),
    )
    val batch = analysis.evaluateBatch(EvaluateBatchRequest(requests))
    val game = ReviewGameRequest(moves = listOf("f3", "e5", "g4", "Qh4#"), depth = 8)
    val review = GameApi(address).reviewGame(game)
    val newerEvaluation = AnalysisApi(newerAddress).evaluate(AnalysisRequest(fen))
    val newerReview = GameApi(newerAddress).reviewGame(game)

    val seen = mapOf(
        "answers" to mapOf(
            "evaluation" to evaluation,
            "problem" to problem,
            "batch" to batch,
            "review" to review,
            "newer_evaluation" to newerEvaluation,
            "newer_review" to newerReview,
        ),
        "fields" to mapOf(
            "cp" to evaluation.score.cp,
            "mate" to evaluation.score.mate,
            "best" to evaluation.bestMove?.uci,
            "promotion" to evaluation.bestMove?.promotion,
            "terminal" to evaluation.terminal,
            "code" to problem.code,
            "pointers" to problem.errors.map { it.pointer },
            "retry_after_ms" to problem.retryAfterMs,
            "mates" to batch.map { it.result?.score?.mate },
            "codes" to batch.map { it.problem?.code },
            "judgements" to review.moves.map { it.judgement },
            "bound" to newerEvaluation.score.bound,
            "stop_reason" to newerEvaluation.search.stopReason,
            "phases" to newerReview.moves.map { it.phase },
        ),
    )
    println(Serializer.moshi.adapter(Any::class.java).serializeNulls().toJson(seen))
    // The threads of OkHttp would keep the program running for a minute.
    exitProcess(0)
}
