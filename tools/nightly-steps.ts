/** A step of the nightly run. A bash command, and what the command guards. */
export interface Step {
  readonly command: string;
  readonly guards: string;
  readonly programs?: readonly string[];
  readonly asRoot?: true;
}

export const steps: Readonly<Record<string, Step>> = {
  tests: {
    command:
      'npm run lane -- nightly; code=$?; node tools/check-promises.ts --nightly "$TEST_RESULTS" || code=1; exit $code',
    guards:
      "all *.nightly.test.ts: kills, isolation, movetime, overload, attacks, memory, alerts, balancers, generated clients, the match, parts of the page",
  },
  fuzz: {
    command: "FUZZ_MINUTES=10 npm run lane -- fuzz",
    guards: "no input breaks a parser, a codec or the service",
    programs: ["python3"],
  },
  properties: {
    command:
      'export FUZZ_SEED=$(od -An -N4 -tu4 /dev/urandom | tr -d " "); files=$(grep -rl fc.assert test --include="*.test.ts"); echo "To run this again: FUZZ_SEED=$FUZZ_SEED npx vitest run" $files; vitest run $files',
    guards: "the property tests of npm test, with a random seed",
  },
  referee: {
    command: "FUZZ_FENS=200000 npm run lane -- fuzz referee",
    guards: "positions are valid exactly if python-chess or the written policy says so",
    programs: ["python3"],
  },
  positions: {
    command: "FUZZ_POSITIONS=2000 npm run lane -- fuzz positions",
    guards: "every move and mate of an answer is right, by python-chess",
    programs: ["python3"],
  },
  tablebase: {
    command: "FUZZ_ENDINGS=200000 npm run lane -- fuzz tablebase",
    guards: "endgame tables say what python-chess reads in them",
    programs: ["python3"],
  },
  simulation: {
    command: "node test/simulation/run.ts --for 3600",
    guards: "no order of failures breaks an invariant, with random seeds for an hour",
  },
  openapi: {
    command: "npm run lane -- openapi --max-examples 500",
    guards: "the service answers as its OpenAPI document says",
    programs: ["python3"],
  },
  soak: {
    command: "npm run soak -- 10",
    guards: "ten minutes at 80 % load: below 200 MB, no wrong answer",
  },
  image: {
    command: "node tools/image/try-image.ts",
    guards: "the image is reproducible, starts and answers",
    programs: ["podman", "runc", "mmdebstrap"],
    asRoot: true,
  },
  // Run this step last, because the other steps do not expect the engine that it installs.
  older: {
    command: "npm run lane -- older; code=$?; npm prune --no-save >/dev/null || code=1; exit $code",
    guards: "an older engine version beside the newest",
  },
};
