/**
 * A legal position. The lite builds of Stockfish 19 search this position for ever and ignore all commands:
 * https://github.com/lichess-org/fishnet/issues/296. The full network and native engines find a move.
 */
export const unstoppable = "8/PPPPPPPP/nr4RN/qb4BQ/kb4BK/nr4RN/pppppppp/8 w - - 0 1";
