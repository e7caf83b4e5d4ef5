//! Calls Kibitz with what openapi-generator has generated for Rust: program <address> <address of a newer Kibitz>.
use openapi::apis::analysis_api::{evaluate, evaluate_batch, EvaluateError};
use openapi::apis::configuration::Configuration;
use openapi::apis::game_api::review_game;
use openapi::apis::Error;
use openapi::models::{AnalysisRequest, EvaluateBatchRequest, ReviewGameRequest};
use serde_json::{json, Value};

const FEN: &str = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
const MATE: &str = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut addresses = std::env::args().skip(1);
    let mut next = || Configuration {
        base_path: addresses.next().unwrap(),
        ..Configuration::new()
    };
    let (kibitz, newer) = (next(), next());
    let evaluation = evaluate(&kibitz, AnalysisRequest::new(FEN.into())).await?;
    let refusal = match evaluate(&kibitz, AnalysisRequest::new(format!("FEN: {FEN}"))).await {
        Err(Error::ResponseError(response)) => response.entity,
        other => panic!("a text around a FEN was answered: {other:?}"),
    };
    let Some(EvaluateError::Status400(problem)) = refusal else {
        panic!("not a problem document: {refusal:?}")
    };
    let requests = vec![
        request(json!({ "fen": FEN, "depth": 8 })),
        request(json!({ "fen": MATE, "depth": 8 })),
        request(json!({ "fen": "no position" })),
    ];
    let batch = evaluate_batch(&kibitz, EvaluateBatchRequest::new(requests)).await?;
    let moves = ["f3", "e5", "g4", "Qh4#"].map(String::from).to_vec();
    let game = ReviewGameRequest {
        moves: Some(Some(moves)),
        depth: Some(Some(8)),
        ..ReviewGameRequest::new()
    };
    let review = review_game(&kibitz, game.clone()).await?;
    let newer_evaluation = evaluate(&newer, AnalysisRequest::new(FEN.into())).await?;
    let newer_review = review_game(&newer, game).await?;

    let best = evaluation.best_move.as_ref().unwrap();
    let mates = batch
        .iter()
        .map(|item| item.result.as_ref().and_then(|result| result.score.mate));
    let codes = batch
        .iter()
        .map(|item| item.problem.as_ref().map(|problem| &problem.code));
    let seen: Value = json!({
        "answers": {
            "evaluation": evaluation,
            "problem": problem,
            "batch": batch,
            "review": review,
            "newer_evaluation": newer_evaluation,
            "newer_review": newer_review,
        },
        "fields": {
            "cp": evaluation.score.cp,
            "mate": evaluation.score.mate,
            "best": best.uci,
            "promotion": best.promotion,
            "terminal": evaluation.terminal,
            "code": problem.code,
            "pointers": problem.errors.iter().map(|fault| &fault.pointer).collect::<Vec<_>>(),
            "retry_after_ms": problem.retry_after_ms,
            "mates": mates.collect::<Vec<_>>(),
            "codes": codes.collect::<Vec<_>>(),
            "judgements": review.moves.iter().map(|one| &one.judgement).collect::<Vec<_>>(),
            "bound": newer_evaluation.score.bound,
            "stop_reason": newer_evaluation.search.stop_reason,
            "phases": newer_review.moves.iter().map(|one| &one.phase).collect::<Vec<_>>(),
        },
    });
    println!("{seen}");
    Ok(())
}

/// The types of the fields differ between the versions of the generator.
fn request(fields: Value) -> AnalysisRequest {
    serde_json::from_value(fields).unwrap()
}
