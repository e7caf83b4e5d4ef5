import type { Agent, ToolResult } from "./agents.ts";

export interface Rehearsed {
  readonly what: string;
  readonly result: ToolResult;
}

const pgn = `[Event "Paris"]
[Site "Paris FRA"]
[Date "1858.??.??"]
[White "Paul Morphy"]
[Black "Duke Karl / Count Isouard"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7
8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7
14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0`;

const found = (text: string, pattern: RegExp) => pattern.exec(text)?.[1] ?? "";

/**
 * Runs a typical session of a model, without a model. Each step uses only the text of the previous result, because most clients
 * show only the text to their model.
 */
export async function rehearse(agent: Agent): Promise<readonly Rehearsed[]> {
  const session: Rehearsed[] = [];
  const ask = async (what: string, tool: string, args: Readonly<Record<string, unknown>>) => {
    const result = await agent.ask(tool, args);
    session.push({ what, result });
    return result.text;
  };
  // Finds the position before White's tenth move.
  const position = await ask("find the position", "analyze_position", { pgn, ply: 18, depth: 10 });
  const fen = found(position, /FEN: (\S+ [wb] \S+ \S+ \d+ \d+)/);
  const best = found(position, /Best move: (\S+)/);
  // Compares a careful move with the engine's best move.
  await ask("compare three moves", "compare_moves", { fen, candidates: [best, "O-O-O", "Be2"], depth: 10 });
  // Sends an illegal move, and then follows the advice of the error.
  const refused = await ask("name a move that is not legal", "analyze_position", {
    fen,
    moves: ["Nxb5", "cxb5", "Bxb6+"],
    depth: 8,
  });
  const [, tool = "", args = "{}"] = /This call would be answered: (\w+) (\{.+\})/.exec(refused) ?? [];
  const shown = await ask("follow the advice", tool, JSON.parse(args));
  const check = found(shown, /(Bxb5\+) \(/);
  await ask("play what is legal", "analyze_position", { fen, moves: ["Nxb5", "cxb5", check], depth: 8 });
  await ask("review the game", "review_game", { pgn, depth: 6 });
  return session;
}
