import { batch, computed, effect, signal } from "@preact/signals";
import { focusBoard } from "../board/focus-board.ts";
import type { Address } from "../create-address.ts";
import type { GameState } from "../game/create-game.ts";
import { type OlderEncoding, recoding, textOfFile } from "../game/file-text.ts";
import type { Game } from "../game/game.ts";
import { plainWords } from "../parts/plain-words.ts";
import { store, stored } from "../parts/stored.ts";
import { isComplete, readPasted } from "../pasted-text.ts";
import { type FoundGame, foundGames } from "./found-games.ts";
import { keepList, keptList, type ListText } from "./kept-list.ts";
import { placeOfToken, type TextPlace } from "./text-place.ts";

const place = "kibitz-pgn";

const fileMaxMegabytes = 20;

export interface TextViolation extends TextPlace {
  readonly message: string;
  /** A corrected PGN. Undefined if the error message suggests no correction. */
  readonly suggested: string | undefined;
  /** The first line has the number 1. */
  readonly line: number;
}

interface Deps {
  readonly game: GameState;
  readonly address: Address;
  /** Starts a review of the game on the board. */
  review(pgn: string): void;
}

export type Input = ReturnType<typeof createInput>;

/** Opens pasted, dropped, picked and typed texts, in the view that is shown. */
export function createInput({ game, address, review }: Deps) {
  const text = signal(stored("sessionStorage", place) ?? "");
  const isOpen = signal(false);
  const isListOpen = signal(false);
  const isDragging = signal(false);
  const found = signal<readonly FoundGame[]>([]);
  let list: ListText | undefined;
  /** The number of opened texts. A large text is not shown if another text is opened before it is read. */
  let opened = 0;
  /** The guessed encoding of `text`. */
  let encoding: OlderEncoding | undefined;
  const key = signal<string | undefined>(undefined);
  /** The message is hidden when another game is on the board. */
  const latestMessage = signal<{ readonly message: string; readonly game: Game } | undefined>(undefined);

  const ends = [
    // Show an invalid PGN in the field, even if the PGN was in a link.
    effect(() => {
      const refused = game.refused.value;
      if (refused?.kind === "pgn") {
        text.value = refused.text;
        isOpen.value = true;
      }
    }),
    effect(() => store("sessionStorage", place, text.value || undefined)),
  ];

  function setMessage(message: string | undefined): void {
    latestMessage.value = message === undefined ? undefined : { message, game: game.game.peek() };
  }

  /** Opens a game. In the review, also starts its review. */
  function read(pgn: string, guessed = encoding): void {
    batch(() => {
      text.value = pgn;
      encoding = /[^\0-\x7f]/.test(pgn) ? guessed : undefined;
      const isRead = game.takePgn(pgn, "input", encoding).kind === "game";
      isOpen.value = !isRead;
      if (address.view.peek() !== "review") {
        address.show("analysis");
      } else if (isRead) {
        review(pgn);
      }
    });
  }

  async function showList(next: ListText | undefined): Promise<void> {
    list = next;
    found.value = next ? await foundGames(next.text) : [];
  }

  /** Opens a single game. Lists the games if the text has several games. */
  async function takeGames(brought: string, guessed: OlderEncoding | undefined): Promise<void> {
    const turn = opened;
    const games = await foundGames(brought);
    if (turn !== opened) {
      return;
    }
    const [first, second] = games;
    if (second) {
      batch(() => {
        list = { text: brought, encoding: guessed };
        found.value = games;
        isListOpen.value = true;
        // A text that is not in the list would be mistaken for a game of the list.
        text.value = brought === text.peek() ? brought : "";
        game.refused.value = undefined;
        if (address.view.peek() === "set-up") {
          address.show("analysis");
        }
      });
      await keepList(list);
    } else if (first) {
      await showList(undefined);
      read(first.text, guessed);
      await keepList(undefined);
    }
  }

  async function take(
    brought: string,
    name = "The text",
    guessed = brought === text.peek() ? encoding : undefined,
  ): Promise<void> {
    const found = readPasted(brought);
    opened++;
    setMessage(undefined);
    switch (found?.kind) {
      case "fen":
        address.show("analysis");
        game.takeFen(found.text);
        isOpen.value = false;
        if (found.count > 1) {
          setMessage(`${name} has ${found.count} positions. This is the first.`);
        }
        break;
      case "pgn":
        await takeGames(found.text, guessed);
        break;
      case "link":
        address.open(found.text);
        isOpen.value = false;
        break;
      case "key":
        key.value = brought;
        break;
      case "foreign link":
        setMessage(
          "This page opens no other sites. Copy the game there as PGN, or the position as FEN, and paste it here.",
        );
        break;
      case undefined:
        setMessage(`${name} has no position or game. Paste a FEN, a PGN, or a link to an analysis.`);
    }
  }

  async function takeFile(file: File): Promise<void> {
    const { name, size } = file;
    if (size > fileMaxMegabytes * 1_000_000) {
      setMessage(`${name} is too large: files up to ${fileMaxMegabytes} MB can be read. Please split it.`);
      return;
    }
    const bytes = await file.arrayBuffer().catch(() => undefined);
    const content = bytes && textOfFile(new Uint8Array(bytes));
    const kind = content && readPasted(content.text)?.kind;
    if (content && (kind === "pgn" || kind === "fen")) {
      await take(content.text, name, content.encoding);
    } else {
      setMessage(content ? `${name} contains no chess game.` : `${name} cannot be read.`);
    }
  }

  function onPaste(event: ClipboardEvent): void {
    const { target, clipboardData } = event;
    const pasted = clipboardData?.getData("text/plain") ?? "";
    const file = clipboardData?.files[0];
    if (isIn(fields, target) && (isIn(ownTexts, target) || !isComplete(pasted))) {
      return;
    }
    if (pasted.trim() !== "") {
      event.preventDefault();
      void take(pasted, "The pasted text").then(focusBoard);
    } else if (file) {
      void takeFile(file);
    }
  }

  /** Prevents the browser from opening the file instead of the page. */
  function onDragOver(event: DragEvent): void {
    isDragging.value = event.dataTransfer?.types.includes("Files") ?? false;
    event.preventDefault();
  }

  function onDragLeave({ relatedTarget }: DragEvent): void {
    if (relatedTarget === null) {
      isDragging.value = false;
    }
  }

  function onDrop(event: DragEvent): void {
    isDragging.value = false;
    const file = event.dataTransfer?.files[0];
    const dropped = event.dataTransfer?.getData("text/plain") ?? "";
    if (file === undefined && isIn(fields, event.target)) {
      return;
    }
    event.preventDefault();
    if (file) {
      void takeFile(file);
    } else if (dropped.trim() !== "") {
      void take(dropped);
    }
  }

  const ended = new AbortController();
  return {
    text,
    /** True if the panel with the text field is open. */
    isOpen,
    /** True while the user drags a file over the page. */
    isDragging,
    /** The games of a text with several games. */
    found,
    isListOpen,
    /** A pasted API key that the user has not confirmed yet. */
    key,
    notice: computed(() =>
      latestMessage.value?.game === game.game.value ? latestMessage.value.message : undefined,
    ),
    violation: computed<TextViolation | undefined>(() => {
      const refused = game.refused.value;
      if (refused?.kind !== "pgn" || refused.text !== text.value) {
        return undefined;
      }
      const [violation] = refused.violations;
      const place = violation && "place" in violation ? violation.place : undefined;
      return violation && place && "offset" in place
        ? {
            message: plainWords(violation.message, /\[\s*FEN\s+"([^"]*)/i.exec(text.value)?.[1]),
            suggested: refused.suggestedPgn,
            ...placeOfToken(text.value, place.offset, place.token),
            line: place.line ?? 1,
          }
        : undefined;
    }),
    read,
    take,
    takeFile,
    dismiss: () => setMessage(undefined),

    /** Opens a game of {@link found}. */
    choose(chosen: FoundGame): void {
      isListOpen.value = false;
      read(chosen.text, list?.encoding);
    },

    edit(next: string): void {
      text.value = next;
      encoding = undefined;
    },

    /** Reads the letters of the game, and of the other games in the file, in another encoding. */
    async recode(to: OlderEncoding): Promise<void> {
      batch(() => {
        game.recode(to);
        text.value = encoding ? recoding(encoding, to)(text.peek()) : text.peek();
        encoding &&= to;
      });
      if (list?.encoding) {
        await showList({ text: recoding(list.encoding, to)(list.text), encoding: to });
        await keepList(list);
      }
    },

    listen(): void {
      document.addEventListener("paste", onPaste, ended);
      document.addEventListener("dragover", onDragOver, ended);
      document.addEventListener("dragleave", onDragLeave, ended);
      document.addEventListener("drop", onDrop, ended);
      void keptList().then((kept) => {
        if (kept && list === undefined) {
          isListOpen.value = game.game.peek().start.children.length === 0;
          void showList(kept);
        }
      });
    },

    dispose(): void {
      ended.abort();
      for (const end of ends) {
        end();
      }
    },
  };
}

const fields =
  "input:not([type=checkbox], [type=radio], [type=range]), textarea, [contenteditable]:not([contenteditable=false])";

/** A position or a game is only text in these fields, until the user sends the text. */
const ownTexts = "textarea, [type=password], .set-up-fen";

function isIn(selector: string, target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(selector) !== null;
}
