/** Exactly one of the two limits is set. */
export interface SearchLimit {
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
}

/** An engine option that callers may set, if the engine declares the option with this name and type. */
export interface CallersOption {
  /** The name in the engine, such as `Skill Level`. */
  readonly engineName: string;
  /** The name in JSON, such as `skill_level`. */
  readonly name: string;
  readonly type: "spin" | "check";
}

/** A family of engines, with what Kibitz knows of it. No other file compares the name of a family. */
export interface EngineProfile {
  readonly family: string;
  /** Matches the name that engines of this family report after `uci`. */
  readonly reported: RegExp;
  /** The names of the programs that are searched for in the folders of the PATH. */
  readonly programs: readonly string[];
  /** An SPDX expression. Undefined if the licence is unknown. */
  readonly license: string | undefined;
  /** True if equal searches with one thread are known to give equal results. The self-test can only disprove this. */
  readonly isReproducible: boolean;
  /** True if a depth in plies can limit a search. */
  readonly hasDepth: boolean;
  /** The limit of a request without a limit. */
  readonly defaultLimit: SearchLimit;
  /**
   * `iterations`: the engine searches one depth after another, and a limit may interrupt a depth.
   * `tree`: the engine grows one tree, and each report describes the whole tree.
   */
  readonly reports: "iterations" | "tree";
  /** The depth in plies at which the engine ends a search by itself, for example near a mate. Undefined if unknown. */
  readonly deepest: number | undefined;
  /**
   * The limits of the self-test. With the limit `mate`, the engine must find a mate in two. If `mate` is undefined, legal moves
   * are enough.
   */
  readonly selfTest: { readonly mate: SearchLimit | undefined; readonly limit: SearchLimit };
  /**
   * True if the first search of an engine takes much longer than later searches, for example because the engine loads its
   * network then. The start of the engine then includes a search.
   */
  readonly firstSearchIsSlow: boolean;
  /**
   * Strings are forbidden because they can name files. `nodestime` is forbidden because it changes the meaning of time limits.
   */
  readonly callersOptions: readonly CallersOption[];
}

/** The depth in plies of a request without a limit. */
export const defaultDepth = 14;

const chess960: CallersOption = { engineName: "UCI_Chess960", name: "uci_chess960", type: "check" };
const ofStockfish: readonly CallersOption[] = [
  { engineName: "Skill Level", name: "skill_level", type: "spin" },
  { engineName: "UCI_LimitStrength", name: "uci_limit_strength", type: "check" },
  { engineName: "UCI_Elo", name: "uci_elo", type: "spin" },
  chess960,
];

const depthOf = (depth: number): SearchLimit => ({ depth, nodes: undefined });
const nodesOf = (nodes: number): SearchLimit => ({ depth: undefined, nodes });

const stockfish: EngineProfile = {
  family: "stockfish",
  reported: /^stockfish(?![a-z0-9.-])/i,
  programs: ["stockfish"],
  license: "GPL-3.0-or-later",
  isReproducible: true,
  hasDepth: true,
  defaultLimit: depthOf(defaultDepth),
  reports: "iterations",
  // Near a mate or a draw, Stockfish reaches this depth within milliseconds.
  deepest: 245,
  selfTest: { mate: depthOf(14), limit: depthOf(8) },
  firstSearchIsSlow: false,
  callersOptions: ofStockfish,
};

/** An engine of which nothing is known except that it speaks UCI. */
const unknown: EngineProfile = {
  family: "unknown",
  reported: /(?:)/,
  programs: [],
  license: undefined,
  isReproducible: false,
  hasDepth: true,
  defaultLimit: depthOf(defaultDepth),
  reports: "iterations",
  deepest: undefined,
  selfTest: { mate: undefined, limit: depthOf(4) },
  firstSearchIsSlow: false,
  callersOptions: ofStockfish,
};

/** The first profile whose `reported` matches the name of an engine describes the engine. `latest` prefers earlier families. */
export const profiles: readonly EngineProfile[] = [
  stockfish,
  { ...stockfish, family: "fairy-stockfish", reported: /^fairy-stockfish(?![a-z0-9.-])/i, programs: [] },
  {
    family: "lc0",
    reported: /^lc0(?![a-z0-9.-])/i,
    programs: [],
    license: "GPL-3.0-or-later",
    isReproducible: false,
    hasDepth: false,
    // On a processor, Lc0 with a large network visits fewer than ten nodes a second.
    defaultLimit: nodesOf(100),
    reports: "tree",
    deepest: undefined,
    selfTest: { mate: undefined, limit: nodesOf(1) },
    firstSearchIsSlow: true,
    callersOptions: [chess960],
  },
  unknown,
];

/** The family that `latest` means if possible. */
export const preferredFamily: string = stockfish.family;

export function profileOf(family: string): EngineProfile {
  return profiles.find((profile) => profile.family === family) ?? unknown;
}

export function profileFromName(name: string): EngineProfile {
  return profiles.find(({ reported }) => reported.test(name.trim())) ?? unknown;
}

interface EngineIdentity {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly net: "full" | "lite";
  readonly license: string | undefined;
}

/** The longest word of an id in characters. An engine may report any name. */
const wordMaxChars = 40;

/**
 * Keeps the complete version of a development build, such as `dev-20260110-3a1b2c4d`, so that the ids of builds differ.
 * Returns undefined if the name contains no usable word.
 */
export function identityFromName(name: string): EngineIdentity | undefined {
  const words = name
    .toLowerCase()
    .split(/[^a-z0-9.-]+/)
    .filter(Boolean)
    .map((word) => word.slice(0, wordMaxChars));
  const [program, version] = words;
  if (program === undefined || !/^[a-z0-9]/.test(program)) {
    return undefined;
  }
  const { family, license } = profileFromName(name);
  const net = words.includes("lite") ? "lite" : "full";
  return {
    id: [program, version, net === "lite" ? "lite" : undefined].filter(Boolean).join("-"),
    family,
    version: version ?? "unknown",
    net,
    license,
  };
}
