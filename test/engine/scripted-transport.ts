import type { ProcessEnd, UciTransport } from "../../src/engine/uci/transport.ts";

/**
 * An engine that is a conversation written beforehand: what it must be told, line by line, and what it
 * then prints. The transcripts document the state machine of a session.
 */
export interface Script extends UciTransport {
  /** The next line that must be sent, and what the engine prints then. */
  expect(command: string, answer?: readonly string[]): Script;
  /** After the last answer so far the pipe is closed. */
  thenHangUp(): Script;
  /** Prints lines now. */
  say(...lines: readonly string[]): void;
  /** Closes the pipe, as a process that ends does. */
  hangUp(by?: ProcessEnd): void;
  /** Resolves when this line has been sent, so many times. */
  told(command: string, times?: number): Promise<void>;
  /** What was sent so far, line by line. */
  readonly sent: readonly string[];
  /** The same, as it was sent together. */
  readonly writes: readonly (readonly string[])[];
  /** Throws if the conversation went another way, or is not over. */
  assertDone(): void;
  /** Processor time that the engine has used; undefined as on systems that do not say. */
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
    // As one piece, and not before the session has sent what it is sending.
    queueMicrotask(() => lines.forEach(receive));
  };
  const hangUp = (by: ProcessEnd = "itself") => {
    ended = true;
    processEnd.resolve(by);
    // After what was printed before.
    queueMicrotask(() => (mismatch ? pipeEnd.reject(mismatch) : pipeEnd.resolve()));
  };
  const conversation = (problem: string) => {
    const open = steps.map(({ command }) => `expected: ${command}`);
    return new Error([problem, ...transcript, ...open].join("\n  "));
  };

  function hear(line: string) {
    // An engine that is gone hears nothing.
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
