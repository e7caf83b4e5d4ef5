import { readCommand } from "./read-command.ts";
import type { Session } from "./session.ts";

export interface LineBuffer {
  receive(line: string): void;
  close(): void;
  /** Resolves when the first line arrives, or when the input ends. */
  readonly begun: Promise<void>;
  /** Passes the stored lines to the session, and later each new line. */
  passTo(session: Pick<Session, "receive" | "close">): void;
}

interface LineBufferSetting {
  /** The answer to the command `uci`. If undefined, the session answers `uci`. */
  readonly greeting: readonly string[] | undefined;
  readonly say: (line: string) => void;
  /** Called when the chess program quits, if the session is not ready yet and no stored command needs an answer. */
  readonly onLeft: () => void;
}

/** The commands to which a chess program expects an answer. */
const answered = new Set(["uci", "isready", "go"]);

export function createLineBuffer({ greeting, say, onLeft }: LineBufferSetting): LineBuffer {
  const begun = Promise.withResolvers<void>();
  const waiting: string[] = [];
  let isClosed = false;
  let session: Pick<Session, "receive" | "close"> | undefined;
  const kindOf = (line: string) => readCommand(line)?.kind;

  function leave(): void {
    if (!waiting.some((line) => answered.has(kindOf(line) ?? ""))) {
      onLeft();
    }
  }

  return {
    begun: begun.promise,
    receive(line) {
      begun.resolve();
      const kind = kindOf(line);
      if (session !== undefined) {
        session.receive(line);
      } else if (kind === "uci" && greeting !== undefined) {
        greeting.forEach(say);
      } else if (kind === "quit") {
        waiting.push(line);
        leave();
      } else {
        waiting.push(line);
      }
    },
    close() {
      begun.resolve();
      isClosed = true;
      if (session === undefined) {
        leave();
      } else {
        session.close();
      }
    },
    passTo(next) {
      session = next;
      waiting.splice(0).forEach(next.receive);
      if (isClosed) {
        next.close();
      }
    },
  };
}
