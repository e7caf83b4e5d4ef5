import type { ProcessEnd, UciTransport } from "../../src/engine/uci/transport.ts";

/**
 * A fake engine that follows a script: the lines that it expects, and the lines that it prints after each of them.
 * The scripts document the state machine of a session.
 */
export interface Script extends UciTransport {
  /** Adds the next line that must be sent, and the lines that the engine prints then. */
  expect(command: string, answer?: readonly string[]): Script;
  /** Closes the pipe after the last answer so far. */
  thenHangUp(): Script;
  /** Prints lines now. */
  say(...lines: readonly string[]): void;
  /** Closes the pipe, as a process that ends does. */
  hangUp(by?: ProcessEnd): void;
  /** Resolves when this line has been sent `times` times. */
  told(command: string, times?: number): Promise<void>;
  /** The lines that were sent so far. */
  readonly sent: readonly string[];
  /** The lines that were sent so far, grouped by write. */
  readonly writes: readonly (readonly string[])[];
  /** Throws if a line differed from the script, or if the script is not at its end. */
  assertDone(): void;
  /** Processor time that the engine has used; undefined as on systems that do not report it. */
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
  /** Both sides of the conversation so far. */
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
    // The lines arrive together, and not before the session has finished its write.
    queueMicrotask(() => lines.forEach(receive));
  };
  const hangUp = (by: ProcessEnd = "itself") => {
    ended = true;
    processEnd.resolve(by);
    // The pipe ends after the lines that were printed before.
    queueMicrotask(() => (mismatch ? pipeEnd.reject(mismatch) : pipeEnd.resolve()));
  };
  const conversation = (problem: string) => {
    const open = steps.map(({ command }) => `expected: ${command}`);
    return new Error([problem, ...transcript, ...open].join("\n  "));
  };

  function hear(line: string) {
    // An engine that is gone ignores all lines.
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
    told: (command, times = 1) =>
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
