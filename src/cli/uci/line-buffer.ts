import { readCommand } from "./read-command.ts";
import type { Session } from "./session.ts";

/** Keeps the lines of a chess program until there is a session that takes them. */
export interface LineBuffer {
  receive(line: string): void;
  /** Call this when no more lines will come. */
  close(): void;
  /** Resolves when the first line comes, or when no more lines will come. */
  readonly begun: Promise<void>;
  /** Passes all lines to the session: those that came before, and those that will come. */
  passTo(session: Pick<Session, "receive" | "close">): void;
}

interface LineBufferSetting {
  /** The lines with which `uci` is answered before there is a session; if undefined, `uci` waits for the session, too. */
  readonly greeting: readonly string[] | undefined;
  readonly say: (line: string) => void;
  /** Called if the chess program ends the conversation before there is a session, and waits for no answer. */
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
