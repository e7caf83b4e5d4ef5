/** A UCI engine that answers at once with the first legal move, so that a benchmark measures only the service. */
import { Chess } from "chessops/chess";
import { parseFen } from "chessops/fen";
import { makeUci } from "chessops/util";

const mateInTwo = "7k/8/8/8/8/8/R7/1R4K1";
let fen = "";

function answerTo(line: string): string {
  const [command = "", ...words] = line.split(" ");
  switch (command) {
    case "uci":
      return [
        "id name Stockfish 1 AtOnce",
        "option name Threads type spin default 1 min 1 max 8",
        "option name Hash type spin default 16 min 1 max 1024",
        "option name MultiPV type spin default 1 min 1 max 256",
        "option name UCI_ShowWDL type check default false",
        "uciok\n",
      ].join("\n");
    case "isready":
      return "readyok\n";
    case "position":
      fen = words.slice(1).join(" ");
      return "";
    case "go": {
      const move = firstMove();
      const score = fen.startsWith(mateInTwo) ? "mate 2" : "cp 10";
      return `info depth ${words[1]} seldepth ${words[1]} multipv 1 score ${score} wdl 300 400 300 nodes 100 nps 100000 hashfull 0 tbhits 0 time 1 pv ${move}\nbestmove ${move}\n`;
    }
    case "quit":
      process.exit();
  }
  return "";
}

function firstMove(): string {
  const chess = Chess.fromSetup(parseFen(fen).unwrap()).unwrap();
  for (const [from, dests] of chess.allDests()) {
    for (const to of dests) {
      // Skip castling: chessops returns the square of the rook as the target, and UCI expects the target of the king.
      if (chess.board.king.has(from) && chess.board[chess.turn].has(to)) {
        continue;
      }
      const promotes = chess.board.pawn.has(from) && (to < 8 || to >= 56);
      return makeUci(promotes ? { from, to, promotion: "queen" } : { from, to });
    }
  }
  return "(none)";
}

let unread = "";
process.stdin.setEncoding("latin1").on("data", (text: string) => {
  const lines = (unread + text).split("\n");
  unread = lines.pop() ?? "";
  const answer = lines.map(answerTo).join("");
  if (answer !== "") {
    process.stdout.write(answer);
  }
});
process.stdin.on("close", () => process.exit());
