import { readCommand } from "./read-command.ts";
import type { Session } from "./session.ts";

/** Keeps the lines of a chess program until there is a session that takes them. */
export interface LineBuffer {
  receive(line: string): void;
  /** No further line comes. */
  close(): void;
  /** Resolves with the first line, or with the end of all lines. */
  readonly begun: Promise<void>;
  /** Passes all lines on, those before and those to come. */
  passTo(session: Pick<Session, "receive" | "close">): void;
}

interface LineBufferSetting {
  /** Answers `uci` before there is a session; if undefined, `uci` waits for the session, too. */
  readonly greeting: readonly string[] | undefined;
  readonly say: (line: string) => void;
  /** Called if the chess program leaves before there is a session, and waits for no answer. */
  readonly onLeft: () => void;
}

/** The commands that are answered. */
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
