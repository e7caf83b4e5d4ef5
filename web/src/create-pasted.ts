import { computed, type Signal, signal } from "@preact/signals";
import type { Address } from "./create-address.ts";
import type { GameState } from "./game/create-game.ts";
import { textOfFile } from "./game/file-text.ts";
import type { Game } from "./game/game.ts";
import { readPasted } from "./pasted-text.ts";

/** Pasted or dropped content that no view has processed yet. */
type Waiting =
  | { readonly kind: "pgn"; readonly text: string }
  | { readonly kind: "file"; readonly file: File }
  | { readonly kind: "key"; readonly text: string };

export type Pasted = ReturnType<typeof createPasted>;

const beginningMaxBytes = 10_000;

export function createPasted({ game, address }: { readonly game: GameState; readonly address: Address }) {
  const waiting: Signal<Waiting | undefined> = signal();
  /** The message is hidden when another game is on the board. */
  const latestMessage = signal<{ readonly message: string; readonly game: Game } | undefined>(undefined);

  function setMessage(message: string | undefined): void {
    latestMessage.value = message === undefined ? undefined : { message, game: game.game.peek() };
  }

  function take(text: string): void {
    const read = readPasted(text);
    setMessage(undefined);
    switch (read?.kind) {
      case "fen":
        address.show("analysis");
        game.takeFen(read.text);
        if (read.count > 1) {
          setMessage(`The text has ${read.count} positions. This is the first.`);
        }
        break;
      case "pgn":
        takeGames(read.text);
        break;
      case "link":
        address.open(read.text);
        break;
      case "key":
        waiting.value = { kind: "key", text };
        break;
      case "foreign link":
        setMessage(
          "This page opens no other sites. Copy the game there as PGN, or the position as FEN, and paste it here.",
        );
        break;
      case undefined:
        setMessage("The pasted text has no position or game. Paste a FEN, a PGN, or a link to an analysis.");
    }
  }

  /** Opens a single game on the board. Opens any other text in the review, which lists several games and explains errors. */
  function takeGames(text: string): void {
    if (address.view.peek() !== "review" && game.takePgn(text).kind === "game") {
      address.show("analysis");
    } else {
      game.refused.value = undefined;
      waiting.value = { kind: "pgn", text };
      address.show("review");
    }
  }

  async function takeFile(file: File): Promise<void> {
    const bytes = await file
      .slice(0, beginningMaxBytes)
      .arrayBuffer()
      .catch(() => undefined);
    const beginning = bytes && textOfFile(new Uint8Array(bytes)).text;
    const kind = beginning === undefined ? undefined : readPasted(beginning)?.kind;
    if (kind === "pgn") {
      setMessage(undefined);
      waiting.value = { kind: "file", file };
      address.show("review");
    } else if (kind === "fen" && beginning !== undefined) {
      take(beginning);
    } else {
      setMessage(`${file.name} contains no chess game.`);
    }
  }

  function onPaste({ target, clipboardData }: ClipboardEvent): void {
    const text = clipboardData?.getData("text/plain") ?? "";
    const file = clipboardData?.files[0];
    if (isField(target)) {
      return;
    }
    if (text.trim() !== "") {
      take(text);
    } else if (file) {
      void takeFile(file);
    }
  }

  /** Prevents the browser from opening the file instead of the page. */
  function onDragOver(event: DragEvent): void {
    event.preventDefault();
  }

  function onDrop(event: DragEvent): void {
    const file = event.dataTransfer?.files[0];
    const text = event.dataTransfer?.getData("text/plain") ?? "";
    if (file === undefined && isField(event.target)) {
      return;
    }
    event.preventDefault();
    if (file) {
      void takeFile(file);
    } else if (text.trim() !== "") {
      take(text);
    }
  }

  const ended = new AbortController();
  return {
    waiting,
    notice: computed(() =>
      latestMessage.value?.game === game.game.value ? latestMessage.value.message : undefined,
    ),
    take,
    dismiss: () => setMessage(undefined),

    listen(): void {
      document.addEventListener("paste", onPaste, ended);
      document.addEventListener("dragover", onDragOver, ended);
      document.addEventListener("drop", onDrop, ended);
    },

    dispose: () => ended.abort(),
  };
}

const fields =
  "input:not([type=checkbox], [type=radio], [type=range]), textarea, [contenteditable]:not([contenteditable=false])";

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(fields) !== null;
}
