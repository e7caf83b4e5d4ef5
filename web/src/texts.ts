/** Every word that the page says, in one place. Functions have what depends on numbers and names. */
export const texts = {
  name: "Kibitz",
  about: "Chess analysis by Stockfish",
  views: "Views",
  docs: "API reference",
  skip: "Skip to the content",
  problems: "Error codes",
  licences: "Licences",
  colours: {
    now: (colours: string) => `Colours: ${colours}`,
    system: "as the system",
    light: "light",
    dark: "dark",
  },
  board: {
    name: "Board",
    promotion: "What does the pawn become?",
    colours: { white: "White", black: "Black" },
    roles: {
      king: "king",
      queen: "queen",
      rook: "rook",
      bishop: "bishop",
      knight: "knight",
      pawn: "pawn",
    },
    empty: "empty",
    nothing: "nothing",
    piece: (colour: string, role: string) => `${colour} ${role}`,
    target: (square: string) => `${square}, can go here`,
    kind: (role: string, count: number) => (count === 1 ? role : `${role}s`),
    moves: (colour: string, role: string, from: string, to: string, capture: boolean) =>
      `${colour} ${role} ${from} ${capture ? "takes" : "to"} ${to}`,
    castles: (colour: string, side: string) => `${colour} castles ${side}`,
    promotes: (role: string) => `, becomes a ${role}`,
    check: ", check",
    mate: ", checkmate",
  },
  analysis: {
    title: "Analysis",
    start: "Analyse",
    stop: "Stop",
    auto: "Analyse automatically",
    autoHint: "Analyse each position on the board",
    deeper: "Deeper",
    deeperTo: (depth: number) => `Search on to depth ${depth}`,
    toMove: (colour: string) => `${colour} to move.`,
    check: "Check.",
    setUp: "Set up",
    copyLink: "Copy link",
    linkCopied: "Link copied",
    copyFen: "Copy FEN",
    fenCopied: "FEN copied",
    noMoves: "Move a piece, or paste a FEN or a PGN anywhere on the page.",
    move: "Move",
    moveHint: "Nf3 or g1f3",
    play: "Play",
    noSuchMove: (text: string) => `“${text}” is not a legal move here.`,
    promotion: (text: string) => `${text} promotes. To what?`,
    fen: "FEN",
    setFen: "Set",
    cannotRead: "This FEN cannot be read",
    cannotReadLink: "The link cannot be read as a position; here is the start position instead.",
    correctFen: "Correct it",
    movesCut: (message: string) => `The moves of the link end here: ${message}`,
    evaluation: "Evaluation",
    noEvaluation: "not evaluated yet",
    lines: "Lines",
    line: (rank: number, score: string) => `Line ${rank}, ${score}`,
    wholeLine: (rank: number) => `Whole line ${rank}`,
    chances: "Chances",
    chancesHint: "The results of the engine against itself from here",
    win: "White",
    draw: "Draw",
    loss: "Black",
    percent: (permille: number) => `${(permille / 10).toFixed(1)}%`,
    depthOf: (depth: number, seldepth: number) => `depth ${depth}${seldepth > 0 ? `/${seldepth}` : ""}`,
    nodes: (nodes: string) => `${nodes} nodes`,
    perSecond: (nodes: string) => `${nodes}/s`,
    seconds: (ms: number) => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`,
    cached: "from cache",
    scoreByDepth: "Score by depth",
    atDepth: (depth: number, score: string) => `Depth ${depth}: ${score}`,
    states: {
      idle: "Press Analyse, or play a move",
      asking: "Asking …",
      searching: (depth: number) => (depth === 0 ? "Searching …" : `Depth ${depth} …`),
      done: (depth: number) => `Depth ${depth}`,
      outOfTime: (depth: number, of: number | undefined, ms: number | undefined) =>
        `Stopped at the time limit${ms === undefined ? "" : ` (${ms / 1000} s)`}, ${reached(depth, of)}`,
      outOfNodes: (depth: number, of: number | undefined) =>
        `Stopped at the limit of nodes, ${reached(depth, of)}`,
      stopped: "Stopped",
      refused: "Not analysed",
      waiting: "Waiting",
      queued: (place: number, seconds: number) =>
        `${place === 1 ? "Next in the queue" : `Place ${place} in the queue`}, about ${seconds} s`,
      over: "Game over",
    },
    heard: (depth: number, summary: string) => `Depth ${depth}. ${summary}`,
    terminal: {
      checkmate: (winner: string) => `Checkmate. ${winner} wins.`,
      stalemate: "Stalemate. The game is drawn.",
      insufficient_material: "Neither side can mate any more. The game is drawn.",
      seventyfive_moves: "75 moves without a capture or pawn move. The game is drawn.",
      fivefold_repetition: "The position has come five times. The game is drawn.",
    },
    claims: {
      fifty_moves: (colour: string) => `${colour} may claim a draw: 50 moves without a capture or pawn move.`,
      threefold_repetition: (colour: string) =>
        `${colour} may claim a draw: the position has come three times.`,
    },
  },
  moves: {
    title: "Moves",
    steps: "Steps",
    names: {
      first: "First position",
      back: "One move back",
      forward: "One move forward",
      last: "Last position",
      previousMistake: "Previous mistake",
      nextMistake: "Next mistake",
      flip: "Flip board",
      help: "Keys",
    },
    promote: "Make main line",
    remove: "Delete from here",
    undo: "Undo",
    keys: [
      { key: "← →", use: "One move back or forward; so does the mouse wheel over the board" },
      { key: "Home End", use: "First or last position" },
      { key: "Shift + ← →", use: "Previous or next mistake", only: "review" },
      { key: "Space", use: "Play the best move", only: "analysis" },
      { key: "F", use: "Flip board" },
      { key: "Ctrl + Z", use: "Undo the last move or change" },
      { key: "?", use: "Show this list" },
    ] as readonly { key: string; use: string; only?: "analysis" | "review" }[],
    close: "Close",
  },
  setUp: {
    title: "Set up a position",
    board: "Board, being set up",
    pieces: "What a click does",
    tools: { move: "Move", remove: "Remove" },
    turn: "To move",
    castling: "Castling",
    rights: {
      K: "White kingside",
      Q: "White queenside",
      k: "Black kingside",
      q: "Black queenside",
    },
    enPassant: "En passant",
    none: "none",
    start: "Start position",
    clear: "Clear",
    done: "Done",
    cancel: "Cancel",
    chess960: "This is a position of Chess960.",
    chess960Start: (most: number) => `Chess960, 0 to ${most}`,
  },
  review: {
    title: "Game review",
  },
  request: {
    title: "How to search",
    more: (set: number) => (set === 0 ? "More settings" : `More settings (${set} set)`),
    reset: "Reset all settings",
    numbers: {
      depth: { label: "Depth", usual: "14" },
      multipv: { label: "Lines", usual: "1" },
      movetime_ms: { label: "Time in ms" },
      nodes: { label: "Nodes" },
    },
    maximum: (most: number) => `max. ${grouped(most)}`,
    engine: "Engine",
    latest: (name: string | undefined) => (name === undefined ? "Latest" : `${name} (latest)`),
    offerUnknown: "The service has not said which engines and limits it has.",
    path: "Build",
    paths: { auto: "Automatic", native: "Native", wasm: "WebAssembly" },
    searchMoves: "Only these moves",
    searchMovesHint: "e.g. e4 Nf3; empty: all",
    options: "Engine options",
    range: (from: number, to: number) => `${grouped(from)} to ${grouped(to)}`,
  },
  problem: {
    lost: {
      title: "The service does not answer",
      detail: "It may be stopped, or this device has no network.",
    },
    foreign: {
      title: "Something else answered",
      detail: (said: string) => `Not the service answered, but perhaps a proxy in front of it: ${said}`,
    },
    tooFast: (count: number, time: string) =>
      `Too fast: ${grouped(count)} positions ${time === "1 min 0 s" ? "a minute" : `in ${time}`}`,
    tooManyRequests: "Too many requests",
    engineTimeUsedUp: "The engine time of your plan is used up",
    searchesRunning: (count: number | undefined) =>
      count === undefined
        ? "Other searches are already running from this network"
        : count === 1
          ? "A search is already running from this network"
          : `${{ 2: "Two", 3: "Three", 4: "Four" }[count] ?? grouped(count)} searches are already running from this network`,
    keyRequired: "A key is needed",
    keyOfOwner: "This server is for holders of a key. Ask its owner for one, then enter it here.",
    beyondPlan: (excess: readonly (string | undefined)[], isFree: boolean) => {
      const list = excess.join(" and ");
      return isFree
        ? `${list.charAt(0).toUpperCase()}${list.slice(1)} ${excess.length > 1 ? "need" : "needs"} a free key`
        : `Your plan does not allow ${list}`;
    },
    /** The values beyond a plan, by the names of the API. */
    excess: {
      depth: (most) => `depth above ${most}`,
      multipv: (most) => `more than ${lines(most)}`,
      lines: (most) => `more than ${lines(most)}`,
      movetime_ms: (most) => `more than ${grouped(most)} ms`,
      nodes: (most) => `more than ${grouped(most)} nodes`,
      pgn: (most) => `a game of more than ${Math.floor(most / 2)} moves`,
      moves: (most) => `a game of more than ${Math.floor(most / 2)} moves`,
    } as Readonly<Record<string, (most: number) => string>>,
    /** The suggested changes, by the names of the API. */
    change: {
      depth: (value) => `to depth ${value}`,
      multipv: (value) => `with ${lines(value)}`,
      lines: (value) => `with ${lines(value)}`,
      movetime_ms: (value) => `for ${grouped(value)} ms`,
      nodes: (value) => `with ${grouped(value)} nodes`,
    } as Readonly<Record<string, (value: number) => string>>,
    analyse: (changes: string) => `Analyse ${changes}`,
    firstMoves: (plies: number) => `Review the first ${Math.floor(plies / 2)} moves`,
    upToThere: "Review the game up to there",
    useFen: (fen: string) => `Use ${fen}`,
    sendSuggested: "Ask what the service suggests",
    /** The labels of the form, by the names of the API. */
    fields: {
      depth: "Depth",
      multipv: "Lines",
      lines: "Lines",
      movetime_ms: "Time",
      nodes: "Nodes",
      engine: "Engine",
      path: "Build",
      search_moves: "Only these moves",
      fen: "FEN",
    } as Readonly<Record<string, string>>,
    getKey: "Get a free key",
    enterKey: "Enter a key",
    changeKey: "Correct the key",
    withoutKey: "Go on without a key",
    goesOnIn: (wait: string) => `Goes on in ${wait}`,
    retry: "Try again",
    cancel: "Cancel",
    about: (code: string) => `About ${code}`,
    requestId: "Request",
  },
  call: {
    title: "API call",
    none: "Every action on this page as code you can copy.",
    languages: "Languages",
    code: (language: string) => `The call in ${language}`,
    copy: "Copy",
    copyCode: (language: string) => `Copy ${language}`,
    copied: "Copied",
    notCopied: "Not copied: the browser does not allow it",
    needs: {
      curl: "bash, zsh, sh (not cmd or PowerShell).",
      typescript: "Save it as call.mts and run “node call.mts”: Node 22.18 or newer, no packages.",
      python: "Save it as call.py and run “python3 call.py”: no packages.",
      go: "Save it as call.go and run “go run call.go”: no modules.",
      grpcurl: "Needs github.com/fullstorydev/grpcurl and no proto files: the service describes itself.",
      noPath: (prefix: string) =>
        `gRPC knows no paths such as ${prefix}: name the host and port of the service itself.`,
      key: "Set the environment variable KIBITZ_API_KEY to your key first.",
    },
    answer: "Answer",
    copyAnswer: "Copy the answer",
    cut: "… Copy the answer to see the rest.",
    states: { open: "under way", done: "answered", aborted: "stopped", failed: "failed" },
    took: (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`),
    requestId: "Request",
    limits: "Limits",
    left: (left: number, quota: number, unit: string, window: string) =>
      `${grouped(left)} of ${grouped(quota)} ${unit} left ${window}`,
    engineTimeLeft: (left: string, quota: string, window: string) =>
      `${left} of ${quota} of engine time left ${window}`,
    units: { request: "requests", refusal: "refusals", call: "other calls" } as Readonly<
      Record<string, string>
    >,
    /** By their length in seconds. */
    windows: { 60: "this minute", 3600: "this hour", 86400: "today" } as Readonly<Record<number, string>>,
    key: {
      title: "API key",
      label: "Key",
      use: "Use this key",
      forget: "Forget it",
      copy: "Copy the key",
      none: "Calls are made without a key.",
      required: "This service answers only with a key.",
      kept: "Kept in this tab only, and sent to this service only.",
      asking: "The key is looked up.",
      plan: (plan: string, name: string | undefined) =>
        `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan${name ? `, the key “${name}”` : ""}`,
      created: "Your free key:",
      gone: "It is shown only once, and gone when this tab is closed: copy it.",
      done: "Done",
      pasted: "You pasted an API key.",
      usePasted: "Use it",
      malformed: "That is not a key: keys begin with kbz_",
      used: "The key is used.",
      forgotten: "The key is forgotten.",
    },
  },
} as const;

function reached(depth: number, of: number | undefined): string {
  return of === undefined ? `depth ${depth}` : `depth ${depth} of ${of}`;
}

function grouped(number: number): string {
  return number.toLocaleString("en");
}

function lines(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}
