/** The options of Stockfish that the service uses, in the lines that Stockfish prints after `uci`. */
export const stockfishOptions: readonly string[] = [
  "option name Threads type spin default 1 min 1 max 8",
  "option name Hash type spin default 16 min 1 max 1024",
  "option name Clear Hash type button",
  "option name MultiPV type spin default 1 min 1 max 256",
  "option name Skill Level type spin default 20 min 0 max 20",
  "option name UCI_LimitStrength type check default false",
  "option name UCI_Elo type spin default 1320 min 1320 max 3190",
  "option name UCI_Chess960 type check default false",
  "option name UCI_ShowWDL type check default false",
];
