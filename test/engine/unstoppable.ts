/**
 * A legal position in which the lite builds of Stockfish 19 search for ever and ignore all input,
 * https://github.com/lichess-org/fishnet/issues/296. The full network and native engines answer it.
 */
export const unstoppable = "8/PPPPPPPP/nr4RN/qb4BQ/kb4BK/nr4RN/pppppppp/8 w - - 0 1";
