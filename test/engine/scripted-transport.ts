import type { ProcessEnd, UciTransport } from "../../src/engine/uci/transport.ts";

/**
 * A fake engine that follows a script. Each step of the script is an expected command and the lines that the engine prints as
 * the response.
 */
export interface Script extends UciTransport {
  /** Adds a step: the next expected command, and the lines of the response. */
  expect(command: string, answer?: readonly string[]): Script;
  /** The engine closes its output after the response of the last step. */
  thenHangUp(): Script;
  /** Prints lines now. */
  say(...lines: readonly string[]): void;
  /**
   * Closes the output now, as if the process had ended.
   * @param by who ended the process
   */
  hangUp(by?: ProcessEnd): void;
  /** Waits until the session has sent this command `times` times. */
  waitForCommand(command: string, times?: number): Promise<void>;
  /** The commands that the session has sent. */
  readonly sent: readonly string[];
  /** The commands that the session has sent. Each inner list was sent in one write. */
  readonly writes: readonly (readonly string[])[];
  /** Throws if a command differed from the script, or if steps of the script are left. */
  assertDone(): void;
  /** Milliseconds of processor time. Undefined simulates a system that does not report processor time. */
  usedMs: number | undefined;
  readonly killed: boolean;
}

interface Step {
  readonly command: string;
  readonly answer: readonly string[];
  hangsUp: boolean;
}

export function createScript(): Script {
  const steps: Step[] = [];
  const transcript: string[] = [];
  const sent: string[] = [];
  const writes: (readonly string[])[] = [];
  const waiting = new Set<() => void>();
  let mismatch: Error | undefined;
  let ended = false;
  let killed = false;
  let receive: (line: string) => void = () => {};

  const pipeEnd = Promise.withResolvers<void>();
  const processEnd = Promise.withResolvers<ProcessEnd>();
  const say = (...lines: readonly string[]) => {
    transcript.push(...lines.map((line) => `engine: ${line}`));
    // Real lines arrive after the session has finished its write. Several lines arrive together.
    queueMicrotask(() => lines.forEach(receive));
  };
  const hangUp = (by: ProcessEnd = "itself") => {
    ended = true;
    processEnd.resolve(by);
    // The session first receives the lines that were printed earlier.
    queueMicrotask(() => (mismatch ? pipeEnd.reject(mismatch) : pipeEnd.resolve()));
  };
  const conversation = (problem: string) => {
    const open = steps.map(({ command }) => `expected: ${command}`);
    return new Error([problem, ...transcript, ...open].join("\n  "));
  };

  function hear(line: string) {
    // An engine that has ended ignores commands.
    if (ended) {
      return;
    }
    transcript.push(`kibitz: ${line}`);
    sent.push(line);
    const [step] = steps;
    if (step?.command !== line) {
      mismatch = conversation(`unexpected: ${line}`);
      hangUp();
      return;
    }
    steps.shift();
    say(...step.answer);
    if (step.hangsUp) {
      hangUp();
    }
    for (const check of waiting) {
      check();
    }
  }

  const script: Script = {
    usedMs: undefined,
    get killed() {
      return killed;
    },
    expect(command, answer = []) {
      steps.push({ command, answer, hangsUp: false });
      return script;
    },
    thenHangUp() {
      const last = steps.at(-1);
      if (last) {
        last.hangsUp = true;
      }
      return script;
    },
    say,
    hangUp,
    sent,
    writes,
    waitForCommand: (command, times = 1) =>
      new Promise((resolve) => {
        const check = () => {
          if (sent.filter((line) => line === command).length >= times) {
            waiting.delete(check);
            resolve();
          }
        };
        waiting.add(check);
        check();
      }),
    send(...lines) {
      if (!ended) {
        writes.push(lines);
      }
      lines.forEach(hear);
    },
    read(receiveLine) {
      receive = receiveLine;
      return pipeEnd.promise;
    },
    async kill() {
      killed = true;
      hangUp();
    },
    ended: processEnd.promise,
    memoryBytes: () => undefined,
    processorMs: () => script.usedMs,
    assertDone() {
      if (mismatch) {
        throw mismatch;
      }
      if (steps.length > 0) {
        throw conversation("the conversation is not over:");
      }
    },
  };
  return script;
}
